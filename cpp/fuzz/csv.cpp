// Any text as CSV, read by the core and by a parser that is slow and obvious: the same rows in the same lines, the same
// rows that are not plain, the same cells, numbers of the same bits; in whole and cut into two pieces.
#include "../core/input/csv.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

using namespace lopsided;

namespace {

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// A row: its line, and where it is plain its cells that are copied.
struct Row {
  std::int64_t line;
  bool plain = true;
  std::vector<std::string> cells;
  bool operator==(const Row&) const = default;
};
struct Story {
  std::vector<Row> rows;
  std::size_t taken = 0;
  bool operator==(const Story&) const = default;
};

// The obvious parser ------------------------------------------------------------------------------

// The bytes of the line end at a place; 0 if there is none, or it may go on.
std::size_t line_end(const std::string& text, std::size_t at, bool ended) {
  if (text[at] == '\n') return 1;
  if (text[at] != '\r') return 0;
  if (at + 1 == text.size()) return ended ? 1 : 0;
  return text[at + 1] == '\n' ? 2 : 1;
}

std::int64_t lines_in(const std::string& text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (const std::size_t size = line_end(text, at, true)) {
      ++count;
      at += size - 1;
    }
  return count;
}

// Reads a cell and moves behind it; nothing if the text ends within it.
std::optional<std::string> read_cell(const std::string& text, std::size_t& at, char delimiter, bool ended,
                                     bool& plain) {
  std::string out;
  const bool is_quoted = at < text.size() && text[at] == '"';
  if (is_quoted) {
    for (++at;; ++at) {
      const std::size_t quote = text.find('"', at);
      if (quote == text.npos) return {};
      out += text.substr(at, quote - at);
      at = quote + 1;
      if (at == text.size() || text[at] != '"') break;
      out += '"';
    }
  }
  for (; at < text.size(); ++at) {
    if (text[at] == delimiter || line_end(text, at, ended)) return out;
    if (text[at] == '\r') return {};  // the last byte: its line feed may be to come
    plain &= !is_quoted;
    out += text[at];
  }
  return {};
}

bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t k) {
      return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0u;
    };
    const unsigned first = byte(0);
    const std::size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (size == 0) return false;
    unsigned point = size == 1 ? first : first & (0x7fu >> size);
    for (std::size_t k = 1; k < size; ++k) {
      if (byte(k) >> 6 != 2) return false;
      point = point << 6 | (byte(k) & 63);
    }
    constexpr unsigned least[] = {0, 0x80, 0x800, 0x10000};
    if (point < least[size - 1] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
    at += size;
  }
  return true;
}

// What a number column may hold: the bits of a number, NaN for a missing one.
std::optional<std::uint64_t> number(std::string text) {
  if (text.empty() || text == "NA") return std::bit_cast<std::uint64_t>(std::nan(""));
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t") + 1);
  if (text.empty() || text[0] == '+' || text.find_first_not_of("0123456789+-.eE") != text.npos) return {};
  char* after;
  const double value = std::strtod(text.c_str(), &after);
  if (*after != 0 || !std::isfinite(value)) return {};
  return std::bit_cast<std::uint64_t>(value);
}

constexpr std::size_t width = 4;  // a number, a text, a time, a text

Story read_slowly(const std::string& text, char delimiter, bool ended) {
  Story story;
  std::int64_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    Row row{line, true, {}};
    bool is_blank = line_end(text, at, ended) > 0;
    for (bool more = true; more;) {
      const auto cell = read_cell(text, at, delimiter, ended, row.plain);
      if (!cell) return story;
      row.cells.push_back(*cell);
      more = text[at] == delimiter;
      at += more ? 1 : line_end(text, at, ended);
    }
    line += lines_in(text.substr(story.taken, at - story.taken));
    story.taken = at;
    if (is_blank) continue;
    row.plain &= row.cells.size() == width;
    if (row.plain)
      row.plain = number(row.cells[0]) && is_utf8(row.cells[1]) && is_utf8(row.cells[2]) && is_utf8(row.cells[3]);
    if (row.plain) row.cells.erase(row.cells.begin() + 2);
    else row.cells.clear();
    story.rows.push_back(std::move(row));
  }
  return story;
}

// The core's ---------------------------------------------------------------------------------------

CsvParser parser(char delimiter) {
  std::vector<CsvColumn> columns(width);
  for (CsvColumn& column : columns) column.missing = {"", "NA"}, column.missing_text = {""};
  for (CsvColumn& column : columns) column.kept = true;
  columns[2].kept = false;  // not to be copied, so that it need not be text for that
  columns[0].number = columns[2].time = true;
  columns[1].text = columns[3].text = true;
  return {delimiter, columns};
}

void check_row(const CsvCells& cells, CsvParser& reader, const Row& row, std::size_t i) {
  const bool is_strange = std::any_of(cells.strange.begin(), cells.strange.end(),
                                      [i](const auto& time) { return time.second == static_cast<std::int64_t>(i); });
  require(is_strange || !std::isinf(cells.times[0][i]), "times are finite, missing, or for others to read");
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(cells.numbers[i]);
  require(bits == *number(row.cells[0]), "numbers of the same bits");
  for (const std::size_t k : {0, 1}) {
    const std::int32_t code = cells.codes[k][i];
    const std::string& cell = row.cells[1 + k];
    require(code == -1 ? cell.empty() : reader.values()[k][static_cast<std::size_t>(code)] == cell, "texts by code");
  }
}

// Adds what the core says of a piece.
void read_by_core(std::string_view text, CsvParser& reader, char delimiter, bool ended, Story& story) {
  // A block of just the right size, so that the sanitizer sees any step beyond it.
  const auto copy = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), copy.get());
  const std::string_view piece(copy.get(), text.size());
  std::int64_t line = 1;
  const CsvRows rows = csv_rows(piece, delimiter, line, ended);
  const std::size_t n = rows.starts.size();
  const CsvCells cells = reader.parse(piece, rows.starts.data(), rows.ends.data(), n);
  const std::set<std::int64_t> unsure(cells.unsure.begin(), cells.unsure.end());
  for (std::size_t i = 0; i < n; ++i) {
    Row row{rows.lines[i], !unsure.contains(static_cast<std::int64_t>(i)), {}};
    if (row.plain) {
      for (const CsvTexts& kept : cells.kept)
        row.cells.push_back(kept.bytes.substr(i ? kept.ends[i - 1] : 0, kept.ends[i] - (i ? kept.ends[i - 1] : 0)));
      check_row(cells, reader, row, i);
    }
    story.rows.push_back(std::move(row));
  }
  require(rows.lines_taken == lines_in(std::string(text.substr(0, static_cast<std::size_t>(rows.taken)))),
          "lines are counted");
  story.taken += static_cast<std::size_t>(rows.taken);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const char delimiter = ",;\t|"[data[0] & 3];
  const bool ended = data[0] & 4;
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Story right = read_slowly(text, delimiter, ended);

  CsvParser reader = parser(delimiter);
  Story whole;
  read_by_core(text, reader, delimiter, ended, whole);
  require(whole == right, "the core reads what stands there");

  // The rows that are complete at any place, then the rest, as from a pipe.
  Story first;
  const std::string part = text.substr(0, data[1] % (text.size() + 1));
  read_by_core(part, reader, delimiter, false, first);
  Story second;
  read_by_core(std::string_view(text).substr(first.taken), reader, delimiter, ended, second);
  const std::int64_t lines = lines_in(text.substr(0, first.taken));
  for (Row& row : second.rows) {
    row.line += lines;
    first.rows.push_back(std::move(row));
  }
  first.taken += second.taken;
  require(first == right, "two pieces say what the whole says");
  return 0;
}
