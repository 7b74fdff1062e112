// ACOG, adaptive cost-sensitive online classification (Zhao et al. 2018, algorithm 1), over any
// covariance: mean += learning_rate * slope * y * Sigma x, after Sigma has seen x.
#pragma once

#include "../surrogate.hpp"
#include "covariance.hpp"

namespace lopsided {

template <class Covariance>
struct Acog {
  double learning_rate = 0.1, regularization = 1;
  Sigma sigma = Sigma::after;
  bool weight_state = false;  // let the covariance see the weights
  Surrogate surrogate;
  Covariance covariance;
  Vector mean;

  double score(const RowLike auto& x) const { return dot(mean, x); }
  double variance(const RowLike auto& x) { return covariance.along(x).variance(); }

  // `looked`: the variance of this very row was asked for last.
  bool learn(const RowLike auto& x, const Target& t, double score, bool looked = false) {
    const double slope = surrogate.slope(score, t);
    if (slope == 0) return false;
    const double r = weight_state ? regularization / t.weight : regularization;
    const auto along = looked ? covariance.latest(x) : covariance.along(x);
    covariance.learn(x, along, r, sigma, learning_rate * slope * t.y, mean);
    return true;
  }

  Vector coefficients() const { return mean; }
  void places(auto visit) const { visit(mean); }
  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("regularization", regularization);
    visit("sigma", sigma, {"old", "new"});
    visit("weight_state", weight_state);
    surrogate.options(visit);
    covariance.options(visit);
  }
  void state(auto&& visit) {
    visit("mean", mean);
    covariance.state(visit);
  }
};

}  // namespace lopsided
