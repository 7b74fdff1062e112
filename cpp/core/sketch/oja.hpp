// What the two forms of Oja's sketch have in common (Zhao et al. 2018, algorithms 3, 5 and 6).
//
// The sketch keeps m orthonormal directions V, their energies e, and stands for the covariance
// Sigma = I - V' diag(h) V, h = e / (1 + e). A row x, divided by the root of gamma, turns it:
//
//   n += 1,   a = V x,   e += a * a,   V = orth(V + a x' / n)
//
// orth is Gram-Schmidt over rows in row order. The Gram matrix before
// it is I + c a a' = R R', c = 2 / n + |x|^2 / n^2, R lower triangular, so that the new V is
// R^-1 (V + a x' / n): see RankOne.
//
// In the paper's symbols: n is t; e is t Lambda; h is the diagonal of H; a is V x^; the rate 1 / n is the
// diagonal of Gamma; in the sparse form F, Z, w and b are F, Z, w-bar and b, and D is delta. In the code: `energy_` e,
// `taken(i)` h_i, `rows_` n, `turn_.a` a, `turn_.turned` R^-1 a, `basis_` F, `table_` w and Z (a feature per row), `b_` b,
// `move` the change of (w, Z) for a unit of x, `straight_` the n at which V was last made orthonormal from its Gram matrix.
//
// Initial directions. V starts as the identity on m coordinates that no row ever touches. A
// feature enters when it first has a nonzero value in a row given to the sketch, before that
// row is used, features of one row in the order of their indices. Its column of V becomes u,
//
//   u_i = sqrt(3) r(seed, i, j) / sqrt(k + m),   i = 0 ... m - 1,
//
// j the feature (an intercept is 0 and moves the others up by 1), k the features that are in. Then V
// is made orthonormal again: V = R^-1 V, R R' = I + u u'. r is uniform in (-1, 1): with S the
// function splitmix64 and T the upper 52 bits of S(S(S(seed) + i) + j),
//
//   r = (T + 1/2) 2^-51 - 1.
//
// Rounding errors make V less orthonormal with every row, and with such a V the mean diverges: from time to time V is
// made orthonormal again from its Gram matrix, which is why V on the m coordinates is stored too.
//
// With given directions, m rows of d columns, all d features have entered initially, k starts at d, and
// a later feature has k instead of k + m.
#pragma once

#include <type_traits>

#include "../base.hpp"
#include "../numbers/random.hpp"
#include "../simd.hpp"
#include "../validate.hpp"

LOPSIDED_ISA_BEGIN

inline constexpr std::size_t max_directions = 64;

// Numbers per feature in the sparse form: w and its column of Z, padded to a multiple of four.
constexpr std::size_t padded(std::size_t m) { return (m + 1 + 3) / 4 * 4; }

// Calls with the number of directions; the default number as a constant, so that loops unroll.
template <class Call>
LOPSIDED_INLINE inline auto with_size(std::size_t m, Call call) {
  if (m == 5) return call(std::integral_constant<std::size_t, 5>());
  return call(m);
}

// R^-1 for R R' = I + c a a'. With t_i = 1 + c (a_1^2 + ... + a_i^2) and s_i = sqrt(t_{i-1} / t_i),
//
//   (R^-1 M)_i = s_i (M_i - c a_i / t_{i-1} (a_1 M_1 + ... + a_{i-1} M_{i-1})).
//
// There is no cancellation, however large c a a' is. Where it is small, the change of M_i is computed: s_i M_i with a
// rounded s_i would have a bias that accumulates row after row.
struct RankOne {
  double a[max_directions];  // set by the caller
  double shrink[max_directions];  // s
  double keep[max_directions];  // s M is keep M - fade M: keep is 1, or 0 for a small s
  double fade[max_directions];
  double pull[max_directions];  // s_i c a_i / t_{i-1}
  double turned[max_directions];  // R^-1 a
  double size;  // the last t

  void prepare(auto m, double c) {
    size = 1;
    for (std::size_t i = 0; i < m; ++i) {
      const double before = size, scaled = a[i] / before;
      size += c * a[i] * a[i];
      const bool small = size > 4 * before;
      shrink[i] = std::sqrt(before / size);
      keep[i] = small ? 0 : 1;
      fade[i] = small ? -shrink[i] : c * a[i] * a[i] / (size + std::sqrt(size * before));
      turned[i] = shrink[i] * scaled;
      pull[i] = c * turned[i];
    }
  }
};

// A lower triangular matrix F: the directions are F Z.
class Basis {
 public:
  void resize(std::size_t m, double diagonal = 1) {
    values.resize(m * m);
    reset(m, diagonal);
  }
  void reset(std::size_t m, double diagonal = 1) {
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t i = 0; i < m; ++i) values[i * m + i] = diagonal;
  }

  // F = R^-1 F.
  void turn(auto m, const RankOne& r) {
    double sum[max_directions];
    double* f = values.data();
    for (std::size_t i = 0; i < m; ++i) {
      sum[i] = 0;
      for (std::size_t k = 0; k <= i; ++k) {
        const double old = f[i * m + k];
        f[i * m + k] = r.keep[i] * old - (r.fade[i] * old + r.pull[i] * sum[k]);
        sum[k] += r.a[i] * old;
      }
    }
  }

  // out = F z. May be done in place.
  void multiply(auto m, const double* z, double* out) const {
    const double* f = values.data();
    for (std::size_t i = m; i-- > 0;) {
      double sum = 0;
      for (std::size_t k = 0; k <= i; ++k) sum += f[i * m + k] * z[k];
      out[i] = sum;
    }
  }
  // b += F' q.
  void add_transposed(auto m, const double* q, double* b) const {
    const double* f = values.data();
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t k = 0; k <= i; ++k) b[k] += q[i] * f[i * m + k];
  }
  // out = F^-1 u.
  void solve(auto m, const double* u, double* out) const {
    const double* f = values.data();
    for (std::size_t i = 0; i < m; ++i) {
      double left = u[i];
      for (std::size_t k = 0; k < i; ++k) left -= f[i * m + k] * out[k];
      out[i] = left / f[i * m + i];
    }
  }

  // F is too far from the identity to be accurate: replace Z by F Z.
  bool worn(auto m) const {
    double least = 1;
    for (std::size_t i = 0; i < m; ++i) least = std::min(least, values[i * m + i]);
    return least < 0.1;
  }

  // F = R^-1 for R R' = gram, given by its lower triangle.
  void orthonormalise(auto m, const double* gram) {
    reset(m);
    double root[max_directions];
    for (std::size_t i = 0; i < m; ++i) {
      double* row = values.data() + i * m;
      double square = gram[i * m + i];
      for (std::size_t k = 0; k < i; ++k) {
        root[k] = 0;
        for (std::size_t j = 0; j <= k; ++j) root[k] += values[k * m + j] * gram[i * m + j];
        square -= root[k] * root[k];
      }
      for (std::size_t k = 0; k < i; ++k)
        for (std::size_t j = 0; j <= k; ++j) row[j] -= root[k] * values[k * m + j];
      for (std::size_t j = 0; j <= i; ++j) row[j] /= std::sqrt(square);
    }
  }

  // F = other F.
  void multiply_by(auto m, const Basis& other) {
    double column[max_directions];
    for (std::size_t k = 0; k < m; ++k) {
      for (std::size_t i = 0; i < m; ++i) column[i] = values[i * m + k];
      other.multiply(m, column, column);
      for (std::size_t i = 0; i < m; ++i) values[i * m + k] = column[i];
    }
  }

  // gram += F F', its lower triangle.
  void add_gram(auto m, double* gram) const {
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t k = 0; k <= i; ++k)
        for (std::size_t j = 0; j <= k; ++j) gram[i * m + k] += values[i * m + j] * values[k * m + j];
  }

  // F = F R.
  void append(auto m, const RankOne& r) {
    for (std::size_t i = 0; i < m; ++i) {
      double* row = values.data() + i * m;
      double tail = 0;
      for (std::size_t j = i + 1; j-- > 0;) {
        const double old = row[j];
        row[j] = old / r.shrink[j] + r.pull[j] * tail;
        tail += old * r.a[j];
      }
    }
  }

  std::vector<double> values;  // row after row
};

// A list whose length is determined by the options.
void visit_fixed(auto&& visit, const char* name, std::vector<double>& values) {
  const std::size_t size = values.size();
  visit(name, values);
  validate(values.size() == size, name);
}

class Oja {
 public:
  Oja() { make_keys(); }

  std::size_t size() const { return energy_.size(); }
  Count rows() const { return rows_; }
  Count entered() const { return entered_; }
  // Features of the given directions; 0 if none are given.
  std::size_t given() const { return directions_.size() / size(); }
  double given(std::size_t i, std::size_t j) const { return directions_[i * given() + j]; }

  // The column u of a new feature, as `a` of the update that makes V orthonormal again.
  void enter(auto m, std::size_t feature, RankOne& turn) {
    const double k = static_cast<double>(entered_) + (directions_.empty() ? static_cast<double>(m) : 0.0);
    const double scale = std::sqrt(3.0) / std::sqrt(k);
    for (std::size_t i = 0; i < m; ++i) {
      const double top = static_cast<double>(splitmix64(keys_[i] + feature) >> 12);
      turn.a[i] = scale * ((top + 0.5) * 0x1p-51 - 1);
    }
    turn.prepare(m, 1);
    ++entered_;
  }

  // Takes in a row of this squared length with V x = turn.a. Returns 1 / n.
  double see(auto m, double square, RankOne& turn) {
    const double rate = 1 / static_cast<double>(++rows_);
    turn.prepare(m, rate * (2 + rate * square));
    if (together_) [[unlikely]] {
      double along[max_directions];
      unsettled_.multiply(m, turn.a, along);
      for (std::size_t i = 0; i < m; ++i) energy_[i] += along[i] * along[i];
      unsettled_.append(m, turn);
    } else {
      for (std::size_t i = 0; i < m; ++i) energy_[i] += turn.a[i] * turn.a[i];
    }
    return rate;
  }

  // Rows between true and false belong to one batch: see sketch.hpp.
  void together(bool on) {
    together_ = on;
    unsettled_.resize(size());
  }

  // h_i: the share of a row along direction i that Sigma removes.
  double taken(std::size_t i) const { return energy_[i] / (1 + energy_[i]); }

  void options(auto&& visit) {
    double m = static_cast<double>(size());
    visit("sketch_size", m);
    visit("seed", seed_);
    visit("directions", directions_);
    energy_.assign(static_cast<std::size_t>(m), 0.0);
    entered_ = given();
    make_keys();
  }
  void state(auto&& visit) {
    visit("sketch.rows", rows_);
    visit("sketch.entered", entered_);
    visit_fixed(visit, "sketch.energy", energy_);
    validate(entered_ >= given(), "sketch.entered");
  }

 private:
  void make_keys() {
    keys_.resize(size());
    const std::uint64_t seed = splitmix64(static_cast<std::uint64_t>(seed_));
    for (std::size_t i = 0; i < size(); ++i) keys_[i] = splitmix64(seed + i);
  }

  double seed_ = 0;
  std::vector<double> directions_;  // given ones, row after row
  Count rows_ = 0, entered_ = 0;
  std::vector<double> energy_ = std::vector<double>(5);
  bool together_ = false;
  Basis unsettled_;  // L
  std::vector<std::uint64_t> keys_;  // seeds of the random numbers of each direction
};

LOPSIDED_ISA_END
