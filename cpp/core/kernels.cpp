#include "kernels.hpp"

#include "clones.hpp"
#include "row.hpp"
#include "standard.hpp"

namespace lopsided::kernels {

namespace plain {
#include "tiles.inc"
}
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define LOPSIDED_HAS_AVX2 __builtin_cpu_supports("avx2")
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#include "tiles.inc"
}
#pragma GCC pop_options
#else
#define LOPSIDED_HAS_AVX2 false
namespace avx2 = plain;
#endif

void subtract_multiply(double* tiles, std::size_t rows, const double* x, const double* s, double* out,
                       std::vector<Index>& fours) {
  fours.resize(rows);
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double* xi = x + 4 * i;
    fours[count] = static_cast<Index>(i);
    count += ((xi[0] != 0) | (xi[1] != 0)) | ((xi[2] != 0) | (xi[3] != 0));
  }
  if (4 * count > 3 * rows)
    LOPSIDED_HAS_AVX2 ? avx2::subtract_multiply(tiles, rows, x, s, out)
                      : plain::subtract_multiply(tiles, rows, x, s, out);
  else
    LOPSIDED_HAS_AVX2 ? avx2::subtract_multiply(tiles, rows, x, s, out, fours.data(), count)
                      : plain::subtract_multiply(tiles, rows, x, s, out, fours.data(), count);
}

LOPSIDED_CLONES double squares(const double* x, Index n) {
  return lanes::sum(n, [=](Index k) { return x[k] * x[k]; });
}

LOPSIDED_CLONES bool increasing(const Index* indices, Index n) {
  int falls = 0;
  for (Index k = 1; k < n; ++k) falls += indices[k] <= indices[k - 1];
  return falls == 0;
}

LOPSIDED_CLONES void centre(const double* __restrict x, Index n, double share,
                            double* __restrict mean, double* __restrict spread, bool keep,
                            double* __restrict z) {
  for (Index j = 0; j < n; ++j) {
    double m = mean[j], s = spread[j];
    z[j] = standard::centre(x[j], m, s, share);
    mean[j] = keep ? m : mean[j];
    spread[j] = keep ? s : spread[j];
  }
}

LOPSIDED_CLONES void divide(const double* x, Index n, double share, double* __restrict spread,
                            bool keep, double* z) {
#pragma GCC ivdep  // z may be x
  for (Index j = 0; j < n; ++j) {
    double s = spread[j];
    z[j] = standard::divide(x[j], s, share);
    spread[j] = keep ? s : spread[j];
  }
}

}  // namespace lopsided::kernels
