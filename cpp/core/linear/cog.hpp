// COG, cost-sensitive online gradient descent (Wang, Zhao, Hoi 2012, algorithm 1): w += learning_rate * slope * y * x.
#pragma once

#include "../simd.hpp"
#include "../stream/surrogate.hpp"
#include "step.hpp"

LOPSIDED_ISA_BEGIN

template <class Real = double>
struct Cog {
  static constexpr Hooks hooks{.prefetch_targets = true, .coefficients = true};

  enum class Schedule { constant, sqrt };
  Real learning_rate = all<Real>(0.1);
  Schedule schedule = Schedule::constant;
  Surrogate surrogate;
  Vector weights;

  LOPSIDED_INLINE double score(const RowLike auto& x) const { return dot(weights, x); }

  Step<Real> step(const Real& score, const Target& t, double) const {
    const Real slope = surrogate.slope(score, t);
    if (!any(slope != 0.0)) return {};
    const Real rate =
        schedule == Schedule::constant ? learning_rate : learning_rate / std::sqrt(static_cast<double>(t.round));
    return {slope != 0.0, rate * slope * t.y};
  }
  bool learn(const RowLike auto& x, const Target& t, double score) { return take(step(score, t, 0), weights, x); }

  Vector coefficients() const { return weights; }
  void prefetch_targets(auto visit) const { visit(weights); }
  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("schedule", schedule, {"constant", "sqrt"});
    surrogate.options(visit);
  }
  void state(auto&& visit) { visit("weights", weights); }
};

LOPSIDED_ISA_END
