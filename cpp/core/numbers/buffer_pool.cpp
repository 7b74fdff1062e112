#include "buffer_pool.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace lopsided {

namespace {

constexpr std::size_t alignment = 64;
struct alignas(alignment) Head {
  std::size_t size;
};

// Under a sanitizer nothing is pooled: it must see every allocation.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t most = 0;
#else
constexpr std::size_t most = std::size_t{1} << 22;  // bytes of one array
#endif
constexpr std::size_t room = 8 * most, places = 32;  // limits of the pool: a bank has one array of scores per model

std::mutex mutex;    // try_lock only: a fork may have left it locked
Head* kept[places];  // the oldest first
std::size_t count = 0, bytes = 0;

Head* taken(std::size_t place) {
  Head* const head = kept[place];
  std::copy(kept + place + 1, kept + count, kept + place);
  --count;
  bytes -= head->size;
  return head;
}
void release(Head* head) { ::operator delete(head, std::align_val_t{alignment}); }

}  // namespace

void* take_memory(std::size_t size) {
  if (const std::unique_lock lock(mutex, std::try_to_lock); lock) {
    for (std::size_t k = count; k-- > 0;)
      if (kept[k]->size >= size && kept[k]->size <= 2 * size) return taken(k) + 1;
  }
  void* const memory = ::operator new(sizeof(Head) + size, std::align_val_t{alignment});
  return new (memory) Head{size} + 1;
}

void give_memory(void* memory) noexcept {
  if (memory == nullptr) return;
  Head* const head = static_cast<Head*>(memory) - 1;
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock || head->size > most) return release(head);
  // Drop the oldest: recently used buffers are likelier to fit again.
  while (count == places || (count > 0 && bytes + head->size > room)) release(taken(0));
  kept[count++] = head;
  bytes += head->size;
}

}  // namespace lopsided
