// Oja's sketch with explicit directions V (Zhao et al. 2018, algorithms 2 and 3), and the mean that moves along its
// Sigma. A row costs O(m d), dense or sparse. Symbols: see oja.hpp.
#pragma once

#include "../learner.hpp"
#include "../simd.hpp"
#include "oja.hpp"

LOPSIDED_ISA_BEGIN

class DenseSketch {
 public:
  static constexpr Hooks hooks{};

  DenseSketch() { resize(); }

  double score(const RowLike auto& x) const { return dot(mean_, x); }
  double variance(const RowLike auto& x) const {
    double left = x.squared_norm();
    for (std::size_t i = 0; i < oja_.size(); ++i) {
      const double along = dot(rows_[i], x);
      left -= oja_.taken(i) * along * along;
    }
    return std::max(0.0, left);
  }

  // Takes in the row x / sqrt(r), then mean += step * Sigma x.
  void learn(const RowLike auto& x, double r, double step) {
    enter(x);
    const double root = std::sqrt(r), square = x.squared_norm() / r;
    for (std::size_t i = 0; i < oja_.size(); ++i) turn_.a[i] = dot(rows_[i], x) / root;
    const double rate = oja_.see(oja_.size(), square, turn_);
    // The new V is R^-1 V + rate (R^-1 a) x', and so the new V x is (1 + rate |x|^2) R^-1 a.
    double straight = step;
    for (std::size_t i = 0; i < oja_.size(); ++i) {
      const double along = root * (1 + rate * square) * turn_.turned[i];
      move_[i] = step * oja_.taken(i) * along;
      straight -= move_[i] * rate * turn_.turned[i] / root;
    }
    turn_all();
    outside_.turn(oja_.size(), turn_);
    for (std::size_t i = 0; i < oja_.size(); ++i) add(rows_[i], rate * turn_.turned[i] / root, x);
    if (step != 0) add(mean_, straight, x);
    if (oja_.rows() % 256 == 0) orthonormalise();
  }

  // mean += step * Sigma x.
  void move(const RowLike auto& x, double step) {
    for (std::size_t i = 0; i < oja_.size(); ++i) {
      const double taken = step * oja_.taken(i) * dot(rows_[i], x);
      for (std::size_t j = 0; j < mean_.size(); ++j) mean_[j] -= taken * rows_[i][j];
    }
    add(mean_, step, x);
  }

  // While features enter, V is stored as F Z: one pass over V for all of them.
  void enter(const RowLike auto& x) {
    fresh_.clear();
    for (Index k = 0; k < x.size; ++k)
      if (x.values[k] != 0 && !is_in(x.column(k))) fresh_.push_back(x.column(k));
    if (fresh_.empty()) return;
    std::sort(fresh_.begin(), fresh_.end());
    for (const Index j : fresh_) {
      oja_.enter(oja_.size(), static_cast<std::size_t>(j), turn_);
      basis_.solve(oja_.size(), turn_.a, move_.data());
      for (std::size_t i = 0; i < oja_.size(); ++i) rows_[i][j] = move_[i];
      basis_.turn(oja_.size(), turn_);
      if (basis_.worn(oja_.size())) multiply();
    }
    multiply();
  }

  void together(bool on) { oja_.together(on); }
  std::size_t known() const { return mean_.size(); }

  Vector coefficients() const { return mean_; }
  std::size_t columns() const { return oja_.given(); }
  void start() {
    for (std::size_t i = 0; i < oja_.size(); ++i)
      for (std::size_t j = 0; j < columns(); ++j) rows_[i][j] = oja_.given(i, j);
  }

  void options(auto&& visit) {
    oja_.options(visit);
    resize();
  }
  void state(auto&& visit) {
    visit("mean", mean_);
    oja_.state(visit);
    if (restores(visit)) validate(oja_.entered() <= known(), "sketch.entered");
    visit_fixed(visit, "sketch.outside", outside_.values);
    for (std::size_t i = 0; i < oja_.size(); ++i) visit(("sketch.direction." + std::to_string(i)).c_str(), rows_[i]);
  }

 private:
  void resize() {
    rows_.resize(oja_.size());
    move_.resize(oja_.size());
    basis_.resize(oja_.size());
    outside_.resize(oja_.size(), oja_.given() ? 0 : 1);
  }

  bool is_in(std::size_t j) const {
    return rows_[0][j] != 0 || j < oja_.given() ||
           std::any_of(rows_.begin(), rows_.end(), [=](const Vector& v) { return v[j] != 0; });
  }

  // V = F V, F = I.
  void multiply() {
    const std::size_t m = oja_.size(), d = mean_.size();
    for (std::size_t i = m; i-- > 0;) {
      double* __restrict row = rows_[i].data();
      const double* f = basis_.values.data() + i * m;
      for (std::size_t j = 0; j < d; ++j) row[j] *= f[i];
      for (std::size_t k = 0; k < i; ++k) {
        const double* __restrict other = rows_[k].data();
        for (std::size_t j = 0; j < d; ++j) row[j] += f[k] * other[j];
      }
    }
    outside_.multiply_by(m, basis_);
    basis_.reset(m);
  }

  void orthonormalise() {
    const std::size_t m = oja_.size();
    std::vector<double> gram(m * m);
    outside_.add_gram(m, gram.data());
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t k = 0; k <= i; ++k)
        gram[i * m + k] += fixed_order::products(static_cast<Index>(mean_.size()), rows_[i].data(), rows_[k].data());
    basis_.orthonormalise(m, gram.data());
    multiply();
  }

  // V = R^-1 V, mean -= V' move, a block of features at a time.
  void turn_all() {
    for (std::size_t first = 0; first < mean_.size(); first += block) {
      const std::size_t n = std::min(block, mean_.size() - first);
      double sum[block];
      std::fill_n(sum, n, 0.0);
      double* __restrict mean = mean_.data() + first;
      for (std::size_t i = 0; i < oja_.size(); ++i) {
        const double a = turn_.a[i], move = move_[i];
        const double keep = turn_.keep[i], fade = turn_.fade[i], pull = turn_.pull[i];
        double* __restrict row = rows_[i].data() + first;
        for (std::size_t j = 0; j < n; ++j) {
          const double old = row[j], now = keep * old - (fade * old + pull * sum[j]);
          sum[j] += a * old;
          row[j] = now;
          mean[j] -= move * now;
        }
      }
    }
  }

  static constexpr std::size_t block = 256;

  Oja oja_;
  Vector mean_;
  std::vector<Vector> rows_;  // of V
  RankOne turn_;
  Basis basis_;    // the identity except while features enter
  Basis outside_;  // V on the m coordinates that no row touches
  std::vector<double> move_;
  std::vector<Index> fresh_;
};

LOPSIDED_ISA_END
