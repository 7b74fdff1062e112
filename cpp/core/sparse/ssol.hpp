// SSOL, second-order sparse online learning (Wang et al., A framework of sparse online learning,
// algorithms 4 and 5): A^-1 is updated with every row before the row is scored,
//   w = soft(A^-1 theta, lambda_t),  theta += eta_t * slope * y x.
#pragma once

#include "../linear/covariance.hpp"
#include "../simd.hpp"
#include "dual.hpp"

LOPSIDED_ISA_BEGIN

template <class Real = double>
struct SsolDiagonal {
  // theta; a, where 0 stands for its initial value 1. In a bank -1 does: clearing a sign is cheaper than replacing a 0.
  static constexpr std::size_t width = 2;
  static constexpr std::array<double, width> initial{0, -1};
  static constexpr RuleHooks hooks{.possible = true};
  static constexpr bool takes_in = true, dual = true;

  Real learning_rate = all<Real>(1), regularization = all<Real>(1);
  RateSchedule schedule = RateSchedule::constant;
  DualShrink<Real> shrink{{}, DualShrink<Real>::Schedule::inverse};
  DiagonalCovariance::Update rule = DiagonalCovariance::Update::shared;
  bool transductive = false;  // score rows as if A^-1 had been updated with them

  auto weights(Count seen, const TargetSparsity& target) const {
    return [l = lambda(seen, target)](const auto& row) { return soft<Real>(row[0] * a(row), l); };
  }

  static auto part() {
    return [](const auto& row, double v) { return a(row) * v * v; };
  }

  // Calls `use` with the update of a for a row of that sum: a becomes a - a^2 v^2 / total, written without a
  // difference that could cancel. The total is r + the sum, or r + a v^2 with the coordinate rule. A value
  // of 0 changes nothing, not even by rounding.
  auto taking(const Real& sum, auto use) const {
    const Real tiny = all<Real>(std::numeric_limits<double>::min());
    const Real r = regularization, total = r + sum;
    if (rule == DiagonalCovariance::Update::coordinate)
      return use([=](auto&& row, double v) {
        const Real taken = most<Real>(a(row) * r / (r + a(row) * v * v), tiny);
        row[1] = v == 0 ? row[1] : taken;
      });
    return use([=, share = 1 / total](auto&& row, double v) {
      const Real taken = most<Real>(a(row) * (most<Real>(total - a(row) * v * v, r) * share), tiny);
      row[1] = v == 0 ? row[1] : taken;
    });
  }

  void change(Count seen, const Real& slope, auto each) const {
    each([move = rate_after(seen, learning_rate, schedule) * slope](const auto& row, double v) { row[0] += move * v; });
  }
  void pass(Count) {}
  double level(const double* row) const { return std::abs(row[0] * a(row)); }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("schedule", schedule, {"constant", "sqrt"});
    visit("regularization", regularization);
    shrink.options(visit);
    visit("diag_rule", rule, {"coordinate", "shared"});
    visit("transductive", transductive);
  }
  void state(auto&&) {}
  bool possible(const double* row) const { return row[1] >= 0 && row[1] <= 1; }

 private:
  Real lambda(Count seen, const TargetSparsity& target) const {
    return shrink.at(static_cast<double>(seen) + 1, learning_rate, target);
  }
  static Real a(const auto& row) {
    if constexpr (std::same_as<Real, double>) return choose<Real>(row[1] == 0.0, all<Real>(1), row[1]);
    else
      return reinterpret_cast<Real>(reinterpret_cast<Mask<Real>>(Real(row[1])) & std::numeric_limits<long long>::max());
  }
};

// The same with the full A^-1. It stores u = A^-1 theta instead of theta: the update with x and a step s change u by
// (s - x.u / r) times the new A^-1 x.
template <class Covariance>
struct SsolFull {
  static constexpr Hooks hooks{.observe = true, .nonzeros = true};

  double learning_rate = 1, regularization = 1, clip = 0;
  RateSchedule schedule = RateSchedule::constant;
  DualShrink<> shrink{0, DualShrink<>::Schedule::inverse};
  TargetSparsity target;
  bool transductive = false;
  Covariance covariance;
  Vector u;
  Count seen = 0;

  double score(const RowLike auto& x) const {
    if (transductive) {
      Covariance copy = covariance;
      return taken_in(x, copy);
    }
    const double l = lambda();
    return x.sum([=, this](Index j, double v) { return weight(u[static_cast<std::size_t>(j)], l, clip) * v; });
  }

  double observe(const RowLike auto& x) { return taken_in(x, covariance); }

  // The row must be the one observed last.
  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double slope = hinge_slope(score, t);
    const double step = rate_after(seen, learning_rate, schedule) * slope * t.y;
    const auto along = covariance.latest(x);
    const double r = along.within(regularization);
    covariance.learn(x, along, r, Sigma::after, step - dot(u, x) / r, u);
    ++seen;
    if (target.on()) {
      target.observe(x);
      aim();
    }
    return slope != 0;
  }

  void nonzeros(auto&& visit) const {
    for (std::size_t j = 0; j < u.size(); ++j)
      if (const double w = weight(u[j], lambda(), clip); w != 0) visit(j, w);
  }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("schedule", schedule, {"constant", "sqrt"});
    visit("regularization", regularization);
    visit("clip", clip);
    target.options(visit);
    shrink.options(visit);
    visit("transductive", transductive);
  }
  void state(auto&& visit) {
    visit("seen", seen);
    target.state(visit);
    visit("dual", u);
    covariance.state(visit);
    target.check(u.size());
  }

 private:
  double lambda() const { return shrink.at(static_cast<double>(seen) + 1, learning_rate, target); }
  // All of u has changed anyway: the shrinkage is the largest magnitude that must become zero.
  void aim() {
    std::vector<double> sizes(u.size());
    for (std::size_t j = 0; j < u.size(); ++j) sizes[j] = std::abs(u[j]);
    const auto last = sizes.begin() + static_cast<std::ptrdiff_t>(target.room());
    if (last == sizes.end()) {
      target.chosen = 0;
      return;
    }
    std::nth_element(sizes.begin(), last, sizes.end(), std::greater<>());
    target.chosen = *last;
  }
  static double weight(double dual, double l, double clip) {
    const double w = soft(dual, l);
    return std::abs(w) < clip ? 0 : w;
  }

  // The score as if the covariance had been updated with x; it is not changed.
  double taken_in(const RowLike auto& x, Covariance& sigma) const {
    const auto along = sigma.along(x);
    const double left = along.within(regularization) + along.variance();
    const double move = dot(u, x) / left, l = lambda();
    const double* k = sigma.product();
    return x.sum([=, this](Index j, double v) {
      const auto at = static_cast<std::size_t>(j);
      return soft(u[at] - move * k[at], l) * v;
    });
  }
};

LOPSIDED_ISA_END
