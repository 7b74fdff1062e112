#include "../core/table.hpp"

#include "check.hpp"

using namespace lopsided;

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
