#include "../core/numbers/table.hpp"

#include <fstream>

#include "check.hpp"

using namespace lopsided;

#if defined(__linux__)
TEST(features_that_never_come_cost_nothing_in_a_table_that_grows) {
  const auto pages_in_use = [] {
    long all = 0, used = 0;
    std::ifstream("/proc/self/statm") >> all >> used;
    return used;
  };
  Table table(8);
  table.grow(1000);
  for (std::size_t j = 0; j < 1000; ++j) table[j][0] = 1;
  table.crowd(1000);
  table.grow(std::size_t{1} << 23);  // 512 MB
  const long before = pages_in_use();
  for (std::size_t j = 0; j < 200; ++j) table[j * 40'000][0] = 1;
  CHECK(pages_in_use() - before < 10'000);
}
#endif

TEST(huge_pages_change_no_number) {
  Table table(8);
  constexpr std::size_t size = std::size_t{1} << 21;  // 128 MB, of which nothing is touched yet
  table.grow(size);
  const std::size_t written[] = {0, 12345, 12346, size - 1};
  for (const std::size_t j : written) table[j][3] = static_cast<double>(j) + 0.5;
  table.crowd(3);
  table.crowd(size);
  table.grow(size + 5);
  for (const std::size_t j : written) CHECK(table[j][3] == static_cast<double>(j) + 0.5);
  std::size_t found = 0;
  table.for_each([&](std::size_t, const double*) { ++found; });
  CHECK(found == 4);
}
