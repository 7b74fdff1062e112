// A sparse linear learner: a rule over a table with a few numbers per feature.
//
// The weight of a feature is a function of its table row and of shared state (the round, the shrinkage so
// far), so a step touches only the features of its row. A rule has
//   weights(...)  that function after a number of rounds
//   change(...)   the update of one feature, as a function of its table row and its value
//   pass(...)     the update of the shared state in every round
//   level(row)    the quantity that decides whether the weight is zero
//   hooks         which of the functions in RuleHooks it has
// and, if it takes in a row before it scores it, part(), a function whose sum over the row is all it needs, and
// taking(sum), the resulting update of one feature.
#pragma once

#include "../learner.hpp"
#include "../numbers/real.hpp"
#include "../numbers/vectors.hpp"
#include "../simd.hpp"
#include "target.hpp"

LOPSIDED_ISA_BEGIN

// Soft thresholding: v moved towards 0 by a, but not beyond it.
template <class Real>
Real soft(const Real& v, const Real& a) {
  return v - least<Real>(most<Real>(v, -a), a);
}

// The slope of the hinge loss, with the costs of class and event.
template <class Real>
Real hinge_slope(const Real& score, const Target& t) {
  return choose<Real>(t.y * score < 1.0, all<Real>(t.cost * t.weight), Real{});
}

// Functions that a rule may have. As for learners, one that is listed and missing, or there and not listed, does not
// compile.
struct RuleHooks {
  // bool divides() const, undivided(seen, target) const
  //   A cheaper weight function, for where divides() is false. Default: weights(seen, target).
  bool undivided = false;
  // bool possible(const double* row) const
  //   Whether a loaded table row is possible. Default: it is.
  bool possible = false;
  // void derive(double* row) const
  //   Computes what a table row holds beside its state. Default: nothing.
  bool derive = false;
  // void fade(double* row) const
  //   Halves what has been accumulated for a feature; its weight stays. Default: forget= is refused.
  bool fade = false;
};
template <class Rule>
consteval bool rule_has_its_hooks() {
  static_assert(
      Rule::hooks.undivided == requires(const Rule& r, TargetSparsity t) { r.divides(), r.undivided(0, t); },
      "hook 'undivided': the list `hooks` and the rule differ");
  static_assert(
      Rule::hooks.possible == requires(const Rule& r, const double* row) { r.possible(row); },
      "hook 'possible': the list `hooks` and the rule differ");
  static_assert(
      Rule::hooks.derive == requires(const Rule& r, double* row) { r.derive(row); },
      "hook 'derive': the list `hooks` and the rule differ");
  static_assert(
      Rule::hooks.fade == requires(const Rule& r, double* row) { r.fade(row); },
      "hook 'fade': the list `hooks` and the rule differ");
  return true;
}

// Calls `use` with the weight function of a rule: the cheaper one if it applies.
template <class Rule>
auto weighing(const Rule& rule, auto use) {
  if constexpr (Rule::hooks.undivided)
    if (!rule.divides())
      return use([](const Rule& r, Count seen, const TargetSparsity& target) { return r.undivided(seen, target); });
  return use([](const Rule& r, Count seen, const TargetSparsity& target) { return r.weights(seen, target); });
}

template <class Rule>
struct SparseLearner {
  static_assert(rule_has_its_hooks<Rule>());
  static constexpr Hooks hooks{.observe = true,
                               .prefetch_targets = true,
                               .nonzeros = true,
                               .reserve = true,
                               .grow = true,
                               .fade = Rule::hooks.fade};

  Rule rule;
  double clip = 0;  // in scoring, weights below it count as 0
  TargetSparsity target;
  Table table{Rule::width};
  Count seen = 0;  // rounds

  // The score of the current model.
  double score(const RowLike auto& x) const {
    const auto sum = [&](const auto& term) {
      return x.sum([&, rows = table.data()](Index j, double v) {
        return term(rows + static_cast<std::size_t>(j) * Rule::width, v);
      });
    };
    const auto w = rule.weights(seen, target);
    if constexpr (Rule::takes_in)
      if (rule.transductive)
        return rule.taking(sum(rule.part()), [&](auto take) {
          return sum([&](const double* row, double v) {
            double taken[Rule::width];
            std::copy_n(row, Rule::width, taken);
            take(taken, v);
            return w(taken) * v;
          });
        });
    if (clip == 0) return sum([=](const double* row, double v) { return w(row) * v; });
    return sum([=, c = clip](const double* row, double v) { return clipped(w(row), c) * v; });
  }

  // The score in a round, before the label is known. If a feature has several numbers, those of the row's
  // features are gathered first: the rest is arithmetic on arrays.
  double observe(const RowLike auto& x) {
    if constexpr (Rule::width == 1) {
      return weighing(rule, [&](auto weights) {
        return x.sum(
            [w = weights(rule, seen, target), rows = table.data()](Index j, double v) { return w(rows + j) * v; });
      });
    } else {
      const auto w = rule.weights(seen, target);
      gather(x);
      if constexpr (Rule::takes_in) rule.taking(sum(x, rule.part()), [&](auto take) { each(x, take); });
      return sum(x, [=](const auto& row, double v) { return w(row) * v; });
    }
  }

  // The row must be the one observed last.
  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double slope = hinge_slope(score, t);
    const bool steps = slope != 0 || Rule::takes_in;
    if (target.on()) catch_up();
    if (steps) step(x, slope * t.y);
    rule.pass(++seen);
    if (target.on()) aim();
    return slope != 0;
  }

  // Every nonzero weight, in the order of the features.
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
    if constexpr (Rule::hooks.possible)
      each_restored(visit, table, [&](const double* row) { validate(rule.possible(row), "features"); });
    if constexpr (Rule::hooks.derive) each_restored(visit, table, [&](double* row) { rule.derive(row); });
    if (restores(visit)) ordered_ = never;
  }
  void fade()
    requires(Rule::hooks.fade)
  {
    for (std::size_t j = 0; j < table.size(); ++j) rule.fade(table[j]);
    ordered_ = never;
  }
  void reserve(std::size_t size) { table.reserve(size); }
  void grow(std::size_t size) { table.grow(size); }
  std::size_t bytes() const { return table.bytes(); }
  void prefetch_targets(auto visit) const { visit(table); }

 private:
  using Order = std::conditional_t<Rule::dual, Ranks, Survivors>;

  // The order of the weights is not saved: it is rebuilt from the table when needed.
  [[gnu::noinline]] void catch_up() {
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
  [[gnu::noinline]] void enter_all(const RowLike auto& x, int by) {
    for (Index k = 0; k < x.size; ++k) {
      const auto j = static_cast<std::size_t>(x.column(k));
      enter(j, table[j], by);
    }
  }
  [[gnu::noinline]] void aim() {
    ordered_ = seen;
    if constexpr (Rule::dual) target.chosen = order_.edge(target.room());
    else if (rule.truncates(seen)) rule.raise(order_.raise(rule.due, target.room(), rule, table));
  }

  // Number i of the k-th feature of the row is near[i * room + k] (structure of arrays).
  struct Near {
    double* first;
    std::size_t room;
    double& operator[](std::size_t i) const { return first[i * room]; }
  };
  Near near(Index k) { return {near_.data() + k, room_}; }

  // Visits every number in the table together with its gathered copy, two features at a time.
  void exchange(const RowLike auto& x, auto pairs, auto one) {
    const std::size_t room = room_;
    double *rows = table.data(), *near = near_.data();
    const auto row = [&](std::size_t k) {
      return rows + static_cast<std::size_t>(x.column(static_cast<Index>(k))) * Rule::width;
    };
    std::size_t k = 0;
    if constexpr (Rule::width % 2 == 0)
      for (; k + 2 <= room; k += 2)
        for (std::size_t i = 0; i < Rule::width; i += 2)
          pairs(row(k) + i, row(k + 1) + i, near + i * room + k, near + (i + 1) * room + k);
    for (; k < room; ++k)
      for (std::size_t i = 0; i < Rule::width; ++i) one(row(k)[i], near[i * room + k]);
  }

  void gather(const RowLike auto& x) {
    room_ = static_cast<std::size_t>(x.size);
    if (near_.size() < room_ * Rule::width) near_.resize(room_ * Rule::width);
    exchange(
        x,
        [](const double* a, const double* b, double* first, double* second) {
          const Double2 x = load2(a), y = load2(b);
          store2(first, __builtin_shufflevector(x, y, 0, 2));
          store2(second, __builtin_shufflevector(x, y, 1, 3));
        },
        [](double from, double& to) { to = from; });
  }
  void scatter(const RowLike auto& x) {
    exchange(
        x,
        [](double* a, double* b, const double* first, const double* second) {
          const Double2 x = load2(first), y = load2(second);
          store2(a, __builtin_shufflevector(x, y, 0, 2));
          store2(b, __builtin_shufflevector(x, y, 1, 3));
        },
        [](double& to, double from) { to = from; });
  }

  template <class Term>
  double sum(const RowLike auto& x, const Term& term) {
    return x.sum_at([&](Index k) { return term(near(k), x.value(k)); });
  }
  void each(const RowLike auto& x, auto change) {
#pragma GCC ivdep
    for (Index k = 0; k < x.size; ++k) change(near(k), x.value(k));
  }

  void step(const RowLike auto& x, double slope) {
    if (target.on()) {
      target.observe(x);
      enter_all(x, -1);
    }
    rule.change(seen, slope, [&](auto change) {
      if constexpr (Rule::width == 1) {
        for (Index k = 0; k < x.size; ++k) change(table[static_cast<std::size_t>(x.column(k))], x.value(k));
      } else {
        each(x, change);
        scatter(x);
      }
    });
    if (target.on()) enter_all(x, 1);
  }

  static double clipped(double w, double clip) { return std::abs(w) < clip ? 0 : w; }

  static constexpr Count never = std::numeric_limits<Count>::max();

  Order order_;        // used only with a target
  Count ordered_ = 0;  // rounds it knows of; never: it must be made from the table

  std::vector<double> near_;  // gathered numbers of the row observed last
  std::size_t room_ = 0;
};

LOPSIDED_ISA_END
