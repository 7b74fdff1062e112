// The rows of a list with the largest values.
#pragma once

#include <bit>

#include "support.hpp"

namespace lopsided::kernel {

// Whole numbers in the order of the doubles.
inline constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;
inline std::uint64_t as_key(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v + 0.0);
  return bits & top_bit ? ~bits : bits | top_bit;
}
inline double from_key(std::uint64_t key) { return std::bit_cast<double>(key & top_bit ? key & ~top_bit : ~key); }

// The slots of the k largest of the values of a list's rows, by slot, into `out`; among equals those first in
// the list. More than k values are finite, the others are minus infinity, and if there are such `out` names
// the finite ones. By bisection: a pass over the values is cheap, comparing and moving them is not.
inline void largest(const Support& rows, const double* values, std::size_t finite, std::size_t k,
                    std::vector<std::size_t>& out) {
  const std::size_t n = rows.size();
  auto [least, most] = extremes(values, n);
  if (finite < n) {
    least = most;
    for (const std::size_t s : out) least = std::min(least, values[s]);
  }
  std::uint64_t low = as_key(least), high = as_key(most) + 1;  // at least k are >= low, fewer >= high
  std::size_t found = finite;
  while (found != k && high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::size_t count = at_least(values, n, from_key(middle));
    if (count >= k) low = middle, found = count;
    else high = middle;
  }
  const double last = from_key(low);
  out.resize(n);
  std::size_t m = 0;
  if (found == k) {
    for (std::size_t s = 0; m < k; ++s) out[m] = s, m += values[s] >= last;
  } else {
    for (std::size_t s = 0; s < n; ++s) out[m] = s, m += values[s] > last;
    rows.find([&](std::size_t s) {
      if (values[s] == last) out[m++] = s;
      return m == k;
    });
  }
  out.resize(k);
}

}  // namespace lopsided::kernel
