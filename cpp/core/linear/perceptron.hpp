// Perceptron (Rosenblatt 1958): on a mistake, w += y x.
#pragma once

#include "../row.hpp"

namespace lopsided {

struct Perceptron {
  Vector weights;

  double score(const RowLike auto& x) const { return dot(weights, x); }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    if ((score >= 0) == (t.y > 0)) return false;
    add(weights, t.y * t.cost * t.weight, x);
    return true;
  }

  Vector coefficients() const { return weights; }
  void places(auto visit) const { visit(weights); }
  void options(auto&&) {}
  void state(auto&& visit) { visit("weights", weights); }
};

}  // namespace lopsided
