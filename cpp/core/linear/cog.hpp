// COG, cost-sensitive online gradient descent (Wang, Zhao, Hoi 2012, algorithm 1).
#pragma once

#include "../row.hpp"
#include "../surrogate.hpp"

namespace lopsided {

struct Cog {
  enum class Schedule { constant, sqrt };
  double learning_rate = 0.1;
  Schedule schedule = Schedule::constant;
  Surrogate surrogate;
  Vector weights;

  double score(const RowLike auto& x) const { return dot(weights, x); }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double slope = surrogate.slope(score, t);
    if (slope == 0) return false;
    const double rate = schedule == Schedule::constant
                            ? learning_rate
                            : learning_rate / std::sqrt(static_cast<double>(t.round));
    add(weights, rate * slope * t.y, x);
    return true;
  }

  Vector coefficients() const { return weights; }
  void places(auto visit) const { visit(weights); }
  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("schedule", schedule, {"constant", "sqrt"});
    surrogate.options(visit);
  }
  void state(auto&& visit) { visit("weights", weights); }
};

}  // namespace lopsided
