// Prefetches a learner's entries for the features of the next row while this row is learned, where they do not all fit
// into a cache. The hook `prefetch_targets` says where they are. Into the level 2 cache: level 1 is small, and what
// this row needs would be evicted.
#pragma once

#include "../input/rows.hpp"
#include "../learner.hpp"
#include "../simd.hpp"

LOPSIDED_ISA_BEGIN

class Prefetch {
 public:
  template <Learner L>
  Prefetch(const L& learner, Index offset) : offset_(static_cast<std::uint32_t>(offset)) {
    hook::prefetch_targets(learner, [&](const auto& values) {
      if (values.bytes() < cache) return;
      first_ = reinterpret_cast<std::uintptr_t>(values.data());
      stride_ = width_of(values) * sizeof(double);
    });
  }

  // The features of a row, which nobody has checked yet. Inlined: GCC takes a function that only prefetches
  // for one without effect, and may drop its calls.
  LOPSIDED_INLINE void row(const Rows& rows, Count i) const {
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

LOPSIDED_ISA_END
