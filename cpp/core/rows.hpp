// A batch of examples as the user holds it: dense with any strides or CSR, double or float values,
// 32- or 64-bit indices. A row is read, checked and brought to its plain form one at a time.
#pragma once

#include <utility>

#include "row.hpp"

namespace lopsided {

struct Scratch {
  std::vector<double> values;
  std::vector<Index> indices;
};

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
  };

  Rows(const Dense& dense, Count size, Index columns)
      : size_(size), columns_(columns), sparse_(false), dense_(dense) {}
  Rows(const Csr& csr, Count size, Index columns);

  Count size() const { return size_; }
  Index columns() const { return columns_; }
  bool sparse() const { return sparse_; }
  std::size_t bytes() const {
    return sparse_ ? csr_.stored * (sizeof(double) + sizeof(Index))
                   : size_ * columns_ * sizeof(double);
  }

  template <class Row>
  Row row(Count i, Scratch& scratch) const {
    if constexpr (std::same_as<Row, SparseRow>) return sparse_row(i, scratch);
    else return sparse_ ? scattered(i, scratch) : dense_row(i, scratch);
  }

 private:
  std::pair<Count, Count> span(Count i) const;
  template <class Value>
  void gather(Count i, Scratch& scratch) const;
  DenseRow dense_row(Count i, Scratch& scratch) const;
  DenseRow scattered(Count i, Scratch& scratch) const;
  SparseRow sparse_row(Count i, Scratch& scratch) const;
  SparseRow sorted(const SparseRow& row, Count i, Scratch& scratch) const;

  Count size_;
  Index columns_;
  bool sparse_;
  Dense dense_{};
  Csr csr_{};
};

}  // namespace lopsided
