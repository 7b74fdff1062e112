// Kernel functions of two rows, computed from an inner sum of the pair and that of each row with itself.
//
//   gaussian    exp(-gamma |x - z|^2)      inner = x.z
//   laplacian   exp(-gamma |x - z|_1)      inner = sum of min(|x_j|, |z_j|) where the signs agree
//   linear      x.z
//   polynomial  (gamma x.z + coef0)^degree
//
// A distance is self(x) + self(z) - 2 inner(x, z), with self(x) = inner(x, x). Inner sums run over the
// features in order, one after the other: a 0 in either row changes no bit, so dense and sparse rows give
// the same bits, in either order, and rows may grow. Several rows are summed at a time.
#pragma once

#include <utility>

#include "../base.hpp"
#include "../numbers/aligned.hpp"
#include "../simd.hpp"

namespace lopsided::kernel {

inline constexpr std::size_t tile_rows =
    16;  // rows side by side in a tile: value of feature j of row l at j * tile_rows + l

enum class Form { gaussian, laplacian, linear, polynomial };

struct Function {
  Form form = Form::gaussian;
  double gamma = 1, degree = 3, coef0 = 1;

  bool radial() const { return form == Form::gaussian || form == Form::laplacian; }
  // `inner` holds inner sums with n rows, whose own are `selves`; they become kernels.
  void apply(double self, const double* selves, std::size_t n, double* inner) const;
  double of_itself(double self) const {
    if (radial()) return 1;
    apply(self, &self, 1, &self);
    return self;
  }
};

// A term of an inner sum.
inline double overlap(double x, double z) {
  const double low = x < z ? x : z, high = x < z ? z : x;
  return (low > 0 ? low : 0) - (high < 0 ? high : 0);
}

// A number that k of the values reach and no more, if there is one, else the k-th largest; and how many reach it.
struct Reached {
  double least;
  std::size_t count;
};

LOPSIDED_COPIES(void dots(const Aligned* tiles, std::size_t slots, const double* x, std::size_t n, double* out);
                void overlaps(const Aligned* tiles, std::size_t slots, const double* x, std::size_t n, double* out);
                void exponentials(double* x, std::size_t n);
                void apply(const Function& function, double self, const double* selves, std::size_t n, double* inner);
                double weighted(const double* a, const double* b, std::size_t n);
                void combine(double* out, std::size_t n, const double* const* rows, const double* factors,
                             std::size_t count);
                std::size_t at_least(const double* values, std::size_t n, double least);
                double most(const double* values, std::size_t n);
                Reached reach(const double* values, std::size_t n, std::size_t finite, std::size_t k);)

// Inner sums of x, which has n features, with the rows of tiles, and a few more up to the end of a vector.
inline void dots(const Aligned* tiles, std::size_t slots, const double* x, std::size_t n, double* out) {
  LOPSIDED_BEST(dots(tiles, slots, x, n, out));
}
inline void overlaps(const Aligned* tiles, std::size_t slots, const double* x, std::size_t n, double* out) {
  LOPSIDED_BEST(overlaps(tiles, slots, x, n, out));
}

// e^x for x <= 0, within 1e-14 relative; 0 below -708.
inline void exponentials(double* x, std::size_t n) { LOPSIDED_BEST(exponentials(x, n)); }

// Sum of a_i b_i, with the same bits on every instruction set.
inline double weighted(const double* a, const double* b, std::size_t n) { return LOPSIDED_BEST(weighted(a, b, n)); }
// out += sum over k of factors[k] * rows[k]; n is a multiple of `tile_rows`.
inline void combine(double* out, std::size_t n, const double* const* rows, const double* factors, std::size_t count) {
  LOPSIDED_BEST(combine(out, n, rows, factors, count));
}
// How many of the values are at least `least`.
inline std::size_t at_least(const double* values, std::size_t n, double least) {
  return LOPSIDED_BEST(at_least(values, n, least));
}
// The largest.
inline double most(const double* values, std::size_t n) { return LOPSIDED_BEST(most(values, n)); }
// More than k values are finite, the others are minus infinity. By bisection: a pass over the values is cheap, comparing
// and moving them is not.
inline Reached reach(const double* values, std::size_t n, std::size_t finite, std::size_t k) {
  return LOPSIDED_BEST(reach(values, n, finite, k));
}

inline void Function::apply(double self, const double* selves, std::size_t n, double* inner) const {
  LOPSIDED_BEST(apply(*this, self, selves, n, inner));
}

}  // namespace lopsided::kernel
