// OAM, online AUC maximisation with a reservoir for each class (Zhao, Hoi, Jin & Yang 2011). A row x of
// class y is compared with every stored row x_i of the other class, z_i = x - x_i, with a cap
// c = factor * C * weight * max(1, rows of the other class / its capacity):
//   seq   w += min(c, max(0, 1 - y w.z_i) / |z_i|^2) y z_i, one after the other
//   gra   w += c y z_i for all i at once with y w.z_i <= 1
#pragma once

#include "../learner.hpp"
#include "../simd.hpp"
#include "stored.hpp"

LOPSIDED_ISA_BEGIN

class Oam {
 public:
  static constexpr Hooks hooks{.coefficients = true, .reserve = true, .grow = true};

  enum class Variant { seq, gra };

  double score(const RowLike auto& x) const { return dot(weights_, x); }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    Reservoir& own = t.y > 0 ? positives_ : negatives_;
    const Reservoir& other = t.y > 0 ? negatives_ : positives_;
    own.add(x, [this] { return draw(); });
    const double cap = factor_ * C_ * t.weight * other.share();
    return variant_ == Variant::seq ? one_by_one(x, other.rows(), t.y, cap)
                                    : all_at_once(x, other.rows(), t.y, cap, score);
  }

  Vector coefficients() const { return weights_; }
  void reserve(std::size_t size) { weights_.reserve(size); }
  void grow(std::size_t size) { weights_.grow(size); }
  std::size_t bytes() const { return weights_.bytes() + negatives_.bytes() + positives_.bytes(); }

  void options(auto&& visit) {
    visit("variant", variant_, {"seq", "gra"});
    visit("C", C_);
    visit("factor", factor_);
    visit("buffer_negative", negatives_.room);
    visit("buffer_positive", positives_.room);
    visit("seed", seed_);
  }
  void state(auto&& visit) {
    visit("weights", weights_);
    visit("draws", draws_);
    negatives_.state(visit, "seen.negatives", "kept.negatives", weights_.size());
    positives_.state(visit, "seen.positives", "kept.positives", weights_.size());
  }

 private:
  template <RowLike Row>
  LOPSIDED_FLATTEN bool one_by_one(const Row& x, const std::vector<StoredRow>& others, double y, double cap) {
    bool stepped = false;
    const auto step = [&](const auto& z, double square) {
      const double loss = 1 - y * dot(weights_, z);
      if (loss <= 0 || square == 0) return;
      add(weights_, std::min(cap, loss / square) * y, z);
      stepped = true;
    };
    spread(x);
    for (const StoredRow& other : others) {
      if constexpr (requires { x.indices; }) {
        if (other.sparse) {
          const SparseRow z = sparse_difference(x, other);
          step(z, z.square);
          continue;
        }
      }
      const DenseRow z = difference(other);
      step(z, z.square);
    }
    gather(x);
    return stepped;
  }

  bool all_at_once(const RowLike auto& x, const std::vector<StoredRow>& others, double y, double cap, double score) {
    close_.clear();
    for (const StoredRow& other : others)
      if (y * (score - other.dot(weights_.data())) <= 1) close_.push_back(&other);
    if (close_.empty()) return false;
    add(weights_, cap * y * static_cast<double>(close_.size()), x);
    for (const StoredRow* other : close_) other->add_to(weights_.data(), -cap * y);
    return true;
  }

  // x as a dense array, while it is compared with the others.
  template <RowLike Row>
  void spread(const Row& x) {
    x_.assign(weights_.size(), 0);
    x.add_to(x_.data(), 1);
    if constexpr (requires { x.indices; }) {
      place_.resize(weights_.size());
      for (Index k = 0; k < x.size; ++k) place_[static_cast<std::size_t>(x.indices[k])] = k + 1;
    }
  }
  template <RowLike Row>
  void gather(const Row& x) {
    if constexpr (requires { x.indices; })
      for (Index k = 0; k < x.size; ++k) place_[static_cast<std::size_t>(x.indices[k])] = 0;
  }

  DenseRow difference(const StoredRow& other) {
    z_.values = x_;
    other.add_to(z_.values.data(), -1);
    return {z_.values.data(), static_cast<Index>(z_.values.size()),
            loops::squares(z_.values.data(), static_cast<Index>(z_.values.size()))};
  }
  SparseRow sparse_difference(const SparseRow& x, const StoredRow& other) {
    z_.indices.assign(x.indices, x.indices + x.size);
    z_.values.clear();
    x.for_each([&](Index, double v) { z_.values.push_back(v); });
    for (std::size_t k = 0; k < other.values.size(); ++k) {
      const Index j = other.indices[k];
      if (const Index at = place_[static_cast<std::size_t>(j)]; at > 0) {
        z_.values[static_cast<std::size_t>(at - 1)] -= other.values[k];
      } else {
        z_.indices.push_back(j);
        z_.values.push_back(-other.values[k]);
      }
    }
    const auto n = static_cast<Index>(z_.values.size());
    return {z_.indices.data(), z_.values.data(), n, sparse_square(z_.values.data(), n)};
  }

  double draw() { return uniform(seed_, draws_++); }

  Variant variant_ = Variant::seq;
  double C_ = 1, factor_ = 0.5, seed_ = 0;
  Count draws_ = 0;
  Vector weights_;
  Reservoir negatives_, positives_;

  std::vector<double> x_;
  std::vector<Index> place_;  // position of each feature in x, plus 1
  Scratch z_;
  std::vector<const StoredRow*> close_;
};

LOPSIDED_ISA_END
