// A lock that survives a fork, and that a thread cannot wait for in vain: one that already holds it is told so. A child process has one thread: a lock that another thread of its parent
// held at the fork would never be free there, and what it protects may be half changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace lopsided {

class ForkLock {
 public:
  // Both throw std::runtime_error if the thread that held the lock is not in this process, or is the caller.
  bool try_lock();
  void lock();
  void unlock() noexcept {
    owner_.store({}, std::memory_order_relaxed);
    held_.store(0, std::memory_order_release);
    held_.notify_one();
  }

 private:
  std::atomic<std::uint32_t> held_{0};  // the generation of the process that holds it; 0: nobody does
  std::atomic<std::thread::id> owner_{};
};

}  // namespace lopsided
