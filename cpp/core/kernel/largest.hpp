// The rows of a list with the largest values.
#pragma once

#include "support.hpp"

namespace lopsided::kernel {

// Writes the slots of the k largest values (one per slot of a list) to `out`; among equals those first in the list.
// More than k values are finite, the others are minus infinity.
inline void largest(const Support& rows, const double* values, std::size_t finite, std::size_t k,
                    std::vector<std::size_t>& out) {
  const std::size_t n = rows.size();
  const auto [last, found] = reach(values, n, finite, k);
  out.resize(n);
  std::size_t m = 0;
  if (found == k) {
    for (std::size_t s = 0; m < k; ++s) out[m] = s, m += values[s] >= last;
  } else {
    for (std::size_t s = 0; s < n; ++s) out[m] = s, m += values[s] > last;
    rows.find([&, last = last](std::size_t s) {
      if (values[s] == last) out[m++] = s;
      return m == k;
    });
  }
  out.resize(k);
}

}  // namespace lopsided::kernel
