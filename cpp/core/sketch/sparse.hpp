// Oja's sketch with directions V = F Z and mean w + Z' b (Zhao et al. 2018, algorithms 4 to 6): the same result as
// DenseSketch at a cost of O(m^2 + m s) for a row with s nonzeros. Symbols: see oja.hpp.
//
// When Z changes by D x', w changes by -(D . b) x on every row, so that the mean is unchanged. The printed algorithm omits
// this on rows without loss, and drifts.
#pragma once

#include <utility>

#include "../learner.hpp"
#include "../numbers/vectors.hpp"
#include "../simd.hpp"
#include "oja.hpp"

LOPSIDED_ISA_BEGIN

class SparseSketch {
 public:
  static constexpr Hooks hooks{.observe = true, .prefetch_targets = true};

  SparseSketch() { resize(); }

  double score(const RowLike auto& x) const {
    return with_size(oja_.size(), [&](auto m) {
      double sums[max_width] = {};
      sum(m, x, sums);
      return mean_of(m, sums);
    });
  }

  // The score of a row that may be learned from next: the sums are reused then.
  double observe(const RowLike auto& x) {
    return with_size(oja_.size(), [&](auto m) {
      fresh_row_ = sum(m, x, met_sums_);
      return mean_of(m, met_sums_);
    });
  }

  double variance(const RowLike auto& x) const {
    return with_size(oja_.size(), [&](auto m) {
      double sums[max_width], left = x.squared_norm();
      sum(m, x, sums);
      basis_.multiply(m, sums + 1, sums + 1);
      for (std::size_t i = 0; i < m; ++i) left -= oja_.taken(i) * sums[i + 1] * sums[i + 1];
      return std::max(0.0, left);
    });
  }

  // Takes in the row x / sqrt(r), then mean += step * Sigma x. `met`: it is the row observed last.
  LOPSIDED_FLATTEN void learn(const RowLike auto& x, double r, double step, bool met = false) {
    with_size(oja_.size(), [&](auto m) {
      if (!met) fresh_row_ = sum(m, x, met_sums_);
      learn(m, x, r, step);
    });
  }

  // mean += step * Sigma x.
  void move(const RowLike auto& x, double step) {
    const std::size_t m = oja_.size();
    double sums[max_width], taken[max_directions], move[max_width] = {step};
    sum(m, x, sums);
    basis_.multiply(m, sums + 1, taken);
    for (std::size_t i = 0; i < m; ++i) taken[i] *= -step * oja_.taken(i);
    basis_.add_transposed(m, taken, b_.data());
    add(m, x, move);
  }

  void enter(const RowLike auto& x) {
    double z[max_directions] = {};
    enter(oja_.size(), x, z);
  }
  void together(bool on) { oja_.together(on); }
  std::size_t known() const { return table_.size(); }

  Vector coefficients() const {
    Vector mean;
    mean.grow(table_.size());
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] = mean_of(oja_.size(), table_[j]);
    return mean;
  }
  std::size_t columns() const { return oja_.given(); }
  void prefetch_targets(auto visit) const { visit(table_); }
  void start() {
    for (std::size_t j = 0; j < columns(); ++j) met_.push_back(static_cast<Index>(j));
    for (std::size_t i = 0; i < oja_.size(); ++i)
      for (std::size_t j = 0; j < columns(); ++j) table_[j][i + 1] = oja_.given(i, j);
  }

  void options(auto&& visit) {
    oja_.options(visit);
    resize();
  }
  void state(auto&& visit) {
    oja_.state(visit);
    visit("sketch.straight", straight_);
    visit_fixed(visit, "sketch.basis", basis_.values);
    visit_fixed(visit, "sketch.outside", outside_.values);
    visit_fixed(visit, "sketch.b", b_);
    visit("sketch", table_);
    if (restores(visit)) {
      validate(oja_.entered() <= known(), "sketch.entered");
      validate(straight_ <= oja_.rows(), "sketch.straight");
      met_.clear();
      sorted_ = 0;
    }
  }

 private:
  static constexpr std::size_t max_width = max_directions + 4;
  static constexpr double large = 16;  // a larger update would leave little of the old Z in Z + D x'
  static constexpr double rounding = 32 * std::numeric_limits<double>::epsilon();

  void resize() {
    table_.set_width(padded(oja_.size()));
    b_.resize(oja_.size());
    basis_.resize(oja_.size());
    outside_.resize(oja_.size(), oja_.given() ? 0 : 1);
  }

  LOPSIDED_INLINE void learn(auto m, const RowLike auto& x, double r, double step) {
    double *sums = met_sums_, move[max_width];
    std::fill_n(move, padded(m), 0.0);
    if (fresh_row_) enter(m, x, sums + 1);
    const double *z = sums + 1, root = 1 / std::sqrt(r), square = x.squared_norm() / r;
    basis_.multiply(m, z, turn_.a);
    for (std::size_t i = 0; i < m; ++i) turn_.a[i] *= root;
    const double rate = oja_.see(m, square, turn_);
    basis_.turn(m, turn_);
    if (turn_.size > large || basis_.worn(m)) {
      rebase(m);
      for (std::size_t i = 0; i < m; ++i) move[i + 1] = rate * root * turn_.turned[i];
    } else {
      for (std::size_t i = 0; i < m; ++i) move[i + 1] = rate / r * z[i];
    }
    move[0] = step;
    for (std::size_t i = 0; i < m; ++i) move[0] -= move[i + 1] * b_[i];
    if (step != 0) {
      double taken[max_directions];  // the new V x is (1 + rate |x|^2) R^-1 a
      for (std::size_t i = 0; i < m; ++i)
        taken[i] = -step / root * (1 + rate * square) * oja_.taken(i) * turn_.turned[i];
      basis_.add_transposed(m, taken, b_.data());
    }
    add(m, x, move);
    if (due()) orthonormalise(m);
  }

  // w + b . z. Before the first step the two cancel: a rounding residue counts as 0.
  double mean_of(auto m, const double* row) const {
    double mean = row[0], size = std::abs(mean);
    for (std::size_t i = 0; i < m; ++i) {
      const double part = b_[i] * row[i + 1];
      mean += part;
      size += std::abs(part);
    }
    return std::abs(mean) < rounding * size ? 0 : mean;
  }
  bool is_in(std::size_t j) const {
    const double* row = table_[j];
    return row[1] != 0 || j < oja_.given() || std::any_of(row, row + table_.width(), [](double v) { return v != 0; });
  }

  // Before rounding errors matter, and rarely enough to be cheap.
  bool due() const { return oja_.rows() - straight_ > 64 + 4 * oja_.entered(); }

  // Vectors of four: the row of a feature is padded to a multiple of four.
  static constexpr std::size_t fours(std::size_t m) { return padded(m) / 4; }
  static Double4View* as_fours(double* p) { return reinterpret_cast<Double4View*>(p); }
  static const Double4View* as_fours(const double* p) { return reinterpret_cast<const Double4View*>(p); }

  // w . x and Z x. Returns whether a feature may be new.
  LOPSIDED_INLINE bool sum(auto m, const RowLike auto& x, double* out) const {
    Double4View even[max_width / 4], odd[max_width / 4];
    for (std::size_t i = 0; i < fours(m); ++i) even[i] = odd[i] = Double4View{};
    auto fresh = even[0] != even[0];
    const auto take = [&, table = table_.data()](Index k, Double4View* sums) __attribute__((always_inline)) {
      const Double4View* row = as_fours(table + static_cast<std::size_t>(x.column(k)) * padded(m));
      const double v = x.values[k];
      for (std::size_t i = 0; i < fours(m); ++i) sums[i] += v * row[i];
      fresh |= row[0] == Double4View{};
    };
    Index k = 0;
    for (; k + 2 <= x.size; k += 2) {
      take(k, even);
      take(k + 1, odd);
    }
    if (k < x.size) take(k, even);
    for (std::size_t i = 0; i < fours(m); ++i) as_fours(out)[i] = x.scale * (even[i] + odd[i]);
    return fresh[1] != 0;
  }

  // w += move_0 x, Z += move x'. The row is a copy: what is written to the table cannot change it.
  LOPSIDED_INLINE void add(auto m, const RowLike auto x, const double* move) {
    double* table = table_.data();
    Double4View steps[max_width / 4];
    for (std::size_t i = 0; i < fours(m); ++i) steps[i] = as_fours(move)[i];
    for (Index k = 0; k < x.size; ++k) {
      Double4View* row = as_fours(table + static_cast<std::size_t>(x.column(k)) * padded(m));
      const double v = x.scale * x.values[k];
      for (std::size_t i = 0; i < fours(m); ++i) row[i] += v * steps[i];
    }
  }

  // Enters the new features of a row, and adds them to its Z x.
  [[gnu::noinline]] void enter(auto m, const RowLike auto& x, double* z) {
    fresh_.clear();
    for (Index k = 0; k < x.size; ++k)
      if (x.values[k] != 0 && !is_in(static_cast<std::size_t>(x.column(k))))
        fresh_.push_back({x.column(k), x.scale * x.values[k]});
    std::sort(fresh_.begin(), fresh_.end());
    for (const auto& [j, value] : fresh_) {
      oja_.enter(m, static_cast<std::size_t>(j), turn_);
      met_.push_back(j);
      double* row = table_[static_cast<std::size_t>(j)];
      basis_.solve(m, turn_.a, row + 1);
      row[0] = -mean_of(m, row);
      for (std::size_t i = 0; i < m; ++i) z[i] += value * row[i + 1];
      basis_.turn(m, turn_);
      if (basis_.worn(m)) {
        basis_.multiply(m, z, z);
        rebase(m);
      }
    }
    table_.crowd(met_.size());
  }

  // Z = F Z, F = I, b = 0: all of the mean is in w.
  [[gnu::noinline]] void rebase(auto m) {
    rebase(m, [](const double*) {});
    basis_.reset(m);
  }
  // The same, with an F that makes F Z orthonormal.
  [[gnu::noinline]] void orthonormalise(auto m) {
    std::vector<double> gram(m * m), part(m * m);
    std::size_t left = 0;
    const auto add_part = [&] {  // blocked sums round less
      for (std::size_t i = 0; i < m * m; ++i) gram[i] += std::exchange(part[i], 0);
      left = 256;
    };
    rebase(m, [&](const double* z) {
      if (left-- == 0) add_part();
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t k = 0; k <= i; ++k) part[i * m + k] += z[i] * z[k];
    });
    add_part();
    outside_.add_gram(m, gram.data());
    basis_.orthonormalise(m, gram.data());
    straight_ = oja_.rows();
  }
  template <class Visit>
  void rebase(auto m, Visit visit) {
    sort_met();
    for (const Index j : met_) {
      double* row = table_[static_cast<std::size_t>(j)];
      row[0] = mean_of(m, row);
      basis_.multiply(m, row + 1, row + 1);
      visit(row + 1);
    }
    outside_.multiply_by(m, basis_);
    std::fill(b_.begin(), b_.end(), 0.0);
  }

  // In the order of the features: the result must not depend on when a model was saved.
  void sort_met() {
    if (met_.size() != oja_.entered()) find_met();
    const auto middle = met_.begin() + static_cast<std::ptrdiff_t>(std::min(sorted_, met_.size()));
    std::sort(middle, met_.end());
    std::inplace_merge(met_.begin(), middle, met_.end());
    sorted_ = met_.size();
  }
  void find_met() {  // in a model from a file
    met_.clear();
    sorted_ = 0;
    for (std::size_t j = 0; j < table_.size(); ++j)
      if (is_in(j)) met_.push_back(static_cast<Index>(j));
  }

  Oja oja_;
  Basis basis_;
  std::vector<double> b_;
  Table table_;  // for each feature w, then its column of Z; all 0: has not entered
  Basis outside_;  // Z on the m coordinates that no row touches
  std::vector<Index> met_;  // the features that have entered
  std::size_t sorted_ = 0;  // length of the sorted prefix
  Count straight_ = 0;  // rows seen when F Z was last made orthonormal
  RankOne turn_;
  double met_sums_[max_width] = {};  // w . x and Z x of the row observed last
  bool fresh_row_ = false;  // it may have a feature that has not entered
  std::vector<std::pair<Index, double>> fresh_;
};

LOPSIDED_ISA_END
