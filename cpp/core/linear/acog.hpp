// ACOG, adaptive cost-sensitive online classification (Zhao et al. 2018, algorithm 1), over any
// covariance: mean += learning_rate * slope * y * Sigma x, after Sigma has seen x.
#pragma once

#include "../simd.hpp"
#include "../stream/surrogate.hpp"
#include "covariance.hpp"
#include "step.hpp"

LOPSIDED_ISA_BEGIN

template <class Covariance, class Real = double>
struct Acog {
  static constexpr Hooks hooks{
      .prefetch_targets = true, .variances = true, .coefficients = true, .fade = Covariance::fades};

  static constexpr bool step_needs_variance = false;
  Real learning_rate = all<Real>(0.1), regularization = all<Real>(1);
  Sigma sigma = Sigma::after;
  bool weight_state = false;  // event weights enter the covariance
  Surrogate surrogate;
  Covariance covariance;
  Vector mean;

  LOPSIDED_INLINE double score(const RowLike auto& x) const { return dot(mean, x); }
  void variances(const RowLike auto* x, Count n, double* out) { covariance.variances(x, n, out); }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    const Step<Real> s = step(score, t);
    if (!s.taken) return false;
    const auto along = covariance.along(x);
    covariance.learn(x, along, r(t), sigma, s.by, mean);
    return true;
  }
  // The multiple of Sigma x that is added to the mean.
  Step<Real> step(const Real& score, const Target& t) const {
    const Real slope = surrogate.slope(score, t);
    return {slope != 0.0, learning_rate * slope * t.y};
  }
  Real r(const Target& t) const { return weight_state ? regularization / t.weight : regularization; }

  Vector coefficients() const { return mean; }
  void fade()
    requires(Covariance::fades)
  {
    covariance.fade();
  }
  void prefetch_targets(auto visit) const { visit(mean); }
  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("regularization", regularization);
    visit("sigma", sigma, {"old", "new"});
    visit("weight_state", weight_state);
    surrogate.options(visit);
    covariance.options(visit);
  }
  void state(auto&& visit) {
    visit("mean", mean);
    covariance.state(visit);
  }
};

LOPSIDED_ISA_END
