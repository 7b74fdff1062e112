// A sparse linear learner: a rule over a table that has a few numbers for each feature.
//
// The weight of a feature is a function of its numbers and of what all features share (the round, the
// shrinks so far), so a step touches only the features of its row. A rule gives
//   weights(...)  that function after a number of rounds
//   step(...)     what a step does to the numbers of one feature
//   pass(...)     what every round does to what is shared
//   level(row)    what decides whether the weight is zero
// and, if it takes a row in before it scores it, total(x, ...), all it needs to know of the row, and
// meeting(total, ...), the function with the row taken in.
#pragma once

#include "../row.hpp"
#include "target.hpp"

namespace lopsided {

// v moved towards 0 by a, and no further.
inline double soft(double v, double a) { return v - std::min(std::max(v, -a), a); }

// The hinge: how often y x is added, with the costs of class and event.
inline double hinge_slope(double score, const Target& t) {
  return t.y * score < 1 ? t.cost * t.weight : 0;
}

template <class Rule>
struct SparseLearner {
  Rule rule;
  double clip = 0;  // of the finished model: weights below it count as 0
  TargetSparsity target;
  Table table{Rule::width};
  Count seen = 0;  // rounds

  // What the model would say now.
  double score(const RowLike auto& x) const {
    if constexpr (Rule::takes_in)
      if (rule.transductive) return met(x, rule.total(x, table));
    const auto w = rule.weights(seen, target);
    if (clip == 0) return sum(x, w);
    return sum(x, [=, c = clip](const double* row) { return clipped(w(row), c); });
  }

  // What it says in a round, before it knows the label.
  double meet(const RowLike auto& x) {
    if constexpr (Rule::takes_in) return met(x, total_ = rule.total(x, table));
    else return sum(x, rule.weights(seen, target));
  }

  // The row must be the one that was met last.
  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double slope = hinge_slope(score, t);
    const bool steps = slope != 0 || Rule::takes_in;
    if (target.on()) {
      catch_up();
      if (steps) step_to_target(x, slope * t.y);
      rule.pass(++seen);
      aim();
    } else {
      if (steps) step(x, slope * t.y, [](auto&&...) {}, [](auto&&...) {});
      rule.pass(++seen);
    }
    return slope != 0;
  }

  // Every weight other than 0, features in order.
  void nonzeros(auto&& visit) const {
    const auto w = rule.weights(seen, target);
    table.for_each([&](std::size_t j, const double* row) {
      const double weight = clipped(w(row), clip);
      if (weight != 0) visit(j, weight);
    });
  }

  void options(auto&& visit) {
    visit("clip", clip);
    target.options(visit);
    rule.options(visit);
  }
  void state(auto&& visit) {
    visit("seen", seen);
    target.state(visit);
    rule.state(visit);
    visit("features", table);
    target.check(table.size());
    if constexpr (requires { rule.due; })
      if (!(rule.due >= 0 && std::isfinite(rule.due))) throw std::invalid_argument("state due is not possible");
    if constexpr (requires(const double* row) { rule.possible(row); })
      table.for_each([&](std::size_t, const double* row) {
        if (!rule.possible(row)) throw std::invalid_argument("state features is not possible");
      });
  }

 private:
  using Order = std::conditional_t<Rule::dual, Ranks, Survivors>;

  // The order of the weights is not saved: it is made of the table where it is not there.
  void catch_up() {
    bool late = ordered_ != seen;
    if constexpr (!Rule::dual) late = late || order_.stale();
    if (!late) return;
    order_.clear();
    table.for_each([&](std::size_t j, const double* row) { enter(j, row, 1); });
    ordered_ = seen;
  }
  void enter(std::size_t j, const double* row, int by) {
    if constexpr (Rule::dual) {
      by > 0 ? order_.add(rule.level(row)) : order_.remove(rule.level(row));
    } else if (row[0] != 0) {
      order_.count(by);
      if (by > 0) order_.add(rule.level(row), j);
    }
  }
  void step_to_target(const RowLike auto& x, double slope) {
    target.meet(x);
    step(x, slope, [&](std::size_t j, const double* row) { enter(j, row, -1); },
         [&](std::size_t j, const double* row) { enter(j, row, 1); });
  }
  void step(const RowLike auto& x, double slope, auto before, auto after) {
    if constexpr (Rule::takes_in) rule.step(x, table, total_, slope, before, after);
    else rule.step(x, table, seen, slope, before, after);
  }
  void aim() {
    ordered_ = seen;
    if constexpr (Rule::dual) target.chosen = order_.edge(target.room());
    else if (rule.truncates(seen)) rule.raise(order_.raise(rule.due, target.room(), rule, table));
  }

  Order order_;        // kept only with a target
  Count ordered_ = 0;  // rounds it knows of

  double total_ = 0;   // of the row met last

  double met(const RowLike auto& x, double total) const {
    return rule.meeting(total, seen, target, [&](const auto& w) { return sum(x, w); });
  }

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
