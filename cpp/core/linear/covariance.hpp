// Sigma, the second-order memory of a linear learner: full or diagonal.
//
// along(x) reads: its variance() is x' Sigma x. learn(x, along, ...) then shrinks Sigma along x,
// Sigma^-1 += x x' / r, and moves the mean by step * Sigma x with the Sigma before or after that.
// Weights enter as r / weight: the same as a row stretched by the root of the weight.
#pragma once

#include "../numbers/real.hpp"
#include "../numbers/row.hpp"
#include "../numbers/symmetric.hpp"
#include "../simd.hpp"

LOPSIDED_ISA_BEGIN

enum class Sigma { before, after };

// In float the matrix takes half the memory. The variance left along a row must then stay well above the rounding error
// of the difference it comes from, or Sigma would lose positive definiteness: r is at least |x|^2 / 2^10, and a
// variance below 2^-14 of the sum of x_j^2 Sigma_jj shrinks no further.
template <class Value>
class FullCovarianceOf {
  static constexpr bool exact = std::is_same_v<Value, double>;

 public:
  static constexpr bool fades = false;  // that would take the inverse
  struct Along {
    double value, square = 0, parts = 0;  // x' Sigma x, |x|^2, the sum of x_j^2 Sigma_jj
    double variance() const { return value; }
    double within(double r) const { return exact ? r : std::max(r, square * 0x1p-10); }
    bool shrinks() const { return exact || value > parts * 0x1p-14; }
  };

  Along along(const RowLike auto& x) {
    const double length = spread(x);
    const std::size_t size = sigma_.padded();
    product_.resize(size);
    pending_.resize(size);
    if constexpr (exact) {
      sigma_.multiply(x_.data(), pending_.data(), product_.data());
    } else {
      narrow_.resize(size);
      sigma_.multiply(x_.data(), pending_.data(), narrow_.data());
      for (std::size_t j = 0; j < size; ++j) product_[j] = length * narrow_[j];
    }
    taken_off();  // learn may not follow
    return latest(x);
  }
  // Only x' Sigma x, which is cheaper: for queries.
  template <RowLike Row>
  double variance(const Row& x) {
    take_off();
    const double length = spread(x), value = sigma_.quadratic(x_.data(), std::same_as<Row, SparseRow>);
    return std::max(length * length * value, 0.0);
  }
  template <RowLike Row>
  void variances(const Row* x, Count n, double* out) {
    Count i = 0;
    if constexpr (exact && std::same_as<Row, DenseRow>) {
      take_off();
      constexpr Count together = SymmetricOf<Value>::together;
      for (; i + together <= n; i += together) {
        sigma_.quadratics(x + i, out + i);
        for (Count k = i; k < i + together; ++k) out[k] = std::max(out[k], 0.0);
      }
    }
    for (; i < n; ++i) out[i] = variance(x[i]);
  }
  // The same for the x of the last call of along().
  LOPSIDED_FLATTEN Along latest(const RowLike auto& x) const {
    const double value = x.dot(product_.data());
    if constexpr (exact) return {value};
    const double parts = x.sum([s = diagonal_.data()](Index j, double v) { return s[j] * (v * v); });
    return {std::max(value, 0.0), x.squared_norm(), parts};
  }
  const double* product() const { return product_.data(); }  // Sigma x

  // Sigma -= u u' / (r + v), u = Sigma x: deferred to the next pass over Sigma.
  void learn(const RowLike auto&, Along along, double wanted, Sigma which, double step, Vector& mean) {
    const double r = along.within(wanted), left = r + along.variance();
    const double move = which == Sigma::after ? step / (1 + along.variance() / r) : step;
    const double root = along.shrinks() ? std::sqrt(1 / left) : 0;
    const double* __restrict u = product_.data();
    double* __restrict m = mean.data();
    Value* __restrict p = pending_.data();
    for (std::size_t j = 0; j < mean.size(); ++j) {
      m[j] += move * u[j];
      p[j] = static_cast<Value>(root * u[j]);
    }
    pends_ = true;
    if constexpr (!exact)
      for (std::size_t j = 0; j < mean.size(); ++j) diagonal_[j] -= p[j] * p[j];
  }

  void options(auto&&) {}
  void state(auto&& visit) {
    take_off();
    visit("covariance", sigma_);
    if constexpr (!exact) {
      diagonal_.resize(sigma_.size());
      for (std::size_t j = 0; j < sigma_.size(); ++j) diagonal_[j] = sigma_.at(j, j);
    }
  }

 private:
  // x among zeros; in float of unit length, so that no number is too large or too small. Returns what it was divided by.
  double spread(const RowLike auto& x) {
    const double length = exact ? 1 : std::sqrt(x.squared_norm()), share = length > 0 ? 1 / length : 0;
    x_.resize(sigma_.padded());
    const bool dense = std::same_as<std::remove_cvref_t<decltype(x)>, DenseRow>;
    std::fill(x_.begin() + (dense ? x.size : 0), x_.end(), Value{0});
    x.for_each([=, to = x_.data()](Index j, double v) { to[j] = static_cast<Value>(share * v); });
    return length;
  }
  void take_off() {
    if (!pends_) return;
    pending_.resize(sigma_.padded());  // Sigma may have grown since
    sigma_.subtract(pending_.data());
    taken_off();
  }
  void taken_off() {
    if (pends_) std::fill(pending_.begin(), pending_.end(), Value{0});
    pends_ = false;
  }

  SymmetricOf<Value> sigma_;
  AlignedOf<Value> pending_;  // Sigma -= pending pending' is still to be done
  bool pends_ = false;  // whether pending_ is nonzero
  AlignedOf<Value> diagonal_;  // of Sigma, with the pending update applied
  AlignedOf<Value> x_, narrow_;
  Aligned product_;
};

using FullCovariance = FullCovarianceOf<double>;
using NarrowCovariance = FullCovarianceOf<float>;

class DiagonalCovariance {
 public:
  static constexpr bool fades = true;
  enum class Update { coordinate, shared };
  Update rule = Update::coordinate;

  template <class Row>
  struct Along {
    const Row& x;
    const double* s;
    LOPSIDED_INLINE double variance() const { return x.squares_by(s); }
  };

  template <RowLike Row>
  Along<Row> along(const Row& x) const {
    return {x, variance_.data()};
  }

  void variances(const RowLike auto* x, Count n, double* out) const {
    for (Count i = 0; i < n; ++i) out[i] = along(x[i]).variance();
  }

  // The update of the variance and the mean of one feature; a no-op where `inverse` or `share` and the step are 0.
  template <class Real>
  static auto by_coordinate(const Real& inverse, const Real& step, Sigma which) {
    return [=, after = which == Sigma::after](Real& s, Real& m, double v) {
      const Real before = s;
      s = before / (1 + before * v * v * inverse);
      m += step * (after ? s : before) * v;
    };
  }
  template <class Real>
  static auto by_share(const Real& share, const Real& step, Sigma which) {
    return [=, after = which == Sigma::after](Real& s, Real& m, double v) {
      const Real before = s;
      s = before - before * before * v * v * share;
      m += step * (after ? s : before) * v;
    };
  }

  template <RowLike Row>
  void learn(const Row& x, const Along<Row>& along, double r, Sigma which, double step, Vector& mean) {
    double* __restrict s = variance_.data();
    double* __restrict m = mean.data();
    const auto each = [&](auto change) { x.for_each([=](Index j, double v) { change(s[j], m[j], v); }); };
    if (rule == Update::coordinate) each(by_coordinate(1 / r, step, which));
    else each(by_share(1 / (r + along.variance()), step, which));
  }

  // What each precision has gained counts half: 1 / s becomes (1 / s + 1) / 2.
  void fade() {
    for (std::size_t j = 0; j < variance_.size(); ++j) variance_[j] = 2 * variance_[j] / (1 + variance_[j]);
  }

  void options(auto&& visit) { visit("diag_rule", rule, {"coordinate", "shared"}); }
  void state(auto&& visit) { visit("variance", variance_); }

 private:
  Vector variance_{1};
};

LOPSIDED_ISA_END
