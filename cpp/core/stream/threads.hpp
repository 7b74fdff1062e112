// Work on independent rows, on all cores. The environment variable LOPSIDED_THREADS
// says how many threads there may be.
#pragma once

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include "../base.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace lopsided {

inline std::size_t threads_allowed() {
  if (const char* wanted = std::getenv("LOPSIDED_THREADS"); wanted && *wanted) {
    std::size_t count = 0;
    const char* const end = wanted + std::strlen(wanted);
    const auto [stop, fault] = std::from_chars(wanted, end, count);
    if (fault != std::errc() || stop != end || count == 0)
      throw std::invalid_argument(std::string("LOPSIDED_THREADS must be a whole number of at least 1, not '") + wanted +
                                  "'");
    return count;
  }
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::size_t>(CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

// Calls work(thread, first, last) for parts of [0, size) that follow each other. Of several exceptions the
// one of the first part is thrown.
template <class Work>
void in_parallel(std::size_t threads, Count size, Work work) {
  std::vector<std::exception_ptr> faults(threads);
  const auto run = [&](std::size_t t) {
    try {
      work(t, size * t / threads, size * (t + 1) / threads);
    } catch (...) {
      faults[t] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(run, t);
    run(0);
  }
  for (const std::exception_ptr& fault : faults)
    if (fault) std::rethrow_exception(fault);
}

}  // namespace lopsided
