// Numbers that start at a cache line: a vector of them read from memory then never lies across two.
#pragma once

#include <new>
#include <vector>

namespace lopsided {

template <class Value>
struct LineAllocator {
  using value_type = Value;
  static constexpr std::align_val_t line{64};

  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) {}

  Value* allocate(std::size_t n) { return static_cast<Value*>(::operator new(n * sizeof(Value), line)); }
  void deallocate(Value* p, std::size_t) { ::operator delete(p, line); }
  bool operator==(const LineAllocator&) const = default;
};

using Aligned = std::vector<double, LineAllocator<double>>;

}  // namespace lopsided
