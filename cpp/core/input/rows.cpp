#include "rows.hpp"

#include <algorithm>
#include <sstream>

#include "../numbers/loops.hpp"

namespace lopsided {

namespace {

[[noreturn]] void out_of_range(std::int64_t index, Index columns, Count i) {
  std::ostringstream text;
  text << "column index " << index << " is outside 0.." << columns - 1;
  throw DataError(text.str(), static_cast<std::int64_t>(i));
}

// The sum of squares; throws if the values are unusable.
double checked_square(const double* values, const Index* indices, Index n, Count i) {
  const double square = indices ? sparse_square(values, n) : loops::squares(values, n);
  if (is_plain_square(square)) return square;
  if (square == 0 && std::all_of(values, values + n, [](double v) { return v == 0; })) return 0;
  for (Index k = 0; k < n; ++k) {
    const std::int64_t column = indices ? indices[k] : k;
    if (std::isnan(values[k])) throw DataError("NaN", static_cast<std::int64_t>(i), column);
    if (std::isinf(values[k])) throw DataError("inf", static_cast<std::int64_t>(i), column);
  }
  if (square < 1) throw DataError("values too small: their squares vanish", static_cast<std::int64_t>(i));
  throw DataError("values too large: their squares overflow", static_cast<std::int64_t>(i));
}

// By column; cells of one column stay in their order.
void sort_cells(std::vector<Scratch::Cell>& cells) {
  const auto before = [](const Scratch::Cell& a, const Scratch::Cell& b) { return a.index < b.index; };
  if (cells.size() > 32) return std::stable_sort(cells.begin(), cells.end(), before);
  for (std::size_t k = 1; k < cells.size(); ++k) {
    const Scratch::Cell cell = cells[k];
    std::size_t at = k;
    for (; at > 0 && before(cell, cells[at - 1]); --at) cells[at] = cells[at - 1];
    cells[at] = cell;
  }
}

}  // namespace

Rows::Rows(const Csr& csr, Count size, Index columns)
    : size_(size),
      columns_(columns),
      sparse_(true),
      plain_(!csr.wide_indices && !csr.single),
      trusted_(csr.trusted),
      squares_(csr.squares),
      csr_(csr) {
  const auto check = [&](const auto* starts) {
    int falls = starts[0] != 0;
    for (Count i = 0; i < size; ++i) falls |= starts[i + 1] < starts[i];
    if (falls || static_cast<Count>(starts[size]) > csr.stored) refuse_starts();
  };
  if (csr.wide_starts) check(static_cast<const std::int64_t*>(csr.starts));
  else check(static_cast<const std::int32_t*>(csr.starts));
  if (csr.stored > static_cast<Count>(max_features))
    for (Count i = 0; i < size; ++i)
      if (span(i).second - span(i).first > static_cast<Count>(max_features)) refuse_starts();
}

Rows Rows::part(Count first, Count last) const {
  Rows out = *this;
  out.size_ = last - first;
  const auto moved = [first](const void* data, std::ptrdiff_t bytes) {
    return static_cast<const char*>(data) + static_cast<std::ptrdiff_t>(first) * bytes;
  };
  if (squares_) out.squares_ = squares_ + first;
  if (sparse_) {
    out.csr_.starts = moved(csr_.starts, csr_.wide_starts ? 8 : 4);
    out.csr_.stored = first < last ? span(last - 1).second - span(first).first : 0;
  } else {
    out.dense_.data = moved(dense_.data, dense_.row_stride * (dense_.single ? 4 : 8));
  }
  return out;
}

// Throws for the first row whose start is wrong.
void Rows::refuse_starts() const {
  Count before = 0;
  for (Count i = 0; i < size_; ++i) {
    const auto [first, last] = span(i);
    if (first != before || last < first || last > csr_.stored || last - first > max_features)
      throw DataError("indptr must start at 0, never fall, and end within the stored values",
                      static_cast<std::int64_t>(i));
    before = last;
  }
}

template <class Value>
void Rows::gather(Count i, Scratch& scratch) const {
  scratch.values.resize(static_cast<std::size_t>(columns_));
  const Value* from = static_cast<const Value*>(dense_.data) + static_cast<std::ptrdiff_t>(i) * dense_.row_stride;
  for (Index j = 0; j < columns_; ++j) scratch.values[j] = from[j * dense_.column_stride];
}

Rows Rows::checked(std::vector<double>& squares) const {
  squares.resize(size_);
  LOPSIDED_BEST(look_at_all(*this, squares.data()));
  Rows out = *this;
  out.squares_ = squares.data();
  out.trusted_ = true;
  return out;
}

DenseRow Rows::careful_dense_row(Count i, Scratch& scratch) const {
  const double* values = scratch.values.data();
  if (dense_.single) {
    gather<float>(i, scratch);
    values = scratch.values.data();
  } else if (dense_.column_stride != 1) {
    gather<double>(i, scratch);
    values = scratch.values.data();
  } else {
    values = static_cast<const double*>(dense_.data) + static_cast<std::ptrdiff_t>(i) * dense_.row_stride;
  }
  return {values, columns_, checked_square(values, nullptr, columns_, i)};
}

SparseRow Rows::careful_sparse_row(Count i, Scratch& scratch) const {
  const auto [first, last] = span(i);
  const auto n = static_cast<Index>(last - first);
  const Index* indices = static_cast<const Index*>(csr_.indices) + first;
  if (csr_.wide_indices) {
    const auto* wide = static_cast<const std::int64_t*>(csr_.indices) + first;
    scratch.indices.resize(n);
    for (Index k = 0; k < n; ++k) {
      if (wide[k] < 0 || wide[k] >= columns_) out_of_range(wide[k], columns_, i);
      scratch.indices[k] = static_cast<Index>(wide[k]);
    }
    indices = scratch.indices.data();
  }
  const double* values = static_cast<const double*>(csr_.values) + first;
  if (csr_.single) {
    const auto* single = static_cast<const float*>(csr_.values) + first;
    scratch.values.assign(single, single + n);
    values = scratch.values.data();
  }
  const SparseRow row{indices, values, n, checked_square(values, indices, n, i)};
  if (csr_.trusted) return row;
  if (!loops::increasing(indices, n)) return sorted(row, i, scratch);
  if (n > 0 && indices[0] < 0) out_of_range(indices[0], columns_, i);
  if (n > 0 && indices[n - 1] >= columns_) out_of_range(indices[n - 1], columns_, i);
  return row;
}

// A CSR row as a dense one, for models that subtract means.
DenseRow Rows::scattered(Count i, Scratch& scratch) const {
  Scratch own;
  const SparseRow x = sparse_row(i, own);
  scratch.values.assign(columns_, 0);
  x.for_each([&](Index j, double v) { scratch.values[j] = v; });
  return {scratch.values.data(), columns_, x.square};
}

// Columns in order, duplicates summed. Tables with categories have such rows, of a few cells: no memory is allocated.
SparseRow Rows::sorted(const SparseRow& row, Count i, Scratch& scratch) const {
  auto& cells = scratch.cells;
  cells.resize(static_cast<std::size_t>(row.size));
  for (Index k = 0; k < row.size; ++k) cells[k] = {row.indices[k], row.values[k]};
  sort_cells(cells);
  scratch.indices.resize(cells.size());
  scratch.values.resize(cells.size());
  Index n = 0;
  for (const Scratch::Cell& cell : cells) {
    if (cell.index < 0 || cell.index >= columns_) out_of_range(cell.index, columns_, i);
    if (n > 0 && scratch.indices[n - 1] == cell.index) {
      scratch.values[n - 1] += cell.value;
    } else {
      scratch.indices[n] = cell.index;
      scratch.values[n++] = cell.value;
    }
  }
  const Index* indices = scratch.indices.data();
  const double* values = scratch.values.data();
  return {indices, values, n, checked_square(values, indices, n, i)};
}

}  // namespace lopsided
