// Loops over plain arrays, for the instruction set of the processor.
#pragma once

#include "../simd.hpp"
#include "row.hpp"

namespace lopsided::loops {

LOPSIDED_COPIES(double squares(const double* x, Index n); bool increasing(const Index* indices, Index n);
                void centre(const double* x, Index n, double share, double* mean, double* spread, bool keep, double* z);
                void divide(const double* x, Index n, double share, double* spread, bool keep, double* z);
                void widen(const std::int8_t* from, double* to, std::size_t n);
                void widen(const float* from, double* to, std::size_t n);
                bool all_finite(const double* values, std::size_t n);
                std::uint32_t falls(const Index* indices, std::size_t n);
                bool within(const Index* indices, std::size_t n, Index columns);)

inline double squares(const double* x, Index n) { return LOPSIDED_BEST(squares(x, n)); }

// Are the indices strictly increasing?
inline bool increasing(const Index* indices, Index n) { return LOPSIDED_BEST(increasing(indices, n)); }

// Standard scores. x is absorbed into mean and spread (Welford), z is its score with them; `share`
// is 1 / rows, this one included. With keep = false mean and spread stay unchanged.
inline void centre(const double* x, Index n, double share, double* mean, double* spread, bool keep, double* z) {
  LOPSIDED_BEST(centre(x, n, share, mean, spread, keep, z));
}
// The same about 0 instead of the mean: absent features stay 0, a sparse row stays sparse.
inline void divide(const double* x, Index n, double share, double* spread, bool keep, double* z) {
  LOPSIDED_BEST(divide(x, n, share, spread, keep, z));
}

// Bytes or floats as doubles.
template <class Value>
void widen(const Value* from, double* to, std::size_t n) {
  LOPSIDED_BEST(widen(from, to, n));
}
inline bool all_finite(const double* values, std::size_t n) { return LOPSIDED_BEST(all_finite(values, n)); }
// How often an index is not above the one before.
inline std::uint32_t falls(const Index* indices, std::size_t n) { return LOPSIDED_BEST(falls(indices, n)); }
// Whether all indices are in 0 .. columns - 1.
inline bool within(const Index* indices, std::size_t n, Index columns) {
  return LOPSIDED_BEST(within(indices, n, columns));
}

}  // namespace lopsided::loops
