// OPAUC with covariances of low rank (Gao, Jin, Zhu & Zhou 2013, section on high-dimensional data), for wide sparse rows.
// The step is that of OPAUC, see opauc.hpp, with the covariance of a class replaced by
//   S = Y Y' / n,  Y = sum_i sqrt(e_i) (x_i - c) r_i',
// where r_i has `rank` random signs divided by sqrt(rank): as with the paper's normal numbers r_i' r_k is 1 for i = k and
// 0 on average for others, and signs have the same bits everywhere.
//
// Y = Z - c g' with Z = sum sqrt(e_i) x_i r_i', g = sum sqrt(e_i) r_i, c = s / n and s = sum e_i x_i change in the features
// of a row only. The weights are kept as scale (u + M b), M = (s, Z) of both classes, with products P = M'M and h = M'u:
// a row of k features takes O(k rank + rank^2).
#pragma once

#include "../learner.hpp"
#include "../numbers/random.hpp"
#include "../simd.hpp"
#include "../sketch/oja.hpp"  // visit_fixed
#include "../validate.hpp"

LOPSIDED_ISA_BEGIN

class OpaucLowRank {
 public:
  static constexpr Hooks hooks{.prefetch_targets = true, .coefficients = true};

  OpaucLowRank() { resize(); }

  double score(const RowLike auto& x) const {
    double sum = 0;
    x.for_each([&](Index j, double v) { sum += v * weight_of(table_[static_cast<std::size_t>(j)]); });
    return scale_ * sum;
  }

  bool learn(const RowLike auto& x, const Target& t, double) {
    Side& own = sides_[t.y > 0];
    const Side& other = sides_[!(t.y > 0)];
    project(x);
    const double along_x = scale_ * (sums_[0] + product(b_.data(), sums_.data() + 1, width_));
    absorb(x, own, t.weight);
    if (other.weight == 0) return false;
    step(x, other, t.y, learning_rate_ * t.weight, along_x);
    if (++since_ >= renewed_every) renew(1);
    return true;
  }

  Vector coefficients() const {
    Vector out;
    out.grow(table_.size());
    for (std::size_t j = 0; j < out.size(); ++j) {
      const double* row = table_[j];
      double size = std::abs(row[0]);
      for (std::size_t i = 0; i < width_; ++i) size += std::abs(b_[i] * row[i + 1]);
      const double weight = weight_of(row);
      out[j] = std::abs(weight) < rounding * size ? 0 : scale_ * weight;  // a residue of what cancels
    }
    return out;
  }
  void prefetch_targets(auto visit) const { visit(table_); }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate_);
    visit("regularization", regularization_);
    visit("rank", rank_);
    visit("seed", seed_);
    resize();
  }
  void state(auto&& visit) {
    visit("low_rank", table_);
    visit("low_rank.scale", scale_);
    visit("draws", draws_);
    visit("low_rank.since", since_);
    visit_fixed(visit, "low_rank.b", b_);
    visit_fixed(visit, "low_rank.products", products_);
    visit_fixed(visit, "low_rank.along", along_);
    visit("negatives.weight", sides_[0].weight);
    visit_fixed(visit, "negatives.signs", sides_[0].signs);
    visit("positives.weight", sides_[1].weight);
    visit_fixed(visit, "positives.signs", sides_[1].signs);
    validate(std::isfinite(scale_) && scale_ != 0, "low_rank.scale");
    validate(sides_[0].weight >= 0 && std::isfinite(sides_[0].weight), "negatives.weight");
    validate(sides_[1].weight >= 0 && std::isfinite(sides_[1].weight), "positives.weight");
  }

 private:
  struct Side {
    std::size_t first = 0;  // of the columns of M: s, then Z
    double weight = 0;  // n
    std::vector<double> signs;  // g
  };

  static constexpr Count renewed_every = 1 << 14;  // steps: before the parts of the weights are large and cancel
  static constexpr double smallest_scale = 1e-9;
  static constexpr double rounding = 32 * std::numeric_limits<double>::epsilon();

  void resize() {
    size_ = static_cast<std::size_t>(rank_) + 1;
    width_ = 2 * size_;
    table_.set_width(width_ + 1);
    for (auto* values : {&b_, &along_, &delta_, &sums_, &moved_}) values->resize(width_);
    sums_.resize(width_ + 1);
    products_.resize(width_ * width_);
    for (std::size_t k = 0; k < 2; ++k) {
      sides_[k].first = k * size_;
      sides_[k].signs.resize(size_ - 1);
    }
  }

  static double product(const double* a, const double* b, std::size_t n) {
    return fixed_order::products(static_cast<Index>(n), a, b);
  }
  double weight_of(const double* row) const { return row[0] + product(b_.data(), row + 1, width_); }

  // u.x and M'x.
  void project(const RowLike auto& x) {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    x.for_each([&](Index j, double v) {
      const double* __restrict row = table_[static_cast<std::size_t>(j)];
      double* __restrict sums = sums_.data();
      for (std::size_t i = 0; i <= width_; ++i) sums[i] += v * row[i];
    });
  }

  // Takes a row into the statistics of its class, M += x delta'; the weights stay what they are.
  void absorb(const RowLike auto& x, Side& own, double e) {
    std::fill(delta_.begin(), delta_.end(), 0.0);
    double* delta = delta_.data() + own.first;
    delta[0] = e;
    const double length = std::sqrt(e / static_cast<double>(rank_));
    const std::uint64_t key = splitmix64(static_cast<std::uint64_t>(seed_));
    const std::uint64_t words = (size_ + 62) / 64;
    for (std::size_t k = 0; k + 1 < size_; ++k) {
      const std::uint64_t drawn = splitmix64(key + static_cast<std::uint64_t>(draws_) * words + k / 64);
      delta[k + 1] = drawn >> (k % 64) & 1 ? length : -length;
      own.signs[k] += delta[k + 1];
    }
    ++draws_;
    own.weight += e;
    const double square = x.squared_norm(), gone = product(b_.data() + own.first, delta, size_);
    const double* sums = sums_.data() + 1;
    for (std::size_t i = 0; i < width_; ++i) moved_[i] = sums[i] + 0.5 * square * delta_[i];
    for (std::size_t i = 0; i < width_; ++i) {
      double* __restrict to = products_.data() + i * width_ + own.first;
      for (std::size_t k = 0; k < size_; ++k) to[k] += moved_[i] * delta[k];
    }
    for (std::size_t k = 0; k < size_; ++k) {
      double* __restrict to = products_.data() + (own.first + k) * width_;
      for (std::size_t i = 0; i < width_; ++i) to[i] += moved_[i] * delta[k];
    }
    const double rest = sums_[0] - gone * square;
    for (std::size_t i = 0; i < width_; ++i) {
      along_[i] += delta_[i] * rest - gone * sums[i];
      moved_[i] = sums[i] + square * delta_[i];  // the new M'x
    }
    x.for_each([&](Index j, double v) {
      double* __restrict row = table_[static_cast<std::size_t>(j)];
      row[0] -= gone * v;
      for (std::size_t k = 0; k < size_; ++k) row[own.first + 1 + k] += v * delta[k];
    });
  }

  void step(const RowLike auto& x, const Side& other, double y, double rate, double along_x) {
    const std::size_t at = other.first;
    double* const v = delta_.data();  // M'w, then Y'w
    for (std::size_t k = 0; k < size_; ++k)
      v[k] = scale_ * (along_[at + k] + product(products_.data() + (at + k) * width_, b_.data(), width_));
    const double along_mean = v[0] / other.weight, miss = along_x - along_mean - y;
    double turned = 0;
    for (std::size_t k = 1; k < size_; ++k) {
      v[k] -= other.signs[k - 1] * along_mean;
      turned += other.signs[k - 1] * v[k];
    }
    const double shrink = 1 - rate * regularization_, share = rate / other.weight;
    if (std::abs(scale_ * shrink) < smallest_scale) renew(shrink);
    else scale_ *= shrink;
    b_[at] += share * (miss + turned / other.weight) / scale_;
    for (std::size_t k = 1; k < size_; ++k) b_[at + k] -= share * v[k] / scale_;
    const double move = -rate * miss / scale_;
    for (std::size_t i = 0; i < width_; ++i) along_[i] += move * moved_[i];
    x.for_each([&](Index j, double value) { table_[static_cast<std::size_t>(j)][0] += move * value; });
  }

  // Makes u all of the weights, times a factor.
  void renew(double factor) {
    std::fill(along_.begin(), along_.end(), 0.0);
    for (std::size_t j = 0; j < table_.size(); ++j) {
      double* row = table_[j];
      if (std::all_of(row, row + width_ + 1, [](double value) { return value == 0; })) continue;
      row[0] = factor * scale_ * weight_of(row);
      for (std::size_t i = 0; i < width_; ++i) along_[i] += row[0] * row[i + 1];
    }
    std::fill(b_.begin(), b_.end(), 0.0);
    scale_ = 1;
    since_ = 0;
  }

  double learning_rate_ = 0.01, regularization_ = 0.01, rank_ = 50, seed_ = 0;
  std::size_t size_ = 0, width_ = 0;  // columns of M of a class, and of both
  Table table_;  // of each feature: u, and its row of M
  double scale_ = 1;
  Count draws_ = 0, since_ = 0;
  std::vector<double> b_, products_, along_;  // b, M'M, M'u
  Side sides_[2];  // of negatives and positives
  std::vector<double> sums_, delta_, moved_;
};

LOPSIDED_ISA_END
