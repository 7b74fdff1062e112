// Numbers of several models side by side, as wide as the instruction set has them, and sums over a row with the
// bits that each model alone would get (row.hpp). What takes or returns vectors is always inlined: one function for
// AVX2 must not call another that is not.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "../real.hpp"
#include "../row.hpp"

namespace lopsided {

typedef double Two __attribute__((vector_size(16)));
typedef double Four __attribute__((vector_size(32)));

template <class Real>
inline constexpr int models_in = static_cast<int>(sizeof(Real) / sizeof(double));

template <class Which>
  requires(sizeof(Which) >= 16)
bool any(const Which& which) {
  long long found = 0;
  for (int l = 0; l < static_cast<int>(sizeof(Which) / sizeof(long long)); ++l) found |= which[l];
  return found != 0;
}
template <class Real>
  requires(sizeof(Real) >= 16)
Real root(const Real& value) {
  Real out;
  for (int l = 0; l < models_in<Real>; ++l) out[l] = std::sqrt(value[l]);
  return out;
}

template <class Real>
using Anywhere [[gnu::aligned(8), gnu::may_alias]] = Real;

// Several vectors at once, as many as there is room for in the registers of four sums.
template <class Real, int parts>
using Pack = std::array<Real, parts>;

template <int parts>
[[gnu::always_inline]] inline void for_each_part(auto visit) {
  [&]<int... p>(std::integer_sequence<int, p...>) {
    (visit(std::integral_constant<int, p>{}), ...);
  }(std::make_integer_sequence<int, parts>{});
}

// Sums of term(k, part), with the bits of `lanes::quarters`.
template <class Real, int parts, class Term>
[[gnu::always_inline]] inline Pack<Real, parts> sums(const SparseRow& x, Term term) {
  Pack<Real, parts> a{}, b{}, c{}, d{};
  Index k = 0;
  for (; k + 4 <= x.size; k += 4)
    for_each_part<parts>([&](auto p) {
      a[p] += term(k, p);
      b[p] += term(k + 1, p);
      c[p] += term(k + 2, p);
      d[p] += term(k + 3, p);
    });
  for (; k < x.size; ++k) for_each_part<parts>([&](auto p) { a[p] += term(k, p); });
  for_each_part<parts>([&](auto p) { a[p] = (a[p] + b[p]) + (c[p] + d[p]); });
  return a;
}

// The same with the bits of `lanes::sum`, four of its sums at a time.
template <class Real, int parts, class Term>
[[gnu::always_inline]] inline Pack<Real, parts> sums(const DenseRow& x, Term term) {
  constexpr Index width = lanes::width;
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

}  // namespace lopsided
