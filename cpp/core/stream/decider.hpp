// What a score means for the decision: by its sign, by the price of a missed positive in false alarms, or by prices.
#pragma once

#include "../numbers/logistic.hpp"
#include "calibration.hpp"
#include "capacity.hpp"
#include "cost.hpp"

namespace lopsided {

// What each answer costs, for one event or for all; a gain is a negative cost.
struct Prices {
  double miss = 0, alarm = 0;  // wrong answers
  double hit = 0, pass = 0;    // right answers

  // The log odds of the positive class from which on an alarm costs no more than none.
  double limit() const {
    constexpr double never = std::numeric_limits<double>::infinity();
    const double stake = miss - hit, fee = alarm - pass;
    if (!(stake > 0)) return never;
    if (!(fee > 0)) return -never;
    return logarithm(fee / stake);
  }
  // What an alarm saves on average, where the positive class has probability p.
  double gain(double p) const { return p * (miss - hit) - (1 - p) * (alarm - pass); }
  double of(bool positive, bool alarmed) const { return positive ? (alarmed ? hit : miss) : alarmed ? alarm : pass; }
};

// Prices of events: one for each, one for all, or none.
struct PriceList {
  const Prices* first = nullptr;
  Count step = 1;

  explicit operator bool() const { return first != nullptr; }
  const Prices* at(Count i) const { return first ? first + i * step : nullptr; }
};

struct Decider {
  static constexpr double rare = 100;                                       // events with one positive among them
  static constexpr double no_alarm = std::numeric_limits<double>::min();  // decides a tie

  bool log_odds = false;  // scores are calibrated log odds already
  bool labels_wait = false;  // and may never come
  Calibration calibration;
  Capacity capacity;

  // An alarm is raised where this is at least 0. rho: that of `cost`, or one that is known beforehand.
  double margin(double score, const Cost& cost, double rho, const Prices* prices) {
    if (prices) return weighed(score, cost) - prices->limit();
    if (!log_odds) return score;
    if (!cost.balanced) return weighed(score, cost) + logarithm(rho);
    return cost.positives + cost.negatives > 0 ? score + logarithm(rho) : logarithm(cost.odds) - no_alarm;
  }
  // The log odds that are weighed by prices. After n negative labels and no positive one, one event in n + 2 is taken for
  // positive; but without any label one in a hundred if labels come late, so that nobody is flooded with alarms.
  double weighed(double score, const Cost& cost) {
    if (cost.positives > 0) return log_odds_of(score);
    return -logarithm(labels_wait && cost.negatives == 0 ? rare - 1 : cost.negatives + 1);
  }
  double log_odds_of(double score) { return log_odds ? score : calibration.log_odds(score); }
  // The probability of the positive class.
  double chance(double score);
  // Whether the sign of the score decides.
  bool by_sign(const PriceList& prices) const { return !prices && !log_odds && !capacity.on(); }

  // Decides about an event that has arrived. An alarm takes its share of the capacity.
  bool decide(double score, const Cost& cost, double rho, const Prices* prices, double day);
  void options(auto&& visit) { capacity.options(visit); }

  void state(auto&& visit) {
    if (!log_odds) calibration.state(visit);
    capacity.state(visit);
  }
};

}  // namespace lopsided
