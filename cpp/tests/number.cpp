// Numbers are read as strtod reads them, to the bit.
#include "../core/input/number.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "check.hpp"

using namespace lopsided;

namespace {

// Texts stand at the end of a heap block of just the right size, so that a sanitizer sees any step
// beyond the last character.
class Edge {
 public:
  std::pair<std::size_t, double> read(std::string_view text) {
    if (text.size() != size_) {
      size_ = text.size();
      block_ = std::make_unique<char[]>(size_);
    }
    std::copy(text.begin(), text.end(), block_.get());
    double value = -77;
    const char* const after = read_number(block_.get(), block_.get() + size_, value);
    return {after - block_.get(), value};
  }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<char[]> block_ = std::make_unique<char[]>(0);
};

// What of the text is a number, and which. Of what strtod takes, inf, nan, blanks in front and
// hexadecimal digits are no numbers here.
std::pair<std::size_t, double> expected(const std::string& text) {
  const std::string plain = text.substr(0, text.find_first_not_of("0123456789+-.eE"));
  char* after;
  const double value = std::strtod(plain.c_str(), &after);
  return {after - plain.c_str(), value};
}

bool agrees(Edge& edge, const std::string& text) {
  const auto [length, value] = edge.read(text);
  const auto [right_length, right_value] = expected(text);
  const bool good = length == right_length &&
                    (length == 0 || std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(right_value));
  if (!good)
    std::printf("\"%s\": read %zu characters as %.17g, expected %zu as %.17g\n", text.c_str(), length, value,
                right_length, right_value);
  return good;
}

class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed) {}
  std::uint64_t bits() { return random_(); }
  int below(int n) { return static_cast<int>((random_() >> 32) * static_cast<unsigned>(n) >> 32); }
  bool chance(int in) { return below(in) == 0; }

  void digits(std::string& out, int count) {
    for (; count > 0; count -= 16) {
      std::uint64_t source = random_();
      for (int k = std::min(count, 16); k > 0; --k, source >>= 4)
        out.push_back(static_cast<char>('0' + (source & 15) * 10 / 16));
    }
  }
  void sign(std::string& out) {
    if (const int which = below(4); which < 2) out.push_back("+-"[which]);
  }
  // Any number, in any of the ways people and programs write them.
  std::string number() {
    std::string out;
    sign(out);
    if (chance(4)) out.append(static_cast<std::size_t>(below(25)), '0');
    const int longest = chance(3) ? 26 : 9;
    digits(out, below(longest));
    if (!chance(3)) {
      out.push_back('.');
      if (chance(6)) out.append(static_cast<std::size_t>(below(25)), '0');
      digits(out, below(longest));
    }
    if (chance(3)) {
      out.push_back("eE"[below(2)]);
      sign(out);
      if (chance(4)) out.push_back('0');
      digits(out, below(4));
    }
    if (chance(3)) out.push_back(" \t\r\n:#,x.e-+i\0"[below(14)]);
    return out;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST(every_spelling_of_a_number) {
  Edge edge;
  for (const char* text : {"",
                           "+",
                           "-",
                           ".",
                           "-.",
                           "+.e1",
                           "e5",
                           "0",
                           "-0",
                           "+0",
                           "00",
                           "-00.00e9",
                           "5.",
                           ".5",
                           "-.5",
                           "+5.",
                           "5.e3",
                           ".5e3",
                           "1e5",
                           "1e+05",
                           "1E-05",
                           "1e",
                           "1e+",
                           "1e-",
                           "1e+x",
                           "1.5e",
                           "1.5ee3",
                           "1..5",
                           "1.5.5",
                           "--1",
                           "+-1",
                           "1-1",
                           "nan",
                           "inf",
                           "infinity",
                           "-inf",
                           "NAN",
                           "0x10",
                           "1x",
                           "1:2",
                           "7#",
                           "12345678",
                           "123456789",
                           "1234567:",
                           "12345678:",
                           "1e22",
                           "1e23",
                           "1e-22",
                           "1e-23",
                           "9007199254740992",
                           "9007199254740993",
                           "9007199254740993e22",
                           "9007199254740992e22",
                           "999999999999999999",
                           "1000000000000000000",
                           "18446744073709551615",
                           "18446744073709551616",
                           "18446744073709551617",
                           "184467440737095516160",
                           "0.000000000000000000000",
                           "123456789012345678901234567890",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.7976931348623159e308",
                           "1e308",
                           "1e309",
                           "-1e309",
                           "1e-323",
                           "1e-324",
                           "-1e-400",
                           "1e99999",
                           "1e-99999",
                           "1e999999999999",
                           "1e-999999999999",
                           "0e999999999999",
                           "0e-999999999999",
                           "0.00000000000000000000001e23",
                           "100000000000000000000000e-23",
                           "1e00000000000000000000005",
                           "1e-0000000000000000000005",
                           "7.0000000000000000000000000000000000000000000000",
                           "\t1",
                           " 1",
                           "\v1"})
    CHECK(agrees(edge, text));
}

TEST(numbers_far_out_of_range_are_infinite_or_nothing) {
  Edge edge;
  const std::string zeros(400, '0');
  const auto joined = [&](const char* first, const char* last, int times = 1) {
    std::string out = first;
    for (int k = 0; k < times; ++k) out += zeros;
    return out += last;
  };
  for (const std::string& text :
       {joined("1", ""), joined("-1", ""), joined("1", ".5"), joined("0.", "1"), joined("-.", "1"),
        joined("", "1e-800", 2), joined("0.", "1e1200", 2), joined("0.", "1e401"), joined("1", "e-400"),
        joined("1", "e-800"), joined("", "1"), joined("", ".0", 3)})
    CHECK(agrees(edge, text));
}

TEST(any_text_gives_the_bits_of_strtod) {
  Edge edge;
  Writer writer(1);
  bool good = true;
  for (int k = 0; k < 1'500'000 && good; ++k) good = agrees(edge, writer.number());
  CHECK(good);
}

// The shortest, the usual and the longest forms of any double, tiny and huge ones included.
TEST(what_programs_print_is_read_back) {
  Edge edge;
  Writer writer(2);
  bool good = true;
  char text[64];
  for (int k = 0; k < 60'000 && good; ++k) {
    double value = std::bit_cast<double>(writer.bits());
    if (k % 8 == 0) value = std::bit_cast<double>(writer.bits() & 0x800fffffffffffff);  // subnormal
    if (k % 2 == 0) value = static_cast<double>(writer.bits()) * 0x1p-64;
    if (!std::isfinite(value)) continue;
    static constexpr const char* forms[] = {"%g", "%.9g", "%.15g", "%.17g", "%.20e", "%.6e"};
    const char* const form = forms[k % 6];
    std::snprintf(text, sizeof text, form, value);
    good = agrees(edge, text);
  }
  CHECK(good);
}

// Numbers just between two doubles, and as little above and below that as can be written.
TEST(halfway_cases_are_rounded_right) {
  Edge edge;
  Writer writer(3);
  bool good = true;
  for (int k = 0; k < 200'000 && good; ++k) {  // whole numbers of 54 to 63 bits
    const int shift = writer.below(10);
    const std::uint64_t odd = (writer.bits() >> 11) | (std::uint64_t{1} << 53) | 1;
    const std::uint64_t halfway = (odd << shift) + static_cast<std::uint64_t>(k % 3) - 1;
    good =
        agrees(edge, std::to_string(halfway)) && agrees(edge, std::to_string(halfway) + (k % 2 ? ".00000001" : "e-10"));
  }
  char text[1200];
  for (int k = 0; k < 2'000 && good; ++k) {  // all of their up to 767 digits
    const double below = std::abs(std::bit_cast<double>(writer.bits()));
    if (!(below < 1e300)) continue;
    const long double above = std::bit_cast<double>(std::bit_cast<std::uint64_t>(below) + 1);
    std::snprintf(text, sizeof text, "%.780Le", (below + above) / 2);
    const std::string halfway = text;
    const std::size_t e = halfway.find('e');
    good = agrees(edge, halfway) && agrees(edge, "-" + halfway) &&
           agrees(edge, halfway.substr(0, e) + "1" + halfway.substr(e));
  }
  CHECK(good);
}

TEST(digits_are_read_up_to_the_end_and_no_further) {
  for (std::size_t size = 0; size <= 40; ++size)
    for (std::size_t count = 0; count <= size; ++count) {
      const auto text = std::make_unique<char[]>(size);
      std::uint64_t right = 0;
      for (std::size_t k = 0; k < size; ++k) {
        text[k] = static_cast<char>(k < count ? '1' + k % 9 : "/:"[k % 2]);  // the neighbours of 0, 9
        if (k < count) right = right * 10 + static_cast<std::uint64_t>(text[k] - '0');
      }
      std::uint64_t value = 0;
      const char* const after = read_digits(text.get(), text.get() + size, value);
      CHECK(after == text.get() + count && value == right);
    }
}

TEST(only_digits_are_digits) {
  for (int c = 0; c < 256; ++c) {
    const std::string text(9, static_cast<char>(c));
    std::uint64_t value = 0;
    const bool digit = c >= '0' && c <= '9';
    CHECK(is_digit(static_cast<char>(c)) == digit);
    CHECK(read_digits(text.data(), text.data() + 9, value) == text.data() + (digit ? 9 : 0));
  }
}
