// Random numbers as a function of a seed and a counter: the counter is the only state.
#pragma once

#include <cstdint>

namespace lopsided {

inline std::uint64_t splitmix64(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Number k of those that a seed gives, uniform in [0, 1).
inline double uniform(double seed, std::uint64_t k) {
  const std::uint64_t key = splitmix64(static_cast<std::uint64_t>(seed));
  return static_cast<double>(static_cast<std::int64_t>(splitmix64(key + k) >> 11)) * 0x1p-53;
}

}  // namespace lopsided
