// Truncated gradient (Langford et al. 2009), FOBOS (Duchi & Singer 2009; the case of period 1 without
// ceiling) and its adaptive form (Duchi, Hazan & Singer 2011): a gradient step, then every weight is
// shrunk.
//
// Shrinkage is additive and lazy: a feature stores the total shrinkage at the time of its last update, and the difference
// to the current total is applied when it is next used. A weight of 0 stores 0.
#pragma once

#include "../simd.hpp"
#include "learner.hpp"

LOPSIDED_ISA_BEGIN

struct TruncatedGradient {
  enum class Schedule { constant, sqrt };
  static constexpr RuleHooks hooks{};
  static constexpr std::size_t width = 2;  // weight, total shrinkage at its last update
  static constexpr bool takes_in = false, dual = false;

  double learning_rate = 0.1, l1 = 0;
  double period = 1;  // rounds between truncations
  double ceiling = std::numeric_limits<double>::infinity();  // larger weights are not shrunk
  Schedule schedule = Schedule::constant;
  double shrinks = 0, due = 0;  // total shrinkage; the part up to the last truncation

  auto weights(Count, const TargetSparsity&) const {
    return [due = due, ceiling = ceiling](const auto& row) {
      return std::abs(row[0]) > ceiling ? row[0] : soft(row[0], due - row[1]);
    };
  }

  void change(Count seen, double slope, auto each) const {
    each([move = rate(seen + 1) * slope, w = weights(seen, {}), due = due](const auto& row, double v) {
      row[0] = w(row) + move * v;
      row[1] = row[0] == 0 ? 0 : due;
    });
  }

  bool truncates(Count round) const { return round % static_cast<Count>(period) == 0; }
  void pass(Count round) {
    shrinks += rate(round) * l1;
    if (truncates(round)) due = shrinks;
  }
  void raise(double level) { due = shrinks = level; }
  // The total shrinkage at which the weight becomes zero.
  double level(const double* row) const {
    const double size = std::abs(row[0]);
    return size > ceiling ? std::numeric_limits<double>::infinity() : size + row[1];
  }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("l1", l1);
    visit("period", period);
    visit("ceiling", ceiling);
    visit("schedule", schedule, {"constant", "sqrt"});
  }
  void state(auto&& visit) {
    visit("shrinks", shrinks);
    visit("due", due);
    validate(due >= 0 && std::isfinite(due), "due");
  }

 private:
  double rate(Count round) const {
    return schedule == Schedule::constant ? learning_rate : learning_rate / std::sqrt(static_cast<double>(round));
  }
};

struct AdaptiveFobos {
  // Weight, total shrinkage at its last update, sum of g^2, 1 / (delta + its root).
  static constexpr std::size_t width = 4;
  static constexpr RuleHooks hooks{.derive = true, .fade = true};
  static constexpr bool takes_in = false, dual = false;

  double learning_rate = 1, l1 = 0, delta = 10;
  double due = 0;  // total shrinkage

  auto weights(Count, const TargetSparsity&) const {
    return [due = due](const auto& row) { return soft(row[0], (due - row[1]) * row[3]); };
  }

  void change(Count seen, double slope, auto each) const {
    each([slope, w = weights(seen, {}), due = due, delta = delta, eta = learning_rate](const auto& row, double v) {
      const double weight = w(row), g = slope * v;
      row[2] += g * g;
      row[3] = share(row[2], delta);
      row[0] = weight + eta * g * row[3];
      row[1] = row[0] == 0 ? 0 : due;
    });
  }

  void derive(double* row) const { row[3] = share(row[2], delta); }
  void fade(double* row) const {
    row[0] = weights(0, {})(row);  // shrunk by the earlier steps
    row[1] = row[0] == 0 ? 0 : due;
    row[2] /= 2;
    derive(row);
  }

  bool truncates(Count) const { return true; }
  void pass(Count) { due += learning_rate * l1; }
  void raise(double level) { due = level; }
  double level(const double* row) const { return row[1] + std::abs(row[0]) / row[3]; }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("l1", l1);
    visit("delta", delta);
  }
  void state(auto&& visit) {
    visit("due", due);
    validate(due >= 0 && std::isfinite(due), "due");
  }

 private:
  static double share(double squares, double delta) { return squares == 0 ? 0 : 1 / (delta + std::sqrt(squares)); }
};

LOPSIDED_ISA_END
