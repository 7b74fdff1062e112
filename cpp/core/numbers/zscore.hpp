// The z-score of a value under the running statistics of its feature.
#pragma once

#include <algorithm>
#include <cmath>

namespace lopsided::standard {

inline constexpr double tiny = 2.2250738585072014e-308;  // the least variance: keeps 0/0 out of constant columns

// x absorbed into mean and spread (Welford), then its standard score.
inline double centre(double x, double& mean, double& spread, double share) {
  const double gap = x - mean;
  mean += gap * share;
  spread += gap * (x - mean);
  return (x - mean) / std::sqrt(std::max(spread * share, tiny));
}

inline double divide(double x, double& spread, double share) {
  spread += x * x;
  return x / std::sqrt(std::max(spread * share, tiny));
}

}  // namespace lopsided::standard
