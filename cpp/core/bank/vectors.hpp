// Vectors that hold one number of several models, as wide as the instruction set allows, and sums over a row with the
// same bits as in a single model (row.hpp).
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "../numbers/real.hpp"
#include "../numbers/row.hpp"
#include "../simd.hpp"

LOPSIDED_ISA_BEGIN

#ifdef LOPSIDED_AVX2_COPY
using Widest = Double4;
#else
using Widest = Double2;
#endif

template <class Real>
inline constexpr int models_in = static_cast<int>(sizeof(Real) / sizeof(double));

template <class Real>
using Anywhere [[gnu::aligned(8), gnu::may_alias]] = Real;

// Several vectors at once: as many as four sums can keep in registers.
template <class Real, int parts>
using Pack = std::array<Real, parts>;

template <int parts>
LOPSIDED_INLINE inline void for_each_part(auto visit) {
  [&]<int... p>(std::integer_sequence<int, p...>) {
    (visit(std::integral_constant<int, p>{}), ...);
  }(std::make_integer_sequence<int, parts>{});
}

// Addresses of the next row's features, with `numbers` values each. They are prefetched into the L2 cache, four at a
// time between the sums of this row: all at once they would queue up. Inlined: see prefetch.hpp.
template <std::size_t numbers>
struct Next {
  double* const* places = nullptr;  // readable three entries past the last
  Index size = 0;  // 0: all are cached

  LOPSIDED_INLINE void operator()(Index k) const {
    constexpr std::size_t line = 64 / sizeof(double);
    if (k >= size) return;
    for (int i = 0; i < 4; ++i)
      for (std::size_t at = 0; at < numbers; at += line) __builtin_prefetch(places[k + i] + at, 0, 2);
  }
  // Prefetches what the sums of a row with that many features have not.
  LOPSIDED_INLINE void rest(Index features) const {
    for (Index k = features & ~3; k < size; k += 4) (*this)(k);
  }
};

inline constexpr auto near = [](Index) {};  // no prefetch

// Sums of term(k, part), with the bits of `fixed_order::quarters`.
template <class Real, int parts, class Term>
LOPSIDED_INLINE inline Pack<Real, parts> sums(const SparseRow& x, Term term, auto next) {
  Pack<Real, parts> a{}, b{}, c{}, d{};
  Index k = 0;
  for (; k + 4 <= x.size; k += 4) {  // one by one: there are no registers for more
    next(k);
    for_each_part<parts>([&](auto p) { a[p] += term(k, p); });
    for_each_part<parts>([&](auto p) { b[p] += term(k + 1, p); });
    for_each_part<parts>([&](auto p) { c[p] += term(k + 2, p); });
    for_each_part<parts>([&](auto p) { d[p] += term(k + 3, p); });
  }
  for (; k < x.size; ++k) for_each_part<parts>([&](auto p) { a[p] += term(k, p); });
  for_each_part<parts>([&](auto p) { a[p] = (a[p] + b[p]) + (c[p] + d[p]); });
  return a;
}

// The same with the bits of `fixed_order::sum`, four of its sums at a time.
template <class Real, int parts, class Term>
LOPSIDED_INLINE inline Pack<Real, parts> sums(const DenseRow& x, Term term, auto) {
  constexpr Index width = fixed_order::width;
  Pack<Real, parts> lane[width];
  for (Index first = 0; first < width; first += 4) {
    Pack<Real, parts> a{}, b{}, c{}, d{};
    Index k = first;
    for (; k + 4 <= x.size; k += width)
      for_each_part<parts>([&](auto p) {
        a[p] += term(k, p);
        b[p] += term(k + 1, p);
        c[p] += term(k + 2, p);
        d[p] += term(k + 3, p);
      });
    for_each_part<parts>([&](auto p) {
      if (k < x.size) a[p] += term(k, p);
      if (k + 1 < x.size) b[p] += term(k + 1, p);
      if (k + 2 < x.size) c[p] += term(k + 2, p);
    });
    lane[first] = a, lane[first + 1] = b, lane[first + 2] = c, lane[first + 3] = d;
  }
  Pack<Real, parts> out;
  for_each_part<parts>([&](auto p) {
    Real half[8];
    for (int l = 0; l < 8; ++l) half[l] = lane[l][p] + lane[l + 8][p];
    out[p] = ((half[0] + half[4]) + (half[1] + half[5])) + ((half[2] + half[6]) + (half[3] + half[7]));
  });
  return out;
}

template <class Real, int parts, class Row, class Term>
LOPSIDED_INLINE inline Pack<Real, parts> sums(const Row& x, Term term) {
  return sums<Real, parts>(x, term, near);
}

LOPSIDED_ISA_END
