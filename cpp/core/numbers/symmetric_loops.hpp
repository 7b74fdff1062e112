// Passes over the tiles of a symmetric matrix (symmetric.hpp) of double or float, `rows` rows of them, for the instruction
// set of the processor.
#pragma once

#include "../simd.hpp"
#include "row.hpp"

namespace lopsided::loops {

LOPSIDED_COPIES(template <class Value> void subtract_multiply(Value* tiles, std::size_t rows, const Value* x,
                                                              const Value* s, Value* out, std::vector<Index>& places);
                template <class Value> void subtract(Value* tiles, std::size_t rows, const Value* s);
                template <class Value> double quadratic(const Value* tiles, std::size_t rows, const Value* x,
                                                        bool sparse, std::vector<Index>& places, Value* work);
                void quadratics(const double* tiles, std::size_t rows, const DenseRow* x, double* work, double* out);)

// matrix -= s s', then out = matrix * x.
template <class Value>
void subtract_multiply(Value* tiles, std::size_t rows, const Value* x, const Value* s, Value* out,
                       std::vector<Index>& places) {
  LOPSIDED_BEST(subtract_multiply(tiles, rows, x, s, out, places));
}
// Only the first of the two.
template <class Value>
void subtract(Value* tiles, std::size_t rows, const Value* s) {
  LOPSIDED_BEST(subtract(tiles, rows, s));
}
// x' matrix x; `sparse` says that x may be 0 at many places, which are then left out. `work` has room for an x.
template <class Value>
double quadratic(const Value* tiles, std::size_t rows, const Value* x, bool sparse, std::vector<Index>& places,
                 Value* work) {
  return LOPSIDED_BEST(quadratic(tiles, rows, x, sparse, places, work));
}
// The same of eight x, as fast as of three. `work` has room for as many.
inline void quadratics(const double* tiles, std::size_t rows, const DenseRow* x, double* work, double* out) {
  LOPSIDED_BEST(quadratics(tiles, rows, x, work, out));
}

}  // namespace lopsided::loops
