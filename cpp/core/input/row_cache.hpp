// Rows in a file in their memory layout, to be read in place: a block is a header, then row starts, labels, line numbers
// unless they are consecutive, indices and values, each aligned to 64 bytes. Little-endian.
#pragma once

#include <memory>
#include <string>

#include "libsvm.hpp"

namespace lopsided {

// Any change within eight bytes changes it.
std::uint64_t checksum(const void* data, std::size_t size, std::uint64_t seed = 0);

// Serialises a block of text whose first line has `before` lines before it.
std::string pack(const LibsvmBlock& block, std::int64_t before);

// A block in a file, validated: it holds only rows that the parser could have made.
class PackedBlock {
 public:
  // Throws std::invalid_argument with the reason. The bytes must outlive the block and be aligned to 8.
  PackedBlock(const char* data, std::size_t size);

  Index rows() const { return rows_; }
  Index stored() const { return starts_[rows_]; }
  Index columns() const { return columns_; }
  bool labelled() const { return labelled_; }
  std::size_t size() const { return size_; }  // in bytes
  const std::int32_t* starts() const { return starts_; }
  const std::int32_t* labels() const { return labels_; }
  const Index* indices() const { return indices_; }
  const double* values() const { return values_; }
  std::vector<std::int64_t> lines() const;

  // Validated once more row by row, as a file can change while it is read.
  Rows as_rows(Index at_least) const {
    return Rows({starts_, indices_, values_, false, false, false, static_cast<Count>(stored()), false},
                static_cast<Count>(rows_), std::max(columns_, at_least));
  }

 private:
  void look_at_starts() const;
  void look_at_indices() const;
  void look_at_labels() const;
  void take_values(std::uint32_t coding, const char* data);

  Index rows_, columns_;
  std::int64_t first_line_;
  bool labelled_;
  std::size_t size_;
  const std::int32_t *starts_, *labels_;
  const std::int64_t* lines_;  // null if they are consecutive
  const Index* indices_;
  const double* values_;
  std::shared_ptr<const double[]> unpacked_;
};

}  // namespace lopsided
