#include "../core/numbers/symmetric.hpp"

#include <cstring>

#include "check.hpp"

using namespace lopsided;

namespace {

template <class Value>
Value noise(std::size_t k) {
  return static_cast<Value>(std::sin(1.7 * static_cast<double>(k) + 0.3));
}

template <class Value>
void multiplies_like_a_square_matrix(double tolerance) {
  for (const std::size_t n : {1u, 3u, 4u, 5u, 8u, 13u, 41u}) {
    SymmetricOf<Value> matrix;
    matrix.grow(n);
    std::vector<Value> square(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) square[i * n + i] = 1;
    for (std::size_t round = 0; round < 3; ++round) {
      std::vector<Value> x(matrix.padded()), s(matrix.padded()), out(matrix.padded());
      for (std::size_t j = 0; j < n; ++j)
        x[j] = noise<Value>(j + round), s[j] = Value(0.3) * noise<Value>(2 * j + round);
      matrix.multiply(x.data(), s.data(), out.data());
      for (std::size_t i = 0; i < n; ++i) {
        double expected = 0;
        for (std::size_t j = 0; j < n; ++j) {
          square[i * n + j] -= s[i] * s[j];
          expected += square[i * n + j] * x[j];
        }
        CHECK(std::abs(out[i] - expected) < tolerance);
      }
    }
    std::vector<Value> read(n * n);
    matrix.read(read.data());
    CHECK(read == square);
    for (const std::size_t every : {1u, 2u, 5u}) {
      std::vector<Value> x(matrix.padded());
      double expected = 0;
      for (std::size_t j = 0; j < n; j += every) x[j] = noise<Value>(j + 7);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) expected += double(x[i]) * square[i * n + j] * x[j];
      CHECK(std::abs(matrix.quadratic(x.data(), false) - expected) < tolerance);
      CHECK(std::abs(matrix.quadratic(x.data(), true) - expected) < tolerance);
    }
    SymmetricOf<Value> copy;
    copy.grow(n);
    copy.write(read.data());
    std::vector<Value> again(n * n);
    copy.read(again.data());
    CHECK(again == read);
  }
}

// Features that nothing has moved do not meet the others: with or without them the bits are the same, but with
// them most of x is not 0.
template <class Value>
void leaves_out_zeros(double tolerance) {
  constexpr std::size_t n = 23, all = 103;
  for (std::size_t every = 1; every < 9; ++every) {
    SymmetricOf<Value> few, many;
    few.grow(all);
    many.grow(all);
    std::vector<Value> square(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) square[i * n + i] = 1;
    for (std::size_t round = 0; round < 4; ++round) {
      std::vector<Value> x(few.padded()), s(few.padded()), ours(few.padded()), theirs(few.padded());
      for (std::size_t j = 0; j < n; ++j) {
        x[j] = (j + round) % every ? 0 : noise<Value>(j + round);
        s[j] = Value(0.3) * noise<Value>(2 * j + round);
      }
      few.multiply(x.data(), s.data(), ours.data());
      for (std::size_t j = n; j < all; ++j) x[j] = 1;
      many.multiply(x.data(), s.data(), theirs.data());
      CHECK(std::memcmp(ours.data(), theirs.data(), n * sizeof(Value)) == 0);
      for (std::size_t i = 0; i < n; ++i) {
        double expected = 0;
        for (std::size_t j = 0; j < n; ++j) {
          square[i * n + j] -= s[i] * s[j];
          expected += square[i * n + j] * x[j];
          if (j <= i) CHECK(few.at(i, j) == square[i * n + j] && many.at(i, j) == few.at(i, j));
        }
        CHECK(std::abs(ours[i] - expected) < tolerance);
      }
    }
  }
}

}  // namespace

TEST(symmetric_multiplies_and_subtracts_like_a_square_matrix) {
  multiplies_like_a_square_matrix<double>(1e-12);
  multiplies_like_a_square_matrix<float>(1e-5);
}

TEST(symmetric_leaves_out_zeros_without_a_trace) {
  leaves_out_zeros<double>(1e-12);
  leaves_out_zeros<float>(1e-5);
}

// On every instruction set: a sum for each column, of what is below the tile of the diagonal and half of that, and a total
// for each place in a vector.
double fused_products(Symmetric& matrix, const std::vector<double>& x) {
  const auto at = [&](std::size_t i, std::size_t j) { return i < j ? matrix.at(j, i) : matrix.at(i, j); };
  double total[4] = {};
  for (std::size_t j = 0; j < matrix.padded(); ++j) {
    double sum = 0;
    for (std::size_t i = j / 4 * 4; i < matrix.padded(); ++i)
      sum = std::fma(at(i, j), (i / 4 == j / 4 ? 0.5 : 1) * x[i], sum);
    total[j % 4] = std::fma(sum, x[j], total[j % 4]);
  }
  return 2 * ((total[0] + total[2]) + (total[1] + total[3]));
}

TEST(quadratic_form_has_the_bits_of_fused_products) {
  for (const std::size_t n : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 30u, 41u}) {
    Symmetric matrix;
    matrix.grow(n);
    const std::size_t padded = matrix.padded();
    std::vector<double> s(padded);
    for (std::size_t j = 0; j < n; ++j) s[j] = 0.3 * noise<double>(j);
    matrix.subtract(s.data());
    std::vector<std::vector<double>> raw, seen;  // some rows are shorter, and all have another scale
    std::vector<DenseRow> rows;
    for (std::size_t k = 0; k < 8; ++k) {
      const std::size_t size = k % 3 == 1 ? n - n / 2 : n;
      raw.emplace_back(size), seen.emplace_back(padded);
      for (std::size_t j = 0; j < size; ++j) {
        raw[k][j] = noise<double>(3 * j + k);
        seen[k][j] = (1 + 0.1 * static_cast<double>(k)) * raw[k][j];
      }
    }
    for (std::size_t k = 0; k < 8; ++k)
      rows.push_back({raw[k].data(), static_cast<Index>(raw[k].size()), 0, 1 + 0.1 * static_cast<double>(k)});
    double found[8];
    matrix.quadratics(rows.data(), found);
    for (std::size_t k = 0; k < 8; ++k) {
      CHECK(found[k] == fused_products(matrix, seen[k]));
      CHECK(matrix.quadratic(seen[k].data(), false) == found[k]);
      CHECK(matrix.quadratic(seen[k].data(), true) == found[k]);
    }
  }
}

TEST(symmetric_grows_by_an_identity) {
  Symmetric matrix;
  matrix.grow(2);
  std::vector<double> s(matrix.padded());
  s[0] = 0.5, s[1] = 0.25;
  matrix.subtract(s.data());
  matrix.grow(7);
  CHECK(matrix.at(0, 0) == 0.75 && matrix.at(1, 0) == -0.125);
  for (std::size_t i = 2; i < 7; ++i)
    for (std::size_t j = 0; j <= i; ++j) CHECK(matrix.at(i, j) == (i == j ? 1.0 : 0.0));
}
