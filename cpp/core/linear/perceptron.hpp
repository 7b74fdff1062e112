// Perceptron (Rosenblatt 1958): on a mistake, w += y x.
#pragma once

#include "../simd.hpp"
#include "step.hpp"

LOPSIDED_ISA_BEGIN

template <class Real = double>
struct Perceptron {
  static constexpr Hooks hooks{.prefetch_targets = true, .coefficients = true};

  Vector weights;

  LOPSIDED_INLINE double score(const RowLike auto& x) const { return dot(weights, x); }

  Step<Real> step(const Real& score, const Target& t, double) const {
    const auto wrong = t.y > 0 ? score < 0.0 : score >= 0.0;
    return {wrong, choose(wrong, all<Real>(t.y * t.cost * t.weight), Real{})};
  }
  bool learn(const RowLike auto& x, const Target& t, double score) { return take(step(score, t, 0), weights, x); }

  Vector coefficients() const { return weights; }
  void prefetch_targets(auto visit) const { visit(weights); }
  void options(auto&&) {}
  void state(auto&& visit) { visit("weights", weights); }
};

LOPSIDED_ISA_END
