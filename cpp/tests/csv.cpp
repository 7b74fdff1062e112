// CSV text at the very end of a block of memory, so that a sanitizer sees any step beyond it.
#include "../core/input/csv.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "check.hpp"

using namespace lopsided;

namespace {

struct Edge {
  explicit Edge(std::string_view text) : size(text.size()), block(std::make_unique<char[]>(text.size())) {
    std::copy(text.begin(), text.end(), block.get());
  }
  std::string_view text() const { return {block.get(), size}; }
  std::size_t size;
  std::unique_ptr<char[]> block;
};

CsvParser parser() {
  std::vector<CsvColumn> columns(4);
  for (CsvColumn& column : columns) column.missing = {"", "NA"};
  columns[0].number = columns[0].kept = true;
  columns[1].text = columns[1].kept = true;
  columns[1].missing_text = {""};
  columns[2].time = true;
  return {',', columns};
}

}  // namespace

TEST(csv_plain_rows) {
  const Edge edge("1.5,ab,2026-01-31,\nNA,\"a\"\"b\",10,x\n,,1970-01-01T00:00:01,\n");
  const CsvRows rows = csv_rows(edge.text(), ',', 3, true);
  CHECK(rows.lines == (std::vector<std::int64_t>{3, 4, 5}));
  CHECK(rows.taken == static_cast<std::int64_t>(edge.size));
  CsvParser reader = parser();
  const CsvCells cells = reader.parse(edge.text(), rows.starts.data(), rows.ends.data(), 3);
  CHECK(cells.unsure.empty() && cells.strange.empty());
  CHECK(cells.numbers[0] == 1.5 && cells.numbers[1] != cells.numbers[1]);
  CHECK(cells.codes[0] == (std::vector<std::int32_t>{0, 1, -1}));
  CHECK(reader.values()[0][1] == "a\"b");
  CHECK(cells.times[0] == (std::vector<double>{1769817600, 10, 1}));
  CHECK(cells.kept[1].bytes == "aba\"b");
}

TEST(csv_of_any_bytes) {
  std::mt19937 random(1);
  const std::string_view alphabet = "01.e-,,,\"\"\n\r\nabNA\xc3\xa9\xff ";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t size = random() % 60; text.size() < size;) text += alphabet[random() % alphabet.size()];
    const Edge edge(text);
    const CsvRows rows = csv_rows(edge.text(), ',', 1, random() % 2);
    CHECK(rows.taken <= static_cast<std::int64_t>(text.size()));
    CsvParser reader = parser();
    const std::size_t size = rows.starts.size();
    const CsvCells cells = reader.parse(edge.text(), rows.starts.data(), rows.ends.data(), size);
    CHECK(cells.numbers.size() == size && cells.codes[0].size() == size && cells.unsure.size() <= size);
  }
}
