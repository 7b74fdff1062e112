#include "kernels.hpp"

#include <cstring>

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

// Whether one of 32 bytes of numbers is not 0, by their bits without the signs.
template <class Value>
bool any(const Value* v) {
  constexpr std::uint64_t size = sizeof(Value) == 8 ? ~(1ull << 63) : 0x7fffffff7fffffff;
  std::uint64_t bits[4];
  std::memcpy(bits, v, sizeof bits);
  return (((bits[0] | bits[1]) | (bits[2] | bits[3])) & size) != 0;
}

template <bool far, class Value>
void subtract_multiply(Value* tiles, std::size_t rows, const Value* x, const Value* s, Value* out,
                       const Index* places, std::size_t count) {
  if (4 * count > 3 * rows)
    LOPSIDED_HAS_AVX2 ? avx2::subtract_multiply<far>(tiles, rows, x, s, out)
                      : plain::subtract_multiply<far>(tiles, rows, x, s, out);
  else
    LOPSIDED_HAS_AVX2 ? avx2::subtract_multiply<far>(tiles, rows, x, s, out, places, count)
                      : plain::subtract_multiply<far>(tiles, rows, x, s, out, places, count);
}

template <class Value>
void subtract_multiply(Value* tiles, std::size_t rows, const Value* x, const Value* s, Value* out,
                       std::vector<Index>& places) {
  constexpr std::size_t side = plain::side<Value>, nearby = std::size_t{1} << 19;
  places.resize(rows);
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    places[count] = static_cast<Index>(i);
    count += any(x + side * i);
  }
  rows * rows * side * 16 > nearby ? subtract_multiply<true>(tiles, rows, x, s, out, places.data(), count)
                                   : subtract_multiply<false>(tiles, rows, x, s, out, places.data(), count);
}
template void subtract_multiply(double*, std::size_t, const double*, const double*, double*, std::vector<Index>&);
template void subtract_multiply(float*, std::size_t, const float*, const float*, float*, std::vector<Index>&);

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
