// Any text, parsed by the core and by a parser that is slow and obvious: the same rows, the same
// labels, values of the same bits, faults in the same lines; in whole and cut into two pieces. And
// the core's ways, with AVX-512, with AVX2 and byte by byte, say the same to the letter.
#include "../core/input/libsvm.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

using namespace lopsided;

namespace {

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// What both parsers say of a text, in a form that can be compared.
struct Row {
  std::int64_t line;
  std::int32_t label;
  std::map<Index, std::uint64_t> pairs;  // by column, the bits of the value
  bool operator==(const Row&) const = default;
};
struct Story {
  std::vector<Row> rows;
  std::vector<std::int64_t> bad_lines;
  std::int64_t lines_read = 0;
  Index columns = 0;
  bool has_zero = false, labelled = true;
  bool operator==(const Story&) const = default;
};

// The obvious parser ------------------------------------------------------------------------------

std::optional<double> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != text.npos) return {};
  char* after;
  const double value = std::strtod(text.c_str(), &after);
  if (*after != 0) return {};
  return value;
}

bool only_digits(const std::string& text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> found(1);
  for (const char c : line.substr(0, line.find('#')))
    if (c == ' ' || c == '\t' || c == '\r') found.emplace_back();
    else found.back() += c;
  std::erase(found, "");
  return found;
}

bool read_pair(const std::string& word, const LibsvmOptions& options, Row& row) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) return false;
  const std::string digits = word.substr(0, colon);
  if (!only_digits(digits) || digits.size() > 10) return false;
  const std::int64_t index = std::stoll(digits) - options.base;
  const std::optional<double> value = number(word.substr(colon + 1));
  if (index < 0 || index >= options.max_features || !value || !std::isfinite(*value)) return false;
  return row.pairs.emplace(static_cast<Index>(index), std::bit_cast<std::uint64_t>(*value)).second;
}

// A row, nothing if the line holds none; false for a bad line.
bool read_line(const std::string& line, const LibsvmOptions& options, std::optional<Row>& out, bool& labelled) {
  std::vector<std::string> rest = words(line);
  if (rest.empty()) return true;
  Row row{};
  labelled = rest[0].find(':') == std::string::npos;
  if (!labelled && options.labels_required) return false;
  if (labelled) {
    const std::optional<double> label = number(rest[0]);
    if (!label || std::abs(*label) > 1e9 || *label != std::floor(*label)) return false;
    row.label = static_cast<std::int32_t>(*label);
    rest.erase(rest.begin());
    if (!rest.empty() && rest[0].starts_with("qid:")) {
      if (!only_digits(rest[0].substr(4))) return false;
      rest.erase(rest.begin());
    }
  }
  for (const std::string& word : rest)
    if (!read_pair(word, options, row)) return false;
  out = std::move(row);
  return true;
}

Story read_slowly(const std::string& text, const LibsvmOptions& options) {
  Story story;
  std::istringstream lines(text);
  std::int64_t number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    std::optional<Row> row;
    bool labelled = true;
    if (!read_line(line, options, row, labelled)) {
      story.bad_lines.push_back(number);
      if (story.bad_lines.size() > options.bad_allowed) break;
    } else if (row) {
      row->line = number;
      story.labelled &= labelled;
      if (!row->pairs.empty()) {
        story.columns = std::max(story.columns, row->pairs.rbegin()->first + 1);
        story.has_zero |= row->pairs.begin()->first == 0;
      }
      story.rows.push_back(*std::move(row));
    }
    ++story.lines_read;
  }
  return story;
}

// The core's ---------------------------------------------------------------------------------------

// A fault quotes the text that stands at its place.
void check_fault(const Fault& fault, std::string_view text, std::int64_t first_line) {
  for (std::int64_t line = first_line; line < fault.line; ++line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  require(fault.column >= 1 && fault.column - 1 <= static_cast<std::int64_t>(text.size()),
          "the column is within the line");
  require(text.substr(static_cast<std::size_t>(fault.column - 1)).starts_with(fault.found),
          "the text found is what stands there");
  require(!fault.expected.empty(), "a fault says what was expected");
}

// Adds what the core says of a piece. False once it has stopped.
bool read_by_core(std::string_view text, LibsvmOptions options, Story& story) {
  // A block of just the right size, so that the sanitizer sees any step beyond it.
  const auto copy = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), copy.get());
  const std::int64_t first_line = 1 + story.lines_read;
  options.bad_allowed -= story.bad_lines.size();
  const LibsvmBlock block = parse_libsvm({copy.get(), text.size()}, first_line, options);
  for (bool* way : {&options.narrow, &options.bytewise}) {
    *way = true;
    require(same(block, parse_libsvm({copy.get(), text.size()}, first_line, options)),
            "all ways to parse say the same");
  }

  const std::size_t rows = block.labels.size();
  require(block.lines.size() == rows && block.starts.size() == rows + 1 && block.starts[0] == 0,
          "a label, a line and an end for each row");
  for (std::size_t i = 0; i < rows; ++i) {
    Row row{block.lines[i], block.labels[i], {}};
    for (std::int64_t k = block.starts[i]; k < block.starts[i + 1]; ++k) {
      require(k == block.starts[i] || block.indices[k - 1] < block.indices[k], "columns in order");
      require(block.indices[k] >= 0 && block.indices[k] < block.columns, "columns in range");
      row.pairs[block.indices[k]] = std::bit_cast<std::uint64_t>(block.values[k]);
    }
    story.rows.push_back(std::move(row));
  }
  for (const Fault& fault : block.faults) {
    check_fault(fault, text, first_line);
    story.bad_lines.push_back(fault.line);
  }
  story.lines_read += block.lines_read;
  story.columns = std::max(story.columns, block.columns);
  story.has_zero |= block.has_zero;
  story.labelled &= block.labelled;
  return block.faults.size() <= options.bad_allowed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  static constexpr Index limits[] = {50'000'000, 5, 1, max_features};
  static constexpr std::size_t allowed[] = {0, 1, 3, 1000};
  LibsvmOptions options;
  options.base = data[0] & 1;
  options.labels_required = data[0] & 2;
  options.max_features = limits[data[0] >> 2 & 3];
  options.bad_allowed = allowed[data[0] >> 4 & 3];
  const std::size_t place = data[1] + 256u * data[2];
  const std::string text(reinterpret_cast<const char*>(data) + 3, size - 3);

  const Story right = read_slowly(text, options);
  Story whole;
  read_by_core(text, options, whole);
  require(whole == right, "the core reads what stands there");

  // Cut after the line that the place falls into.
  const std::size_t newline = text.find('\n', place % (text.size() + 1));
  const std::size_t cut = newline == text.npos ? text.size() : newline + 1;
  Story pieces;
  if (read_by_core(std::string_view(text).substr(0, cut), options, pieces))
    read_by_core(std::string_view(text).substr(cut), options, pieces);
  require(pieces == right, "two pieces say what the whole says");
  return 0;
}
