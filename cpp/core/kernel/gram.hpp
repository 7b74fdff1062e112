// Kernels between the slots of two lists of rows.
#pragma once

#include "functions.hpp"

namespace lopsided::kernel {

class Gram {
 public:
  double* row(std::size_t slot) { return values_.data() + slot * columns_; }
  std::size_t bytes() const { return 8 * values_.size(); }
  void clear() { *this = {}; }

  // Capacity for that many slots; at least doubled, so that growing one by one stays cheap.
  void grow(std::size_t rows, std::size_t columns) {
    if (rows <= rows_ && columns <= columns_) return;
    const std::size_t r = std::max(rows, rows > rows_ ? 2 * rows_ : rows_);
    std::size_t c = std::max(columns, columns > columns_ ? 2 * columns_ : columns_);
    if (c % (2 * line) == 0) c += line;  // an odd number of cache lines per row: a column spreads over all cache sets
    Aligned values(r * c);
    for (std::size_t i = 0; i < rows_; ++i) std::copy_n(row(i), columns_, values.data() + i * c);
    values_ = std::move(values);
    rows_ = r;
    columns_ = c;
  }

  void set_row(std::size_t slot, const double* values, std::size_t n) { std::copy_n(values, n, row(slot)); }
  void set_column(std::size_t slot, const double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) values_[i * columns_ + slot] = values[i];
  }

 private:
  static constexpr std::size_t line = 8;  // numbers in a cache line

  std::size_t rows_ = 0, columns_ = 0;
  Aligned values_;
};

}  // namespace lopsided::kernel
