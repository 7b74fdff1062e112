// Packed blocks: what they refuse although their checksums are right.
#include "../core/input/row_cache.hpp"

#include <cstring>

#include "check.hpp"

using namespace lopsided;

namespace {

// Where things stand in the block of the text below.
constexpr std::size_t coding = 4, rows = 8, stored = 12, columns = 16, flags = 20, first_line = 24, size = 32,
                      starts = 64, labels = 128, indices = 192, values = 256;
constexpr std::string_view text = "1 1:0.1 3:2\n-1 2:3\n";

struct Bytes {
  explicit Bytes(std::string_view bytes) : words(bytes.size() / 8) {
    std::memcpy(words.data(), bytes.data(), bytes.size());
  }
  template <class Value>
  void put(std::size_t at, Value value) {
    std::memcpy(reinterpret_cast<char*>(words.data()) + at, &value, sizeof value);
  }
  void make_right() { put(40, checksum(words.data() + 8, words.size() * 8 - 64, checksum(words.data(), 40))); }
  PackedBlock read() const { return {reinterpret_cast<const char*>(words.data()), words.size() * 8}; }
  std::vector<std::uint64_t> words;
};

Bytes packed(std::int64_t before = 0) { return Bytes(pack(parse_libsvm(text, 1, {}), before)); }

template <class Value>
std::string refusal(std::size_t at, Value value) {
  Bytes bytes = packed();
  bytes.put(at, value);
  bytes.make_right();
  try {
    bytes.read();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(a_packed_block_holds_what_was_parsed) {
  const Bytes bytes = packed(10);
  const PackedBlock block = bytes.read();
  CHECK(block.rows() == 2 && block.stored() == 3 && block.columns() == 3 && block.labelled());
  CHECK(block.lines() == (std::vector<std::int64_t>{11, 12}));
  CHECK(block.labels()[0] == 1 && block.labels()[1] == -1);
  CHECK(block.indices()[1] == 2 && block.values()[0] == 0.1 && block.values()[2] == 3.0);
  CHECK(block.size() == bytes.words.size() * 8 && block.size() == 320);
}

TEST(a_wrong_checksum_is_refused_wherever_the_change_is) {
  for (std::size_t at = 0; at < 320; ++at) {
    Bytes bytes = packed();
    reinterpret_cast<char*>(bytes.words.data())[at] ^= 0x10;
    CHECK_THROWS(std::invalid_argument, bytes.read());
  }
}

TEST(impossible_rows_are_refused_although_the_checksum_is_right) {
  CHECK(refusal(starts, 0) == "");
  CHECK(refusal(starts, 1) == "its row starts do not rise");
  CHECK(refusal(starts + 4, 4) == "its row starts do not rise");
  CHECK(refusal(starts + 4, -1) == "its row starts do not rise");
  CHECK(refusal(starts + 8, 2) == "its row starts do not fit its pairs");
  CHECK(refusal(indices, -1) == "an index is out of range");
  CHECK(refusal(indices + 8, 3) == "an index is out of range");
  CHECK(refusal(indices + 4, 0) == "the indices of a row do not rise");
  CHECK(refusal(starts + 4, 1) == "the indices of a row do not rise");  // 1, then 3 2
  CHECK(refusal(values, std::numeric_limits<double>::infinity()) == "a value is not finite");
  CHECK(refusal(values + 8, std::nan("")) == "a value is not finite");
  CHECK(refusal(labels, 1'000'000'001) == "a label or a line number is impossible");
  CHECK(refusal(first_line, std::int64_t{0}) == "a label or a line number is impossible");
}

TEST(impossible_heads_are_refused) {
  CHECK(refusal(0, 'x') == "no block begins here");
  CHECK(refusal(coding, 4) == "a block is described in a way that is not known");
  CHECK(refusal(flags, 4) == "a block is described in a way that is not known");
  CHECK(refusal(columns, -1) == "a block is described in a way that is not known");
  CHECK(refusal(columns, 2) == "an index is out of range");
  for (const std::uint32_t n : {0u, 100u, 0x7ffffffeu, 0x7fffffffu, 0xffffffffu}) {
    CHECK(refusal(rows, n) != "");
    CHECK(refusal(stored, n) != "");
  }
  for (const std::uint64_t n : {0, 63, 64, 128, 319, 384}) CHECK(refusal(size, n) != "");
  CHECK(refusal(size, ~std::uint64_t{63}) == "it ends within a block");
  CHECK(refusal(coding, 0) == "a block has an impossible size");
}

TEST(listed_lines_rise_from_the_first) {
  const auto refused = [](std::size_t at, std::int64_t line) {
    Bytes bytes(pack(parse_libsvm("1 1:1\n\n-1 2:1\n", 1, {}), 0));
    CHECK(bytes.read().lines() == (std::vector<std::int64_t>{1, 3}));
    bytes.put(at, line);
    bytes.make_right();
    try {
      bytes.read();
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  CHECK(refused(192, 2) && refused(200, 1) && refused(first_line, 2));
  CHECK(!refused(200, 2) && !refused(200, 9));
}

TEST(every_cut_block_is_refused) {
  const Bytes bytes = packed();
  const char* const data = reinterpret_cast<const char*>(bytes.words.data());
  for (std::size_t left = 0; left < 320; ++left) CHECK_THROWS(std::invalid_argument, (PackedBlock(data, left)));
}
