// Which labels to buy: a rule says how much a label is wanted, a budget whether one may be bought, a
// random number decides. The probability of a question about an event of score p is
//
//   always       1
//   random       a constant
//   margin       d / (d + |p|)
//   confidence   d / (d + q), or 1 if q <= 0, where q = |p| - eta rho_max v gamma / (2 (v + gamma)),
//                v = x' Sigma x, rho_max = max(1, rho)
//   uncertainty  at first 1, then at most 1 of c (0.1 + 0.9 u / m), where u = sqrt(P (1 - P)), P is the probability of
//                the positive class, m the mean of u over recent events, and c the constant
//
// with d = delta_pos if p >= 0, else delta_neg (Zhang et al. 2019, Online adaptive asymmetric active
// learning, algorithms 3 and 6). By uncertainty the first labels are bought until `enough` of each class are known or
// half of a budget without periods is spent; u is then proportional to the probability that minimises the variance of
// a gradient of the log loss, at a given number of labels. To explore with e makes e + (1 - e) pi of pi. Random numbers are drawn only
// when a label may be bought and pi < 1; the k-th, k = 0, 1, ..., is (S(S(seed) + k) >> 11) 2^-53 with
// S the function splitmix64.
#pragma once

#include <algorithm>

#include "../simd.hpp"
#include "cost.hpp"
#include "decider.hpp"
#include "pending.hpp"

namespace lopsided {

struct QueryRule {
  enum class Kind { none, always, random, margin, confidence, uncertainty };
  Kind kind = Kind::none;
  double constant = 1;  // of random; of uncertainty, the share of events on average
  double delta_pos = 1, delta_neg = 1;
  double explore = 0;

  void options(auto&& visit) {
    visit("query", kind, {"none", "always", "random", "margin", "confidence", "uncertainty"});
    visit("probability", constant);
    visit("delta_pos", delta_pos);
    visit("delta_neg", delta_neg);
    visit("explore", explore);
  }
};

// How many labels may be bought: in all, in each period, or as a share of the events so far. What is
// not bought in a period is lost, or saved for later ones.
struct Budget {
  double labels = std::numeric_limits<double>::infinity();  // divided by the price: in all, in a period or for an event
  double price = 1;
  bool share = false;  // of the events so far
  double per = 0;  // events in a period; 0: one period, or days
  bool daily = false, saving = false;
  bool pace = false;  // spread over the period
  Count events = 0, used = 0;
  Count period = 0, spent = 0;  // the present period and the labels bought in it, with saving those in all periods
  bool begun = false;  // the first period has
  double first = 0;  // the day or event with which it began
  double elapsed = 0;  // share of the present period, for the pace

  bool periodic() const { return daily || per > 0; }
  void observe(double day) {
    const double now = daily ? std::floor(day) : static_cast<double>(events);
    ++events;
    if (!begun) first = now, begun = true;
    if (!periodic()) return;
    const double at = daily ? now - first : std::floor((now - first) / per);
    if (at > static_cast<double>(period)) {  // an event of an earlier day counts for the present one
      period = static_cast<Count>(at);
      if (!saving) spent = 0;
    }
    elapsed = daily ? day - now : (now - first) / per - at;
    if (at < static_cast<double>(period)) elapsed = 0;  // nobody knows the time of the present day
  }
  // How many labels may ever be bought, where that is fixed.
  double in_all() const { return share || periodic() ? std::numeric_limits<double>::infinity() : labels / price; }
  double left() const {
    const double bought = static_cast<double>(periodic() ? spent : used);
    const double times = share ? static_cast<double>(events) : saving ? static_cast<double>(period + 1) : 1;
    const double whole = std::max(0.0, std::floor(labels * times / price) - bought);
    if (!pace || !periodic()) return whole;
    const double late = saving ? static_cast<double>(period) + elapsed : elapsed;
    return std::clamp(std::floor(labels * late / price) + 1 - bought, 0.0, whole);
  }
  // The next of n events arrive: all whose labels can surely be bought in this period, which are returned, or one whose
  // label cannot, and then 0 is returned.
  Count arrive(Count n, double day);
  void spend(Count bought) { used += bought, spent += bought; }

  void options(auto&& visit) {
    visit("budget", labels);
    visit("budget_price", price);
    visit("budget_share", share);
    visit("budget_per", per);
    visit("budget_daily", daily);
    visit("budget_saving", saving);
    visit("budget_pace", pace);
  }
  void state(auto&& visit) {
    visit("budget.events", events);
    visit("budget.used", used);
    visit("budget.period", period);
    visit("budget.spent", spent);
    visit("budget.begun", begun);
    visit("budget.first", first);
    validate(std::isfinite(first), "budget.first");
    if (!pace) return;
    visit("budget.elapsed", elapsed);
    validate(elapsed >= 0 && elapsed <= 1, "budget.elapsed");
  }
};

// Sums over bought labels, each weighed by 1 / probability: they estimate the same sums over all
// events that were met while a label could be bought. The other sums are for their variance.
struct Estimates {
  struct Class {
    double all = 0, wrong = 0;  // sum of e / pi
    double all_spread = 0, wrong_spread = 0;  // sum of (1 - pi) (e / pi)^2
  };
  double open = 0;  // weight of the events met while a label could be bought
  Class positives, negatives;

  void add(double y, double weight, bool alarmed, double probability) {
    Class& c = y > 0 ? positives : negatives;
    const double share = weight / probability, spread = (1 - probability) * share * share;
    const bool wrong = alarmed != (y > 0);
    c.all += share;
    c.all_spread += spread;
    c.wrong += wrong ? share : 0;
    c.wrong_spread += wrong ? spread : 0;
  }
  void state(auto&& visit) {
    visit("estimate.open", open);
    visit("estimate.positives", positives.all);
    visit("estimate.positives.spread", positives.all_spread);
    visit("estimate.false_negatives", positives.wrong);
    visit("estimate.false_negatives.spread", positives.wrong_spread);
    visit("estimate.negatives", negatives.all);
    visit("estimate.negatives.spread", negatives.all_spread);
    visit("estimate.false_positives", negatives.wrong);
    visit("estimate.false_positives.spread", negatives.wrong_spread);
  }
};

// For a query by uncertainty.
class Uncertainty {
 public:
  void told(double y) { ++(y > 0 ? positives_ : negatives_); }
  // The probability of a question about an event of these log odds, `used` labels having been bought of at most `most`.
  double wanted(double log_odds, double rate, double used, double most) {
    const double p = sigmoid(log_odds), u = std::sqrt(p * (1 - p));
    ++events_;
    mean_ += (u - mean_) / std::min(static_cast<double>(events_), memory);
    if (std::min(positives_, negatives_) < enough && used < most / 2) return 1;
    return std::min(1.0, rate * (anywhere + (1 - anywhere) * u / std::max(mean_, std::numeric_limits<double>::min())));
  }
  void state(auto&& visit) {
    visit("query.positives", positives_);
    visit("query.negatives", negatives_);
    visit("query.events", events_);
    visit("query.uncertainty", mean_);
    validate(mean_ >= 0 && mean_ <= 0.5, "query.uncertainty");
  }

 private:
  static constexpr Count enough = 5;
  static constexpr double memory = 1024, anywhere = 0.1;

  Count positives_ = 0, negatives_ = 0, events_ = 0;
  double mean_ = 0;
};

// For a query by confidence: eta max(1, rho) / 2 and gamma.
struct Confidence {
  double most = 0, gamma = 1;
};

struct Asker;
LOPSIDED_COPIES(void decide(Asker& asker, const double* scores, Count n, double weight, const Confidence& confidence,
                            double* probabilities, std::int8_t* asked);)

struct Asker {
  QueryRule rule;
  Budget budget;
  Estimates estimates;
  Pending pending;
  Uncertainty uncertainty;
  double seed = 0;
  Count draws = 0;

  bool on() const { return rule.kind != QueryRule::Kind::none; }

  // The label of an event has arrived.
  void told(double y, double weight, bool alarmed, double probability) {
    estimates.add(y, weight, alarmed, probability);
    if (rule.kind == QueryRule::Kind::uncertainty) uncertainty.told(y);
  }
  // Which labels of n events that have arrived are bought, by their scores; `probabilities` has, for a query by
  // confidence, the variances of their rows, and for one by uncertainty, their log odds.
  void decide(const double* scores, Count n, double weight, const Confidence& confidence, double* probabilities,
              std::int8_t* asked) {
    LOPSIDED_BEST(decide(*this, scores, n, weight, confidence, probabilities, asked));
  }

  // Decisions that something goes wrong with are not taken.
  template <class Do>
  void or_go_back(Do act) {
    const Budget before = budget;
    const double open = estimates.open;
    const Count drawn = draws;
    const Uncertainty earlier = uncertainty;
    try {
      act();
    } catch (...) {
      budget = before, estimates.open = open, draws = drawn, uncertainty = earlier;
      throw;
    }
  }

  void options(auto&& visit) {
    rule.options(visit);
    budget.options(visit);
    pending.options(visit);
    visit("query_seed", seed);
  }
  void state(auto&& visit, auto fits) {
    if (!on()) return;
    visit("query.draws", draws);
    budget.state(visit);
    if (rule.kind == QueryRule::Kind::uncertainty) uncertainty.state(visit);
    estimates.state(visit);
    pending.state(visit, budget.events, fits);
  }
};

// What is known of events beside their rows, one entry for each, or nothing.
struct AskedAbout {
  const double* days = nullptr;
  PriceList prices = {};
};

// What becomes of the events for which `ask` was called, one place for each. They are numbered in order.
struct Answers {
  double* scores;
  std::int8_t* alarms;  // the decisions
  double* probabilities;
  std::int8_t* asked;
  std::int64_t* forgotten;  // the event that had to make room, or -1
};

}  // namespace lopsided
