// A sketch of either form that takes in every row at once or, with sketch_every = k, in batches of k.
//
// The directions are made orthonormal once per batch, at its end; energies use the directions as they are in between.
// The result is the same as if V were made orthonormal after each row and the energies used L V, L = R_1 R_2 ... of the
// rows so far (Gram-Schmidt of a product is unique), which keeps all numbers small; so batches change the energies
// and save no time. Features enter immediately.
#pragma once

#include "../input/rows.hpp"
#include "../simd.hpp"
#include "dense.hpp"
#include "sparse.hpp"

LOPSIDED_ISA_BEGIN

template <class Form>
class Sketch {
 public:
  double score(const RowLike auto& x) const { return form_.score(x); }
  double observe(const RowLike auto& x)
    requires(Form::hooks.observe)
  {
    return form_.observe(x);
  }
  // x' Sigma x with the current Sigma.
  double variance(const RowLike auto& x) const { return form_.variance(x); }

  // Takes in the row x / sqrt(r), then mean += step * Sigma x. `met`: it is the row observed last.
  void learn(const RowLike auto& x, double r, double step, [[maybe_unused]] bool met = false) {
    if (every_ == 1) [[likely]] {
      if constexpr (Form::hooks.observe) form_.learn(x, r, step, met);
      else form_.learn(x, r, step);
      return;
    }
    form_.enter(x);
    wait(x, r);
    if (rows_waiting_ >= every_) flush();
    if (step != 0) form_.move(x, step);
  }

  Vector coefficients() const { return form_.coefficients(); }
  std::size_t columns() const { return form_.columns(); }
  void prefetch_targets(auto visit) const
    requires(Form::hooks.prefetch_targets)
  {
    form_.prefetch_targets(visit);
  }
  void start() { form_.start(); }
  void options(auto&& visit) {
    visit("sketch_every", every_);
    form_.options(visit);
  }
  void state(auto&& visit) {
    form_.state(visit);
    if (every_ == 1) return;
    visit("sketch.rows_waiting", rows_waiting_);
    visit("sketch.waiting", waiting_);
    if (restores(visit)) each([](const SparseRow&, double) {});  // which validates them
  }

 private:
  void wait(const RowLike auto& x, double r) {
    ++rows_waiting_;
    waiting_.push_back(r);
    const std::size_t size_at = waiting_.size();
    waiting_.push_back(0);
    for (Index k = 0; k < x.size; ++k) {
      if (x.values[k] == 0) continue;
      waiting_[size_at] += 1;
      waiting_.push_back(static_cast<double>(x.column(k)));
      waiting_.push_back(x.scale * x.values[k]);
    }
  }

  [[gnu::noinline]] void flush() {
    form_.together(true);
    each([&](const SparseRow& x, double r) { form_.learn(x, r, 0); });
    form_.together(false);
    waiting_.clear();
    rows_waiting_ = 0;
  }

  template <class Visit>
  void each(Visit visit) const {
    std::vector<Index> indices;
    std::vector<double> values;
    auto at = waiting_.begin();
    const auto left = [&] { return static_cast<double>(waiting_.end() - at); };
    const auto check = [](bool valid) { validate(valid, "sketch.waiting"); };
    Count rows = 0;
    for (; at != waiting_.end(); ++rows) {
      check(left() >= 2 && at[0] > 0 && std::isfinite(at[0]) && is_whole(at[1], left()) && 2 * at[1] <= left() - 2);
      const double r = at[0];
      const auto size = static_cast<std::size_t>(at[1]);
      indices.clear();
      values.clear();
      at += 2;
      for (std::size_t k = 0; k < size; ++k, at += 2) {
        check(is_whole(at[0], static_cast<double>(form_.known())) && std::isfinite(at[1]));
        indices.push_back(static_cast<Index>(at[0]));
        values.push_back(at[1]);
      }
      check(are_features(indices, form_.known()));
      const auto n = static_cast<Index>(size);
      visit({indices.data(), values.data(), n, sparse_square(values.data(), n)}, r);
    }
    validate(rows == rows_waiting_, "sketch.rows_waiting");
  }

  double every_ = 1;
  Form form_;
  Count rows_waiting_ = 0;
  std::vector<double> waiting_;  // for each row r, its number of values, then feature and value of each
};

LOPSIDED_ISA_END
