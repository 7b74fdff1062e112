// One pass over a batch: what it is given, and what it leaves behind.
#pragma once

#include <optional>
#include <span>

#include "../input/rows.hpp"
#include "decider.hpp"

namespace lopsided {

// What happened so far. Weighted by the events' weights.
struct Tally {
  double positives = 0, negatives = 0;
  double false_negatives = 0, false_positives = 0;
  Count events = 0, queries = 0, updates = 0;
  double money = 0;  // what the answers cost, where they have prices

  void record(double y, double weight, bool called) {
    ++events;  // branchless: labels and mistakes cannot be predicted
    const bool positive = y > 0;
    positives += positive ? weight : 0;
    negatives += positive ? 0 : weight;
    false_negatives += positive & !called ? weight : 0;
    false_positives += !positive & called ? weight : 0;
  }
};

// The label of an event that was met in an earlier pass and waits.
struct Late {
  double after, id;  // it comes after event `after`
  double y, weight;
};

struct Pass {
  const std::int8_t* labels = nullptr;    // -1 or 1, one for each row
  const double* weights = nullptr;        // none: all 1
  const std::int64_t* order = nullptr;    // none: as they come
  Count size = 0;                         // rows to visit
  std::optional<double> rho;              // when the class counts are known beforehand
  Count every = 0;                        // rounds between points of the curve; 0: no curve
  const double* days = nullptr;           // of each row, for a budget that is daily
  const double* delays = nullptr;         // events that come before each row's label, NaN: never; none: at once
  std::span<const Late> earlier;          // labels that come during the pass, by their events
  bool free = false;                      // unasked labels of earlier events
  double sampled = 0;                     // the chance with which these came to be known; 0: nobody knows
  PriceList prices;                       // of each row

  double* scores = nullptr;               // progressive scores, in visiting order
  double* chances = nullptr;              // probabilities of the positive class by those scores, the same way
  std::int8_t* alarms = nullptr;          // 1 where the decision is positive, the same way
  double* probabilities = nullptr;        // of a question, the same way
  std::int8_t* asked = nullptr;           // 1 where the label was bought
  Count forgotten = 0;                    // labels that were bought and would have come too late
  Tally tally;
  std::vector<Tally> curve;

  Count at(Count i) const { return order ? static_cast<Count>(order[i]) : i; }
  double weight(Count row) const {
    const double e = weights ? weights[row] : 1;
    if (!(e >= 0 && e < std::numeric_limits<double>::infinity())) refuse_weight(row);
    return e;
  }
  // How many rows are worth a hint that they come: as long as they are in order the machine finds dense and short ones
  // by itself.
  Count fetched(const Rows& rows) const {
    constexpr Count short_row = 32;
    return order || (rows.sparse() && rows.stored() > short_row * rows.size()) ? size : 0;
  }
  // An event of weight 0 has no score.
  void leave_out(Count i) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (scores) scores[i] = nan;
    if (chances) chances[i] = nan;
    if (alarms) alarms[i] = 0;
    if (probabilities) probabilities[i] = nan;
  }
  // A point of the curve.
  [[gnu::noinline]] void mark() { curve.push_back(tally); }
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

[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_score(Count row) {
  throw DataError("the score is not finite: scale the features or choose a smaller step",
                  static_cast<std::int64_t>(row));
}

}  // namespace lopsided
