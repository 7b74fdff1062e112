// A threshold between the scores of two classes.
#pragma once

#include <array>
#include <span>

#include "../base.hpp"

namespace lopsided::kernel {

// Half-way between the classes if they are separated, else the first of 500 steps from the smallest positive to the
// largest negative score with the most scores on the right side: positives at or above it, negatives below. 0 if there
// is only one class.
inline double cut(std::span<const double> negative, std::span<const double> positive) {
  if (negative.empty() || positive.empty()) return 0;
  constexpr int steps = 500;
  const double low = *std::min_element(positive.begin(), positive.end());
  const double high = *std::max_element(negative.begin(), negative.end());
  if (low >= high) return low + (high - low) / 2;
  if (!std::isfinite(high - low)) return 0;
  const auto at = [=](int i) { return low + (high - low) * i / steps; };
  // Change in the number of correct scores from step i - 1 to step i.
  std::array<std::int64_t, steps + 2> gain{};
  const auto count = [&](std::span<const double> scores, int change) {
    for (const double v : scores) {
      // The first step above v.
      auto i = static_cast<int>(std::clamp(std::floor((v - low) / (high - low) * steps), 0.0, steps + 0.0));
      while (i > 0 && at(i - 1) > v) --i;
      while (i <= steps && at(i) <= v) ++i;
      gain[static_cast<std::size_t>(i)] += change;
    }
  };
  count(negative, 1);
  count(positive, -1);
  std::int64_t right = 0, most = std::numeric_limits<std::int64_t>::min();
  int best = 0;
  for (int i = 0; i <= steps; ++i) {
    right += gain[static_cast<std::size_t>(i)];
    if (right > most) most = right, best = i;
  }
  return at(best);
}

}  // namespace lopsided::kernel
