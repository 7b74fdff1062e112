#include "../core/sketch/sketch.hpp"

#include <future>
#include <map>
#include <string>

#include "check.hpp"

using namespace lopsided;

namespace {

double uniform(std::uint64_t k) { return static_cast<double>(splitmix64(k) >> 11) * 0x1p-53; }

// One row of d features, two or three of them other than 0, of unit length.
struct RandomRow {
  std::vector<Index> indices;
  std::vector<double> values;

  RandomRow(std::uint64_t k, Index d) {
    double square = 0;
    for (Index j = static_cast<Index>(splitmix64(5 * k) % 3); j < d; j += 3) {
      indices.push_back(j);
      values.push_back(uniform(5 * k + 1 + static_cast<std::uint64_t>(j)) - 0.3 / (1 + j));
      square += values.back() * values.back();
    }
    for (double& v : values) v /= std::sqrt(square);
  }
  SparseRow row() const { return {indices.data(), values.data(), static_cast<Index>(values.size()), 1}; }
};

// The first `m` of `d` orthonormal rows, none of them an axis (Householder).
std::vector<double> reflected(std::size_t m, std::size_t d) {
  std::vector<double> rows(m * d);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < d; ++j) rows[i * d + j] = (i == j) - 2.0 / static_cast<double>(d);
  return rows;
}

struct Settings {
  double size, every = 1;
  std::vector<double> directions = {};

  void operator()(const std::string& name, double& value) const {
    if (name == "sketch_size") value = size;
    if (name == "sketch_every") value = every;
  }
  void operator()(const std::string& name, std::vector<double>& values) const {
    if (name == "directions") values = directions;
  }
};

template <class Form>
Sketch<Form> make(const Settings& settings, std::size_t features) {
  Sketch<Form> sketch;
  sketch.options(settings);
  sketch.state([&](const char*, auto& values) {
    if constexpr (requires { values.grow(features); }) values.grow(features);
  });
  sketch.start();
  return sketch;
}

// The directions, one a row.
template <class Form>
std::vector<std::vector<double>> directions(Sketch<Form>& sketch) {
  std::map<std::string, std::vector<double>> parts;
  std::size_t width = 0, d = 0;
  sketch.state([&](const std::string& name, auto& values) {
    if constexpr (requires { values.data(); }) parts[name] = {values.data(), values.data() + values.size()};
    if constexpr (requires { values.width(); }) {
      width = values.width(), d = values.size();
      parts[name] = {values.data(), values.data() + d * width};
    }
  });
  const std::size_t m = parts["sketch.energy"].size();
  std::vector<std::vector<double>> out(m);
  for (std::size_t i = 0; i < m; ++i) {
    if (!width) out[i] = parts["sketch.direction." + std::to_string(i)];
    for (std::size_t j = 0; width && j < d; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < m; ++k) sum += parts["sketch.basis"][i * m + k] * parts["sketch"][j * width + 1 + k];
      out[i].push_back(sum);
    }
  }
  return out;
}

double farthest_from_orthonormal(const std::vector<std::vector<double>>& rows) {
  double worst = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < rows.size(); ++k) {
      double sum = i == k ? -1 : 0;
      for (std::size_t j = 0; j < rows[i].size(); ++j) sum += rows[i][j] * rows[k][j];
      worst = std::max(worst, std::abs(sum));
    }
  return worst;
}

double sign_of(const RandomRow& x) { return x.values[0] > 0.4 ? 1 : -1; }

}  // namespace

TEST(rank_one_turn_is_the_inverse_of_a_triangular_root) {
  constexpr std::size_t m = 4;
  for (const double c : {1e-9, 0.3, 1e12}) {
    RankOne turn;
    for (std::size_t i = 0; i < m; ++i) turn.a[i] = uniform(i) - 0.3;
    turn.prepare(m, c);
    Basis inverse, root;
    inverse.resize(m), root.resize(m);
    inverse.turn(m, turn);
    root.append(m, turn);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t k = 0; k < m; ++k) {
        double gram = 0, one = 0, largest = 1;
        for (std::size_t j = 0; j < m; ++j) {
          gram += root.values[i * m + j] * root.values[k * m + j];
          one += root.values[i * m + j] * inverse.values[j * m + k];
          largest = std::max(largest, std::abs(root.values[i * m + j]));
        }
        CHECK(check::near(gram, (i == k) + c * turn.a[i] * turn.a[k]));
        CHECK(std::abs(one - (i == k)) < 1e-13 * largest);
      }
  }
}

// Scores of now and then over a long stream. Steps are those of a plain gradient: they follow the
// labels, and their sum stays small.
template <class Form>
std::vector<double> long_run(Sketch<Form>& sketch, Count rows) {
  constexpr Index d = 7;
  std::vector<RandomRow> pool;
  for (std::uint64_t k = 0; k < 5000; ++k) pool.emplace_back(k, d);
  Vector plain;
  plain.grow(d);
  std::vector<double> scores;
  for (Count t = 0; t < rows; ++t) {
    const RandomRow& x = pool[splitmix64(t) % pool.size()];
    double step = 0;
    if (t % 4 == 0) {
      const double y = sign_of(x);
      if (y * dot(plain, x.row()) < 1) step = 0.05 * y;
      add(plain, step, x.row());
      if (t % 100 == 0) scores.push_back(sketch.score(x.row()));
    }
    sketch.learn(x.row(), 0.02, step);
  }
  return scores;
}

TEST(forms_agree_and_stay_orthonormal_for_ten_million_rows) {
  const Settings settings{3, 1, reflected(3, 7)};
  auto sparse = make<SparseSketch>(settings, 7);
  auto dense = make<DenseSketch>(settings, 7);
  auto running = std::async(std::launch::async, [&] { return long_run(sparse, 10'000'000); });
  const std::vector<double> theirs = long_run(dense, 10'000'000), ours = running.get();
  double apart = 0, largest = 0;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    apart = std::max(apart, std::abs(ours[k] - theirs[k]));
    largest = std::max(largest, std::abs(ours[k]));
  }
  CHECK(largest > 1);
  CHECK(apart < 1e-9);
  CHECK(farthest_from_orthonormal(directions(sparse)) < 1e-14);
  CHECK(farthest_from_orthonormal(directions(dense)) < 1e-14);
}

TEST(forms_of_the_sketch_agree_as_features_enter_and_rows_wait) {
  for (const double size : {1.0, 5.0, 6.0, 9.0, 15.0, 16.0, 64.0})
    for (const double every : {1.0, 4.0}) {
      constexpr Index d = 40;
      auto sparse = make<SparseSketch>({size, every}, d);
      auto dense = make<DenseSketch>({size, every}, d);
      for (std::uint64_t k = 0; k < 600; ++k) {
        const RandomRow x(k, k < 300 ? 12 : d);
        const double score = sparse.score(x.row()), y = sign_of(x);
        CHECK(std::abs(score - dense.score(x.row())) < 1e-9);
        const double step = y * score < 1 ? 0.1 * y : 0;
        sparse.learn(x.row(), 0.5, step);
        dense.learn(x.row(), 0.5, step);
      }
      const Vector ours = sparse.coefficients(), theirs = dense.coefficients();
      for (std::size_t j = 0; j < d; ++j) CHECK(std::abs(ours[j] - theirs[j]) < 1e-9);
    }
}

// A step far larger than the directions it turns leaves them orthonormal.
TEST(directions_stay_orthonormal_under_large_rows) {
  constexpr Index d = 9;
  const Settings settings{4, 1, reflected(4, d)};
  auto sparse = make<SparseSketch>(settings, d);
  auto dense = make<DenseSketch>(settings, d);
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const RandomRow x(k, d);
    const double r = k % 7 == 0 ? 1e-12 : 1e-4;
    sparse.learn(x.row(), r, 0.1);
    dense.learn(x.row(), r, 0.1);
  }
  CHECK(farthest_from_orthonormal(directions(sparse)) < 1e-9);
  CHECK(farthest_from_orthonormal(directions(dense)) < 1e-9);
  const Vector ours = sparse.coefficients(), theirs = dense.coefficients();
  for (std::size_t j = 0; j < d; ++j) CHECK(std::abs(ours[j] - theirs[j]) < 1e-9);
}
