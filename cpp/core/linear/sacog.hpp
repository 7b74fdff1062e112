// ACOG with a sketch for Sigma (Zhao et al. 2018): SACOG (algorithm 2) over a dense sketch, SSACOG
// (algorithm 4) over a sparse one. The sketch sees every row, the mean moves on rows with loss.
#pragma once

#include "../simd.hpp"
#include "../sketch/sketch.hpp"
#include "../stream/surrogate.hpp"

LOPSIDED_ISA_BEGIN

template <class Form>
struct Sacog {
  static constexpr Hooks hooks{.observe = Form::hooks.observe,
                               .prefetch_targets = Form::hooks.prefetch_targets,
                               .variances = true,
                               .coefficients = true,
                               .start = true};

  enum class SketchOn { always, loss };

  double learning_rate = 0.1, regularization = 1;
  SketchOn sketch_on = SketchOn::always;
  bool weight_state = false;  // event weights enter the sketch
  Surrogate surrogate;
  Sketch<Form> sketch;

  double score(const RowLike auto& x) const { return sketch.score(x); }
  double observe(const RowLike auto& x)
    requires(Form::hooks.observe)
  {
    return sketch.observe(x);
  }
  void variances(const RowLike auto* x, Count n, double* out) const {
    for (Count i = 0; i < n; ++i) out[i] = sketch.variance(x[i]);
  }

  // The row must be the one that was met last.
  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double slope = surrogate.slope(score, t);
    if (slope == 0 && sketch_on == SketchOn::loss) return false;
    const double r = weight_state ? regularization / t.weight : regularization;
    sketch.learn(x, r, learning_rate * slope * t.y, true);
    return slope != 0;
  }

  Vector coefficients() const { return sketch.coefficients(); }
  void prefetch_targets(auto visit) const
    requires(Form::hooks.prefetch_targets)
  {
    sketch.prefetch_targets(visit);
  }
  std::size_t columns() const { return sketch.columns(); }
  void start() { sketch.start(); }
  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("regularization", regularization);
    visit("sketch_on", sketch_on, {"always", "loss"});
    visit("weight_state", weight_state);
    surrogate.options(visit);
    sketch.options(visit);
  }
  void state(auto&& visit) { sketch.state(visit); }
};

LOPSIDED_ISA_END
