#include "libsvm.hpp"

#include <numeric>
#include <optional>

#include "libsvm_avx2.hpp"
#include "number.hpp"

namespace lopsided {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Length of the word at p: bytes above the blank, at most 16.
int front_word(const char* p) {
  std::uint64_t w;
  std::memcpy(&w, p, 8);
  const std::uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
  std::uint64_t low = (w - ones * '!') & ~w & high;
  if (low != 0) return std::countr_zero(low) / 8;
  std::memcpy(&w, p + 8, 8);
  low = (w - ones * '!') & ~w & high;
  return low == 0 ? 16 : 8 + std::countr_zero(low) / 8;
}

class Parser {
 public:
  Parser(std::string_view text, std::int64_t first_line, const LibsvmOptions& options)
      : options_(options), end_(text.data() + text.size()), line_number_(first_line) {
    // A pair takes at least four bytes: "1:2 ".
    const std::size_t most = text.size() / 4 + 1 + FastRows::padding;
    block_.indices = make_reused<Index>(most);
    block_.values = make_reused<double>(most);
    block_.starts.push_back(0);
    if (!options.bytewise && FastRows::possible()) fast_.emplace(text, options);
  }

  LibsvmBlock run(const char* p) {
    for (; p < end_; ++line_number_) {
      line_ = p;
      const std::int64_t before = stored_;
      if (!read_fast_line(p) && !read_line(p)) {
        stored_ = before;
        if (block_.faults.size() > options_.bad_allowed) break;
        while (p < end_ && *p != '\n') ++p;
      }
      if (p < end_) ++p;
      ++block_.lines_read;
    }
    return std::move(block_);
  }

 private:
  bool read_fast_line(const char*& p) {
    FastRows::Row row;
    if (!fast_ || !fast_->read(p, &block_.indices[stored_], &block_.values[stored_], row)) return false;
    const std::int64_t first = stored_;
    stored_ += row.size;
    keep(row.label, first, row.size == 0 ? -1 : block_.indices[stored_ - 1], true, row.square);
    p = row.end;
    return true;
  }

  // Leaves p at the end of the line, or records a fault and returns false.
  bool read_line(const char*& p) {
    skip_blanks(p);
    if (at_end(p)) return skip_comment(p);
    double label = 0;
    const bool labelled = !begins_with_pair(p);
    if (labelled) {
      if (!read_label(p, label)) return false;
    } else if (options_.labels_required) {
      return fault(p, "a label before the first pair");
    }
    const std::int64_t first = stored_;
    std::int64_t largest = -1;
    bool sorted = true;
    for (skip_blanks(p); !at_end(p); skip_blanks(p)) {
      std::int64_t index = 0;
      double value = 0;
      if (!read_short_pair(p, index, value) && !read_pair(p, index, value)) return false;
      sorted &= index > largest;
      largest = std::max(largest, index);
      block_.indices[stored_] = static_cast<Index>(index);
      block_.values[stored_++] = value;
    }
    if (!sorted && !sort(first)) return false;
    const double square = sparse_square(&block_.values[first], static_cast<Index>(stored_ - first));
    keep(static_cast<std::int32_t>(label), first, largest, labelled, square);
    return skip_comment(p);
  }

  void keep(std::int32_t label, std::int64_t first, std::int64_t largest, bool labelled, double square) {
    if (stored_ > first) {
      block_.columns = std::max(block_.columns, static_cast<Index>(largest + 1));
      block_.has_zero |= block_.indices[first] == 0;
    }
    block_.labelled &= labelled;
    block_.labels.push_back(label);
    block_.lines.push_back(line_number_);
    block_.starts.push_back(stored_);
    block_.squares.push_back(square);
  }

  bool read_label(const char*& p, double& label) {
    const char* const start = p;
    p = read_number(p, end_, label);
    if (p == start || (!at_end(p) && !is_blank(*p)) || label != std::trunc(label) || std::abs(label) > 1e9)
      return fault(start, "a class label, a whole number");
    skip_blanks(p);
    if (end_ - p > 4 && std::string_view(p, 4) == "qid:") {
      const char* const qid = p;
      for (p += 4; p < end_ && is_digit(*p); ++p) {
      }
      if (p == qid + 4 || (!at_end(p) && !is_blank(*p))) return fault(qid, "qid:number");
    }
    return true;
  }

  // Fast path for pairs such as 12345:-0.123456 and 7:1. False leaves p unchanged: any other pair, and the last ones of
  // the text, go to read_pair, which gives the same bits.
  bool read_short_pair(const char*& p, std::int64_t& index, double& value) const {
    if (end_ - p < 32) return false;
    const int word = front_word(p);
    if (word == 16) return false;
    std::uint64_t digits = 0, fraction = 0;
    const int length = front_digits(p, digits);
    if (length == 0 || length == 8 || p[length] != ':') return false;
    const char* q = p + length + 1;
    const bool negative = *q == '-';
    q += negative;
    if (!is_digit(*q)) return false;
    const auto whole = static_cast<std::uint64_t>(*q++ - '0');
    double size = static_cast<double>(whole);
    if (*q == '.') {
      const int places = front_digits(++q, fraction);
      if (places == 0 || places == 8) return false;
      // Both operands are exact: one rounding.
      size = static_cast<double>(whole * whole_powers_of_ten[places] + fraction) / powers_of_ten[places];
      q += places;
    }
    if (q - p != word || (!is_blank(*q) && *q != '\n')) return false;
    index = static_cast<std::int64_t>(digits) - options_.base;
    if (index < 0 || index >= options_.max_features) return false;
    value = negative ? -size : size;
    p += word;
    return true;
  }

  bool read_pair(const char*& p, std::int64_t& index, double& value) {
    const char* const pair = p;
    if (!read_index(p, index)) return false;
    const char* const number = p;
    p = read_number(p, end_, value);
    if (p == number) return fault(number, "a number after the colon");
    if (!std::isfinite(value)) return fault(number, "a finite number");
    if (!at_end(p) && !is_blank(*p)) return fault(pair, "index:value");
    return true;
  }

  bool read_index(const char*& p, std::int64_t& index) {
    const char* const start = p;
    std::uint64_t digits = 0;
    p = read_digits(p, end_, digits);
    if (p == start || p >= end_ || *p != ':') return fault(start, "index:value with a whole, not negative index");
    if (p - start > 10) return fault(start, limit());
    index = static_cast<std::int64_t>(digits);
    ++p;
    index -= options_.base;
    if (index < 0) return fault(start, "indices from 1 on, or to be told that this file counts from 0");
    if (index >= options_.max_features) return fault(start, limit());
    return true;
  }

  // Sorts the pairs of the row that begins at `first`.
  bool sort(std::int64_t first) {
    std::vector<std::pair<Index, double>> pairs;
    for (std::int64_t k = first; k < stored_; ++k) pairs.emplace_back(block_.indices[k], block_.values[k]);
    std::sort(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      if (k > 0 && pairs[k].first == pairs[k - 1].first) {
        const auto index = std::to_string(pairs[k].first + options_.base);
        return fault(second(pairs[k].first), "each index once, but " + index + " stands twice");
      }
      block_.indices[first + static_cast<std::int64_t>(k)] = pairs[k].first;
      block_.values[first + static_cast<std::int64_t>(k)] = pairs[k].second;
    }
    return true;
  }

  // The second pair of the line that has this index.
  const char* second(Index index) const {
    const char* p = line_;
    for (int found = 0;;) {
      skip_blanks(p);
      const char* const word = p;
      std::uint64_t digits = 0;
      p = read_digits(p, end_, digits);
      const bool same = *p == ':' && static_cast<std::int64_t>(digits) - options_.base == index;
      if (same && ++found == 2) return word;
      while (!is_blank(*p)) ++p;  // there is a second one: this ends
    }
  }

  std::string limit() const {
    return "an index of at most " + std::to_string(options_.max_features - 1 + options_.base) +
           " (the limit is max_features)";
  }

  bool fault(const char* at, std::string expected) {
    const char* last = at;
    while (last < end_ && !is_blank(*last) && *last != '\n' && last - at < 200) ++last;
    block_.faults.push_back({line_number_, at - line_ + 1, std::string(at, last), std::move(expected)});
    return false;
  }

  void skip_blanks(const char*& p) const {
    while (p < end_ && is_blank(*p)) ++p;
  }
  bool at_end(const char* p) const { return p >= end_ || *p == '\n' || *p == '#'; }
  bool skip_comment(const char*& p) const {
    while (p < end_ && *p != '\n') ++p;
    return true;
  }
  bool begins_with_pair(const char* p) const {
    for (; p < end_ && !is_blank(*p) && *p != '\n' && *p != '#'; ++p)
      if (*p == ':') return true;
    return false;
  }

  const LibsvmOptions& options_;
  const char* const end_;
  const char* line_ = nullptr;
  std::int64_t line_number_;
  std::int64_t stored_ = 0;
  std::optional<FastRows> fast_;
  LibsvmBlock block_;
};

}  // namespace

bool same(const LibsvmBlock& a, const LibsvmBlock& b) {
  const auto n = static_cast<std::size_t>(a.starts.back());
  return a.labels == b.labels && a.lines == b.lines && a.starts == b.starts && a.squares == b.squares &&
         a.lines_read == b.lines_read && a.columns == b.columns && a.has_zero == b.has_zero &&
         a.labelled == b.labelled && a.faults == b.faults &&
         std::memcmp(a.indices.get(), b.indices.get(), n * sizeof(Index)) == 0 &&
         std::memcmp(a.values.get(), b.values.get(), n * sizeof(double)) == 0;
}

LibsvmBlock parse_libsvm(std::string_view text, std::int64_t first_line, const LibsvmOptions& options) {
  return Parser(text, first_line, options).run(text.data());
}

}  // namespace lopsided
