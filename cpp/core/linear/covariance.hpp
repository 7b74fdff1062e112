// Sigma, the second-order memory of a linear learner: full or diagonal.
//
// along(x) looks: its variance() is x' Sigma x. learn(x, along, ...) then shrinks Sigma along x,
// Sigma^-1 += x x' / r, and moves the mean by step * Sigma x with the Sigma before or after that.
// Weights enter as r / weight: the same as a row stretched by the root of the weight.
#pragma once

#include "../real.hpp"
#include "../row.hpp"
#include "symmetric.hpp"

namespace lopsided {

enum class Sigma { before, after };

class FullCovariance {
 public:
  struct Along {
    double value;
    double variance() const { return value; }
  };

  Along along(const RowLike auto& x) {
    x_.assign(sigma_.padded(), 0.0);
    product_.resize(sigma_.padded());
    pending_.resize(sigma_.padded());
    x.add_to(x_.data(), 1);
    sigma_.multiply(x_.data(), pending_.data(), product_.data());
    std::fill(pending_.begin(), pending_.end(), 0.0);  // it is taken off; learn may not follow
    return latest(x);
  }
  // The same again, for the x that was last looked along.
  Along latest(const RowLike auto& x) const { return {x.dot(product_.data())}; }
  const double* product() const { return product_.data(); }  // Sigma x

  // Sigma loses u u' / (r + v), u = Sigma x. It is taken off in the next pass over Sigma.
  void learn(const RowLike auto&, Along along, double r, Sigma which, double step, Vector& mean) {
    const double left = r + along.variance();
    const double move = which == Sigma::after ? step / (1 + along.variance() / r) : step;
    const double root = std::sqrt(1 / left);
    const double* __restrict u = product_.data();
    double* __restrict m = mean.data();
    double* __restrict p = pending_.data();
    for (std::size_t j = 0; j < mean.size(); ++j) {
      m[j] += move * u[j];
      p[j] = root * u[j];
    }
  }

  void options(auto&&) {}
  void state(auto&& visit) {
    if (!pending_.empty()) {
      pending_.resize(sigma_.padded());  // Sigma may have grown since
      sigma_.subtract(pending_.data());
      std::fill(pending_.begin(), pending_.end(), 0.0);
    }
    visit("covariance", sigma_);
  }

 private:
  Symmetric sigma_;
  Aligned pending_;  // Sigma still has to lose pending pending'
  Aligned x_, product_;
};

class DiagonalCovariance {
 public:
  enum class Rule { coordinate, shared };
  Rule rule = Rule::coordinate;

  template <class Row>
  struct Along {
    const Row& x;
    const double* s;
    double variance() const {
      return x.sum([s = s](Index j, double v) { return s[j] * v * v; });
    }
  };

  template <RowLike Row>
  Along<Row> along(const Row& x) const {
    return {x, variance_.data()};
  }

  template <RowLike Row>
  Along<Row> latest(const Row& x) const {
    return along(x);
  }

  // What a step does to the variance and the mean of one feature. Where `inverse` or `share` and the
  // step are 0 it does nothing.
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
  void learn(const Row& x, const Along<Row>& along, double r, Sigma which, double step,
             Vector& mean) {
    double* __restrict s = variance_.data();
    double* __restrict m = mean.data();
    const auto each = [&](auto change) {
      x.for_each([=](Index j, double v) { change(s[j], m[j], v); });
    };
    if (rule == Rule::coordinate) each(by_coordinate(1 / r, step, which));
    else each(by_share(1 / (r + along.variance()), step, which));
  }

  void options(auto&& visit) { visit("diag_rule", rule, {"coordinate", "shared"}); }
  void state(auto&& visit) { visit("variance", variance_); }

 private:
  Vector variance_{1};
};

}  // namespace lopsided
