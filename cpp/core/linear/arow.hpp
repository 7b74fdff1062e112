// AROW, adaptive regularization of weights (Crammer et al. 2009), over any covariance.
#pragma once

#include "covariance.hpp"

namespace lopsided {

template <class Covariance>
struct Arow {
  double regularization = 1;
  bool weight_state = false;  // let the covariance see the weights
  Covariance covariance;
  Vector mean;

  double score(const RowLike auto& x) const { return dot(mean, x); }
  double variance(const RowLike auto& x) { return covariance.along(x).variance(); }

  // `looked`: the variance of this very row was asked for last.
  bool learn(const RowLike auto& x, const Target& t, double score, bool looked = false) {
    const double loss = 1 - t.y * score;
    if (loss <= 0) return false;
    const auto along = looked ? covariance.latest(x) : covariance.along(x);
    const double beta = 1 / (along.variance() + regularization);
    const double r = weight_state ? regularization / t.weight : regularization;
    covariance.learn(x, along, r, Sigma::before, loss * beta * t.y * t.cost * t.weight, mean);
    return true;
  }

  Vector coefficients() const { return mean; }
  void places(auto visit) const { visit(mean); }
  void options(auto&& visit) {
    visit("regularization", regularization);
    visit("weight_state", weight_state);
  }
  void state(auto&& visit) {
    visit("mean", mean);
    covariance.state(visit);
  }
};

}  // namespace lopsided
