#include "loops.hpp"

#include <array>
#include <cstring>

#include "../simd.hpp"
#include "row.hpp"
#include "zscore.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lopsided::kernels {

namespace plain {
// a b + c, rounded once.
template <class Vector>
Vector fused(Vector a, Vector b, Vector c) {
  for (std::size_t k = 0; k < sizeof(Vector) / sizeof a[0]; ++k) c[k] = std::fma(a[k], b[k], c[k]);
  return c;
}
#include "symmetric_loops.inc"
}
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define LOPSIDED_HAS_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
inline __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
inline __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
#include "symmetric_loops.inc"
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

// The vectors of x that are not 0. Returns how many they are.
template <class Value>
std::size_t find(const Value* x, std::size_t rows, std::vector<Index>& places) {
  places.resize(rows);
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    places[count] = static_cast<Index>(i);
    count += any(x + plain::side<Value> * i);
  }
  return count;
}
template <class Value>
bool is_far(std::size_t rows) {
  constexpr std::size_t nearby = std::size_t{1} << 19;
  return rows * rows * plain::side<Value> * 16 > nearby;
}

template <class Value>
void subtract_multiply(Value* tiles, std::size_t rows, const Value* x, const Value* s, Value* out,
                       std::vector<Index>& places) {
  const std::size_t count = find(x, rows, places);
  is_far<Value>(rows) ? subtract_multiply<true>(tiles, rows, x, s, out, places.data(), count)
                      : subtract_multiply<false>(tiles, rows, x, s, out, places.data(), count);
}
template void subtract_multiply(double*, std::size_t, const double*, const double*, double*, std::vector<Index>&);
template void subtract_multiply(float*, std::size_t, const float*, const float*, float*, std::vector<Index>&);

template <class Value>
void subtract(Value* tiles, std::size_t rows, const Value* s) {
  LOPSIDED_HAS_AVX2 ? avx2::subtract<false>(tiles, rows, s) : plain::subtract<false>(tiles, rows, s);
}
template void subtract(double*, std::size_t, const double*);
template void subtract(float*, std::size_t, const float*);

template <class Value>
double quadratic(const Value* tiles, std::size_t rows, const Value* x, bool sparse, std::vector<Index>& places,
                 Value* work) {
  const std::size_t count = sparse ? find(x, rows, places) : rows;
  return LOPSIDED_HAS_AVX2 ? avx2::quadratic(tiles, x, places.data(), count, !sparse, work)
                           : plain::quadratic(tiles, x, places.data(), count, !sparse, work);
}
template double quadratic(const double*, std::size_t, const double*, bool, std::vector<Index>&, double*);
template double quadratic(const float*, std::size_t, const float*, bool, std::vector<Index>&, float*);

void quadratics(const double* tiles, std::size_t rows, const DenseRow* x, double* work, double* out) {
  LOPSIDED_HAS_AVX2 ? avx2::quadratics(tiles, rows, x, work, out) : plain::quadratics(tiles, rows, x, work, out);
}

LOPSIDED_CLONES double squares(const double* x, Index n) {
  return lanes::products(n, x, x);
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
