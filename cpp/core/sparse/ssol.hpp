// SSOL, second-order sparse online learning (Wang et al., A framework of sparse online learning,
// algorithms 4 and 5): A^-1 takes in every row before it is scored,
//   w = soft(A^-1 theta, lambda_t),  theta += learning_rate * slope * y x.
#pragma once

#include "../linear/covariance.hpp"
#include "dual.hpp"

namespace lopsided {

struct SsolDiagonal {
  static constexpr std::size_t width = 2;  // theta, 1/a - 1
  static constexpr bool takes_in = true;

  double learning_rate = 1, regularization = 1;
  DualShrink shrink{0, DualShrink::Schedule::inverse};
  DiagonalCovariance::Rule rule = DiagonalCovariance::Rule::shared;
  bool transductive = false;  // score rows as if they were taken in

  auto weights(Count seen) const {
    return [l = lambda(seen)](const double* row) { return soft(row[0] / (1 + row[1]), l); };
  }

  auto meeting(const RowLike auto& x, const Table& table, Count seen) const {
    return [l = lambda(seen), taken = taking(x, table)](const double* row, double v) {
      return soft(row[0] / (1 + taken(row, v)), l);
    };
  }

  void step(const RowLike auto& x, Table& table, double slope, Count) {
    const auto taken = taking(x, table);
    x.for_each([&, move = learning_rate * slope](Index j, double v) {
      double* row = table[static_cast<std::size_t>(j)];
      row[1] = taken(row, v);
      row[0] += move * v;
    });
  }
  void pass(Count) {}

  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("regularization", regularization);
    shrink.options(visit);
    visit("diag_rule", rule, {"coordinate", "shared"});
    visit("transductive", transductive);
  }
  void state(auto&&) {}

 private:
  double lambda(Count seen) const { return shrink.at(static_cast<double>(seen) + 1, learning_rate); }

  // 1/a - 1 after x. As a is divided by 1 + a v^2 / (r + what the other features hold), 1/a grows by
  // v^2 / (r + that); with the coordinate rule the others hold nothing.
  auto taking(const RowLike auto& x, const Table& table) const {
    const bool shared = rule == DiagonalCovariance::Rule::shared;
    const double* rows = table.data();
    const double held =
        regularization +
        (shared ? x.sum([=](Index j, double v) {
          return v * v / (1 + rows[static_cast<std::size_t>(j) * width + 1]);
        }) : 0);
    return [held, shared, r = regularization](const double* row, double v) {
      const double square = v * v;
      const double others = shared ? held - square / (1 + row[1]) : held;
      return row[1] + square / std::max(others, r);
    };
  }
};

// The same with all of A^-1. It keeps u = A^-1 theta instead of theta: taking x in and stepping by s
// moves u by (s - x.u / r) times the new A^-1 x.
struct SsolFull {
  double learning_rate = 1, regularization = 1, clip = 0;
  DualShrink shrink{0, DualShrink::Schedule::inverse};
  bool transductive = false;
  FullCovariance covariance;
  Vector u;
  Count seen = 0;

  double score(const RowLike auto& x) const {
    if (transductive) {
      FullCovariance copy = covariance;
      return taken_in(x, copy);
    }
    const double l = lambda();
    return x.sum([=, this](Index j, double v) { return weight(u[static_cast<std::size_t>(j)], l, clip) * v; });
  }

  double meet(const RowLike auto& x) { return taken_in(x, covariance); }

  // The row must be the one that was met last.
  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double slope = hinge_slope(score, t), step = learning_rate * slope * t.y;
    const FullCovariance::Along along = covariance.latest(x);
    covariance.learn(x, along, regularization, Sigma::after, step - dot(u, x) / regularization, u);
    ++seen;
    return slope != 0;
  }

  void nonzeros(auto&& visit) const {
    for (std::size_t j = 0; j < u.size(); ++j)
      if (const double w = weight(u[j], lambda(), clip); w != 0) visit(j, w);
  }

  void options(auto&& visit) {
    visit("learning_rate", learning_rate);
    visit("regularization", regularization);
    visit("clip", clip);
    shrink.options(visit);
    visit("transductive", transductive);
  }
  void state(auto&& visit) {
    visit("seen", seen);
    visit("dual", u);
    covariance.state(visit);
  }

 private:
  double lambda() const { return shrink.at(static_cast<double>(seen) + 1, learning_rate); }
  static double weight(double dual, double l, double clip) {
    const double w = soft(dual, l);
    return std::abs(w) < clip ? 0 : w;
  }

  // The score with x taken into the covariance, which is only looked at.
  double taken_in(const RowLike auto& x, FullCovariance& sigma) const {
    const double left = regularization + sigma.along(x).variance();
    const double move = dot(u, x) / left, l = lambda();
    const double* k = sigma.product();
    return x.sum([=, this](Index j, double v) {
      const auto at = static_cast<std::size_t>(j);
      return soft(u[at] - move * k[at], l) * v;
    });
  }
};

}  // namespace lopsided
