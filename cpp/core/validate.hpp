// Validation of loaded state: a file may hold anything, and learning relies on indices, sizes and counts.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "base.hpp"

namespace lopsided {

inline void validate(bool valid, std::string_view entry) {
  if (!valid) throw std::invalid_argument("state " + std::string(entry) + " is invalid");
}

// Whether a visitor of state writes: plain functions, such as those that let state grow, do not.
template <class Visitor>
bool restores(const Visitor& visit) {
  if constexpr (requires { visit.restores(); }) return visit.restores();
  else return false;
}

// Calls check with each row that was just restored into the table.
template <class Visitor>
void each_restored(const Visitor& visit, auto& table, auto check) {
  if constexpr (requires { visit.restored_rows(); })
    for (const std::uint32_t j : visit.restored_rows()) check(table[j]);
}

// Lists of doubles hold counts and indices too.
inline bool is_whole(double value, double limit) { return value >= 0 && value < limit && value == std::floor(value); }

inline bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// Whether these can be the features of a row: below `columns`, none twice, in any order.
inline bool are_features(std::span<const Index> indices, std::size_t columns) {
  if (!std::all_of(indices.begin(), indices.end(),
                   [=](Index j) { return j >= 0 && static_cast<std::size_t>(j) < columns; }))
    return false;
  const auto increasing = [](std::span<const Index> all) {
    return std::adjacent_find(all.begin(), all.end(), std::greater_equal<>()) == all.end();
  };
  if (increasing(indices)) return true;
  std::vector<Index> sorted(indices.begin(), indices.end());
  std::sort(sorted.begin(), sorted.end());
  return increasing(sorted);
}

}  // namespace lopsided
