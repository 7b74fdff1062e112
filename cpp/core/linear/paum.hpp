// PAUM, the perceptron with uneven margins (Li et al. 2002): w += learning_rate * y * x whenever y p <= tau_y.
#pragma once

#include "../simd.hpp"
#include "../stream/surrogate.hpp"
#include "step.hpp"

LOPSIDED_ISA_BEGIN

template <class Real = double>
struct Paum {
  static constexpr Hooks hooks{.prefetch_targets = true, .coefficients = true};

  Real learning_rate = all<Real>(1);
  Real margin_pos = all<Real>(1), margin_neg = all<Real>(1);  // times the cost of the class
  bool bias = false;
  Real radius{};  // of the rows, for the bias; 0: the largest so far
  WeightMode weight_mode = WeightMode::margin;
  Vector weights;
  Real offset{};
  double longest = 0;  // largest squared length so far

  LOPSIDED_INLINE double score(const RowLike auto& x) const { return dot(weights, x) + offset; }

  Step<Real> step(const Real& score, const Target& t, double length) {
    longest = std::max(longest, length);
    const bool in_margin = weight_mode == WeightMode::margin;
    const Real tau = (t.y > 0 ? margin_pos : margin_neg) * t.cost * (in_margin ? t.weight : 1);
    const auto taken = t.y * score <= tau;
    if (!any(taken)) return {};
    const Real by = choose<Real>(taken, learning_rate * t.y * (in_margin ? 1 : t.weight), Real{});
    if (bias) offset += by * choose<Real>(radius > 0.0, radius * radius, all<Real>(longest));
    return {taken, by};
  }
  bool learn(const RowLike auto& x, const Target& t, double score) {
    return take(step(score, t, x.squared_norm()), weights, x);
  }

  Vector coefficients() const { return weights; }
  void prefetch_targets(auto visit) const { visit(weights); }
  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("margin_pos", margin_pos);
    visit("margin_neg", margin_neg);
    visit("bias", bias);
    visit("radius", radius);
    visit("weight_mode", weight_mode, {"margin", "slope"});
  }
  void state(auto&& visit) {
    visit("weights", weights);
    visit("bias", offset);
    visit("longest", longest);
  }
};

LOPSIDED_ISA_END
