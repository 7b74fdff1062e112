// One example, dense or sparse. Learners are written once, against RowLike.
//
// `scale` multiplies every value: a row scaled to unit length needs no copy. `square` is the sum of squares of the
// values before that. Sums have a fixed number of accumulators and a fixed order, so that they have the same bits on
// every instruction set; they are inlined and take the instruction set of their caller.
#pragma once

#include <concepts>

#include "../base.hpp"
#include "../simd.hpp"
#include "vectors.hpp"

namespace lopsided {

namespace fixed_order {

inline constexpr Index width = 16;

LOPSIDED_INLINE inline double total(const double (&lane)[width]) {
  double half[8];
  for (int k = 0; k < 8; ++k) half[k] = lane[k] + lane[k + 8];
  return ((half[0] + half[4]) + (half[1] + half[5])) + ((half[2] + half[6]) + (half[3] + half[7]));
}

// The sum of a short row: two accumulators in each of eight registers; an array would go to memory.
template <class Term>
LOPSIDED_INLINE inline double short_sum(Index n, Term term) {
  Double2 a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  Index k = 0;
  const auto add = [&](Double2& lane) __attribute__((always_inline)) {
    lane += Double2{term(k), term(k + 1)};
    k += 2;
  };
  while (k + width <= n) add(a), add(b), add(c), add(d), add(e), add(f), add(g), add(h);
  const auto rest = [&](Double2& lane) __attribute__((always_inline)) {
    if (k + 2 <= n) return add(lane), true;
    if (k < n) lane[0] += term(k);
    return false;
  };
  rest(a) && rest(b) && rest(c) && rest(d) && rest(e) && rest(f) && rest(g) && rest(h);
  const Double2 low = (a + e) + (c + g), high = (b + f) + (d + h);
  return (low[0] + low[1]) + (high[0] + high[1]);
}

// Sum of term(k) for k in [0, n). Always inlined: it takes the instruction set of its caller.
template <class Term>
LOPSIDED_INLINE inline double sum(Index n, Term term) {
  if (n < 6 * width) return short_sum(n, term);
  double lane[width] = {};
  Index k = 0;
  for (; k + width <= n; k += width)
    for (Index l = 0; l < width; ++l) lane[l] += term(k + l);
  for (Index l = 0; k + l < n; ++l) lane[l] += term(k + l);
  return total(lane);
}

// Loads element k of an array: one number, or four adjacent ones.
struct At {
  Index k;
  LOPSIDED_INLINE double operator()(const double* p) const { return p[k]; }
};
struct Double4At {
  Index k;
  LOPSIDED_INLINE Double4 operator()(const double* p) const { return load4(p + k); }
};
// Same bits as `sum`, for terms of array elements that can be computed on vectors of four.
template <class Term>
LOPSIDED_INLINE inline double fours(Index n, Term term) {
  Double4 a{}, b{}, c{}, d{};
  Index k = 0;
  const auto add = [&](Double4& lane) __attribute__((always_inline)) {
    lane += term(Double4At{k});
    k += 4;
  };
  while (k + width <= n) add(a), add(b), add(c), add(d);
  const auto rest = [&](Double4& lane) __attribute__((always_inline)) {
    if (k + 4 <= n) return add(lane), true;
    if (k < n) {
      const double second = k + 1 < n ? term(At{k + 1}) : 0, third = k + 2 < n ? term(At{k + 2}) : 0;
      lane += Double4{term(At{k}), second, third, 0};
    }
    return false;
  };
  rest(a) && rest(b) && rest(c) && rest(d);
  const Double4 all = (a + c) + (b + d);
  return (all[0] + all[1]) + (all[2] + all[3]);
}
LOPSIDED_INLINE inline double products(Index n, const double* a, const double* b) {
  return fours(n, [=](auto at) __attribute__((always_inline)) { return at(a) * at(b); });
}

// The same with four accumulators: for the short rows of sparse data, where loads are scalar anyway.
template <class Term>
LOPSIDED_INLINE inline double quarters(Index n, Term term) {
  double a = 0, b = 0, c = 0, d = 0;
  Index k = 0;
  for (; k + 4 <= n; k += 4) {
    a += term(k);
    b += term(k + 1);
    c += term(k + 2);
    d += term(k + 3);
  }
  for (; k < n; ++k) a += term(k);
  return (a + b) + (c + d);
}

// Same bits as `quarters`, for terms that are adjacent in memory.
template <class Term>
LOPSIDED_INLINE inline double side_by_side(Index n, Term term) {
  double lane[4] = {};
  Index k = 0;
  for (; k + 4 <= n; k += 4) {
    double terms[4];
#pragma GCC ivdep
    for (Index l = 0; l < 4; ++l) terms[l] = term(k + l);
    for (Index l = 0; l < 4; ++l) lane[l] += terms[l];
  }
  for (; k < n; ++k) lane[0] += term(k);
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

}  // namespace fixed_order

struct DenseRow {
  const double* values;
  Index size;
  double square;
  double scale = 1;

  Index column(Index k) const { return k; }
  double value(Index k) const { return scale * values[k]; }
  LOPSIDED_INLINE double dot(const double* w) const { return scale * fixed_order::products(size, w, values); }
  LOPSIDED_INLINE void add_to(double* __restrict w, double step) const {
    const double s = step * scale;
    const double* __restrict v = values;
    for (Index j = 0; j < size; ++j) w[j] += s * v[j];
  }
  double squared_norm() const { return scale * scale * square; }
  // The sum of s_j x_j^2.
  LOPSIDED_INLINE double squares_by(const double* s) const {
    return fixed_order::fours(size, [=, f = scale, values = values](auto at) __attribute__((always_inline)) {
      const auto v = f * at(values);
      return at(s) * v * v;
    });
  }
  template <class Term>
  LOPSIDED_INLINE double sum(Term term) const {
    return fixed_order::sum(size, [&](Index j) { return term(j, scale * values[j]); });
  }
  // Sum of term(k) over positions.
  template <class Term>
  LOPSIDED_INLINE double sum_at(Term term) const {
    return fixed_order::sum(size, term);
  }
  template <class Visit>
  LOPSIDED_INLINE void for_each(Visit visit) const {
#pragma GCC ivdep  // a visit touches feature j and nothing else
    for (Index j = 0; j < size; ++j) visit(j, scale * values[j]);
  }
};

// Indices are unique and in range, in any order.
struct SparseRow {
  const Index* indices;
  const double* values;
  Index size;
  double square;
  double scale = 1;

  Index column(Index k) const { return indices[k]; }
  double value(Index k) const { return scale * values[k]; }
  LOPSIDED_INLINE double dot(const double* w) const {
    return scale * fixed_order::quarters(size, [=, this](Index k) { return w[indices[k]] * values[k]; });
  }
  LOPSIDED_INLINE void add_to(double* w, double step) const {
    const double s = step * scale;
    for (Index k = 0; k < size; ++k) w[indices[k]] += s * values[k];
  }
  double squared_norm() const { return scale * scale * square; }
  LOPSIDED_INLINE double squares_by(const double* s) const {
    return sum([=](Index j, double v) { return s[j] * v * v; });
  }
  template <class Term>
  LOPSIDED_INLINE double sum(Term term) const {
    return fixed_order::quarters(size, [&](Index k) { return term(indices[k], scale * values[k]); });
  }
  template <class Term>
  LOPSIDED_INLINE double sum_at(Term term) const {
    return fixed_order::side_by_side(size, term);
  }
  template <class Visit>
  LOPSIDED_INLINE void for_each(Visit visit) const {
    for (Index k = 0; k < size; ++k) visit(indices[k], scale * values[k]);
  }
};

template <class Row>
concept RowLike = requires(const Row& x, double* w, double s) {
  { x.dot(w) } -> std::same_as<double>;
  { x.squared_norm() } -> std::same_as<double>;
  x.add_to(w, s);
  { x.column(Index{}) } -> std::same_as<Index>;
  x.for_each([](Index, double) {});
  {
    x.sum([](Index, double v) { return v; })
  } -> std::same_as<double>;
};

LOPSIDED_INLINE inline double dot(const Vector& w, const RowLike auto& x) { return x.dot(w.data()); }
LOPSIDED_INLINE inline void add(Vector& w, double step, const RowLike auto& x) { x.add_to(w.data(), step); }

}  // namespace lopsided
