// Types that every part of the core uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "numbers/aligned.hpp"

namespace lopsided {

using Index = std::int32_t;   // a feature
using Count = std::uint64_t;  // rows, rounds, updates

inline constexpr Index max_features = std::numeric_limits<Index>::max() - 1;

// An unusable row. `column` is -1 if the fault is not in a single column.
struct DataError : std::runtime_error {
  DataError(const std::string& what, std::int64_t row, std::int64_t column = -1)
      : std::runtime_error(what), row(row), column(column) {}
  std::int64_t row, column;
};

// One number per feature. New features start at `initial`.
class Vector {
 public:
  explicit Vector(double initial = 0) : initial_(initial) {}

  // At least doubles the capacity, so that growing one by one stays cheap.
  [[gnu::noinline]] void reserve(std::size_t size) {
    if (size > values_.capacity()) values_.reserve(std::max(size, 2 * values_.capacity()));
  }
  [[gnu::noinline]] void grow(std::size_t size) {
    if (size > values_.size()) values_.resize(size, initial_);
  }
  void assign(const double* first, std::size_t size) { values_.assign(first, first + size); }

  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  std::size_t bytes() const { return size() * sizeof(double); }
  double& operator[](std::size_t j) { return values_[j]; }
  double operator[](std::size_t j) const { return values_[j]; }

 private:
  double initial_;
  Aligned values_;
};

// What a learner is told about an event: the sign of its label, the cost of its class relative to the negative class (rho
// for positives, 1 for negatives), its weight, and the round, from 1.
struct Target {
  double y;
  double cost;
  double weight;
  Count round;
};

}  // namespace lopsided
