// A sparse linear learner: a rule over a table that has a few numbers for each feature.
//
// The weight of a feature is a function of its numbers and of what all features share (the round, the
// shrinks so far), so a step touches only the features of its row. A rule gives
//   weights(seen)     that function after `seen` rounds
//   step(...)         what a step does to the numbers of the row's features
//   pass(...)         what every round does to what is shared
// and, if it takes a row in before it scores it, meeting(x, ...), the function with x taken in.
#pragma once

#include "../row.hpp"
#include "../table.hpp"

namespace lopsided {

// v moved towards 0 by a, and no further.
inline double soft(double v, double a) { return std::copysign(std::max(std::abs(v) - a, 0.0), v); }

// The hinge: how often y x is added, with the costs of class and event.
inline double hinge_slope(double score, const Target& t) {
  return t.y * score < 1 ? t.cost * t.weight : 0;
}

template <class Rule>
struct SparseLearner {
  Rule rule;
  double clip = 0;  // of the finished model: weights below it count as 0
  Table table{Rule::width};
  Count seen = 0;  // rounds

  // What the model would say now.
  double score(const RowLike auto& x) const {
    if constexpr (Rule::takes_in)
      if (rule.transductive) return sum(x, rule.meeting(x, table, seen));
    const auto w = rule.weights(seen);
    if (clip == 0) return sum(x, w);
    return sum(x, [=, c = clip](const double* row) { return clipped(w(row), c); });
  }

  // What it says in a round, before it knows the label.
  double meet(const RowLike auto& x) const {
    if constexpr (Rule::takes_in) return sum(x, rule.meeting(x, table, seen));
    else return sum(x, rule.weights(seen));
  }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double slope = hinge_slope(score, t);
    if (slope != 0 || Rule::takes_in) rule.step(x, table, slope * t.y, seen);
    rule.pass(++seen);
    return slope != 0;
  }

  // Every weight other than 0, features in order.
  void nonzeros(auto&& visit) const {
    const auto w = rule.weights(seen);
    table.for_each([&](std::size_t j, const double* row) {
      const double weight = clipped(w(row), clip);
      if (weight != 0) visit(j, weight);
    });
  }

  void options(auto&& visit) {
    visit("clip", clip);
    rule.options(visit);
  }
  void state(auto&& visit) {
    visit("seen", seen);
    rule.state(visit);
    visit("features", table);
  }

 private:
  static double clipped(double w, double clip) { return std::abs(w) < clip ? 0 : w; }

  template <class Weights>
  double sum(const RowLike auto& x, const Weights& w) const {
    const double* rows = table.data();
    return x.sum([=](Index j, double v) {
      const double* row = rows + static_cast<std::size_t>(j) * Rule::width;
      if constexpr (requires { w(row, v); }) return w(row, v) * v;
      else return w(row) * v;
    });
  }
};

}  // namespace lopsided
