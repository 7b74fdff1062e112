// A batch of examples as the user holds it: dense with any strides or CSR, double or float values,
// 32- or 64-bit indices. Rows are read, validated and converted one at a time.
#pragma once

#include <cstring>
#include <utility>

#include "../numbers/row.hpp"
#include "../simd.hpp"

namespace lopsided {

// Sums of squares that arithmetic can work with: finite, and far from 0.
LOPSIDED_INLINE inline bool is_plain_square(double square) {
  return square > 1e-290 && square < std::numeric_limits<double>::infinity();
}

LOPSIDED_INLINE inline double dense_square(const double* values, Index n) {
  return fixed_order::products(n, values, values);
}
LOPSIDED_INLINE inline double sparse_square(const double* values, Index n) {
  return fixed_order::quarters(n, [=](Index k) { return values[k] * values[k]; });
}

struct Scratch {
  struct Cell {
    Index index;
    double value;
  };
  std::vector<double> values;
  std::vector<Index> indices;
  std::vector<Cell> cells;  // of a row to be sorted
};

class Rows;
// Looks at all rows and writes their sums of squares, or NaN for those that a later look must copy again.
LOPSIDED_COPIES(void look_at_all(const Rows& rows, double* squares);)

class Rows {
 public:
  struct Dense {
    const void* data;
    bool single;  // float instead of double
    std::ptrdiff_t row_stride, column_stride;  // in values
  };
  struct Csr {
    const void *starts, *indices, *values;
    bool wide_starts, wide_indices;  // 64-bit instead of 32-bit
    bool single;
    Count stored;          // length of indices and values
    bool trusted = false;  // indices are known to be unique and in range, in any order
    const double* squares = nullptr;  // of the rows, if known
  };

  Rows(const Dense& dense, Count size, Index columns)
      : size_(size),
        columns_(columns),
        sparse_(false),
        plain_(!dense.single && dense.column_stride == 1),
        dense_(dense) {}
  Rows(const Csr& csr, Count size, Index columns);

  Count size() const { return size_; }
  Index columns() const { return columns_; }
  bool sparse() const { return sparse_; }
  Count stored() const { return csr_.stored; }  // values in sparse rows
  std::size_t bytes() const {
    return sparse_ ? csr_.stored * (sizeof(double) + sizeof(Index)) : size_ * columns_ * sizeof(double);
  }

  // Rows first to last, without the last.
  Rows part(Count first, Count last) const;

  // As all that reads plain rows, inlined for the instruction set of the caller.
  template <class Row>
  LOPSIDED_INLINE Row row(Count i, Scratch& scratch) const {
    if constexpr (std::same_as<Row, SparseRow>) return sparse_row(i, scratch);
    else return sparse_ ? scattered(i, scratch) : dense_row(i, scratch);
  }

  // Validates all rows and throws if one is bad. Returns the same rows, which are not validated again unless they must
  // be converted; `squares` must outlive them.
  Rows checked(std::vector<double>& squares) const;
  // Of rows that need no copy: their sum of squares is that of what the user holds.
  bool plain() const { return plain_; }
  void check(Count i, Scratch& scratch) const { sparse_ ? void(sparse_row(i, scratch)) : void(dense_row(i, scratch)); }

  // The features of a sparse row, unchecked; empty if they would have to be converted.
  std::pair<const Index*, const Index*> peek(Count i) const {
    if (!(plain_ && sparse_)) return {};
    const auto [first, last] = span(i);
    const auto* indices = static_cast<const Index*>(csr_.indices);
    return {indices + first, indices + last};
  }
  // A hint that the row comes soon: its first 2 KB, since what follows the machine finds by itself. Inlined: see
  // prefetch.hpp.
  LOPSIDED_INLINE void fetch(Count i) const {
    const auto lines = [](const void* base, Count first, Count last, Count size) __attribute__((always_inline)) {
      const auto from = reinterpret_cast<std::uintptr_t>(base) + first * size, bytes = (last - first) * size;
      for (Count at = 0; at < std::min<Count>(bytes, 2048); at += 64)
        __builtin_prefetch(reinterpret_cast<const void*>(from + at));
    };
    if (plain_ && sparse_) {
      const auto [first, last] = span(i);
      lines(csr_.indices, first, last, sizeof(Index));
      lines(csr_.values, first, last, sizeof(double));
    } else if (!sparse_) {
      const auto first = static_cast<Count>(static_cast<std::ptrdiff_t>(i) * dense_.row_stride);
      lines(dense_.data, first, first + static_cast<Count>(columns_), dense_.single ? 4 : 8);
    }
  }

 private:
  LOPSIDED_INLINE std::pair<Count, Count> span(Count i) const {
    const auto pair = [&](const auto* starts) {
      return std::pair<Count, Count>(static_cast<Count>(starts[i]), static_cast<Count>(starts[i + 1]));
    };
    return csr_.wide_starts ? pair(static_cast<const std::int64_t*>(csr_.starts))
                            : pair(static_cast<const std::int32_t*>(csr_.starts));
  }
  void refuse_starts() const;
  template <class Value>
  void gather(Count i, Scratch& scratch) const;
  LOPSIDED_INLINE DenseRow dense_row(Count i, Scratch& scratch) const {
    if (plain_) [[likely]] {
      const double* values =
          static_cast<const double*>(dense_.data) + static_cast<std::ptrdiff_t>(i) * dense_.row_stride;
      const double square = squares_ ? squares_[i] : dense_square(values, columns_);
      if (is_plain_square(square)) [[likely]]
        return {values, columns_, square};
    }
    const DenseRow row = careful_dense_row(i, scratch);
    return {row.values, row.size, row.square};
  }
  DenseRow careful_dense_row(Count i, Scratch& scratch) const;
  DenseRow scattered(Count i, Scratch& scratch) const;
  LOPSIDED_INLINE SparseRow sparse_row(Count i, Scratch& scratch) const {
    if (plain_) [[likely]] {
      const auto [first, last] = span(i);
      const auto n = static_cast<Index>(last - first);
      const Index* indices = static_cast<const Index*>(csr_.indices) + first;
      const double* values = static_cast<const double*>(csr_.values) + first;
      const double square = squares_ ? squares_[i] : sparse_square(values, n);
      if (is_plain_square(square) && (trusted_ || in_order(indices, n))) [[likely]]
        return {indices, values, n, square};
    }
    // Taken apart, so that the row of the fast way lives in registers.
    const SparseRow row = careful_sparse_row(i, scratch);
    return {row.indices, row.values, row.size, row.square};
  }
  LOPSIDED_INLINE bool in_order(const Index* indices, Index n) const {
    if (n == 0) return true;
    const bool outside = (indices[0] < 0) | (indices[n - 1] >= columns_);
    return !(outside | falls(indices, n));
  }
  // Whether an index is not above the one before it. Eight at a time, the last eight once more where need be.
  LOPSIDED_INLINE static bool falls(const Index* indices, Index n) {
    if (n <= 8) {
      int found = 0;
      for (Index k = 1; k < n; ++k) found |= indices[k] <= indices[k - 1];
      return found != 0;
    }
    typedef Index Eight __attribute__((vector_size(32)));
    const auto at = [indices](Index k) __attribute__((always_inline)) {
      Eight out;
      std::memcpy(&out, indices + k, sizeof out);
      return out;
    };
    Eight found = at(n - 8) <= at(n - 9);
    for (Index k = 1; k + 8 < n; k += 8) found |= at(k) <= at(k - 1);
    std::uint64_t bits[4];
    std::memcpy(bits, &found, sizeof bits);
    return ((bits[0] | bits[1]) | (bits[2] | bits[3])) != 0;
  }
  SparseRow careful_sparse_row(Count i, Scratch& scratch) const;
  SparseRow sorted(const SparseRow& row, Count i, Scratch& scratch) const;

  Count size_;
  Index columns_;
  bool sparse_;
  bool plain_;  // doubles side by side, indices of 32 bits: no row needs a copy
  bool trusted_ = false;  // rows with a plain square are sound
  const double* squares_ = nullptr;  // of the rows, if known
  Dense dense_{};
  Csr csr_{};
};

}  // namespace lopsided
