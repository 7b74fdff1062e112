// Short vectors (vector extensions of GCC and Clang), and how they are read from arrays and written to them.
//
// The functions are always inlined, so that no vector crosses the border between instruction sets (simd.hpp).
#pragma once

#include <cstring>

namespace lopsided {

typedef double Double2 __attribute__((vector_size(16)));
typedef double Double4 __attribute__((vector_size(32)));

// Neighbours in an array of numbers, wherever it begins.
typedef double Double4View __attribute__((vector_size(32), aligned(8), may_alias));

[[gnu::always_inline]] inline Double2 load2(const double* p) {
  Double2 out;
  std::memcpy(&out, p, sizeof out);
  return out;
}
[[gnu::always_inline]] inline void store2(double* p, Double2 v) { std::memcpy(p, &v, sizeof v); }
[[gnu::always_inline]] inline Double4 load4(const double* p) {
  Double4 out;
  std::memcpy(&out, p, sizeof out);
  return out;
}
[[gnu::always_inline]] inline void store4(double* p, Double4 v) { std::memcpy(p, &v, sizeof v); }

}  // namespace lopsided
