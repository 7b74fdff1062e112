// Rows that a learner stores.
#pragma once

#include "../input/rows.hpp"
#include "../numbers/loops.hpp"
#include "../numbers/random.hpp"
#include "../simd.hpp"
#include "../stream/pending.hpp"
#include "../validate.hpp"

LOPSIDED_ISA_BEGIN

// Dense rows end at their last nonzero value: the number of known features does not matter.
struct StoredRow {
  bool sparse = false;
  std::vector<double> values;
  std::vector<Index> indices;

  StoredRow() = default;
  explicit StoredRow(const RowLike auto& x) {
    values.reserve(static_cast<std::size_t>(x.size));
    x.for_each([&](Index, double v) { values.push_back(v); });
    if constexpr (requires { x.indices; }) {
      sparse = true;
      indices.assign(x.indices, x.indices + x.size);
    } else {
      while (!values.empty() && values.back() == 0) values.pop_back();
    }
  }

  void add_to(double* w, double step) const {
    if (sparse) as_sparse().add_to(w, step);
    else as_dense().add_to(w, step);
  }
  double dot(const double* w) const { return sparse ? as_sparse().dot(w) : as_dense().dot(w); }
  std::size_t bytes() const { return sizeof(StoredRow) + 8 * values.size() + 4 * indices.size(); }

 private:
  Index size() const { return static_cast<Index>(values.size()); }
  DenseRow as_dense() const { return {values.data(), size(), 0}; }
  SparseRow as_sparse() const { return {indices.data(), values.data(), size(), 0}; }
};

// A uniform sample of at most `room` rows of one class (Vitter 1985, algorithm R).
class Reservoir {
 public:
  double room = 100;

  // `draw` returns uniform numbers from [0, 1).
  void add(const RowLike auto& x, auto draw) {
    ++seen_;
    const double size = static_cast<double>(rows_.size());
    if (size < room) {
      rows_.emplace_back(x);
      bytes_ += rows_.back().bytes();
    } else if (draw() * static_cast<double>(seen_) < room) {
      StoredRow& old = rows_[static_cast<std::size_t>(draw() * room)];
      bytes_ -= old.bytes();
      old = StoredRow(x);
      bytes_ += old.bytes();
    }
  }

  const std::vector<StoredRow>& rows() const { return rows_; }
  // Rows of the class per stored row, at least 1.
  double share() const { return std::max(1.0, static_cast<double>(seen_) / room); }
  std::size_t bytes() const { return bytes_; }

  // `columns`: how many features a row can have.
  void state(auto&& visit, const char* seen, const char* rows, std::size_t columns) {
    visit(seen, seen_);
    Series all;
    if (!visit.restores())
      for (const StoredRow& row : rows_) write(row, all.values);
    visit(rows, all);
    if (!visit.restores()) return;
    rows_.clear();
    bytes_ = 0;
    for (auto at = all.values.cbegin(); at != all.values.cend(); bytes_ += rows_.back().bytes())
      rows_.push_back(read(at, all.values.cend(), columns, rows));
    validate(static_cast<double>(rows_.size()) == std::min(room, static_cast<double>(seen_)), seen);
  }

 private:
  using At = std::vector<double>::const_iterator;

  static void write(const StoredRow& row, std::vector<double>& out) {
    out.push_back(static_cast<double>(row.values.size()));
    out.push_back(row.sparse);
    out.insert(out.end(), row.values.begin(), row.values.end());
    out.insert(out.end(), row.indices.begin(), row.indices.end());
  }
  static StoredRow read(At& at, At end, std::size_t columns, const char* entry) {
    const auto check = [=](bool valid) { validate(valid, entry); };
    check(end - at >= 2);
    StoredRow row;
    row.sparse = at[1] != 0;
    const double n = at[0];
    check(is_whole(n, static_cast<double>(columns) + 1) &&
          n * (row.sparse ? 2 : 1) <= static_cast<double>(end - at - 2));
    at += 2;
    const At last = at + static_cast<std::ptrdiff_t>(n);
    row.values.assign(at, last);
    check(all_finite(row.values));
    at = last;
    if (!row.sparse) return row;
    for (std::size_t k = 0; k < row.values.size(); ++k, ++at) {
      check(is_whole(*at, static_cast<double>(columns)));
      row.indices.push_back(static_cast<Index>(*at));
    }
    check(are_features(row.indices, columns));
    return row;
  }

  Count seen_ = 0;
  std::vector<StoredRow> rows_;
  std::size_t bytes_ = 0;
};

LOPSIDED_ISA_END
