// What a learner is: four functions that every learner has, and hooks that it may have.
//
//   double score(x) const                  the score of a row; changes nothing that is visible
//   bool learn(x, target, score)           learns from the row scored last; whether it took a step
//   void options(visit)                    names its options
//   void state(visit)                      names its state, and validates what was loaded
//   static constexpr Hooks hooks           which of the hooks below it has
//
// x is a DenseRow or a SparseRow. The rest of the core calls a hook by the function of the same name in
// `hook`, which falls back to the default where a learner does not have it. Like `override`, the list in
// `hooks` guards against typos: a hook that is listed and missing, misspelt or of another signature does not
// compile, and neither does one that is there and not listed.
#pragma once

#include "simd.hpp"
#include "stream/pending.hpp"
#include "stream/reasons.hpp"

LOPSIDED_ISA_BEGIN

struct Hooks {
  // double observe(x)
  //   The score of a row that has arrived, for a learner that takes something in before it scores or that
  //   remembers the row for `learn`. Default: score(x).
  bool observe = false;
  // double again(x)
  //   The score of a row that was observed some time ago, for a label that nobody asked for: what `observe` takes in
  //   is not counted twice. Default: observe(x).
  bool again = false;
  // void keep(Kept&), double recall(const Kept&), bool fits(const Kept&) const
  //   What is kept of the row observed last until its label arrives; observes that row again; whether a kept
  //   row from a file is possible. Default: the row itself.
  bool keep = false;
  // void prefetch_targets(visit) const
  //   Calls visit(values) with the Vector or Table that holds the entries of a row's features, to be
  //   prefetched. Default: nothing is prefetched.
  bool prefetch_targets = false;
  // void variances(const Row* x, Count n, double* out); members learning_rate and regularization
  //   x' Sigma x of n rows, for query='confidence'. Default: that query is refused.
  bool variances = false;
  // Vector coefficients() const
  //   All weights. Default: those of `nonzeros`, or the learner has no weights.
  bool coefficients = false;
  // void nonzeros(visit) const
  //   Calls visit(feature, weight) for the weights other than 0, in order. Default: those of `coefficients`.
  bool nonzeros = false;
  // std::size_t columns() const, void start()
  //   How many columns are known once the options are set; called when these have been entered. Default: none.
  bool start = false;
  // void reserve(size)
  //   Memory for `size` columns; may fail, and changes nothing. Default: for all state that is PerFeature.
  bool reserve = false;
  // void grow(size), std::size_t bytes() const
  //   Makes `size` columns known, without failing after `reserve`; the memory taken. Default: as `reserve`.
  bool grow = false;
  // bool dense() const
  //   Whether sparse rows are made dense. Default: no.
  bool dense = false;
  // bool scales() const, double score(x, Index known) const
  //   Whether it scales rows itself, and is then given them raw; takes the place of score(x): features
  //   from `known` on have no state. Default: rows are scaled before.
  bool scales = false;
  // void explain(x, Index known, Reasons&) const
  //   Adds the effects of which the score of a row is the sum. Default: weights times values, or there are none.
  bool explain = false;
  // void fade()
  //   Halves what has been accumulated, for forget=. Default: that is refused.
  bool fade = false;
  // Not a function: scores depend on features that no row had when the model learned.
  bool new_features = false;
  // Not a function: the score is a calibrated log odds.
  bool log_odds = false;
};

namespace detail {

struct AnyVisitor {
  void operator()(const auto&...) const {}
};

template <class L>
concept Observes = requires(L& l, const DenseRow& dense, const SparseRow& sparse) {
  { l.observe(dense) } -> std::same_as<double>;
  { l.observe(sparse) } -> std::same_as<double>;
};
template <class L>
concept MeetsAgain = requires(L& l, const DenseRow& dense, const SparseRow& sparse) {
  { l.again(dense) } -> std::same_as<double>;
  { l.again(sparse) } -> std::same_as<double>;
};
template <class L>
concept Keeps = requires(L& l, const L& c, Kept& out, const Kept& kept) {
  { l.keep(out) } -> std::same_as<void>;
  { l.recall(kept) } -> std::same_as<double>;
  { c.fits(kept) } -> std::same_as<bool>;
};
template <class L>
concept Prefetches = requires(const L& l) { l.prefetch_targets(AnyVisitor{}); };
template <class L>
concept HasVariances = requires(L& l, const DenseRow* dense, const SparseRow* sparse, double* out) {
  l.variances(dense, Count{}, out);
  l.variances(sparse, Count{}, out);
  double{l.learning_rate};
  double{l.regularization};
};
template <class L>
concept HasCoefficients = requires(const L& l) {
  { l.coefficients() } -> std::same_as<Vector>;
};
template <class L>
concept HasNonzeros = requires(const L& l) { l.nonzeros(AnyVisitor{}); };
template <class L>
concept Starts = requires(L& l, const L& c) {
  l.start();
  { c.columns() } -> std::same_as<std::size_t>;
};
template <class L>
concept Reserves = requires(L& l, std::size_t size) {
  { l.reserve(size) } -> std::same_as<void>;
};
template <class L>
concept Grows = requires(L& l, const L& c, std::size_t size) {
  { l.grow(size) } -> std::same_as<void>;
  { c.bytes() } -> std::same_as<std::size_t>;
};
template <class L>
concept WantsDense = requires(const L& l) {
  { l.dense() } -> std::same_as<bool>;
};
template <class L>
concept Scales = requires(const L& l, const DenseRow& dense, const SparseRow& sparse, Index known) {
  { l.scales() } -> std::same_as<bool>;
  { l.score(dense, known) } -> std::same_as<double>;
  { l.score(sparse, known) } -> std::same_as<double>;
};
template <class L>
concept Explains = requires(const L& l, const DenseRow& dense, const SparseRow& sparse, Reasons& out) {
  { l.explain(dense, Index{}, out) } -> std::same_as<void>;
  { l.explain(sparse, Index{}, out) } -> std::same_as<void>;
};
template <class L>
concept Fades = requires(L& l) {
  { l.fade() } -> std::same_as<void>;
};
template <class L>
concept Scores = requires(const L& l, const DenseRow& dense, const SparseRow& sparse) {
  { l.score(dense) } -> std::same_as<double>;
  { l.score(sparse) } -> std::same_as<double>;
};

}  // namespace detail

// The part of the contract that can be asked for; `has_its_hooks` says what is wrong with the hooks.
template <class L>
concept Learner = (detail::Scores<L> || detail::Scales<L>) &&
                  requires(L& l, const DenseRow& dense, const SparseRow& sparse, const Target& target,
                           OptionVisitor& options, StateVisitor& state) {
                    { l.learn(dense, target, double{}) } -> std::same_as<bool>;
                    { l.learn(sparse, target, double{}) } -> std::same_as<bool>;
                    l.options(options);
                    l.state(state);
                    { L::hooks } -> std::same_as<const Hooks&>;
                  };

#define LOPSIDED_CHECK_HOOK(hook, Concept) \
  static_assert(L::hooks.hook == detail::Concept<L>, "hook '" #hook "': the list `hooks` and the learner differ")
template <Learner L>
consteval bool has_its_hooks() {
  LOPSIDED_CHECK_HOOK(observe, Observes);
  LOPSIDED_CHECK_HOOK(again, MeetsAgain);
  LOPSIDED_CHECK_HOOK(keep, Keeps);
  LOPSIDED_CHECK_HOOK(prefetch_targets, Prefetches);
  LOPSIDED_CHECK_HOOK(variances, HasVariances);
  LOPSIDED_CHECK_HOOK(coefficients, HasCoefficients);
  LOPSIDED_CHECK_HOOK(nonzeros, HasNonzeros);
  LOPSIDED_CHECK_HOOK(start, Starts);
  LOPSIDED_CHECK_HOOK(reserve, Reserves);
  LOPSIDED_CHECK_HOOK(grow, Grows);
  LOPSIDED_CHECK_HOOK(dense, WantsDense);
  LOPSIDED_CHECK_HOOK(scales, Scales);
  LOPSIDED_CHECK_HOOK(explain, Explains);
  LOPSIDED_CHECK_HOOK(fade, Fades);
  return true;
}
#undef LOPSIDED_CHECK_HOOK

// Whether a learner remembers the row that it observed last.
template <Learner L>
inline constexpr bool remembers = L::hooks.observe || L::hooks.keep;

namespace hook {

template <Learner L>
LOPSIDED_INLINE inline double observe(L& learner, const RowLike auto& x) {
  if constexpr (L::hooks.observe) return learner.observe(x);
  else return learner.score(x);
}

template <Learner L>
LOPSIDED_INLINE inline double observe(L& learner, const RowLike auto& x, bool met_before) {
  if constexpr (L::hooks.again)
    if (met_before) return learner.again(x);
  return observe(learner, x);
}

// Calls learn(x, score) with a kept row, observed once more.
template <Learner L>
auto recall(L& learner, const Kept& kept, auto learn) {
  if constexpr (L::hooks.keep) {
    const double score = learner.recall(kept);
    return learn(kept.dense_row(), score);
  } else {
    const auto again = [&](const auto& x) { return learn(x, observe(learner, x)); };
    return kept.sparse ? again(kept.sparse_row()) : again(kept.dense_row());
  }
}
template <Learner L>
bool fits(const L& learner, const Kept& kept, Index columns) {
  if constexpr (L::hooks.keep) return learner.fits(kept);
  else return kept.fits(columns);
}

template <Learner L>
void prefetch_targets(const L& learner, auto visit) {
  if constexpr (L::hooks.prefetch_targets) learner.prefetch_targets(visit);
}

// Empty for a learner without weights.
template <Learner L>
std::vector<double> coefficients(const L& learner, std::size_t columns) {
  if constexpr (L::hooks.coefficients) {
    const Vector w = learner.coefficients();
    return {w.data(), w.data() + w.size()};
  } else if constexpr (L::hooks.nonzeros) {
    std::vector<double> out(columns);
    learner.nonzeros([&](std::size_t j, double w) { out[j] = w; });
    return out;
  } else {
    return {};
  }
}

template <Learner L>
std::size_t columns(const L& learner) {
  if constexpr (L::hooks.start) return learner.columns();
  else return 0;
}
template <Learner L>
void start(L& learner) {
  if constexpr (L::hooks.start) learner.start();
}

void each_per_feature(auto& learner, auto visit) {
  learner.state([&](const char*, auto& values) {
    if constexpr (PerFeature<std::remove_reference_t<decltype(values)>>) visit(values);
  });
}
template <Learner L>
void reserve(L& learner, std::size_t size) {
  if constexpr (L::hooks.reserve) learner.reserve(size);
  else each_per_feature(learner, [=](auto& values) { values.reserve(size); });
}
// Returns the memory taken.
template <Learner L>
std::size_t grow(L& learner, std::size_t size) {
  if constexpr (L::hooks.grow) {
    learner.grow(size);
    return learner.bytes();
  } else {
    std::size_t sum = 0;
    each_per_feature(learner, [&](auto& values) {
      values.grow(size);
      sum += values.bytes();
    });
    return sum;
  }
}
// The memory taken now, by a learner that took `grown` when it grew last.
template <Learner L>
std::size_t bytes(const L& learner, std::size_t grown) {
  if constexpr (L::hooks.grow) return learner.bytes();
  else return grown;
}

template <Learner L>
bool dense(const L& learner) {
  if constexpr (L::hooks.dense) return learner.dense();
  else return false;
}
// The score of a raw row: prepare(raw) is the row as the learner is to see it, with `offset` more columns.
template <Learner L>
LOPSIDED_INLINE inline double score(const L& learner, const RowLike auto& raw, Index known, Index offset,
                                    auto prepare) {
  if constexpr (L::hooks.scales)
    return learner.scales() ? learner.score(raw, known) : learner.score(prepare(raw), known + offset);
  else return learner.score(prepare(raw));
}

}  // namespace hook

LOPSIDED_ISA_END
