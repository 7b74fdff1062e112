// CSV text to columns, as far as it is plain: rows with a cell too many, texts that are no numbers and the like are
// listed, and left to whoever can say what is wrong with them.
//
// The rules are those of RFC 4180 as Arrow implements it: a quote opens a quoted part only at the start of a cell, a
// doubled quote is a quote, and a row ends at a line feed, a carriage return or both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lopsided {

// The complete rows of a text that are not blank, and how many bytes and lines they take.
struct CsvRows {
  std::vector<std::int64_t> starts, ends, lines;  // ends are behind the line ends
  std::int64_t taken = 0, lines_taken = 0;
};
CsvRows csv_rows(std::string_view text, char delimiter, std::int64_t first_line, bool ended);

using CsvWords = std::vector<std::string>;  // spellings of a missing cell

// The different texts of a column, in the order in which they are met.
class CsvValues {
 public:
  explicit CsvValues(CsvWords missing) : missing_(std::move(missing)) { clear(); }

  // The code of a text: -1 if it means missing, -2 if it is not UTF-8.
  std::int32_t code(const char* text, std::size_t size, const char* readable);
  std::size_t size() const { return starts_.size() - 1; }
  std::string_view operator[](std::size_t code) const {
    return std::string_view(bytes_).substr(starts_[code], starts_[code + 1] - starts_[code]);
  }
  void clear();

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t place = 0;  // of `known_`, from 1; 0 if the slot is free
    std::uint32_t size = 0;
  };
  struct Known {
    std::size_t at;  // of `all_`
    std::int32_t code;
  };
  std::int32_t add(Slot& slot, std::uint64_t hash, std::string_view text);
  void grow();

  CsvWords missing_;
  std::vector<Slot> slots_;
  std::vector<Known> known_;
  std::string all_;                  // every text met, also those that mean missing
  std::string bytes_;                // those with a code
  std::vector<std::size_t> starts_;  // and where each begins
};

// Looks words up; most cells differ from all of them in the first byte.
class CsvMissing {
 public:
  explicit CsvMissing(CsvWords words);
  bool has(const char* p, std::size_t size) const {
    return size == 0 ? has_empty_ : begins_[static_cast<unsigned char>(*p)] && has_word(p, size);
  }

 private:
  bool has_word(const char* p, std::size_t size) const;
  CsvWords words_;
  bool has_empty_ = false;
  std::array<bool, 256> begins_{};
};

// What is wanted of one column, perhaps several things.
struct CsvColumn {
  bool number = false, text = false, time = false, kept = false;
  CsvWords missing;       // of numbers and times
  CsvWords missing_text;  // of texts
};

// Texts, one after the other.
struct CsvTexts {
  std::string bytes;
  std::vector<std::size_t> ends;
};

// Columns of rows, by kind, each kind in the order of the columns. What a row that is listed as unsure has is nothing.
struct CsvCells {
  std::size_t rows = 0;
  std::vector<double> numbers;                                 // row by row, NaN where missing
  std::vector<std::vector<std::int32_t>> codes;                // of texts, -1 where missing
  std::vector<std::vector<double>> times;                      // in seconds since 1970, NaN where missing
  std::vector<CsvTexts> kept;
  std::vector<std::int64_t> unsure;                            // rows
  std::vector<std::pair<std::int64_t, std::int64_t>> strange;  // times that need a closer look: which, and row
};

class CsvParser {
 public:
  CsvParser(char delimiter, const std::vector<CsvColumn>& columns);

  CsvCells parse(std::string_view text, const std::int64_t* starts, const std::int64_t* ends, std::size_t rows);
  std::vector<CsvValues>& values() { return values_; }

 private:
  struct Cell {
    const char *begin, *end;
  };
  struct Plan {  // of one column
    bool number, time, kept;
    int text;  // which of the texts; -1: none
    CsvMissing missing;
  };
  bool row(const char* p, const char* end, CsvCells& out, double* numbers, std::size_t i);
  const char* quoted(const char* p, const char* end, Cell& cell);

  char delimiter_;
  std::vector<Plan> plan_;
  std::size_t numbers_ = 0, times_ = 0, kept_ = 0;
  std::vector<CsvValues> values_;
  std::string unquoted_;
  const char* readable_ = nullptr;  // bytes may be read up to here
};

// Where numbers are missing: the first row of each column, -1 if there is none; and whether any is infinite.
struct Gaps {
  std::vector<std::int64_t> first;
  bool infinite = false;
};
Gaps gaps_of(const double* numbers, std::size_t rows, std::size_t columns);

// Rows of numbers and categories as CSR, with those features too that say that a number is missing. Entry k
// of `order` is a column of numbers, or -1 - k one of texts.
struct OneHotTexts {
  const std::int32_t* codes;
  const std::int32_t* places;  // of each code; the last is that of -1
  std::size_t values;          // the number of codes
  const double* amounts;       // of each code, or null for 1
};
struct OneHotNumbers {
  const double* cells;  // row by row
  std::size_t columns;
  const std::int32_t *places, *indicators;  // an indicator of -1: there is none
};
struct CsrArrays {
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> indices;
  std::vector<double> values;
};
CsrArrays one_hot(std::size_t rows, const OneHotNumbers& numbers, const std::vector<OneHotTexts>& texts,
                  const std::vector<std::int32_t>& order, bool indicate);

}  // namespace lopsided
