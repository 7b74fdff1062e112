#include "check.hpp"

int main() {
  int failed = 0;
  for (const auto& test : check::tests()) {
    const int before = check::failures;
    test.run();
    if (check::failures == before) continue;
    std::printf("failed: %s\n", test.name);
    ++failed;
  }
  std::printf("%d passed, %d failed\n", static_cast<int>(check::tests().size()) - failed, failed);
  return failed > 0;
}
