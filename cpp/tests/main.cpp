#include <chrono>
#include <string_view>

#include "check.hpp"

// core_tests [PART]: the tests whose names contain PART; without it all of them.
int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string_view part = count > 1 ? words[1] : "";
  int ran = 0, failed = 0;
  for (const auto& test : check::tests()) {
    if (std::string_view(test.name).find(part) == std::string_view::npos) continue;
    ++ran;
    const int before = check::failures;
    const auto start = std::chrono::steady_clock::now();
    test.run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() > 1) std::printf("%.0f s: %s\n", took.count(), test.name);
    if (check::failures == before) continue;
    std::printf("failed: %s\n", test.name);
    ++failed;
  }
  std::printf("%d passed, %d failed\n", ran - failed, failed);
  return failed > 0 || ran == 0;
}
