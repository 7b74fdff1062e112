// Passive-aggressive (Crammer et al. 2006): w += tau y x, tau = l / |x|^2, at most C, or l / (|x|^2 + 1/(2C)); and CPA.
#pragma once

#include "../simd.hpp"
#include "../stream/surrogate.hpp"
#include "step.hpp"

LOPSIDED_ISA_BEGIN

// PA: the smallest step that brings the loss to 0; PA-I caps it, PA-II softens it. The cost of the
// class is in the margin (loss I) or, as in a slope, in the cap (loss II).
template <class Real = double>
struct PassiveAggressive {
  static constexpr Hooks hooks{.prefetch_targets = true, .coefficients = true};

  enum class Variant { pa, pa_1, pa_2 };
  Variant variant = Variant::pa_1;
  Loss loss = Loss::II;
  Real C = all<Real>(1);
  Vector weights;

  LOPSIDED_INLINE double score(const RowLike auto& x) const { return dot(weights, x); }

  Step<Real> step(const Real& score, const Target& t, double length) const {
    const bool margin = loss == Loss::I;
    const Real missing = (margin ? t.cost : 1) - t.y * score;
    const auto taken = missing > 0.0;
    if (length == 0 || !any(taken)) return {};
    const Real cap = C * (margin ? 1 : t.cost) * t.weight;
    const Real tau = variant == Variant::pa_2   ? missing / (length + 1 / (2 * cap))
                     : variant == Variant::pa_1 ? least<Real>(cap, missing / length)
                                                : missing / length;
    return {taken, choose<Real>(taken, tau * t.y, Real{})};
  }
  bool learn(const RowLike auto& x, const Target& t, double score) {
    return take(step(score, t, x.squared_norm()), weights, x);
  }

  Vector coefficients() const { return weights; }
  void prefetch_targets(auto visit) const { visit(weights); }
  void options(auto&& visit) {
    visit("variant", variant, {"PA", "PA-I", "PA-II"});
    visit("loss", loss, {"I", "II"});
    visit("C", C);
  }
  void state(auto&& visit) { visit("weights", weights); }
};

// CPA: the target margin is the root of the class's cost. `hinge` is the form behind the published
// tables: the plain hinge decides whether to step. `strict` steps on mistakes only, `max_loss`
// whenever the target margin is missed.
template <class Real = double>
struct CostSensitivePassiveAggressive {
  static constexpr Hooks hooks{.prefetch_targets = true, .coefficients = true};

  enum class Variant { hinge, strict, max_loss };
  Variant variant = Variant::hinge;
  Real C = all<Real>(std::numeric_limits<double>::infinity());
  Vector weights;

  LOPSIDED_INLINE double score(const RowLike auto& x) const { return dot(weights, x); }

  Step<Real> step(const Real& score, const Target& t, double length) const {
    const Real margin = t.y * score, loss = std::sqrt(t.cost) - margin;
    auto taken = loss > 0.0;
    if (variant == Variant::hinge) taken = taken & (margin < 1.0);
    if (variant == Variant::strict) taken = taken & (t.y > 0 ? score < 0.0 : score >= 0.0);
    if (length == 0 || !any(taken)) return {};
    const Real tau = least<Real>(C * t.weight, loss / length);
    return {taken, choose<Real>(taken, tau * t.y, Real{})};
  }
  bool learn(const RowLike auto& x, const Target& t, double score) {
    return take(step(score, t, x.squared_norm()), weights, x);
  }

  Vector coefficients() const { return weights; }
  void prefetch_targets(auto visit) const { visit(weights); }
  void options(auto&& visit) {
    visit("variant", variant, {"hinge", "strict", "max-loss"});
    visit("C", C);
  }
  void state(auto&& visit) { visit("weights", weights); }
};

LOPSIDED_ISA_END
