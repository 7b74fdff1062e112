#include "fork_lock.hpp"

#include <stdexcept>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace lopsided {

namespace {

std::uint32_t generation = 1;  // one more in each child; written only where there is one thread

#if defined(__unix__) || defined(__APPLE__)
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ++generation; });
#endif

}  // namespace

bool ForkLock::try_lock() {
  std::uint32_t seen = 0;
  const std::thread::id caller = std::this_thread::get_id();
  if (held_.compare_exchange_strong(seen, generation, std::memory_order_acquire)) {
    owner_.store(caller, std::memory_order_relaxed);
    return true;
  }
  if (seen != generation)
    throw std::runtime_error(
        "this model was learning in another thread when the process was forked, so the copy in this process is "
        "unusable: load it from a file, or fork while no thread learns");
  if (owner_.load(std::memory_order_relaxed) == caller)  // only this thread itself can have written that
    throw std::runtime_error(
        "this model is in use by the code that calls it: a number's __float__ or a label's __eq__ must not use the "
        "model that reads it");
  return false;
}

void ForkLock::lock() {
  while (!try_lock()) held_.wait(generation, std::memory_order_relaxed);
}

}  // namespace lopsided
