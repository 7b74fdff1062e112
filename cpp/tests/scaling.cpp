#include "../core/stream/scaling.hpp"

#include "check.hpp"

using namespace lopsided;

namespace {

DenseRow dense(const std::vector<double>& v) {
  double square = 0;
  for (const double x : v) square += x * x;
  return {v.data(), static_cast<Index>(v.size()), square};
}

}  // namespace

TEST(unit_rows_have_length_one_and_zero_rows_stay_zero) {
  Prepare prepare;
  prepare.unit = true;
  Scratch scratch;
  const std::vector<double> x{3, 4}, zero{0, 0};
  CHECK(check::near(prepare.row(dense(x), 2, true, scratch).squared_norm(), 1));
  CHECK(prepare.row(dense(zero), 2, true, scratch).squared_norm() == 0);
}

TEST(standard_scores_use_the_stream_so_far_with_this_row) {
  Prepare prepare;
  prepare.standard = prepare.centred = true;
  prepare.grow(1);
  Scratch scratch;
  const std::vector<double> stream{2, 6, 1, 1};
  double sum = 0, squares = 0, n = 0;
  for (const double x : stream) {
    sum += x, squares += x * x, n += 1;
    const double variance = squares / n - sum / n * sum / n;
    const double expected = variance > 0 ? (x - sum / n) / std::sqrt(variance) : 0;
    const std::vector<double> row{x};
    const double peeked = prepare.row(dense(row), 1, false, scratch).values[0];
    CHECK(check::near(peeked, expected));
    CHECK(prepare.row(dense(row), 1, true, scratch).values[0] == peeked);
  }
}

TEST(the_constant_stands_in_front_and_is_not_scaled) {
  Prepare prepare;
  prepare.unit = prepare.intercept = true;
  Scratch scratch;
  const std::vector<double> x{3, 4};
  const DenseRow row = prepare.row(dense(x), 2, true, scratch);
  CHECK(row.size == 3 && row.values[0] == 1 && check::near(row.values[2], 0.8));
  CHECK(check::near(row.squared_norm(), 2));
}

TEST(unknown_features_count_in_the_length_only) {
  Prepare prepare;
  prepare.unit = true;
  Scratch scratch;
  const Index indices[] = {5, 0};
  const double data[] = {4, 3};
  const SparseRow row = prepare.row(SparseRow{indices, data, 2, 25}, 1, false, scratch);
  CHECK(row.size == 1 && row.indices[0] == 0);
  const double w[] = {1};
  CHECK(check::near(row.dot(w), 0.6));
  const std::vector<double> longer{3, 4};
  CHECK(check::near(prepare.row(dense(longer), 1, false, scratch).dot(w), 0.6));
}
