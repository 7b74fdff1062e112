#include "libsvm.hpp"

#include <numeric>

#include "number.hpp"

namespace lopsided {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Parser {
 public:
  Parser(std::string_view text, std::int64_t first_line, const LibsvmOptions& options)
      : options_(options), end_(text.data() + text.size()), line_number_(first_line) {
    // A pair takes four bytes at the least: "1:2 ".
    const std::size_t most = text.size() / 4 + 1;
    block_.indices = std::make_unique_for_overwrite<Index[]>(most);
    block_.values = std::make_unique_for_overwrite<double[]>(most);
    block_.starts.push_back(0);
  }

  LibsvmBlock run(const char* p) {
    for (; p < end_; ++line_number_) {
      line_ = p;
      const std::int64_t before = stored_;
      if (!read_line(p)) {
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
  // Leaves p at the end of the line, or returns false with a fault noted.
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
      const char* const pair = p;
      std::int64_t index = 0;
      if (!read_index(p, index)) return false;
      double value;
      const char* const number = p;
      p = read_number(p, end_, value);
      if (p == number) return fault(number, "a number after the colon");
      if (!std::isfinite(value)) return fault(number, "a finite number");
      if (!at_end(p) && !is_blank(*p)) return fault(pair, "index:value");
      sorted &= index > largest;
      largest = std::max(largest, index);
      block_.indices[stored_] = static_cast<Index>(index);
      block_.values[stored_++] = value;
    }
    if (!sorted && !sort(first)) return false;
    if (stored_ > first) {
      block_.columns = std::max(block_.columns, static_cast<Index>(largest + 1));
      block_.has_zero |= block_.indices[first] == 0;
    }
    block_.labelled &= labelled;
    block_.labels.push_back(static_cast<std::int32_t>(label));
    block_.lines.push_back(line_number_);
    block_.starts.push_back(stored_);
    return skip_comment(p);
  }

  bool read_label(const char*& p, double& label) {
    const char* const start = p;
    p = read_number(p, end_, label);
    if (p == start || (!at_end(p) && !is_blank(*p)) || label != std::trunc(label) ||
        std::abs(label) > 1e9)
      return fault(start, "a class label, a whole number");
    skip_blanks(p);
    if (end_ - p > 4 && std::string_view(p, 4) == "qid:") {
      const char* const qid = p;
      for (p += 4; p < end_ && is_digit(*p); ++p) {}
      if (p == qid + 4 || (!at_end(p) && !is_blank(*p))) return fault(qid, "qid:number");
    }
    return true;
  }

  bool read_index(const char*& p, std::int64_t& index) {
    const char* const start = p;
    std::uint64_t digits = 0;
    p = read_digits(p, end_, digits);
    if (p == start || p >= end_ || *p != ':')
      return fault(start, "index:value with a whole, not negative index");
    if (p - start > 10) return fault(start, limit());
    index = static_cast<std::int64_t>(digits);
    ++p;
    index -= options_.base;
    if (index < 0)
      return fault(start, "indices from 1 on, or to be told that this file counts from 0");
    if (index >= options_.max_features) return fault(start, limit());
    return true;
  }

  // Brings the pairs of the row that begins at `first` into order.
  bool sort(std::int64_t first) {
    std::vector<std::pair<Index, double>> pairs;
    for (std::int64_t k = first; k < stored_; ++k)
      pairs.emplace_back(block_.indices[k], block_.values[k]);
    std::sort(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      if (k > 0 && pairs[k].first == pairs[k - 1].first) {
        const auto index = std::to_string(pairs[k].first + options_.base);
        return fault(line_, "each index once, but " + index + " stands twice");
      }
      block_.indices[first + static_cast<std::int64_t>(k)] = pairs[k].first;
      block_.values[first + static_cast<std::int64_t>(k)] = pairs[k].second;
    }
    return true;
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
  LibsvmBlock block_;
};

}  // namespace

LibsvmBlock parse_libsvm(std::string_view text, std::int64_t first_line,
                         const LibsvmOptions& options) {
  return Parser(text, first_line, options).run(text.data());
}

}  // namespace lopsided
