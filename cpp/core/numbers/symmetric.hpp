// A growing symmetric matrix that starts as a multiple of the identity: its lower triangle in tiles (4 x 4 double or
// 8 x 8 float), one row of tiles after the other, so that new features are appended and nothing moves.
#pragma once

#include "aligned.hpp"
#include "symmetric_loops.hpp"

namespace lopsided {

template <class Value>
class SymmetricOf {
 public:
  static constexpr std::size_t max_size = 40000;  // 6.4 GB

  explicit SymmetricOf(double diagonal = 1) : diagonal_(diagonal) {}

  std::size_t size() const { return size_; }
  std::size_t padded() const { return rows_ * side; }
  std::size_t bytes() const { return tiles_.size() * sizeof(Value); }

  void reserve(std::size_t size) {
    if (size > max_size)
      throw std::length_error("a full covariance takes at most 40000 features: use covariance='diagonal'");
    const std::size_t rows = (size + side - 1) / side, wanted = rows * (rows + 1) / 2 * area;
    if (wanted > tiles_.capacity()) tiles_.reserve(std::max(wanted, tiles_.capacity() * 3 / 2));
  }
  void grow(std::size_t size) {
    if (size <= size_) return;
    size_ = size;
    for (; rows_ * side < size; ++rows_) {
      tiles_.resize(tiles_.size() + (rows_ + 1) * area);
      Value* corner = tiles_.data() + tiles_.size() - area;
      for (std::size_t k = 0; k < side; ++k) corner[k * side + k] = static_cast<Value>(diagonal_);
    }
  }

  // this -= s s', then out = this * x, in one pass. All three have padded() entries, zero beyond
  // size(). The product s_i s_j is the same bits both ways: the matrix stays symmetric.
  void multiply(const Value* x, const Value* s, Value* out) {
    loops::subtract_multiply(tiles_.data(), rows_, x, s, out, places_);
  }

  void subtract(const Value* s) { loops::subtract(tiles_.data(), rows_, s); }
  void add(const Value* s) {
    Value* tile = tiles_.data();
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j <= i; ++j, tile += area)
        for (std::size_t r = 0; r < side; ++r)
          for (std::size_t k = 0; k < side; ++k) tile[r * side + k] += s[i * side + r] * s[j * side + k];
  }
  void halve() {
    for (Value& value : tiles_) value /= 2;
  }
  // x' this x; see symmetric_loops.hpp.
  double quadratic(const Value* x, bool sparse) {
    work_.resize(padded());
    return loops::quadratic(tiles_.data(), rows_, x, sparse, places_, work_.data());
  }
  // The same for `together` rows at once.
  static constexpr std::size_t together = 8;
  void quadratics(const DenseRow* x, double* out) {
    work_.resize(together * padded());
    loops::quadratics(tiles_.data(), rows_, x, work_.data(), out);
  }

  // Element (i, j), i >= j.
  Value& at(std::size_t i, std::size_t j) {
    const std::size_t row = i / side, column = j / side;
    return tiles_[(row * (row + 1) / 2 + column) * area + (i % side) * side + j % side];
  }

  void read(Value* square) {
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j <= i; ++j) square[i * size_ + j] = square[j * size_ + i] = at(i, j);
  }
  void write(const auto* square) {
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        at(i, j) = static_cast<Value>(square[i * size_ + j]);
        if (i / side == j / side) at(j, i) = at(i, j);
      }
  }

 private:
  static constexpr std::size_t side = 32 / sizeof(Value), area = side * side;

  double diagonal_;
  std::size_t size_ = 0, rows_ = 0;
  AlignedOf<Value> tiles_;
  AlignedOf<Value> work_;
  std::vector<Index> places_;
};

using Symmetric = SymmetricOf<double>;

}  // namespace lopsided
