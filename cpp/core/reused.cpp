#include "reused.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <utility>

namespace lopsided {

namespace {

constexpr std::size_t alignment = 64;
struct alignas(alignment) Head {
  std::size_t size;
};

// A sanitizer is to see every array come and go.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t most = 0;
#else
constexpr std::size_t most = std::size_t{1} << 22;  // bytes
#endif

std::mutex mutex;             // tried, never waited for: a fork may have left it locked
std::array<Head*, 8> kept{};  // null where there is none

}  // namespace

void* take_memory(std::size_t size) {
  if (const std::unique_lock lock(mutex, std::try_to_lock); lock) {
    for (Head*& head : kept)
      if (head != nullptr && head->size >= size && head->size <= 2 * size)
        return std::exchange(head, nullptr) + 1;
  }
  void* const memory = ::operator new(sizeof(Head) + size, std::align_val_t{alignment});
  return new (memory) Head{size} + 1;
}

void give_memory(void* memory) noexcept {
  if (memory == nullptr) return;
  Head* head = static_cast<Head*>(memory) - 1;
  if (const std::unique_lock lock(mutex, std::try_to_lock); lock && head->size <= most) {
    for (Head*& place : kept)
      if (place == nullptr) {
        place = head;
        return;
      }
    // The oldest goes: what is given back now was of use just now.
    std::rotate(kept.begin(), kept.begin() + 1, kept.end());
    std::swap(kept.back(), head);
  }
  ::operator delete(head, std::align_val_t{alignment});
}

}  // namespace lopsided
