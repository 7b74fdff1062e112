#include "../core/input/rows.hpp"

#include "check.hpp"

using namespace lopsided;

namespace {

std::vector<double> values(const DenseRow& x) { return {x.values, x.values + x.size}; }

Rows csr(const std::vector<std::int32_t>& starts, const std::vector<Index>& indices, const std::vector<double>& data,
         Index columns) {
  return Rows({starts.data(), indices.data(), data.data(), false, false, false, data.size()}, starts.size() - 1,
              columns);
}

}  // namespace

TEST(dense_rows_follow_strides_and_types) {
  const double by_column[] = {1, 4, 2, 5, 3, 6};
  const float single[] = {1, 2, 3, 4, 5, 6};
  Scratch scratch;
  const Rows fortran({by_column, false, 1, 2}, 2, 3);
  CHECK(values(fortran.row<DenseRow>(1, scratch)) == std::vector<double>{4, 5, 6});
  const Rows floats({single, true, 3, 1}, 2, 3);
  CHECK(values(floats.row<DenseRow>(0, scratch)) == std::vector<double>{1, 2, 3});
  const Rows backwards({single + 5, true, -3, -1}, 2, 3);
  CHECK(values(backwards.row<DenseRow>(1, scratch)) == std::vector<double>{3, 2, 1});
}

TEST(csr_rows_are_sorted_and_equal_columns_added) {
  const std::vector<std::int32_t> starts{0, 4};
  const std::vector<Index> indices{3, 1, 3, 0};
  const std::vector<double> data{1, 2, 10, 4};
  Scratch scratch;
  const SparseRow x = csr(starts, indices, data, 4).row<SparseRow>(0, scratch);
  CHECK(std::vector<Index>(x.indices, x.indices + x.size) == std::vector<Index>{0, 1, 3});
  CHECK(std::vector<double>(x.values, x.values + x.size) == std::vector<double>{4, 2, 11});
  CHECK(x.square == 16 + 4 + 121);
}

TEST(csr_rows_take_wide_indices_and_floats) {
  const std::int64_t starts[] = {0, 1, 2}, indices[] = {2, 0};
  const float data[] = {0.5f, 2};
  const Rows rows({starts, indices, data, true, true, true, 2}, 2, 3);
  Scratch scratch;
  const SparseRow x = rows.row<SparseRow>(1, scratch);
  CHECK(x.size == 1 && x.indices[0] == 0 && x.values[0] == 2);
  CHECK(values(rows.row<DenseRow>(0, scratch)) == std::vector<double>{0, 0, 0.5});
}

TEST(bad_columns_and_values_are_refused_with_their_place) {
  Scratch scratch;
  const double nan = std::nan(""), huge = 1e200;
  for (const Index bad : {-1, 3, 1000000}) {
    CHECK_THROWS(DataError, csr({0, 2}, {0, bad}, {1, 1}, 3).row<SparseRow>(0, scratch));
    CHECK_THROWS(DataError, csr({0, 3}, {1, 0, bad}, {1, 1, 1}, 3).row<SparseRow>(0, scratch));
  }
  const std::int64_t starts[] = {0, 1}, far[] = {std::int64_t{1} << 40};
  const double one = 1;
  CHECK_THROWS(DataError, Rows({starts, far, &one, true, true, false, 1}, 1, 3).row<SparseRow>(0, scratch));
  CHECK_THROWS(DataError, csr({0, 1}, {0}, {huge}, 1).row<SparseRow>(0, scratch));
  try {
    csr({0, 1, 3}, {0, 1, 2}, {1, 2, nan}, 3).row<SparseRow>(1, scratch);
    CHECK(false);
  } catch (const DataError& e) {
    CHECK(e.row == 1 && e.column == 2);
  }
}

TEST(broken_row_starts_are_refused) {
  CHECK_THROWS(DataError, csr({1, 2}, {0, 1}, {1, 1}, 3));
  CHECK_THROWS(DataError, csr({0, 2, 1}, {0, 1}, {1, 1}, 3));
  CHECK_THROWS(DataError, csr({0, 3}, {0, 1}, {1, 1}, 3));
  CHECK_THROWS(DataError, csr({0, -1}, {0, 1}, {1, 1}, 3));
}

TEST(sums_have_the_value_of_plain_loops) {
  for (Index n = 0; n < 70; ++n) {
    double plain = 0;
    for (Index k = 0; k < n; ++k) plain += 1.0 / (1 + k);
    CHECK(check::near(fixed_order::sum(n, [](Index k) { return 1.0 / (1 + k); }), plain));
  }
}

TEST(sums_of_short_and_long_rows_have_the_bits_of_sixteen_lanes) {
  const auto term = [](Index k) { return k % 5 == 4 ? -0.0 : 1.0 / (1 + k) - 0.1; };
  for (Index n = 0; n < 200; ++n) {
    double lane[fixed_order::width] = {};
    for (Index k = 0; k < n; ++k) lane[k % fixed_order::width] += term(k);
    CHECK(fixed_order::sum(n, term) == fixed_order::total(lane));
    CHECK(fixed_order::short_sum(n, term) == fixed_order::total(lane));
    std::vector<double> a(n), b(n, 1.0);
    for (Index k = 0; k < n; ++k) a[k] = term(k);
    CHECK(fixed_order::products(n, a.data(), b.data()) == fixed_order::total(lane));
  }
}

TEST(checked_rows_are_the_same_rows) {
  const std::vector<std::int32_t> starts{0, 2, 4, 4, 5, 6};  // in order, not in order, empty, zero, one
  const std::vector<Index> indices{0, 2, 2, 1, 1, 2};
  const std::vector<double> data{1, 2, 3, 4, 0, 5};
  const double table[] = {1, 2, 0, 0, 3, 4};
  const float single[] = {1, 2, 0, 0, 3, 4};
  const auto same = [](const Rows& rows) {
    std::vector<double> squares;
    const Rows checked = rows.checked(squares);
    Scratch ours, theirs;
    for (Count i = 0; i < rows.size(); ++i) {
      const DenseRow a = rows.row<DenseRow>(i, ours), b = checked.row<DenseRow>(i, theirs);
      CHECK(values(a) == values(b) && a.square == b.square);
    }
  };
  same(csr(starts, indices, data, 3));
  same(Rows({table, false, 2, 1}, 3, 2));
  same(Rows({table, false, 1, 3}, 3, 2));
  same(Rows({single, true, 2, 1}, 3, 2));
  std::vector<double> squares;
  const std::vector<double> bad{1, 2, 3, 4, 0, std::nan("")};
  CHECK_THROWS(DataError, csr(starts, indices, bad, 3).checked(squares));
  CHECK_THROWS(DataError, csr(starts, indices, data, 2).checked(squares));
}
