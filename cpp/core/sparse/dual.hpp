// Dual averaging: weights are computed from the sum of all gradients, so no shrinkage is deferred.
//
// FSOL (Wang et al., A framework of sparse online learning, algorithm 3) and RDA (Xiao 2010):
//   w = soft(theta, lambda_t) / (t - 1)^p,  theta += eta_t * slope * y x
// with p = 0 for beta constant, 1/2 for sqrt and 1 for linear. Adaptive RDA (Duchi, Hazan & Singer
// 2011) divides by delta + sqrt(sum of g^2) instead.
#pragma once

#include <array>

#include "../simd.hpp"
#include "learner.hpp"

LOPSIDED_ISA_BEGIN

// eta_t, the learning rate of the round after `seen`.
enum class RateSchedule { constant, sqrt };
template <class Real>
Real rate_after(Count seen, const Real& learning_rate, RateSchedule schedule) {
  return schedule == RateSchedule::constant ? learning_rate : learning_rate / std::sqrt(static_cast<double>(seen + 1));
}

// lambda_t, by which dual weights are shrunk in round t.
template <class Real = double>
struct DualShrink {
  enum class Schedule { constant, rda, inverse, sqrt, inverse_sqrt };
  Real l1{};
  Schedule schedule = Schedule::constant;

  Real at(double round, const Real& learning_rate, const TargetSparsity& target) const {
    if (target.on()) return all<Real>(target.chosen);
    switch (schedule) {
      case Schedule::constant: return learning_rate * l1;
      case Schedule::rda: return learning_rate * l1 * (round - 1);
      case Schedule::sqrt: return l1 * std::sqrt(round);
      case Schedule::inverse_sqrt: return l1 / std::sqrt(round);
      default: return l1 / round;
    }
  }
  void options(auto&& visit) {
    visit("l1", l1);
    visit("l1_schedule", schedule, {"constant", "rda", "inverse", "sqrt", "inverse_sqrt"});
  }
};

template <class Real = double>
struct DualAveraging {
  enum class Beta { constant, sqrt, linear };
  static constexpr RuleHooks hooks{.undivided = true};
  static constexpr std::size_t width = 1;  // theta
  static constexpr std::array<double, width> initial{};  // in a bank
  static constexpr bool takes_in = false, dual = true;

  Real learning_rate = all<Real>(1);
  RateSchedule schedule = RateSchedule::constant;
  DualShrink<Real> shrink;
  Beta beta = Beta::constant;
  Real enhancement{};  // adds enhancement * sqrt(t - 1) to lambda_t

  auto weights(Count seen, const TargetSparsity& target) const {
    const double rounds = static_cast<double>(seen);
    const double divisor = !divides() ? 1 : beta == Beta::sqrt ? std::sqrt(rounds) : rounds;
    return [w = undivided(seen, target), share = seen ? 1 / divisor : 0](const auto& row) { return share * w(row); };
  }
  bool divides() const { return beta != Beta::constant; }
  auto undivided(Count seen, const TargetSparsity& target) const {
    const double rounds = static_cast<double>(seen);
    const Real a = shrink.at(rounds + 1, learning_rate, target) + enhancement * std::sqrt(rounds);
    return [a](const auto& row) { return soft<Real>(row[0], a); };
  }

  void change(Count seen, const Real& slope, auto each) const {
    each([move = rate_after(seen, learning_rate, schedule) * slope](const auto& row, double v) { row[0] += move * v; });
  }
  void pass(Count) {}
  double level(const double* row) const { return std::abs(*row); }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("schedule", schedule, {"constant", "sqrt"});
    shrink.options(visit);
    visit("beta", beta, {"constant", "sqrt", "linear"});
    visit("enhancement", enhancement);
  }
  void state(auto&&) {}
};

template <class Real = double>
struct AdaptiveRda {
  static constexpr RuleHooks hooks{};
  static constexpr std::size_t width = 2;  // sum of -g, sum of g^2
  static constexpr std::array<double, width> initial{};
  static constexpr bool takes_in = false, dual = true;

  Real learning_rate = all<Real>(1), l1{}, delta = all<Real>(10);
  bool count_current = false;  // count the current round in the shrinkage

  auto weights(Count seen, const TargetSparsity& target) const {
    const Real a = target.on() ? all<Real>(target.chosen) : l1 * static_cast<double>(seen + count_current);
    return [a, eta = learning_rate, delta = delta](const auto& row) {
      return eta * soft<Real>(row[0], a) / (delta + root(row[1]));
    };
  }

  void change(Count, const Real& slope, auto each) const {
    each([slope](const auto& row, double v) {
      const Real g = slope * v;
      row[0] += g;
      row[1] += g * g;
    });
  }
  void pass(Count) {}
  double level(const double* row) const { return std::abs(*row); }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("l1", l1);
    visit("delta", delta);
    visit("offset", count_current);
  }
  void state(auto&&) {}
};

LOPSIDED_ISA_END
