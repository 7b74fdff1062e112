// Loops over plain arrays, compiled for AVX2 as well and chosen when the program starts.
#pragma once

#include "row.hpp"

namespace lopsided::kernels {

double squares(const double* x, Index n);

// Are the indices strictly increasing?
bool increasing(const Index* indices, Index n);

// Standard scores. x is absorbed into mean and spread (Welford), z is its score with them; `share`
// is 1 / rows, this one included. With keep = false mean and spread stay as they were.
void centre(const double* x, Index n, double share, double* mean, double* spread, bool keep,
            double* z);

// The same about 0 instead of the mean: absent features stay 0, a sparse row stays sparse.
void divide(const double* x, Index n, double share, double* spread, bool keep, double* z);

// Tiles of a symmetric matrix of double or float, `rows` rows of them: matrix -= s s', then out = matrix * x.
template <class Value>
void subtract_multiply(Value* tiles, std::size_t rows, const Value* x, const Value* s, Value* out,
                       std::vector<Index>& places);
// Only the first of the two.
template <class Value>
void subtract(Value* tiles, std::size_t rows, const Value* s);
// x' matrix x; `sparse` says that x may be 0 at many places, which are then left out. `work` has room for an x.
template <class Value>
double quadratic(const Value* tiles, std::size_t rows, const Value* x, bool sparse, std::vector<Index>& places,
                 Value* work);
// The same of eight x, as fast as of three. `work` has room for as many.
void quadratics(const double* tiles, std::size_t rows, const DenseRow* x, double* work, double* out);

}  // namespace lopsided::kernels
