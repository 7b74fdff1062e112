// Learners in a bank: the formulas of each, over vectors. `Real` is a vector; the `width` values that a learner has for
// a feature lie in a table beside those of the other models of the vector and of the pack. A value whose `initial` is
// below 0 and that was never written stands for 0. A learner that `takes_in` a row changes its values before it scores;
// `banks` says whether it can learn in a bank with its options.
#pragma once

#include <tuple>

#include "../linear/acog.hpp"
#include "../linear/arow.hpp"
#include "../simd.hpp"
#include "../sparse/learner.hpp"
#include "vectors.hpp"

LOPSIDED_ISA_BEGIN

// The values of one feature and part: value i of all models of the part.
template <class Real>
struct Numbers {
  double* first;
  std::size_t apart;
  Anywhere<Real>& operator[](std::size_t i) const { return *reinterpret_cast<Anywhere<Real>*>(first + i * apart); }
};

// The values of a pack for the k-th feature of a row; those of sparse rows have been looked up.
template <class Real, int parts, std::size_t width>
struct Beside {
  static constexpr std::size_t models = static_cast<std::size_t>(models_in<Real>) * parts;
  double* table;
  double* const* found;  // of a sparse row

  template <class Row>
  Numbers<Real> at(Index k, int part) const {
    double* first = std::same_as<Row, SparseRow> ? found[k] : table + static_cast<std::size_t>(k) * width * models;
    return {first + part * models_in<Real>, models};
  }
};

// Weights that move by a multiple of the row.
template <class Learner, bool has_offset = false>
struct FirstOrder {
  static constexpr bool takes_in = false;
  static constexpr std::size_t width = 1;
  static constexpr double initial[width] = {0};
  Learner learner;

  template <class Real, int parts, class Row>
  LOPSIDED_INLINE static Pack<Real, parts> score(const Pack<FirstOrder, parts>& all, const Row& x, auto at, auto next) {
    auto out = sums<Real, parts>(x, [&](Index k, int p) -> Real { return at(k, p)[0] * x.values[k]; }, next);
    for_each_part<parts>([&](auto p) {
      out[p] = x.scale * out[p];
      if constexpr (has_offset) out[p] += all[p].learner.offset;
    });
    return out;
  }
  auto weighs() const {
    return [](const auto& numbers) { return numbers[0] != 0.0; };
  }
  bool banks() const { return true; }
  bool scores() const { return true; }

  template <class Real, class Row>
  LOPSIDED_INLINE Mask<Real> learn(const Row& x, const Target& t, const Real& score, const Mask<Real>& alive, auto at) {
    const Step<Real> s = learner.step(score, t, x.squared_norm());
    const Mask<Real> taken = s.taken & alive;
    if (!any(taken)) return taken;
    const Real by = choose(taken, s.by, Real{}) * x.scale;
    for (Index k = 0; k < x.size; ++k) at(k)[0] += by * x.values[k];
    return taken;
  }

  void options(auto&& visit) { learner.options(visit); }
  void state(auto&& visit) { learner.state(visit); }
};

// Means with the diagonal of a covariance.
template <class Learner>
struct SecondOrder {
  static constexpr bool takes_in = false;
  static constexpr std::size_t width = 2;
  static constexpr double initial[width] = {0, 1};
  Learner learner;

  template <class Real, int parts, class Row>
  LOPSIDED_INLINE static Pack<Real, parts> score(const Pack<SecondOrder, parts>&, const Row& x, auto at, auto next) {
    auto out = sums<Real, parts>(x, [&](Index k, int p) -> Real { return at(k, p)[0] * x.values[k]; }, next);
    for_each_part<parts>([&](auto p) { out[p] = x.scale * out[p]; });
    return out;
  }
  auto weighs() const {
    return [](const auto& numbers) { return numbers[0] != 0.0; };
  }
  bool banks() const { return true; }
  bool scores() const { return true; }

  template <class Real, class Row>
  LOPSIDED_INLINE Mask<Real> learn(const Row& x, const Target& t, const Real& score, const Mask<Real>& alive, auto at) {
    constexpr bool asks = Learner::step_needs_variance;
    const bool shared = learner.covariance.rule == DiagonalCovariance::Update::shared;
    Real variance{};
    const auto look = [&] {
      if (asks || shared)
        variance = sums<Real, 1>(x, [&](Index k, int) -> Real {
          const double v = x.value(k);
          return at(k)[1] * v * v;
        })[0];
    };
    Step<Real> s;
    if constexpr (asks) {
      s.taken = (learner.loss(score, t) > 0.0) & alive;
      if (!any(s.taken)) return s.taken;
      look();
      s.by = learner.step(score, t, variance).by;
    } else {
      s = learner.step(score, t);
      s.taken &= alive;
      if (!any(s.taken)) return s.taken;
      look();
    }
    const Real by = choose(s.taken, s.by, Real{}), r = learner.r(t);
    const auto each = [&](auto change) {
      for (Index k = 0; k < x.size; ++k) {
        const auto numbers = at(k);
        Real mean = numbers[0], variance = numbers[1];
        change(variance, mean, x.value(k));
        numbers[0] = mean, numbers[1] = variance;
      }
    };
    const auto idle = [&](const Real& v) { return choose(s.taken, v, Real{}); };
    if (shared) each(DiagonalCovariance::by_share<Real>(idle(1 / (r + variance)), by, learner.sigma));
    else each(DiagonalCovariance::by_coordinate<Real>(idle(1 / r), by, learner.sigma));
    return s.taken;
  }

  void options(auto&& visit) { learner.options(visit); }
  void state(auto&& visit) { learner.state(visit); }
};

// Sparse learners with their own shrinkage; a target sparsity cannot be learned in a bank.
template <class Rule>
struct Shrinking {
  static constexpr bool takes_in = Rule::takes_in;
  static constexpr std::size_t width = Rule::width;
  static constexpr std::array<double, width> initial = Rule::initial;
  Rule rule;
  double clip = 0;
  TargetSparsity target;
  Count seen = 0;
  Table table{width};  // for its type only

  template <class Real, int parts, class Row>
  LOPSIDED_INLINE static void take_in(const Pack<Shrinking, parts>& all, const Row& x, auto at) {
    const auto total = sums<Real, parts>(x, [&](Index k, int p) -> Real { return Rule::part()(at(k, p), x.value(k)); });
    for_each_part<parts>([&](auto p) {
      all[p].rule.taking(total[p], [&](auto take) {
        for (Index k = 0; k < x.size; ++k) take(at(k, p), x.value(k));
      });
    });
  }
  template <class Real, int parts, class Row>
  LOPSIDED_INLINE static Pack<Real, parts> score(const Pack<Shrinking, parts>& all, const Row& x, auto at, auto next) {
    return weighing(all[0].rule, [&](auto weights) {
      return [&]<int... p>(std::integer_sequence<int, p...>) {
        const std::tuple w(weights(all[p].rule, all[p].seen, all[p].target)...);
        return sums<Real, parts>(
            x, [&](Index k, auto q) -> Real { return std::get<q>(w)(at(k, q)) * x.value(k); }, next);
      }(std::make_integer_sequence<int, parts>{});
    });
  }
  auto weighs() const {
    return [w = rule.weights(seen, target), c = clip](const auto& numbers) {
      const auto weight = w(numbers);
      return (weight != 0.0) & ((weight >= c) | (weight <= -c));
    };
  }
  bool banks() const { return !target.on(); }
  bool scores() const {
    if constexpr (Rule::takes_in) return clip == 0 && !rule.transductive;
    return clip == 0;
  }

  template <class Real, class Row>
  LOPSIDED_INLINE Mask<Real> learn(const Row& x, const Target& t, const Real& score, const Mask<Real>& alive, auto at) {
    const Real slope = hinge_slope(score, t);
    const Mask<Real> taken = (slope != 0.0) & alive;
    if (any(taken))
      rule.change(seen, slope * t.y, [&](auto change) {
        for (Index k = 0; k < x.size; ++k) change(at(k), x.value(k));
      });
    rule.pass(++seen);
    return taken;
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
  }
};

LOPSIDED_ISA_END
