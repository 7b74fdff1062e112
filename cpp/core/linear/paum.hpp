// PAUM, the perceptron with uneven margins (Li et al. 2002): a step whenever y p <= tau_y.
#pragma once

#include <algorithm>

#include "../surrogate.hpp"
#include "../row.hpp"

namespace lopsided {

struct Paum {
  double learning_rate = 1;
  double margin_pos = 1, margin_neg = 1;  // times the cost of the class
  bool bias = false;
  double radius = 0;  // of the rows, for the bias; 0: the largest so far
  WeightMode weight_mode = WeightMode::margin;
  Vector weights;
  double offset = 0;
  double longest = 0;  // largest squared length so far

  double score(const RowLike auto& x) const { return dot(weights, x) + offset; }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    longest = std::max(longest, x.squared_norm());
    const bool in_margin = weight_mode == WeightMode::margin;
    const double tau = (t.y > 0 ? margin_pos : margin_neg) * t.cost * (in_margin ? t.weight : 1);
    if (t.y * score > tau) return false;
    const double step = learning_rate * t.y * (in_margin ? 1 : t.weight);
    add(weights, step, x);
    if (bias) offset += step * (radius > 0 ? radius * radius : longest);
    return true;
  }

  Vector coefficients() const { return weights; }
  void places(auto visit) const { visit(weights); }
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

}  // namespace lopsided
