// LIBSVM text: "label index:value index:value ... # comment", one row per line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "../numbers/buffer_pool.hpp"
#include "rows.hpp"

namespace lopsided {

struct LibsvmOptions {
  Index base = 1;                     // index of the first column
  Index max_features = max_features_default;
  bool labels_required = true;        // else a line may begin with its first pair
  std::size_t bad_allowed = 0;        // bad lines to skip before parsing stops
  bool bytewise = false;              // no AVX2; same result
  bool narrow = false;                // no AVX-512; same result

  static constexpr Index max_features_default = 50'000'000;
};

// A line that cannot be read. `column` counts bytes from 1.
struct Fault {
  std::int64_t line, column;
  std::string found, expected;
  bool operator==(const Fault&) const = default;
};

// The rows of a piece of text.
struct LibsvmBlock {
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> lines;   // line number of each row
  std::vector<std::int64_t> starts;  // CSR
  std::vector<double> squares;       // of each row
  Reused<Index> indices;
  Reused<double> values;
  std::int64_t lines_read = 0;
  Index columns = 0;        // one more than the largest index
  bool has_zero = false;    // index 0 occurs (base 0)
  bool labelled = true;     // every line had a label
  std::vector<Fault> faults;

  Rows rows(Index at_least) const {
    return Rows({starts.data(), indices.get(), values.get(), true, false, false, static_cast<Count>(starts.back()),
                 true, squares.data()},
                starts.size() - 1, std::max(columns, at_least));
  }
};

// Whether two blocks are equal, to the bit.
bool same(const LibsvmBlock& a, const LibsvmBlock& b);

// Parses complete lines; the last one may lack its newline. Stops after one bad line more than allowed.
LibsvmBlock parse_libsvm(std::string_view text, std::int64_t first_line, const LibsvmOptions& options);

}  // namespace lopsided
