// AROW, adaptive regularization of weights (Crammer et al. 2009), over any covariance. With l = 1 - y p, v = x' Sigma x:
//   mean += l y Sigma x / (v + r),   Sigma -= Sigma x x' Sigma / (v + r)
// A cost divides r, in the step and in the covariance: the closed form of the squared hinge times the cost, whose step
// never goes beyond the margin. With CostIn::step it multiplies the step instead, as in files of Recommended.
#pragma once

#include "../simd.hpp"
#include "covariance.hpp"
#include "step.hpp"

LOPSIDED_ISA_BEGIN

enum class CostIn { covariance, step };

template <class Covariance, class Real = double, CostIn cost_in = CostIn::covariance>
struct Arow {
  static constexpr Hooks hooks{
      .prefetch_targets = true, .variances = true, .coefficients = true, .fade = Covariance::fades};

  static constexpr double learning_rate = 1;
  Real regularization = all<Real>(1);
  static constexpr bool step_needs_variance = true;
  static constexpr Sigma sigma = Sigma::before;
  bool weight_state = false;  // event weights enter the covariance
  Covariance covariance;
  Vector mean;

  LOPSIDED_INLINE double score(const RowLike auto& x) const { return dot(mean, x); }
  void variances(const RowLike auto* x, Count n, double* out) { covariance.variances(x, n, out); }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    if (!(loss(score, t) > 0)) return false;
    const auto along = covariance.along(x);
    covariance.learn(x, along, r(t), sigma, step(score, t, along.variance()).by, mean);
    return true;
  }
  Real loss(const Real& score, const Target& t) const { return 1 - t.y * score; }
  // The multiple of Sigma x that is added to the mean.
  Step<Real> step(const Real& score, const Target& t, const Real& variance) const {
    const Real l = loss(score, t), beta = 1 / (variance + softness(t));
    return {l > 0.0, l * beta * t.y * (cost_in == CostIn::step ? t.cost : 1.0) * t.weight};
  }
  Real r(const Target& t) const { return weight_state ? softness(t) / t.weight : softness(t); }
  Real softness(const Target& t) const {
    if constexpr (cost_in == CostIn::step) return regularization;
    else return regularization / t.cost;
  }

  Vector coefficients() const { return mean; }
  void fade()
    requires(Covariance::fades)
  {
    covariance.fade();
  }
  void prefetch_targets(auto visit) const { visit(mean); }
  void options(auto&& visit) {
    visit("regularization", regularization);
    visit("weight_state", weight_state);
  }
  void state(auto&& visit) {
    visit("mean", mean);
    covariance.state(visit);
  }
};

LOPSIDED_ISA_END
