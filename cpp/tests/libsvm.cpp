// LIBSVM text: what is accepted, what is refused and where, and what a block then holds.
#include "../core/input/libsvm.hpp"

#include <cstring>
#include <initializer_list>
#include <utility>

#include "check.hpp"

using namespace lopsided;

namespace {

using Pairs = std::vector<std::pair<Index, double>>;

// Parses a copy on the heap of just the right size: a sanitizer sees any read beyond it.
LibsvmBlock parse(std::string_view text, const LibsvmOptions& options = {}, std::int64_t first_line = 1) {
  const auto copy = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), copy.get());
  LibsvmBlock block = parse_libsvm({copy.get(), text.size()}, first_line, options);
  LibsvmOptions other = options;
  other.narrow = true;
  CHECK(same(block, parse_libsvm({copy.get(), text.size()}, first_line, other)));
  other.bytewise = true;
  CHECK(same(block, parse_libsvm({copy.get(), text.size()}, first_line, other)));
  return block;
}

LibsvmOptions tolerant(std::size_t bad_allowed = 1000) {
  LibsvmOptions options;
  options.bad_allowed = bad_allowed;
  return options;
}
LibsvmOptions unlabelled() {
  LibsvmOptions options;
  options.labels_required = false;
  return options;
}

std::vector<Pairs> rows_of(const LibsvmBlock& block) {
  std::vector<Pairs> rows;
  for (std::size_t i = 0; i + 1 < block.starts.size(); ++i) {
    Pairs& row = rows.emplace_back();
    for (std::int64_t k = block.starts[i]; k < block.starts[i + 1]; ++k)
      row.emplace_back(block.indices[k], block.values[k]);
  }
  return rows;
}

bool holds(const LibsvmBlock& block, const std::vector<std::int32_t>& labels, const std::vector<Pairs>& rows) {
  return block.faults.empty() && block.labels == labels && rows_of(block) == rows &&
         block.lines.size() == labels.size();
}

const std::vector<Pairs> one_row = {{{0, 0.5}, {2, -3.0}}};

}  // namespace

TEST(every_way_to_write_a_row) {
  for (const char* text : {
           "1 1:0.5 3:-3\n",
           "1 1:0.5 3:-3",
           "+1 1:.5 3:-3.\r\n",
           "1\t1:0.5\t3:-3\t\n",
           "  1   1:0.5 \t 3:-3   ",
           "1.0 1:5e-1 3:-3e0\n",
           "1e0 1:0.5 3:-3\r",
           "1 3:-3 1:0.5\n",
           "1 1:0.5 3:-3 # note 7:8\n",
           "1 1:0.5 3:-3#note",
           "1 qid:7 1:0.5 3:-3\n",
           "1 qid:123456789012 1:0.5 3:-3",
           "\n\n1 1:0.5 3:-3\n\n",
           "# note\n1 1:0.5 3:-3\n#",
           "\r\n \t\r\n1 1:0.5 3:-3\r\n\r\n",
           "1 001:+0.5 3:-30e-1\n",
           "10e-1 1:0.5 3:-3 #\n",
           "1 1:0.5\r3:-3\n",
           "1 1:50000E-5 3:-3.000000000000000000000000000\n",
       }) {
    const LibsvmBlock block = parse(text);
    CHECK(holds(block, {1}, one_row));
    CHECK(block.columns == 3 && block.labelled && block.has_zero);
    if (!holds(block, {1}, one_row)) std::printf("of: %s\n", text);
  }
}

TEST(rows_without_pairs_and_labels_of_any_kind) {
  const LibsvmBlock block = parse("0\n-1 \n+1 #\n2 qid:1\n1000000000 1:0\n-1000000000 2:-0");
  CHECK(holds(block, {0, -1, 1, 2, 1'000'000'000, -1'000'000'000}, {{}, {}, {}, {}, {{0, 0.0}}, {{1, -0.0}}}));
  CHECK(std::signbit(block.values[1]) && block.columns == 2 && block.lines_read == 6);
}

TEST(text_without_rows_gives_an_empty_block) {
  for (const char* text : {"", "\n", "\r\n", " ", "#", "# only\n  # notes", "\n\n\n", "\t\r"}) {
    const LibsvmBlock block = parse(text);
    CHECK(holds(block, {}, {}) && block.columns == 0 && !block.has_zero && block.labelled);
  }
}

TEST(lines_are_counted_with_those_that_hold_no_row) {
  const LibsvmBlock block = parse("\n1 1:1\n# note\n\n0 1:2", {}, 100);
  CHECK(block.lines == std::vector<std::int64_t>{101, 104});
  CHECK(block.lines_read == 5);
  CHECK(parse("1\n1\n").lines_read == 2 && parse("1\n1").lines_read == 2 && parse("").lines_read == 0);
}

TEST(indices_count_from_the_base) {
  LibsvmOptions from_zero;
  from_zero.base = 0;
  CHECK(holds(parse("1 0:1 4:2", from_zero), {1}, {{{0, 1.0}, {4, 2.0}}}));
  CHECK(parse("1 0:1 4:2", from_zero).columns == 5 && parse("1 0:1", from_zero).has_zero);
  CHECK(!parse("1 1:1\n0 2:1", from_zero).has_zero);
  CHECK(parse("1 3:1 0:1", from_zero).has_zero);
  CHECK(parse("1 1:1").has_zero && !parse("1 2:1").has_zero);
}

TEST(labels_may_be_absent_if_they_need_not_be_there) {
  const LibsvmBlock block = parse("1:0.5 3:-3\n", unlabelled());
  CHECK(holds(block, {0}, one_row) && !block.labelled);
  CHECK(parse("1 1:0.5 3:-3\n", unlabelled()).labelled);
  CHECK(!parse("1 1:2\n1:2\n", unlabelled()).labelled);
  CHECK(parse("1:2:3\n", unlabelled()).faults.size() == 1);
}

TEST(the_smallest_pairs_find_room) {
  std::string text;
  for (int k = 0; k < 1000; ++k) text += "1:2\n";
  CHECK(parse(text, unlabelled()).starts.back() == 1000);
  text.pop_back();
  CHECK(parse(text, unlabelled()).starts.back() == 1000);
  std::string row = "1";
  for (int k = 9; k >= 1; --k) row.append(" ").append(std::to_string(k)).append(":1");
  CHECK(rows_of(parse(row))[0].size() == 9);
}

TEST(a_large_row_out_of_order_is_sorted) {
  std::string row = "1";
  for (int k = 0; k < 5000; ++k)
    row.append(" ").append(std::to_string((k * 7919) % 5003 + 1)).append(":").append(std::to_string(k));
  const Pairs pairs = rows_of(parse(row)).at(0);
  CHECK(pairs.size() == 5000);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (k > 0) CHECK(pairs[k - 1].first < pairs[k].first);
    CHECK((static_cast<int>(pairs[k].second) * 7919) % 5003 == pairs[k].first);
  }
}

TEST(each_fault_says_where_what_and_what_was_expected) {
  struct Case {
    const char* text;
    std::int64_t line, column;
    const char *found, *expected;
  };
  const char* const label = "a class label, a whole number";
  const char* const pair = "index:value with a whole, not negative index";
  const char* const limit = "an index of at most 50000000 (the limit is max_features)";
  for (const Case& c : std::initializer_list<Case>{
           {"1:2 3:4", 1, 1, "1:2", "a label before the first pair"},
           {"\n  1:2", 2, 3, "1:2", "a label before the first pair"},
           {"qid:3 1:2", 1, 1, "qid:3", "a label before the first pair"},
           {"1 1:1\nabc 1:2", 2, 1, "abc", label},
           {"nan 1:2", 1, 1, "nan", label},
           {"inf", 1, 1, "inf", label},
           {"1.5 1:2", 1, 1, "1.5", label},
           {"1e-3", 1, 1, "1e-3", label},
           {"1e10 1:2", 1, 1, "1e10", label},
           {"-1000000001", 1, 1, "-1000000001", label},
           {"1x 1:2", 1, 1, "1x", label},
           {"+ 1:2", 1, 1, "+", label},
           {"- 1:2", 1, 1, "-", label},
           {", 1:2", 1, 1, ",", label},
           {"1,2,3", 1, 1, "1,2,3", label},
           {"1\v1:2", 1, 1, "1\v1:2", "a label before the first pair"},
           {"1 qid: 1:2", 1, 3, "qid:", "qid:number"},
           {"1 qid:x 1:2", 1, 3, "qid:x", "qid:number"},
           {"1 qid:-2 1:2", 1, 3, "qid:-2", "qid:number"},
           {"1 qid:2x", 1, 3, "qid:2x", "qid:number"},
           {"1 qid:", 1, 3, "qid:", pair},
           {"1 1:2 qid:2", 1, 7, "qid:2", pair},
           {"1 2", 1, 3, "2", pair},
           {"1 :2", 1, 3, ":2", pair},
           {"1 :", 1, 3, ":", pair},
           {"1 -1:2", 1, 3, "-1:2", pair},
           {"1 +1:2", 1, 3, "+1:2", pair},
           {"1 1.5:2", 1, 3, "1.5:2", pair},
           {"1 x:2", 1, 3, "x:2", pair},
           {"1 1 :2", 1, 3, "1", pair},
           {"1 12", 1, 3, "12", pair},
           {"1 1:", 1, 5, "", "a number after the colon"},
           {"1 1: 2", 1, 5, "", "a number after the colon"},
           {"1 1:\n", 1, 5, "", "a number after the colon"},
           {"1 1:x", 1, 5, "x", "a number after the colon"},
           {"1 1:nan", 1, 5, "nan", "a number after the colon"},
           {"1 1:inf", 1, 5, "inf", "a number after the colon"},
           {"1 1:-inf", 1, 5, "-inf", "a number after the colon"},
           {"1 1:.", 1, 5, ".", "a number after the colon"},
           {"1 1:1e999", 1, 5, "1e999", "a finite number"},
           {"1 1:2:3", 1, 3, "1:2:3", "index:value"},
           {"1 1:2x", 1, 3, "1:2x", "index:value"},
           {"1 1:0x10", 1, 3, "1:0x10", "index:value"},
           {"1 1:2,3:4", 1, 3, "1:2,3:4", "index:value"},
           {"1 1:1e+", 1, 3, "1:1e+", "index:value"},
           {"1 1:1 0:2", 1, 7, "0:2", "indices from 1 on, or to be told that this file counts from 0"},
           {"1 50000001:1", 1, 3, "50000001:1", limit},
           {"1 2000000000:1", 1, 3, "2000000000:1", limit},
           {"1 9999999999:1", 1, 3, "9999999999:1", limit},
           {"1 18446744073709551617:1", 1, 3, "18446744073709551617:1", limit},
       }) {
    const LibsvmBlock block = parse(c.text);
    const bool one = block.faults.size() == 1;
    CHECK(one);
    if (!one) {
      std::printf("of: %s\n", c.text);
      continue;
    }
    const Fault& fault = block.faults[0];
    const bool right =
        fault.line == c.line && fault.column == c.column && fault.found == c.found && fault.expected == c.expected;
    CHECK(right);
    if (!right)
      std::printf("of: %s\n  line %d, column %d, \"%s\", %s\n", c.text, static_cast<int>(fault.line),
                  static_cast<int>(fault.column), fault.found.c_str(), fault.expected.c_str());
  }
}

TEST(a_column_that_stands_twice_is_a_fault) {
  struct Case {
    const char* text;
    std::int64_t column;
    const char* found;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"1 3:1 3:1", 7, "3:1"}, {"1 3:1 5:1 3:2", 11, "3:2"}, {"3 qid:3 5:1\t03:1 4:1 3:2 7:1 #", 22, "3:2"}}) {
    const LibsvmBlock block = parse(c.text);
    CHECK(block.faults.size() == 1 && block.labels.empty() && block.starts.back() == 0);
    CHECK(block.faults.at(0).line == 1 && block.faults.at(0).column == c.column);
    CHECK(block.faults.at(0).found == c.found);
    CHECK(block.faults.at(0).expected == "each index once, but 3 stands twice");
  }
}

TEST(the_limit_is_the_number_of_columns) {
  LibsvmOptions options;
  options.max_features = 5;
  CHECK(parse("1 5:1", options).columns == 5);
  CHECK(parse("1 6:1", options).faults.at(0).expected == "an index of at most 5 (the limit is max_features)");
  options.base = 0;
  CHECK(parse("1 4:1", options).columns == 5);
  CHECK(parse("1 5:1", options).faults.at(0).expected == "an index of at most 4 (the limit is max_features)");
  options.max_features = std::numeric_limits<Index>::max();
  CHECK(parse("1 2147483646:1", options).columns == std::numeric_limits<Index>::max());
  CHECK(parse("1 2147483647:1", options).faults.size() == 1);
  options.base = 1;
  CHECK(parse("1 2147483647:1", options).columns == std::numeric_limits<Index>::max());
  CHECK(parse("1 2147483648:1", options).faults.size() == 1);
}

TEST(a_bad_line_leaves_no_trace) {
  for (const char* bad : {"1 1:5 7:6 99:nan", "x", "1 99:1 98:1 99:2", "1 0:2", "99:1", "5 1:1 2", "1 1:1:1",
                          "1 99:1 50000001:1", "9 qid:x"}) {
    const LibsvmBlock block = parse(std::string("1 2:1 3:2\n").append(bad).append("\n0 4:3\n"), tolerant());
    CHECK(block.labels == (std::vector<std::int32_t>{1, 0}));
    CHECK(block.lines == (std::vector<std::int64_t>{1, 3}));
    CHECK(rows_of(block) == (std::vector<Pairs>{{{1, 1.0}, {2, 2.0}}, {{3, 3.0}}}));
    CHECK(block.columns == 4 && !block.has_zero && block.labelled && block.lines_read == 3);
    CHECK(block.faults.size() == 1 && block.faults[0].line == 2);
  }
}

TEST(parsing_stops_at_one_bad_line_more_than_allowed) {
  const char* const text = "1 1:1\nx\n1 1:2\ny\n1 1:3\nz\n1 1:4";
  for (std::size_t allowed = 0; allowed < 5; ++allowed) {
    const LibsvmBlock block = parse(text, tolerant(allowed));
    CHECK(block.faults.size() == std::min<std::size_t>(allowed + 1, 3));
    CHECK(block.labels.size() == std::min<std::size_t>(allowed + 1, 4));
    CHECK(block.lines_read == (allowed < 3 ? 2 * static_cast<std::int64_t>(allowed) + 1 : 7));
  }
  CHECK(parse("x\ny", tolerant(2)).lines_read == 2);
}

TEST(a_long_offending_text_is_cut) {
  const std::string long_text(100'000, 'x');
  CHECK(parse(std::string("1 1:1\n1 ").append(long_text)).faults.at(0).found == std::string(200, 'x'));
  CHECK(parse(long_text).faults.at(0).found.size() == 200);
}

TEST(bytes_of_any_value_are_no_danger) {
  const std::string_view with_zero("1 1:2\0 2:3", 10);
  CHECK(parse(with_zero).faults.at(0).found == std::string("1:2\0", 4));
  for (int c = 0; c < 256; ++c)
    for (const char* text : {"?", "1?", "1 ?", "1 1?", "1 1:?", "1 1:1?", "1 1:1 ?2:1", "1 qid:1?"}) {
      std::string odd = text;
      odd[odd.find('?')] = static_cast<char>(c);
      const LibsvmBlock block = parse(odd);
      CHECK(block.faults.size() + block.labels.size() <= 2);
    }
}

// Every beginning of a text is a text too; all of them end just where their memory ends.
TEST(text_may_end_anywhere) {
  const std::string text =
      "1 qid:12 1:0.5 20:12345678.12345678e-12 12345678:123456789012345678901234567890\r\n"
      "-1\t3:1e5 2:+.5#c\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const LibsvmBlock block = parse(std::string_view(text).substr(0, size), tolerant());
    CHECK(block.faults.size() + block.labels.size() <= 2);
    CHECK(block.starts.size() == block.labels.size() + 1);
  }
}

namespace {

// Text of rows as files have them, with something odd here and there.
class Writer {
 public:
  // With `brief`, a pair has hardly ever more than 16 bytes.
  explicit Writer(std::uint64_t seed, bool brief = false) : state_(seed), brief_(brief) {}

  std::string text(int lines, int oddness) {
    std::string out;
    for (int i = 0; i < lines; ++i) {
      out += pick({"1", "-1", "+1", "0", "7", "12", "-1.0", "1e0"});
      std::uint64_t index = 0;
      const std::uint64_t pairs = below(4) == 0 ? below(3) : below(90);
      for (std::uint64_t k = 0; k < pairs; ++k) {
        index += 1 + (below(8) == 0 ? below(200'000) : below(9));
        out += ' ' + std::to_string(index) + ':' + value();
      }
      out += pick({"\n", "\n", "\n", " \n", "\r\n"});
      if (below(100) < static_cast<std::uint64_t>(oddness)) mutate(out);
    }
    return out;
  }

 private:
  std::uint64_t below(std::uint64_t n) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % n;
  }
  std::string pick(std::initializer_list<const char*> words) { return words.begin()[below(words.size())]; }
  std::string digits(std::uint64_t n) {
    std::string out;
    while (out.size() < n) out += static_cast<char>('0' + below(10));
    return out;
  }
  std::string value() {
    const std::string sign = below(3) == 0 ? "-" : "";
    if (brief_) {
      if (below(3) == 0) return sign + digits(1 + below(below(50) == 0 ? 10 : 8));
      const std::uint64_t whole = below(5), part = below(below(50) == 0 ? 7 : 5);
      return sign + digits(whole) + '.' + digits(whole + part == 0 ? 1 : part);
    }
    switch (below(40)) {
      case 0: return sign + digits(1 + below(20));
      case 1: return sign + digits(below(18)) + '.' + digits(1 + below(18));
      case 2: return sign + "0." + digits(13 + below(6));
      case 3: return sign + digits(1) + "." + digits(7) + pick({"e-02", "E5", "e+00", "e-300"});
      case 4: return sign + pick({"0", ".5", "5.", "1.", "-.0", "9007199254740993"});
      case 5:
      case 6:
      case 7:
      case 8:
      case 9: return sign + digits(1 + below(3));
      default: return sign + "0." + digits(6);
    }
  }
  // A byte of the last line becomes another, is doubled or taken away.
  void mutate(std::string& out) {
    const std::size_t line = out.find_last_of('\n', out.size() - 2) + 1;
    const std::size_t at = line + below(out.size() - line);
    const char odd = pick({" ", "\t", "\r", ":", ".", "-", "+", "e", "#", "x", "0", "\n"})[0];
    switch (below(3)) {
      case 0: out[at] = odd; break;
      case 1: out.insert(at, 1, odd); break;
      default: out.erase(at, 1);
    }
  }

  std::uint64_t state_;
  bool brief_;
};

}  // namespace

// `parse` compares them.
TEST(all_ways_to_parse_say_the_same) {
  std::size_t rows = 0, faults = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    LibsvmOptions options = tolerant();
    options.base = seed & 1;
    options.labels_required = seed & 2;
    if (seed % 7 == 0) options.max_features = 100;
    const LibsvmBlock block = parse(Writer(seed, seed >= 300).text(40, seed % 5 * 10), options);
    rows += block.labels.size();
    faults += block.faults.size();
  }
  CHECK(rows > 6000 && faults > 500);
}

TEST(all_ways_agree_on_lines_longer_than_they_look_ahead) {
  std::string text = "1 1:1\n", line = "1";
  for (int k = 1; k < 9000; ++k) line += ' ' + std::to_string(k) + ":0.125";
  for (int k = 0; k < 3; ++k) text += line + "\n1 7:1\n";
  const LibsvmBlock block = parse(text + line);
  CHECK(block.labels.size() == 8 && block.columns == 8999);
}
