// Brings a learner's numbers of the next row's features near while this row is learned, where they do not all fit into
// a cache. A learner says in `places` where they are. Into the second cache: the way into the first is short of room,
// and what this row needs would be pushed out.
#pragma once

#include "../input/rows.hpp"
#include "table.hpp"

namespace lopsided {

class Ahead {
 public:
  template <class Learner>
  Ahead(const Learner& learner, Index offset) : offset_(static_cast<std::uint32_t>(offset)) {
    if constexpr (requires { learner.places([](const auto&) {}); })
      learner.places([&](const auto& values) {
        if (values.bytes() < cache) return;
        first_ = reinterpret_cast<std::uintptr_t>(values.data());
        stride_ = width_of(values) * sizeof(double);
      });
  }

  // The features of a row, which nobody has checked yet. Inlined: to GCC a function that only prefetches
  // has no effect, and a call of it may go.
  [[gnu::always_inline]] void row(const Rows& rows, Count i) const {
    if (first_ == 0) return;
    const auto [first, last] = rows.peek(i);
    for (const Index* at = first; at < last; ++at) {
      const std::uintptr_t place = first_ + (static_cast<std::uint32_t>(*at) + offset_) * stride_;
      __builtin_prefetch(reinterpret_cast<const void*>(place), 0, 2);
    }
  }

 private:
  static std::size_t width_of(const Vector&) { return 1; }
  static std::size_t width_of(const Table& table) { return table.width(); }
  static constexpr std::size_t cache = std::size_t{1} << 20;

  std::uint32_t offset_;
  std::uintptr_t first_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace lopsided
