#include "../core/linear/symmetric.hpp"

#include <cstring>

#include "check.hpp"

using namespace lopsided;

namespace {

double noise(std::size_t k) { return std::sin(1.7 * static_cast<double>(k) + 0.3); }

}  // namespace

TEST(symmetric_multiplies_and_subtracts_like_a_square_matrix) {
  for (const std::size_t n : {1u, 3u, 4u, 5u, 8u, 13u}) {
    Symmetric matrix;
    matrix.grow(n);
    std::vector<double> square(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) square[i * n + i] = 1;
    for (std::size_t round = 0; round < 3; ++round) {
      std::vector<double> x(matrix.padded()), s(matrix.padded()), out(matrix.padded());
      for (std::size_t j = 0; j < n; ++j) x[j] = noise(j + round), s[j] = 0.3 * noise(2 * j + round);
      matrix.multiply(x.data(), s.data(), out.data());
      for (std::size_t i = 0; i < n; ++i) {
        double expected = 0;
        for (std::size_t j = 0; j < n; ++j) {
          square[i * n + j] -= s[i] * s[j];
          expected += square[i * n + j] * x[j];
        }
        CHECK(check::near(out[i], expected));
      }
    }
    std::vector<double> read(n * n);
    matrix.read(read.data());
    CHECK(read == square);
    Symmetric copy;
    copy.grow(n);
    copy.write(read.data());
    std::vector<double> again(n * n);
    copy.read(again.data());
    CHECK(again == read);
  }
}

// Features that nothing has moved do not meet the others: with or without them the bits are the same, but with
// them most of x is not 0.
TEST(symmetric_leaves_out_zeros_without_a_trace) {
  constexpr std::size_t n = 23, all = 103;
  for (std::size_t every = 1; every < 9; ++every) {
    Symmetric few, many;
    few.grow(all);
    many.grow(all);
    std::vector<double> square(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) square[i * n + i] = 1;
    for (std::size_t round = 0; round < 4; ++round) {
      std::vector<double> x(few.padded()), s(few.padded()), ours(few.padded()), theirs(few.padded());
      for (std::size_t j = 0; j < n; ++j) {
        x[j] = (j + round) % every ? 0 : noise(j + round);
        s[j] = 0.3 * noise(2 * j + round);
      }
      few.multiply(x.data(), s.data(), ours.data());
      for (std::size_t j = n; j < all; ++j) x[j] = 1;
      many.multiply(x.data(), s.data(), theirs.data());
      CHECK(std::memcmp(ours.data(), theirs.data(), n * sizeof(double)) == 0);
      for (std::size_t i = 0; i < n; ++i) {
        double expected = 0;
        for (std::size_t j = 0; j < n; ++j) {
          square[i * n + j] -= s[i] * s[j];
          expected += square[i * n + j] * x[j];
          if (j <= i) CHECK(few.at(i, j) == square[i * n + j] && many.at(i, j) == few.at(i, j));
        }
        CHECK(check::near(ours[i], expected));
      }
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
