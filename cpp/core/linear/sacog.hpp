// ACOG with a sketch for Sigma (Zhao et al. 2018): SACOG (algorithm 2) over a dense sketch, SSACOG
// (algorithm 4) over a sparse one. The sketch sees every row, the mean moves on rows with loss.
#pragma once

#include "../sketch/sketch.hpp"
#include "../stream/surrogate.hpp"

namespace lopsided {

template <class Form>
struct Sacog {
  enum class SketchOn { always, loss };

  double learning_rate = 0.1, regularization = 1;
  SketchOn sketch_on = SketchOn::always;
  bool weight_state = false;  // let the sketch see the weights
  Surrogate surrogate;
  Sketch<Form> sketch;

  double score(const RowLike auto& x) const { return sketch.score(x); }
  double meet(const RowLike auto& x)
    requires requires { sketch.meet(x); }
  {
    return sketch.meet(x);
  }
  double variance(const RowLike auto& x) const { return sketch.variance(x); }

  // The row must be the one that was met last.
  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double slope = surrogate.slope(score, t);
    if (slope == 0 && sketch_on == SketchOn::loss) return false;
    const double r = weight_state ? regularization / t.weight : regularization;
    sketch.learn(x, r, learning_rate * slope * t.y, true);
    return slope != 0;
  }

  Vector coefficients() const { return sketch.coefficients(); }
  void places(auto visit) const
    requires requires { sketch.places(visit); }
  {
    sketch.places(visit);
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

}  // namespace lopsided
