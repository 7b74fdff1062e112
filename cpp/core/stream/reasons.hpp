// Why a row got its score: a sum of effects.
#pragma once

#include <limits>
#include <vector>

#include "../base.hpp"

namespace lopsided {

// A feature, if bounded within a range of its values.
struct Place {
  Index feature = -1;  // none
  double from = -std::numeric_limits<double>::infinity(), below = std::numeric_limits<double>::infinity();
};

// The effect of a feature, or of two together.
struct Reason {
  Place first, second;
  double effect = 0;
};

// They sum to the score, up to rounding, with `base`: what every row has.
struct Reasons {
  double base = 0;
  std::vector<Reason> all;
};

}  // namespace lopsided
