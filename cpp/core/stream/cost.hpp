// rho, the price of a missed positive in false alarms: given, from counts, or estimated as the
// stream runs.
#pragma once

#include <optional>

#include "../base.hpp"
#include "../simd.hpp"

namespace lopsided {

struct Cost {
  bool balanced = false;       // estimate rho from the class counts
  double ratio = 1;            // rho when not balanced
  double odds = 1;             // sensitivity weight / specificity weight, when balanced
  bool count_current = false;  // let the current label into the estimate
  double positives = 0, negatives = 0;  // weight seen of each class

  // Laplace estimate of (odds) negatives / positives.
  double rho() const { return balanced ? odds * (negatives + 1) / (positives + 1) : ratio; }

  // The cost of this label's class; the label is counted. `known` is a rho from outside.
  LOPSIDED_INLINE double next(double y, double weight, const std::optional<double>& known) {
    const double before = known ? *known : count_current ? 0 : rho();
    (y > 0 ? positives : negatives) += weight;
    if (y < 0) return 1;
    return known || !count_current ? before : rho();
  }

  void fade() { positives /= 2, negatives /= 2; }

  void options(auto&& visit) {
    visit("balanced", balanced);
    visit("ratio", ratio);
    visit("odds", odds);
    visit("count_current", count_current);
  }
  void state(auto&& visit) {
    visit("cost.positives", positives);
    visit("cost.negatives", negatives);
  }
};

}  // namespace lopsided
