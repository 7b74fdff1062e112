// Arrays aligned to cache lines, so that no vector load crosses two lines. Large ones use huge pages, if the system has
// them: scattered accesses then cause fewer TLB misses.
#pragma once

#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lopsided {

template <class Value>
struct LineAllocator {
  using value_type = Value;
  static constexpr std::align_val_t line{64}, huge{std::size_t{1} << 21};

  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) {}

  Value* allocate(std::size_t n) {
    void* room = ::operator new(n * sizeof(Value), alignment(n));
#if defined(__linux__)
    if (alignment(n) == huge) madvise(room, n * sizeof(Value), MADV_HUGEPAGE);  // a hint only
#endif
    return static_cast<Value*>(room);
  }
  void deallocate(Value* p, std::size_t n) { ::operator delete(p, alignment(n)); }
  bool operator==(const LineAllocator&) const = default;

 private:
  static constexpr std::align_val_t alignment(std::size_t n) {
    return n * sizeof(Value) >= 2 * static_cast<std::size_t>(huge) ? huge : line;
  }
};

template <class Value>
using AlignedOf = std::vector<Value, LineAllocator<Value>>;
using Aligned = AlignedOf<double>;

}  // namespace lopsided
