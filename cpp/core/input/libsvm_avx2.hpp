// The usual rows of LIBSVM text, in the lanes of AVX2; AVX-512, where it is, finds the places. Any other
// row is left to the parser of single bytes, which gives the same bits.
#pragma once

#include "libsvm.hpp"

namespace lopsided {

class UsualRows {
 public:
  struct Row {
    std::int32_t label;
    Index size;
    double square;    // the sum of squares of its values
    const char* end;  // its newline
  };

  // A row on its way.
  struct Numbers {
    std::vector<std::uint32_t> values, indices;  // the last eight digits of each, after those before
    std::vector<double> divisors;                // what divides the values
    std::vector<std::uint32_t> odd;              // whose values are read byte by byte
  };

  UsualRows(std::string_view text, const LibsvmOptions& options);

  // Whether this machine can do it.
  static bool possible();

  // Reads the line at p; lines are asked for one after the other. False if it is not a usual row:
  // label and index:value in order with one blank between. There must be room for `padding` pairs
  // more than the line has.
  bool read(const char* p, Index* indices, double* values, Row& row);
  static constexpr std::size_t padding = 8;

 private:
  struct Line {
    std::uint32_t newline, ends, colons;  // where it ends, and how many there are up to there
  };

  void scan(const char* p);
  void scan_avx2(const char* p);
  void scan_avx512(const char* p);
  template <class Machine>
  void scan_with(const char* p);
  bool read_label(const char* p, const char* end, std::int32_t& label) const;
  enum class Lengths { bad, brief, usual, some_long };
  static Lengths look_at_lengths(const std::uint32_t* ends, const std::uint32_t* colons, Index n, int brief);
  // The digits of a row of usual values; with sift odd values are noted, and left out.
  bool read_usual(const std::uint32_t* ends, const std::uint32_t* colons, Index n);
  bool sift(const std::uint32_t* ends, const std::uint32_t* colons, Index n);
  void make_room(Index n);
  bool read_odd(const std::uint32_t* ends, const std::uint32_t* colons, double* values) const;
  double finish_values(double* values, Index n) const;  // the sum of their squares
  void finish_indices(Index* indices, Index n) const;
  bool in_order(const Index* indices, Index n) const;

  const std::string_view text_;
  const LibsvmOptions& options_;
  // A stretch of text: where its words end, where its colons and its lines are.
  const char* window_ = nullptr;
  std::size_t reach_ = 1 << 14, room_ = 0;
  std::unique_ptr<std::uint32_t[]> ends_, colons_;
  std::vector<Line> lines_;
  std::size_t next_ = 0, found_ = 0;  // lines asked for, and usual ones among them
  const char* pause_ = nullptr;       // no line before it is tried
  Numbers numbers_;
  bool with_odd_ = false;  // the last row had odd values
  bool signs_ = false;     // a brief row had a fault without them
  const bool wide_;        // AVX-512 finds the places
};

}  // namespace lopsided
