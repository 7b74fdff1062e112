#include "csv.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "moment.hpp"
#include "number.hpp"

namespace lopsided {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::uint64_t word(const char* p, std::size_t size, const char* readable) {  // the first bytes, up to eight
  std::uint64_t w = 0;
  if (readable - p >= 8) {
    std::memcpy(&w, p, 8);
    return size >= 8 ? w : w & ((std::uint64_t{1} << (8 * size)) - 1);
  }
  std::memcpy(&w, p, std::min<std::size_t>(size, 8));
  return w;
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xe7037ed1a0b428db);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The first of `c` from p on, or the end.
const char* find(const char* p, const char* end, char c) {
  const std::uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
  const std::uint64_t wanted = ones * static_cast<unsigned char>(c);
  if constexpr (std::endian::native == std::endian::little) {
    for (; end - p >= 8; p += 8) {
      std::uint64_t w;
      std::memcpy(&w, p, 8);
      w ^= wanted;
      if (const std::uint64_t found = (w - ones) & ~w & high) return p + std::countr_zero(found) / 8;
    }
  }
  for (; p < end && *p != c; ++p) {
  }
  return p;
}

bool is_one_of(const CsvWords& words, const char* p, std::size_t size) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.size() == size && std::memcmp(word.data(), p, size) == 0;
  });
}

bool is_utf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = p + text.size();
  while (p < end) {
    const unsigned char c = *p++;
    if (c < 0x80) continue;
    const int more = c >= 0xc2 && c < 0xe0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 0;
    if (more == 0 || end - p < more) return false;
    // Neither longer than need be, nor half of a pair, nor beyond the last character.
    const unsigned char least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (*p < least || *p > most) return false;
    for (int k = 1; k < more; ++k)
      if ((p[k] & 0xc0) != 0x80) return false;
    p += more;
  }
  return true;
}

// The rows of a text without quotes and carriage returns.
void plain_rows(std::string_view text, std::int64_t line, CsvRows& out) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  for (; const void* found = p < end ? std::memchr(p, '\n', end - p) : nullptr; ++line) {
    const char* const after = static_cast<const char*>(found) + 1;
    if (after - p > 1) {
      out.starts.push_back(p - begin);
      out.ends.push_back(after - begin);
      out.lines.push_back(line);
    }
    p = after;
    ++out.lines_taken;
  }
  out.taken = p - begin;
}

}  // namespace

CsvRows csv_rows(std::string_view text, char delimiter, std::int64_t first_line, bool ended) {
  CsvRows out;
  if (text.find('"') == text.npos && text.find('\r') == text.npos) {
    plain_rows(text, first_line, out);
    return out;
  }
  std::int64_t line = first_line, row_line = first_line;
  std::size_t start = 0;
  bool at_cell = true, in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool last = i + 1 == text.size();
    if (c == '\n' || c == '\r') {
      if (c == '\r' && last && !ended) break;                  // its line feed may not have arrived yet
      if (c == '\r' && !last && text[i + 1] == '\n') continue;  // which ends the line
      ++line;
      if (in_quotes) continue;
      const std::size_t length = i + 1 - start;
      if (length > 2 || (length == 2 && text[start] != '\r')) {
        out.starts.push_back(static_cast<std::int64_t>(start));
        out.ends.push_back(static_cast<std::int64_t>(i + 1));
        out.lines.push_back(row_line);
      }
      start = i + 1;
      row_line = line;
      at_cell = true;
    } else if (in_quotes) {
      if (c != '"') continue;
      if (!last && text[i + 1] == '"') ++i;
      else in_quotes = false;
    } else {
      in_quotes = at_cell && c == '"';
      at_cell = c == delimiter;
    }
  }
  out.taken = static_cast<std::int64_t>(start);
  out.lines_taken = row_line - first_line;
  return out;
}

// Values ------------------------------------------------------------------------------------------

void CsvValues::clear() {
  slots_.assign(64, {});
  known_.clear();
  all_.clear();
  bytes_.clear();
  starts_.assign(1, 0);
}

std::int32_t CsvValues::code(const char* text, std::size_t size, const char* readable) {
  std::uint64_t hash = word(text, size, readable);
  for (std::size_t k = 8; k < size; k += 8) hash = mixed(hash, word(text + k, size - k, readable));
  const std::size_t most = slots_.size() - 1;
  for (std::size_t at = mixed(hash, size) & most;; at = (at + 1) & most) {
    Slot& slot = slots_[at];
    if (slot.place == 0) return add(slot, hash, {text, size});
    if (slot.hash != hash || slot.size != size) continue;
    const Known& known = known_[slot.place - 1];
    if (size <= 8 || std::memcmp(all_.data() + known.at, text, size) == 0) return known.code;
  }
}

std::int32_t CsvValues::add(Slot& slot, std::uint64_t hash, std::string_view text) {
  if (!is_utf8(text)) return -2;
  std::int32_t code = -1;
  if (!is_one_of(missing_, text.data(), text.size())) {
    code = static_cast<std::int32_t>(size());
    bytes_ += text;
    starts_.push_back(bytes_.size());
  }
  known_.push_back({all_.size(), code});
  all_ += text;
  slot = {hash, static_cast<std::uint32_t>(known_.size()), static_cast<std::uint32_t>(text.size())};
  if (2 * known_.size() > slots_.size()) grow();
  return code;
}

void CsvValues::grow() {
  std::vector<Slot> slots(2 * slots_.size());
  const std::size_t most = slots.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.place == 0) continue;
    std::size_t at = mixed(slot.hash, slot.size) & most;
    while (slots[at].place != 0) at = (at + 1) & most;
    slots[at] = slot;
  }
  slots_ = std::move(slots);
}

// Cells -------------------------------------------------------------------------------------------

CsvMissing::CsvMissing(CsvWords words) : words_(std::move(words)) {
  for (const std::string& word : words_)
    if (word.empty()) has_empty_ = true;
    else begins_[static_cast<unsigned char>(word[0])] = true;
}

bool CsvMissing::has_word(const char* p, std::size_t size) const { return is_one_of(words_, p, size); }

CsvParser::CsvParser(char delimiter, const std::vector<CsvColumn>& columns) : delimiter_(delimiter) {
  for (const CsvColumn& column : columns) {
    const int text = column.text ? static_cast<int>(values_.size()) : -1;
    if (column.text) values_.emplace_back(column.missing_text);
    plan_.push_back({column.number, column.time, column.kept, text, CsvMissing(column.missing)});
    numbers_ += column.number;
    times_ += column.time;
    kept_ += column.kept;
  }
}

CsvCells CsvParser::parse(std::string_view text, const std::int64_t* starts, const std::int64_t* ends,
                          std::size_t rows) {
  CsvCells out;
  out.rows = rows;
  out.numbers.resize(rows * numbers_);
  out.codes.assign(values_.size(), std::vector<std::int32_t>(rows));
  out.times.assign(times_, std::vector<double>(rows));
  out.kept.resize(kept_);
  for (CsvTexts& kept : out.kept) kept.ends.resize(rows);
  readable_ = text.data() + text.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const char* const p = text.data() + starts[i];
    const char* end = text.data() + ends[i];
    if (end > p && end[-1] == '\n') --end;
    if (end > p && end[-1] == '\r') --end;
    if (!row(p, end, out, out.numbers.data() + i * numbers_, i)) out.unsure.push_back(static_cast<std::int64_t>(i));
    for (CsvTexts& kept : out.kept) kept.ends[i] = kept.bytes.size();
  }
  return out;
}

// Reads a quoted cell from behind its first quote on; null if something follows the last one.
const char* CsvParser::quoted(const char* p, const char* end, Cell& cell) {
  const char* close = find(p, end, '"');
  if (close == end) return nullptr;
  cell = {p, close};
  if (close + 1 < end && close[1] == '"') {
    unquoted_.clear();
    for (; close + 1 < end && close[1] == '"'; close = find(p, end, '"')) {
      unquoted_.append(p, close + 1);
      p = close + 2;
    }
    if (close == end) return nullptr;
    unquoted_.append(p, close);
    cell = {unquoted_.data(), unquoted_.data() + unquoted_.size()};
  }
  ++close;
  return close == end || *close == delimiter_ ? close : nullptr;
}

// Reads a row; false if something about it is not plain.
bool CsvParser::row(const char* p, const char* end, CsvCells& out, double* numbers, std::size_t i) {
  std::size_t time = 0, kept = 0;
  const std::size_t width = plan_.size();
  for (std::size_t j = 0; j < width; ++j) {
    const Plan& plan = plan_[j];
    Cell cell{p, nullptr};
    const char* readable = readable_;
    if (p < end && *p == '"') {
      p = quoted(p + 1, end, cell);
      if (p == nullptr) return false;
      if (cell.begin == unquoted_.data()) readable = cell.end;
    } else {
      cell.end = p = find(p, end, delimiter_);
    }
    if ((p == end) != (j + 1 == width)) return false;  // cells too few, or too many
    ++p;
    const auto size = static_cast<std::size_t>(cell.end - cell.begin);
    if (plan.number) {
      double& number = *numbers++;
      // Before numbers, as a number may be a spelling of a missing one.
      if (plan.missing.has(cell.begin, size)) {
        number = nan;
      } else {
        const auto blank = [](char c) { return c == ' ' || c == '\t'; };
        const char *first = cell.begin, *last = cell.end;
        while (first < last && blank(*first)) ++first;
        while (first < last && blank(last[-1])) --last;
        if (first == last || *first == '+') return false;
        if (read_number(first, last, number) != last || !std::isfinite(number)) return false;
      }
    }
    if (plan.text >= 0) {
      const std::int32_t code = values_[static_cast<std::size_t>(plan.text)].code(cell.begin, size, readable);
      if (code == -2) return false;
      out.codes[static_cast<std::size_t>(plan.text)][i] = code;
    }
    if (plan.time) {
      double& moment = out.times[time][i];
      if (plan.missing.has(cell.begin, size)) moment = nan;
      else if (!read_moment(cell.begin, cell.end, moment)) {
        if (!is_utf8({cell.begin, size})) return false;
        out.strange.emplace_back(time, i);
      }
      ++time;
    }
    if (plan.kept) {
      if (!is_utf8({cell.begin, size})) return false;
      out.kept[kept++].bytes.append(cell.begin, size);
    }
  }
  return true;
}

// Features ----------------------------------------------------------------------------------------

Gaps gaps_of(const double* numbers, std::size_t rows, std::size_t columns) {
  Gaps out;
  out.first.assign(columns, -1);
  for (std::size_t i = 0; i < rows; ++i, numbers += columns) {
    for (std::size_t k = 0; k < columns; ++k) {
      if (std::isfinite(numbers[k])) continue;
      if (std::isinf(numbers[k])) out.infinite = true;
      else if (out.first[k] < 0) out.first[k] = static_cast<std::int64_t>(i);
    }
  }
  return out;
}

CsrArrays one_hot(std::size_t rows, const OneHotNumbers& numbers, const std::vector<OneHotTexts>& texts,
                  const std::vector<std::int32_t>& order, bool indicate) {
  CsrArrays out;
  const std::size_t most = rows * (order.size() + numbers.columns);
  out.starts.resize(rows + 1);
  out.indices.resize(most);
  out.values.resize(most);
  std::size_t start = 0, stored = 0;  // of the row
  // By column, so that no learner has to sort; values of one column, where names are hashed, are summed.
  const auto store = [&](std::int32_t place, double value) {
    if (value == 0) return;
    std::size_t at = stored;
    while (at > start && out.indices[at - 1] > place) --at;
    if (at > start && out.indices[at - 1] == place) {
      out.values[at - 1] += value;
      return;
    }
    for (std::size_t k = stored++; k > at; --k) {
      out.indices[k] = out.indices[k - 1];
      out.values[k] = out.values[k - 1];
    }
    out.indices[at] = place;
    out.values[at] = value;
  };
  for (std::size_t i = 0; i < rows; ++i) {
    const double* const cells = numbers.cells + i * numbers.columns;
    for (const std::int32_t k : order) {
      if (k >= 0) {
        const double value = cells[k];
        store(numbers.places[k], value == value ? value : 0.0);
      } else {
        const OneHotTexts& text = texts[static_cast<std::size_t>(-1 - k)];
        const std::int32_t code = text.codes[i];
        const std::size_t at = code < 0 ? text.values : static_cast<std::size_t>(code);
        const double there = indicate || code >= 0;
        store(text.places[at], text.amounts ? there * text.amounts[at] : there);
      }
    }
    if (indicate)
      for (std::size_t k = 0; k < numbers.columns; ++k)
        if (cells[k] != cells[k] && numbers.indicators[k] >= 0) store(numbers.indicators[k], 1.0);
    start = stored;
    out.starts[i + 1] = static_cast<std::int64_t>(stored);
  }
  out.indices.resize(stored);
  out.values.resize(stored);
  return out;
}

}  // namespace lopsided
