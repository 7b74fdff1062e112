// OPAUC, one-pass AUC optimisation (Gao, Jin, Zhu & Zhou 2013): a gradient step on the square loss of a row x
// of class y against all rows of the other class, for which their mean c and covariance S suffice,
//   w -= learning_rate * weight * (regularization w - y (x - c) + (x - c) (x - c).w + S w).
#pragma once

#include "../learner.hpp"
#include "../numbers/symmetric.hpp"
#include "../simd.hpp"
#include "../validate.hpp"

LOPSIDED_ISA_BEGIN

class Opauc {
 public:
  static constexpr Hooks hooks{.coefficients = true, .reserve = true, .fade = true};

  double score(const RowLike auto& x) const { return dot(weights_, x); }

  bool learn(const RowLike auto& x, const Target& t, double) {
    Class& own = t.y > 0 ? positives_ : negatives_;
    Class& other = t.y > 0 ? negatives_ : positives_;
    const std::size_t padded = own.scatter.padded();
    for (auto* room : {&away_, &product_, &padded_weights_, &nothing_}) room->resize(padded);

    own.away(x, away_.data());
    own.absorb(t.weight, away_.data());
    if (other.weight == 0) return false;

    other.away(x, away_.data());
    std::copy_n(weights_.data(), weights_.size(), padded_weights_.data());
    other.scatter.multiply(padded_weights_.data(), nothing_.data(), product_.data());
    const double* __restrict z = away_.data();
    const double* __restrict m = product_.data();
    double* __restrict w = weights_.data();
    const double along = fixed_order::products(static_cast<Index>(weights_.size()), z, w);
    const double rate = learning_rate_ * t.weight, share = 1 / other.weight;
    for (std::size_t j = 0; j < weights_.size(); ++j)
      w[j] -= rate * (regularization_ * w[j] + (along - t.y) * z[j] + share * m[j]);
    return true;
  }

  Vector coefficients() const { return weights_; }
  void fade() { negatives_.fade(), positives_.fade(); }
  void reserve(std::size_t size) {
    if (size > Symmetric::max_size)
      throw std::length_error("OPAUC keeps matrices of features by features and takes at most 40000 features: use OAM");
    hook::each_per_feature(*this, [size](auto& values) { values.reserve(size); });
  }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate_);
    visit("regularization", regularization_);
  }
  void state(auto&& visit) {
    visit("weights", weights_);
    visit("negatives.weight", negatives_.weight);
    visit("negatives.mean", negatives_.mean);
    visit("negatives.scatter", negatives_.scatter);
    visit("positives.weight", positives_.weight);
    visit("positives.mean", positives_.mean);
    visit("positives.scatter", positives_.scatter);
    validate(negatives_.weight >= 0 && std::isfinite(negatives_.weight), "negatives.weight");
    validate(positives_.weight >= 0 && std::isfinite(positives_.weight), "positives.weight");
  }

 private:
  // Statistics of the rows of a class: covariance = scatter / weight.
  struct Class {
    double weight = 0;
    Vector mean;
    Symmetric scatter{0};

    void away(const RowLike auto& x, double* out) const {
      for (std::size_t j = 0; j < mean.size(); ++j) out[j] = -mean[j];
      x.add_to(out, 1);
    }
    void fade() {
      weight /= 2;
      scatter.halve();
    }
    void absorb(double e, double* away) {
      const double before = weight;
      weight += e;
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += e / weight * away[j];
      const double root = std::sqrt(e * (before / weight));
      for (std::size_t j = 0; j < mean.size(); ++j) away[j] *= root;
      if (before > 0) scatter.add(away);
    }
  };

  double learning_rate_ = 0.01, regularization_ = 0.01;
  Vector weights_;
  Class negatives_, positives_;
  std::vector<double> away_, product_, padded_weights_, nothing_;
};

LOPSIDED_ISA_END
