// THE loop: score, ask, learn, record. Learning without a budget is the case "always ask".
#pragma once

#include <optional>

#include "cost.hpp"
#include "prepare.hpp"

namespace lopsided {

// What happened so far. Weighted by the events' weights; a score of 0 predicts positive.
struct Tally {
  double positives = 0, negatives = 0;
  double false_negatives = 0, false_positives = 0;
  Count events = 0, queries = 0, updates = 0;

  void record(double y, double weight, double score) {
    ++events;  // without branches: labels and mistakes are what a processor cannot foresee
    const bool positive = y > 0, called = score >= 0;
    positives += positive ? weight : 0;
    negatives += positive ? 0 : weight;
    false_negatives += positive & !called ? weight : 0;
    false_positives += !positive & called ? weight : 0;
  }
};

// One pass over a batch: what it is given, and what it leaves behind.
struct Pass {
  const std::int8_t* labels = nullptr;    // -1 or 1, one for each row
  const double* weights = nullptr;        // none: all 1
  const std::int64_t* order = nullptr;    // none: as they come
  Count size = 0;                         // rows to visit
  std::optional<double> rho;              // when the class counts are known beforehand
  Count every = 0;                        // rounds between points of the curve; 0: no curve

  double* scores = nullptr;               // progressive scores, in visiting order
  Tally tally;
  std::vector<Tally> curve;

  Count at(Count i) const { return order ? static_cast<Count>(order[i]) : i; }
  double weight(Count row) const {
    const double e = weights ? weights[row] : 1;
    if (!(e >= 0 && e < std::numeric_limits<double>::infinity())) refuse_weight(row);
    return e;
  }
  // Nothing to learn: not even the number of features may change.
  bool weightless() const {
    for (Count i = 0; i < size; ++i)
      if (!weights || weights[at(i)] != 0) return false;
    return true;
  }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] static void refuse_weight(Count row) {
    throw DataError("a weight must be finite and not negative", static_cast<std::int64_t>(row));
  }
};

// The query rule and its budget stand where AlwaysAsk stands.
struct AlwaysAsk {
  constexpr bool operator()(const auto& /*learner*/, const auto& /*row*/, double /*score*/) const {
    return true;
  }
};

[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_score(Count row) {
  throw DataError("the score is not finite: scale the features or choose a smaller step",
                  static_cast<std::int64_t>(row));
}

// The score of a row that has come. A learner that takes something in before it scores has `meet`.
template <class Learner>
double meet(Learner& learner, const RowLike auto& x) {
  if constexpr (requires { learner.meet(x); }) return learner.meet(x);
  else return learner.score(x);
}

template <class Row, class Learner, class Ask>
void progressive(const Rows& rows, Pass& pass, Learner& learner, Prepare& prepare, Cost& cost,
                 Count& round, Ask ask) {
  Scratch read, prepared;
  for (Count i = 0; i < pass.size; ++i) {
    const Count at = pass.at(i);
    const double weight = pass.weight(at);
    const Row raw = rows.row<Row>(at, read);
    if (weight == 0) {
      if (pass.scores) pass.scores[i] = std::numeric_limits<double>::quiet_NaN();
    } else {
      const double y = pass.labels[at];
      const Row x = prepare.row(raw, rows.columns(), true, prepared);
      const double score = meet(learner, x);
      if (!std::isfinite(score)) refuse_score(at);
      if (pass.scores) pass.scores[i] = score;
      pass.tally.record(y, weight, score);
      if (ask(learner, x, score)) {
        ++pass.tally.queries;
        const Target target{y, cost.next(y, weight, pass.rho), weight, ++round};
        pass.tally.updates += learner.learn(x, target, score);
      }
    }
    if (pass.every && ((i + 1) % pass.every == 0 || i + 1 == pass.size))
      pass.curve.push_back(pass.tally);
  }
}

// Scores without learning: what the model would say if the row came next.
template <class Row, class Learner>
void score_all(const Rows& rows, const Learner& learner, Prepare& prepare, Index known, double* out) {
  Scratch read, prepared;
  for (Count i = 0; i < rows.size(); ++i) {
    const Row raw = rows.row<Row>(i, read);
    if constexpr (requires { learner.scales(); })
      out[i] = learner.score(learner.scales() ? raw : prepare.row(raw, known, false, prepared), known);
    else
      out[i] = learner.score(prepare.row(raw, known, false, prepared));
    if (!std::isfinite(out[i])) refuse_score(i);
  }
}

}  // namespace lopsided
