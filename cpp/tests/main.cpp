#include <chrono>
#include <cstdlib>

#include "check.hpp"

// core_tests [PART PARTS [N]]: all tests, or every PARTS-th from PART on, for several processes at a time; of the cases
// of the longest tests one in N.
int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::size_t first = count > 2 ? std::strtoul(words[1], nullptr, 10) : 0,
                    step = count > 2 ? std::strtoul(words[2], nullptr, 10) : 1;
  if (count > 3) check::one_in = std::strtoul(words[3], nullptr, 10);
  const auto& tests = check::tests();
  int passed = 0, failed = 0;
  for (std::size_t k = first; k < tests.size(); k += step) {
    const int before = check::failures;
    const auto start = std::chrono::steady_clock::now();
    tests[k].run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() > 5) std::printf("%.0f s: %s\n", took.count(), tests[k].name);
    if (check::failures == before) {
      ++passed;
    } else {
      std::printf("failed: %s\n", tests[k].name);
      ++failed;
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed > 0 || passed == 0;
}
