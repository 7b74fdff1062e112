// Just enough to test with: TEST(name) { CHECK(...); }.
#pragma once

#include <cmath>
#include <cstdio>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*run)();
};
inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}
inline int failures = 0;
inline std::size_t one_in = 1;  // of its cases a long test takes one in so many: where all of them are emulated

struct Register {
  Register(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

inline void that(bool good, const char* text, const char* file, int line) {
  if (good) return;
  ++failures;
  std::printf("%s:%d: not true: %s\n", file, line, text);
}
inline bool near(double a, double b, double tolerance = 1e-12) {
  return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

}  // namespace check

#define CHECK(...) check::that((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_THROWS(Error, ...)                                             \
  do {                                                                       \
    bool thrown = false;                                                     \
    try {                                                                    \
      __VA_ARGS__;                                                           \
    } catch (const Error&) {                                                 \
      thrown = true;                                                         \
    }                                                                        \
    check::that(thrown, #__VA_ARGS__ " throws " #Error, __FILE__, __LINE__); \
  } while (false)
#define TEST(name)                                           \
  static void name();                                        \
  static const check::Register register_##name(#name, name); \
  static void name()
