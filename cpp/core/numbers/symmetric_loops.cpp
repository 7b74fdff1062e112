// A tile has as many rows and columns as a vector has values; its rows are worked on by fours.
#include "symmetric_loops.hpp"

#include <cstring>

#include "vectors.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

LOPSIDED_REGION_BEGIN
namespace lopsided::loops::LOPSIDED_ISA {

// a b + c, rounded once.
#ifdef LOPSIDED_AVX2_COPY
inline __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
inline __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
#else
template <class Vector>
Vector fused(Vector a, Vector b, Vector c) {
  for (std::size_t k = 0; k < sizeof(Vector) / sizeof a[0]; ++k) c[k] = std::fma(a[k], b[k], c[k]);
  return c;
}
#endif

template <class Value>
struct Vectors;
template <>
struct Vectors<double> {
  typedef Double4View One;
  typedef One Folded;
};
template <>
struct Vectors<float> {
  typedef float One __attribute__((vector_size(32), aligned(4), may_alias));
  typedef float Folded __attribute__((vector_size(16), aligned(4), may_alias));
};

template <class Value>
inline constexpr std::size_t side = 32 / sizeof(Value);

template <class Value>
inline const typename Vectors<Value>::One& one(const Value* p) {
  return *reinterpret_cast<const typename Vectors<Value>::One*>(p);
}
template <class Value>
inline typename Vectors<Value>::One& one(Value* p) {
  return *reinterpret_cast<typename Vectors<Value>::One*>(p);
}

template <class Value>
struct Rows4 {
  typename Vectors<Value>::One a, b, c, d;
};
template <class Value>
inline Rows4<Value> rows4(const Value* tile) {
  constexpr std::size_t n = side<Value>;
  return {one(tile), one(tile + n), one(tile + 2 * n), one(tile + 3 * n)};
}
// `far`: the matrix does not fit the L2 cache, so tiles are prefetched 16 ahead.
template <bool far, class Value>
inline Rows4<Value> subtract(Value* tile, const Value* si, const Value* s) {
  constexpr std::size_t n = side<Value>, ahead = 16 * n * n;
  if constexpr (far) __builtin_prefetch(tile + ahead), __builtin_prefetch(tile + ahead + 2 * n);
  const typename Vectors<Value>::One sj = one(s);
  const Rows4<Value> t = {one(tile) - si[0] * sj, one(tile + n) - si[1] * sj, one(tile + 2 * n) - si[2] * sj,
                          one(tile + 3 * n) - si[3] * sj};
  one(tile) = t.a, one(tile + n) = t.b, one(tile + 2 * n) = t.c, one(tile + 3 * n) = t.d;
  return t;
}
template <class Value>
inline void add(Rows4<Value>& sum, const Rows4<Value>& t, const Value* x) {
  const typename Vectors<Value>::One xj = one(x);
  sum.a += t.a * xj, sum.b += t.b * xj, sum.c += t.c * xj, sum.d += t.d * xj;
}
template <class Value>
inline void add_across(Value* out, const Rows4<Value>& t, const Value* xi) {
  one(out) += ((t.a * xi[0] + t.b * xi[1]) + t.c * xi[2]) + t.d * xi[3];
}

inline Vectors<double>::Folded folded(Vectors<double>::One v) { return v; }
inline Vectors<float>::Folded folded(Vectors<float>::One v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
template <class Value>
inline void finish(Value* out, const Rows4<Value>& sum) {
  using Folded = typename Vectors<Value>::Folded;
  const Folded a = folded(sum.a), b = folded(sum.b), c = folded(sum.c), d = folded(sum.d);
  const Folded p = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  const Folded q = __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  const Folded r = __builtin_shufflevector(p, q, 0, 4, 2, 6) + __builtin_shufflevector(p, q, 1, 5, 3, 7);
  *reinterpret_cast<Folded*>(out) = __builtin_shufflevector(r, r, 0, 2, 1, 3);
}

template <bool far, class Value>
void subtract(Value* __restrict tiles, std::size_t rows, const Value* __restrict s) {
  constexpr std::size_t n = side<Value>;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j <= i; ++j, tiles += n * n)
      for (std::size_t h = 0; h < n; h += 4) subtract<far>(tiles + n * h, s + n * i + h, s + n * j);
}

// x' matrix x, where x is 0 but in the vectors place(0), place(1), ..., place(count - 1). Column by column of the lower
// triangle, half of the diagonal's tiles, since what is beside them is there twice; products and sums are fused.
template <class Value>
double quadratic(const Value* __restrict tiles, const Value* __restrict x, std::size_t count, auto place,
                 Value* __restrict sums) {
  using One = typename Vectors<Value>::One;
  constexpr std::size_t n = side<Value>;
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t i = place(a);
    const Value* row = tiles + n * n * (i * (i + 1) / 2);
    const auto add = [&](std::size_t j, One sum, Value share) __attribute__((always_inline)) {
      for (std::size_t r = 0; r < n; ++r) {
        const One by = share * x[n * i + r] - One{};
        sum = fused(one(row + n * n * j + n * r), by, sum);
      }
      one(sums + n * j) = sum;
    };
    for (std::size_t b = 0; b < a; ++b) add(place(b), one(sums + n * place(b)), 1);
    add(i, One{}, Value(0.5));
  }
  One total{};
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t j = n * place(a);
    total = fused(one(sums + j), one(x + j), total);
  }
  const auto four = folded(total);
  return 2 * ((four[0] + four[2]) + (four[1] + four[3]));
}
template <class Value>
double quadratic(const Value* tiles, const Value* x, const Index* places, std::size_t count, bool all, Value* sums) {
  if (all) return quadratic(tiles, x, count, [](std::size_t a) { return a; }, sums);
  return quadratic(tiles, x, count, [=](std::size_t a) { return static_cast<std::size_t>(places[a]); }, sums);
}

// Four numbers of each of four rows from j on, 0 beyond their ends, become columns of `to`.
inline void turn(const DenseRow* x, Index j, double* to, std::size_t columns) {
  using One = Vectors<double>::One;
  const auto part = [=](const DenseRow& row) __attribute__((always_inline)) -> One {
    const Index left = row.size - j;
    if (left >= 4) return row.scale * one(row.values + j);
    if (left <= 0) return One{};
    if (row.size < 4) return One{row.value(0), left > 1 ? row.value(1) : 0, left > 2 ? row.value(2) : 0, 0};
    const One last = row.scale * one(row.values + row.size - 4), none{};
    return left == 1   ? __builtin_shufflevector(last, none, 3, 4, 5, 6)
           : left == 2 ? __builtin_shufflevector(last, none, 2, 3, 4, 5)
                       : __builtin_shufflevector(last, none, 1, 2, 3, 4);
  };
  const One a = part(x[0]), b = part(x[1]), c = part(x[2]), d = part(x[3]);
  const auto p = __builtin_shufflevector(a, b, 0, 4, 2, 6), q = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const auto r = __builtin_shufflevector(c, d, 0, 4, 2, 6), s = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  one(to) = __builtin_shufflevector(p, r, 0, 1, 4, 5), one(to + columns) = __builtin_shufflevector(q, s, 0, 1, 4, 5);
  one(to + 2 * columns) = __builtin_shufflevector(p, r, 2, 3, 6, 7);
  one(to + 3 * columns) = __builtin_shufflevector(q, s, 2, 3, 6, 7);
}
// The same of eight x at once, a place of a vector for each.
void quadratics(const double* __restrict tiles, std::size_t rows, const DenseRow* x, double* __restrict turned,
                double* out) {
  using One = Vectors<double>::One;
  constexpr std::size_t n = 4, many = 8;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < many; k += n) turn(x + k, static_cast<Index>(n * i), turned + many * n * i + k, many);
  One total[n][2] = {};
  for (std::size_t j = 0; j < rows; ++j) {
    const double* tile = tiles + n * n * (j * (j + 1) / 2 + j);
    One sum[n][2] = {};
    const auto add = [&](std::size_t i, double share) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (std::size_t r = 0; r < n; ++r) {
        const double* xi = turned + many * (n * i + r);
        const One first = share * one(xi), second = share * one(xi + n);
#pragma GCC unroll 4
        for (std::size_t k = 0; k < n; ++k) {
          const One by = tile[n * r + k] - One{};
          sum[k][0] = fused(by, first, sum[k][0]), sum[k][1] = fused(by, second, sum[k][1]);
        }
      }
      tile += n * n * (i + 1);
    };
    add(j, 0.5);
    for (std::size_t i = j + 1; i < rows; ++i) add(i, 1);
    for (std::size_t k = 0; k < n; ++k) {
      const double* xj = turned + many * (n * j + k);
      total[k][0] = fused(sum[k][0], one(xj), total[k][0]), total[k][1] = fused(sum[k][1], one(xj + n), total[k][1]);
    }
  }
  for (std::size_t h = 0; h < 2; ++h)
    one(out + n * h) = 2 * ((total[0][h] + total[2][h]) + (total[1][h] + total[3][h]));
}

template <bool far, class Value>
void subtract_multiply(Value* __restrict tiles, std::size_t rows, const Value* __restrict x, const Value* __restrict s,
                       Value* __restrict out) {
  constexpr std::size_t n = side<Value>;
  for (std::size_t i = 0; i < rows; tiles += n * n * ++i)
    for (std::size_t h = 0; h < n; h += 4) {
      const Value *xi = x + n * i + h, *si = s + n * i + h;
      Value* tile = tiles + n * h;
      Rows4<Value> sum{};
      for (std::size_t j = 0; j < i; ++j, tile += n * n) {
        const Rows4<Value> t = subtract<far>(tile, si, s + n * j);
        add(sum, t, x + n * j);
        add_across(out + n * j, t, xi);
      }
      add(sum, subtract<far>(tile, si, s + n * i), x + n * i);
      finish(out + n * i + h, sum);
    }
}

// The same bits where only `count` vectors of x are nonzero: products with 0 are left out.
template <bool far, class Value>
void subtract_multiply(Value* __restrict tiles, std::size_t rows, const Value* __restrict x, const Value* __restrict s,
                       Value* __restrict out, const Index* __restrict places, std::size_t count) {
  constexpr std::size_t n = side<Value>;
  std::size_t before = 0;
  for (std::size_t i = 0; i < rows; tiles += n * n * ++i) {
    const bool here = before < count && static_cast<std::size_t>(places[before]) == i;
    for (std::size_t h = 0; h < n; h += 4) {
      const Value *xi = x + n * i + h, *si = s + n * i + h;
      Value *first = tiles + n * h, *tile = first;
      const int some = here ? (xi[0] != 0) + (xi[1] != 0) + (xi[2] != 0) + (xi[3] != 0) : 0;
      if (some == 1) {
        const std::size_t r = xi[0] != 0 ? 0 : xi[1] != 0 ? 1 : xi[2] != 0 ? 2 : 3;
        for (std::size_t j = 0; j < i; ++j, tile += n * n) {
          subtract<far>(tile, si, s + n * j);
          one(out + n * j) += one(tile + n * r) * xi[r];
        }
      } else if (some) {
        for (std::size_t j = 0; j < i; ++j, tile += n * n)
          add_across(out + n * j, subtract<far>(tile, si, s + n * j), xi);
      } else {
        for (std::size_t j = 0; j < i; ++j, tile += n * n) subtract<far>(tile, si, s + n * j);
      }
      const Rows4<Value> last = subtract<far>(tile, si, s + n * i);
      Rows4<Value> sum{};
      for (std::size_t b = 0; b < before; ++b) {
        const std::size_t j = static_cast<std::size_t>(places[b]);
        add(sum, rows4(first + n * n * j), x + n * j);
      }
      if (here) add(sum, last, x + n * i);
      finish(out + n * i + h, sum);
    }
    before += here;
  }
}

// Whether one of 32 bytes of numbers is not 0, by their bits without the signs.
template <class Value>
bool any(const Value* v) {
  constexpr std::uint64_t size = sizeof(Value) == 8 ? ~(1ull << 63) : 0x7fffffff7fffffff;
  std::uint64_t bits[4];
  std::memcpy(bits, v, sizeof bits);
  return (((bits[0] | bits[1]) | (bits[2] | bits[3])) & size) != 0;
}

template <bool far, class Value>
void subtract_multiply_some(Value* tiles, std::size_t rows, const Value* x, const Value* s, Value* out,
                            const Index* places, std::size_t count) {
  if (4 * count > 3 * rows) subtract_multiply<far>(tiles, rows, x, s, out);
  else subtract_multiply<far>(tiles, rows, x, s, out, places, count);
}

// The vectors of x that are not 0. Returns how many they are.
template <class Value>
std::size_t find(const Value* x, std::size_t rows, std::vector<Index>& places) {
  places.resize(rows);
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    places[count] = static_cast<Index>(i);
    count += any(x + side<Value> * i);
  }
  return count;
}
template <class Value>
bool is_far(std::size_t rows) {
  constexpr std::size_t nearby = std::size_t{1} << 19;
  return rows * rows * side<Value> * 16 > nearby;
}

template <class Value>
void subtract_multiply(Value* tiles, std::size_t rows, const Value* x, const Value* s, Value* out,
                       std::vector<Index>& places) {
  const std::size_t count = find(x, rows, places);
  is_far<Value>(rows) ? subtract_multiply_some<true>(tiles, rows, x, s, out, places.data(), count)
                      : subtract_multiply_some<false>(tiles, rows, x, s, out, places.data(), count);
}
template void subtract_multiply(double*, std::size_t, const double*, const double*, double*, std::vector<Index>&);
template void subtract_multiply(float*, std::size_t, const float*, const float*, float*, std::vector<Index>&);

template <class Value>
void subtract(Value* tiles, std::size_t rows, const Value* s) {
  subtract<false>(tiles, rows, s);
}
template void subtract(double*, std::size_t, const double*);
template void subtract(float*, std::size_t, const float*);

template <class Value>
double quadratic(const Value* tiles, std::size_t rows, const Value* x, bool sparse, std::vector<Index>& places,
                 Value* work) {
  const std::size_t count = sparse ? find(x, rows, places) : rows;
  return quadratic(tiles, x, places.data(), count, !sparse, work);
}
template double quadratic(const double*, std::size_t, const double*, bool, std::vector<Index>&, double*);
template double quadratic(const float*, std::size_t, const float*, bool, std::vector<Index>&, float*);

}  // namespace lopsided::loops::LOPSIDED_ISA
LOPSIDED_REGION_END
