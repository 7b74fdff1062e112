// Oja's sketch with directions V = F Z and mean w + Z' b (Zhao et al. 2018, algorithms 4 to 6): the
// same numbers as DenseSketch at a cost that depends on what a row holds, O(m^2 + m s).
//
// When Z moves by D x', w moves by -(D . b) x on every row, so that the mean stays where it is. The
// printed algorithm leaves this out on rows without loss, and drifts away.
#pragma once

#include "../row.hpp"
#include "../table.hpp"
#include "oja.hpp"

namespace lopsided {

class SparseSketch {
 public:
  SparseSketch() { resize(); }

  double score(const RowLike auto& x) const {
    double sums[max_width];
    sum(x, sums);
    double score = sums[0];
    for (std::size_t i = 0; i < oja_.size(); ++i) score += b_[i] * sums[i + 1];
    return score;
  }

  // Sees the row x / sqrt(r), then mean += step * Sigma x.
  void learn(const RowLike auto& x, double r, double step) {
    const std::size_t m = oja_.size();
    double sums[max_width], move[max_width] = {};
    if (sum(x, sums) && enter(x)) sum(x, sums);
    const double *z = sums + 1, root = std::sqrt(r), square = x.squared_norm() / r;
    basis_.multiply(z, turn_.a.data());
    for (double& a : turn_.a) a /= root;
    const double rate = oja_.see(square, turn_);
    basis_.turn(turn_);
    if (turn_.size > large || basis_.worn()) {
      rebase();
      for (std::size_t i = 0; i < m; ++i) move[i + 1] = rate * turn_.turned[i] / root;
    } else {
      for (std::size_t i = 0; i < m; ++i) move[i + 1] = rate * z[i] / r;
    }
    move[0] = step;
    for (std::size_t i = 0; i < m; ++i) move[0] -= move[i + 1] * b_[i];
    if (step != 0) {
      for (std::size_t i = 0; i < m; ++i)
        taken_[i] = oja_.taken(i) * root * (1 + rate * square) * turn_.turned[i];
      basis_.add_transposed(taken_.data(), -step, b_.data());
    }
    add(x, move);
  }

  Vector coefficients() const {
    Vector mean;
    mean.grow(table_.size());
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] = mean_of(table_[j]);
    return mean;
  }
  std::size_t columns() const { return oja_.given(); }
  void start() {
    for (std::size_t i = 0; i < oja_.size(); ++i)
      for (std::size_t j = 0; j < columns(); ++j) table_[j][i + 1] = oja_.given(i, j);
  }

  void options(auto&& visit) {
    oja_.options(visit);
    resize();
  }
  void state(auto&& visit) {
    oja_.state(visit);
    visit("sketch.basis", basis_.values);
    visit("sketch.b", b_);
    visit("sketch", table_);
  }

 private:
  static constexpr std::size_t max_width = 68;
  static constexpr double large = 100;  // steps that would leave little of the old Z in Z + D x'

  void resize() {
    const std::size_t m = oja_.size();
    table_.set_width((m + 1 + 3) / 4 * 4);
    b_.resize(m);
    taken_.resize(m);
    turn_.resize(m);
    basis_.resize(m);
  }

  double mean_of(const double* row) const {
    double mean = row[0];
    for (std::size_t i = 0; i < oja_.size(); ++i) mean += b_[i] * row[i + 1];
    return mean;
  }
  bool is_in(std::size_t j) const {
    const double* row = table_[j];
    return row[1] != 0 || j < oja_.given() ||
           std::any_of(row, row + table_.width(), [](double v) { return v != 0; });
  }

  // Calls with the width of a feature's row, as a constant where it is small.
  template <class Call>
  [[gnu::always_inline]] auto with_width(Call call) const {
    using std::integral_constant;
    switch (table_.width()) {
      case 4: return call(integral_constant<std::size_t, 4>());
      case 8: return call(integral_constant<std::size_t, 8>());
      case 12: return call(integral_constant<std::size_t, 12>());
      default: return call(table_.width());
    }
  }

  // w . x and Z x. Returns whether a feature may be new.
  template <RowLike Row>
  bool sum(const Row& x, double* out) const {
    return with_width([&](auto width) {
      double even[max_width], odd[max_width];
      std::fill_n(even, +width, 0.0);
      std::fill_n(odd, +width, 0.0);
      bool fresh = false;
      const double* table = table_.data();
      const auto take = [&](Index k, double* sums) {
        const double v = x.values[k];
        const double* row = table + static_cast<std::size_t>(x.column(k)) * width;
        for (std::size_t i = 0; i < width; ++i) sums[i] += v * row[i];
        fresh |= row[1] == 0;
      };
      Index k = 0;
      for (; k + 2 <= x.size; k += 2) {
        take(k, even);
        take(k + 1, odd);
      }
      if (k < x.size) take(k, even);
      for (std::size_t i = 0; i < width; ++i) out[i] = x.scale * (even[i] + odd[i]);
      return fresh;
    });
  }

  // w += move_0 x, Z += move x'.
  template <RowLike Row>
  void add(const Row& x, const double* move) {
    with_width([&](auto width) {
      double* table = table_.data();
      for (Index k = 0; k < x.size; ++k) {
        const double v = x.scale * x.values[k];
        double* row = table + static_cast<std::size_t>(x.column(k)) * width;
        for (std::size_t i = 0; i < width; ++i) row[i] += v * move[i];
      }
    });
  }

  [[gnu::noinline]] bool enter(const RowLike auto& x) {
    fresh_.clear();
    for (Index k = 0; k < x.size; ++k)
      if (x.values[k] != 0 && !is_in(static_cast<std::size_t>(x.column(k)))) fresh_.push_back(x.column(k));
    std::sort(fresh_.begin(), fresh_.end());
    for (const Index j : fresh_) {
      oja_.enter(static_cast<std::size_t>(j), turn_);
      double* row = table_[static_cast<std::size_t>(j)];
      basis_.solve(turn_.a.data(), row + 1);
      row[0] = -mean_of(row);
      basis_.turn(turn_);
      if (basis_.worn()) rebase();
    }
    return !fresh_.empty();
  }

  // Z = F Z, F = I, and the whole mean in w.
  [[gnu::noinline]] void rebase() {
    table_.for_each([&](std::size_t j, const double*) {
      double* row = table_[j];
      row[0] = mean_of(row);
      basis_.multiply(row + 1, row + 1);
    });
    basis_.reset();
    std::fill(b_.begin(), b_.end(), 0.0);
  }

  Oja oja_;
  Basis basis_;
  std::vector<double> b_;
  Table table_;  // for each feature w, then its column of Z; all 0: has not entered
  RankOne turn_;
  std::vector<double> taken_;
  std::vector<Index> fresh_;
};

}  // namespace lopsided
