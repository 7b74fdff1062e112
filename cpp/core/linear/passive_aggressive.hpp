// Passive-aggressive steps (Crammer et al. 2006) and the prediction-based cost-sensitive form.
#pragma once

#include <algorithm>

#include "../row.hpp"
#include "../surrogate.hpp"

namespace lopsided {

// PA: the smallest step that brings the loss to 0; PA-I caps it, PA-II softens it. The cost of the
// class is in the margin (loss I) or, as in a slope, in the cap (loss II).
struct PassiveAggressive {
  enum class Variant { pa, pa_1, pa_2 };
  Variant variant = Variant::pa_1;
  Loss loss = Loss::II;
  double C = 1;
  Vector weights;

  double score(const RowLike auto& x) const { return dot(weights, x); }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    const bool margin = loss == Loss::I;
    const double missing = (margin ? t.cost : 1) - t.y * score;
    const double length = x.squared_norm();
    if (missing <= 0 || length == 0) return false;
    const double cap = C * (margin ? 1 : t.cost) * t.weight;
    const double tau = variant == Variant::pa_2 ? missing / (length + 1 / (2 * cap))
                       : variant == Variant::pa_1 ? std::min(cap, missing / length)
                                                  : missing / length;
    add(weights, tau * t.y, x);
    return true;
  }

  Vector coefficients() const { return weights; }
  void places(auto visit) const { visit(weights); }
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
struct CostSensitivePassiveAggressive {
  enum class Variant { hinge, strict, max_loss };
  Variant variant = Variant::hinge;
  double C = std::numeric_limits<double>::infinity();
  Vector weights;

  double score(const RowLike auto& x) const { return dot(weights, x); }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double margin = t.y * score;
    const double loss = std::sqrt(t.cost) - margin;
    const double length = x.squared_norm();
    const bool mistake = (score >= 0) != (t.y > 0);
    const bool idle = variant == Variant::hinge ? margin >= 1 : variant == Variant::strict && !mistake;
    if (idle || loss <= 0 || length == 0) return false;
    add(weights, std::min(C * t.weight, loss / length) * t.y, x);
    return true;
  }

  Vector coefficients() const { return weights; }
  void places(auto visit) const { visit(weights); }
  void options(auto&& visit) {
    visit("variant", variant, {"hinge", "strict", "max-loss"});
    visit("C", C);
  }
  void state(auto&& visit) { visit("weights", weights); }
};

}  // namespace lopsided
