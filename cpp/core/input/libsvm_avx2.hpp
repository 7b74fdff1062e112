// Fast path for regular rows of LIBSVM text with AVX2 (AVX-512, if available, finds the separators). Any other row is
// left to the scalar parser, which gives the same bits.
#pragma once

#include "libsvm.hpp"

namespace lopsided {

class FastRows {
 public:
  struct Row {
    std::int32_t label;
    Index size;
    double square;    // the sum of squares of its values
    const char* end;  // its newline
  };

  // A row being parsed.
  struct Numbers {
    std::vector<std::uint32_t> values, indices;  // of each number its leading digits, then its last eight
    std::vector<double> divisors;                // powers of ten, with the sign
    std::vector<std::uint32_t> odd;              // positions of values that need the scalar parser
  };

  FastRows(std::string_view text, const LibsvmOptions& options);

  // Whether this CPU has the instructions.
  static bool possible();

  // Reads the line at p; lines must be requested in order. False unless it is a regular row: a label and index:value
  // pairs with increasing indices, separated by single blanks. The buffers must hold `padding` pairs more than the
  // line has.
  bool read(const char* p, Index* indices, double* values, Row& row);
  static constexpr std::size_t padding = 8;

 private:
  struct Line {
    std::uint32_t newline, ends, colons;  // position of its newline; words and colons up to there
  };

  void scan(const char* p);
  void scan_avx2(const char* p);
  void scan_avx512(const char* p);
  template <class Machine>
  void scan_with(const char* p);
  bool read_label(const char* p, const char* end, std::int32_t& label) const;
  enum class Lengths { bad, compact, plain, some_long };
  static Lengths classify_lengths(const std::uint32_t* ends, const std::uint32_t* colons, Index n, int compact);
  // The digits of a row. read_plain fails at values of another notation, read_mixed lists them as odd and skips them.
  bool read_plain(const std::uint32_t* ends, const std::uint32_t* colons, Index n);
  bool read_mixed(const std::uint32_t* ends, const std::uint32_t* colons, Index n);
  void make_room(Index n);
  bool read_odd(const std::uint32_t* ends, const std::uint32_t* colons, double* values) const;
  double finish_values(double* values, Index n) const;  // the sum of their squares
  void finish_indices(Index* indices, Index n) const;
  bool in_order(const Index* indices, Index n) const;

  const std::string_view text_;
  const LibsvmOptions& options_;
  // A window of the text: positions of its word ends, colons and lines.
  const char* window_ = nullptr;
  std::size_t reach_ = 1 << 14, room_ = 0;
  std::unique_ptr<std::uint32_t[]> ends_, colons_;
  std::vector<Line> lines_;
  std::size_t next_ = 0, found_ = 0;  // lines requested, and those read here
  const char* pause_ = nullptr;  // lines before it go to the scalar parser
  Numbers numbers_;
  bool with_odd_ = false;  // the last row had odd values
  bool signs_ = false;  // compact rows may have minus signs
  const bool wide_;  // use AVX-512 to find the separators
};

}  // namespace lopsided
