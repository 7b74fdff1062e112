// Which labels to buy: a rule says how much a label is wanted, a budget whether one may be bought, a
// random number decides. The probability of a question about an event of score p is
//
//   always       1
//   random       a constant
//   margin       d / (d + |p|)
//   confidence   d / (d + q), or 1 if q <= 0, where q = |p| - eta rho_max v gamma / (2 (v + gamma)),
//                v = x' Sigma x, rho_max = max(1, rho)
//
// with d = delta_pos if p >= 0, else delta_neg (Zhang et al. 2019, Online adaptive asymmetric active
// learning, algorithms 3 and 6). To explore with e makes e + (1 - e) pi of pi. Random numbers are drawn only
// when a label may be bought and pi < 1; the k-th, k = 0, 1, ..., is (S(S(seed) + k) >> 11) 2^-53 with
// S the function splitmix64.
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "cost.hpp"
#include "random.hpp"
#include "row.hpp"

namespace lopsided {

// A long list of numbers of no feature.
struct Series {
  std::vector<double> values;
};

struct Rule {
  enum class Kind { none, always, random, margin, confidence };
  Kind kind = Kind::none;
  double constant = 1;  // of random
  double delta_pos = 1, delta_neg = 1;
  double explore = 0;

  template <class Learner>
  static constexpr bool can_be_sure = requires(Learner& l, const DenseRow& x) { l.variance(x); };

  template <class Learner>
  double probability(Learner& learner, const RowLike auto& x, double score, double rho) const {
    const double wanted = plain(learner, x, score, rho);
    return explore + (1 - explore) * wanted;
  }

  void options(auto&& visit) {
    visit("query", kind, {"none", "always", "random", "margin", "confidence"});
    visit("probability", constant);
    visit("delta_pos", delta_pos);
    visit("delta_neg", delta_neg);
    visit("explore", explore);
  }

 private:
  template <class Learner>
  double plain(Learner& learner, const RowLike auto& x, double score, double rho) const {
    if (kind == Kind::always) return 1;
    if (kind == Kind::random) return constant;
    const double delta = score >= 0 ? delta_pos : delta_neg;
    double sure = std::abs(score);
    if (kind == Kind::confidence) {
      if constexpr (can_be_sure<Learner>) {
        double rate = 1;
        if constexpr (requires { learner.learning_rate; }) rate = learner.learning_rate;
        const double v = learner.variance(x), gamma = learner.regularization;
        sure = std::max(0.0, sure - 0.5 * rate * std::max(1.0, rho) * v * gamma / (v + gamma));
      } else {
        throw std::invalid_argument("this learner has no covariance for query='confidence'");
      }
    }
    return delta / (delta + sure);
  }
};

// How many labels may be bought: in all, in each period, or as a share of the events so far. What is
// not bought in a period is lost, or saved for later ones.
struct Budget {
  double labels = std::numeric_limits<double>::infinity();  // in all or in a period
  double fraction = 0;  // of the events so far; 0: no such limit
  double per = 0;       // events in a period; 0: one period, or days
  bool daily = false, saving = false;
  Count events = 0, used = 0;
  Count period = 0, spent = 0;  // the present period and the labels bought in it
  double first = 0;             // day of the first event

  void meet(double day) {
    if (events++ == 0) first = day;
    const double now = daily ? day - first : per > 0 ? std::floor(double(events - 1) / per) : 0;
    if (now > double(period)) {  // an event of an earlier day counts for the present one
      period = static_cast<Count>(now);
      spent = 0;
    }
  }
  double left() const {
    const double allowed = fraction > 0 ? std::floor(fraction * double(events)) - double(used)
                           : saving     ? labels * double(period + 1) - double(used)
                                        : labels - double(spent);
    return std::max(0.0, allowed);
  }
  void spend(Count bought) { used += bought, spent += bought; }

  void options(auto&& visit) {
    visit("budget", labels);
    visit("budget_fraction", fraction);
    visit("budget_per", per);
    visit("budget_daily", daily);
    visit("budget_saving", saving);
  }
  void state(auto&& visit) {
    visit("budget.events", events);
    visit("budget.used", used);
    visit("budget.period", period);
    visit("budget.spent", spent);
    visit("budget.first", first);
  }
};

// Sums over bought labels, each weighed by 1 / probability: they estimate the same sums over all
// events that were met while a label could be bought. The other sums are for their variance.
struct Estimates {
  struct Class {
    double all = 0, wrong = 0;                  // sum of e / pi
    double all_spread = 0, wrong_spread = 0;    // sum of (1 - pi) (e / pi)^2
  };
  double open = 0;  // weight of the events met while a label could be bought
  Class positives, negatives;

  void add(double y, double weight, double score, double probability) {
    Class& c = y > 0 ? positives : negatives;
    const double share = weight / probability, spread = (1 - probability) * share * share;
    const bool wrong = (score >= 0) != (y > 0);
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

// An event that waits for its label, as the learner saw it.
struct Kept {
  double probability = 1, score = 0;
  bool sparse = false;
  double square = 0, scale = 1;
  std::vector<double> values;
  std::vector<Index> indices;

  DenseRow dense_row() const { return {values.data(), static_cast<Index>(values.size()), square, scale}; }
  SparseRow sparse_row() const {
    return {indices.data(), values.data(), static_cast<Index>(values.size()), square, scale};
  }
  std::size_t bytes() const { return sizeof(Kept) + 8 * values.size() + 4 * indices.size(); }
};

// The events that wait, in the order of their numbers, in a ring. When there are too many the oldest is forgotten.
class Pending {
 public:
  // Returns the event that had to be forgotten, or -1.
  std::int64_t add(Count id, Kept&& kept) {
    append(id, std::move(kept));
    if (static_cast<double>(waiting_) <= most_) return -1;
    const Count oldest = at(0).id;  // the first always waits
    forget_at(0);
    return static_cast<std::int64_t>(oldest);
  }
  const Kept* find(Count id) const {
    const std::size_t k = place(id);
    return k < count_ ? &at(k).kept : nullptr;
  }
  bool forget(Count id) {
    const std::size_t k = place(id);
    const bool waits = k < count_;
    if (waits) forget_at(k);
    return waits;
  }
  std::vector<Count> ids() const {
    std::vector<Count> out;
    for (std::size_t k = 0; k < count_; ++k)
      if (at(k).waits) out.push_back(at(k).id);
    return out;
  }
  std::size_t bytes() const { return bytes_; }
  Kept spare() { return std::exchange(spare_, {}); }  // with room for a row, where one was forgotten

  void options(auto&& visit) { visit("max_pending", most_); }
  // `fits` says whether a kept row is one that the learner could have seen.
  void state(auto&& visit, auto fits) {
    Series all;
    for (std::size_t k = 0; k < count_; ++k)
      if (at(k).waits) write(at(k).id, at(k).kept, all.values);
    visit("pending.events", all);
    count_ = waiting_ = bytes_ = 0;
    for (auto from = all.values.cbegin(); from != all.values.cend();) {
      auto [id, kept] = read(from, all.values.cend());
      check(fits(kept) && (count_ == 0 || id > at(count_ - 1).id));
      append(id, std::move(kept));
    }
  }

 private:
  using At = std::vector<double>::const_iterator;
  static constexpr std::ptrdiff_t head = 8;

  static void write(Count id, const Kept& k, std::vector<double>& out) {
    out.insert(out.end(), {double(id), k.probability, k.score, double(k.sparse), k.square, k.scale,
                           double(k.values.size()), double(k.indices.size())});
    out.insert(out.end(), k.values.begin(), k.values.end());
    out.insert(out.end(), k.indices.begin(), k.indices.end());
  }
  static std::pair<Count, Kept> read(At& at, At end) {
    check(end - at >= head);
    const double left = static_cast<double>(end - at - head), n = at[6], m = at[7];
    check(at[0] >= 0 && at[0] < 0x1p53 && at[1] > 0 && at[1] <= 1 && n >= 0 && m >= 0 && n + m <= left);
    Kept k{at[1], at[2], at[3] != 0, at[4], at[5], {}, {}};
    const auto id = static_cast<Count>(at[0]);
    at += head;
    const At values = at, indices = at + static_cast<std::ptrdiff_t>(n);
    k.values.assign(values, indices);
    at = indices + static_cast<std::ptrdiff_t>(m);
    for (At i = indices; i != at; ++i) {
      check(*i >= 0 && *i <= max_features);
      k.indices.push_back(static_cast<Index>(*i));
    }
    return {id, std::move(k)};
  }
  static void check(bool sound) {
    if (!sound) throw std::invalid_argument("state pending.events is not a list of events");
  }

  struct Entry {
    Count id = 0;
    bool waits = false;
    Kept kept;
  };
  Entry& at(std::size_t k) { return ring_[(first_ + k) & (ring_.size() - 1)]; }
  const Entry& at(std::size_t k) const { return ring_[(first_ + k) & (ring_.size() - 1)]; }

  // Where an event waits, or count_.
  std::size_t place(Count id) const {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (at(middle).id < id) low = middle + 1;
      else high = middle;
    }
    return low < count_ && at(low).id == id && at(low).waits ? low : count_;
  }
  void append(Count id, Kept&& kept) {
    if (count_ == ring_.size()) rebuild();
    bytes_ += kept.bytes();
    ++waiting_;
    at(count_++) = {id, true, std::move(kept)};
  }
  void forget_at(std::size_t k) {
    Entry& e = at(k);
    bytes_ -= e.kept.bytes();
    e.waits = false;
    spare_ = std::exchange(e.kept, {});
    --waiting_;
    for (; count_ > 0 && !at(0).waits; --count_) ++first_;
    if (count_ == 0) return;
    const auto& next = at(0).kept.values;  // whose room is wanted soon
    for (std::size_t k = 0; k < std::min<std::size_t>(next.size(), 64); k += 8) __builtin_prefetch(next.data() + k, 1);
  }
  // A ring of those that wait, half empty.
  void rebuild() {
    std::vector<Entry> ring(std::bit_ceil(2 * waiting_ + 1));
    std::size_t count = 0;
    for (std::size_t k = 0; k < count_; ++k)
      if (at(k).waits) ring[count++] = std::move(at(k));
    ring_ = std::move(ring);
    first_ = 0, count_ = count;
  }

  double most_ = 10000;
  std::vector<Entry> ring_;          // as many as a power of two
  std::size_t first_ = 0, count_ = 0;  // of them so many are in use, and some of these no longer wait
  std::size_t waiting_ = 0, bytes_ = 0;
  Kept spare_;
};

struct Decision {
  Count id;
  double probability;  // 0 when no label could be bought
  bool asked;
};

class Asker {
 public:
  Rule rule;
  Budget budget;
  Estimates estimates;
  Pending pending;

  bool on() const { return rule.kind != Rule::Kind::none; }

  template <class Learner>
  Decision decide(Learner& learner, const RowLike auto& x, double score, double rho, double weight,
                  double day) {
    const Count id = budget.events;
    budget.meet(day);
    if (budget.left() < 1) return {id, 0, false};
    const double probability = rule.probability(learner, x, score, rho);
    estimates.open += weight;
    const bool certain = probability >= 1;  // without branches: nobody can foresee an answer
    const bool asked = certain | (draw() < probability);
    draws_ += !certain;
    budget.spend(asked);
    return {id, probability, asked};
  }

  void options(auto&& visit) {
    rule.options(visit);
    budget.options(visit);
    pending.options(visit);
    visit("query_seed", seed_);
  }
  void state(auto&& visit, auto fits) {
    if (!on()) return;
    visit("query.draws", draws_);
    budget.state(visit);
    estimates.state(visit);
    pending.state(visit, fits);
  }

 private:
  double draw() const {
    const std::uint64_t key = splitmix64(static_cast<std::uint64_t>(seed_));
    return static_cast<double>(splitmix64(key + draws_) >> 11) * 0x1p-53;
  }

  double seed_ = 0;
  Count draws_ = 0;
};

// What becomes of the events for which `ask` was called, one place for each.
struct Answers {
  std::int64_t* ids;
  double* scores;
  double* probabilities;
  std::int8_t* asked;
  std::int64_t* forgotten;  // the event that had to make room, or -1
};

}  // namespace lopsided
