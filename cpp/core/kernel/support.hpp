// The support vectors of a kernel learner with their weights, as a list: oldest first, unless rows are replaced in place.
// Dense rows are interleaved in tiles, sparse rows stay sparse.
//
// Each row has a slot. The list is a ring of slots: its first row is in slot `first`.
#pragma once

#include "../learner.hpp"
#include "../stream/scaling.hpp"
#include "../validate.hpp"
#include "functions.hpp"

namespace lopsided::kernel {

// Scratch space that is not copied with a model.
template <class Values>
struct ScratchOf {
  ScratchOf() = default;
  ScratchOf(const ScratchOf&) {}
  ScratchOf& operator=(const ScratchOf&) { return *this; }
  Values values{};
};

// The form of all rows of a list: how many features they can have, and whether they are sparse.
struct Shape {
  std::size_t features;
  bool sparse;
};

// A row as it is stored: values multiplied by its scale; sparse rows in the order of the features.
struct StoredRow {
  bool sparse = false;
  std::vector<double> values;  // dense: of features 0, 1, ...
  std::vector<Index> indices;
  double square = 0, length = 0;  // inner(x, x) for either distance: x.x and |x|_1

  double self(Form form) const { return form == Form::laplacian ? length : square; }
  std::size_t bytes() const { return sizeof *this + 8 * values.size() + 4 * indices.size(); }

  void take(const DenseRow& x, bool as_sparse) {
    begin(as_sparse);
    if (as_sparse) {
      for (Index j = 0; j < x.size; ++j) add(j, x.scale * x.values[j]);
    } else {
      values.resize(static_cast<std::size_t>(x.size));
      for (Index j = 0; j < x.size; ++j) values[j] = x.scale * x.values[j];
    }
    finish();
  }
  void take(const SparseRow& x, bool as_sparse) {
    begin(as_sparse);
    if (!as_sparse) {
      for (Index k = 0; k < x.size; ++k) {
        const auto j = static_cast<std::size_t>(x.indices[k]);
        if (j >= values.size()) values.resize(j + 1);
        values[j] = x.scale * x.values[k];
      }
    } else if (std::is_sorted(x.indices, x.indices + x.size)) {
      for (Index k = 0; k < x.size; ++k) add(x.indices[k], x.scale * x.values[k]);
    } else {
      std::vector<Index> order(static_cast<std::size_t>(x.size));
      for (Index k = 0; k < x.size; ++k) order[k] = k;
      std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x.indices[a] < x.indices[b]; });
      for (const Index k : order) add(x.indices[k], x.scale * x.values[k]);
    }
    finish();
  }
  void make_sparse() {
    const std::vector<double> all = std::move(values);
    take(DenseRow{all.data(), static_cast<Index>(all.size()), 0}, true);
  }

 private:
  void begin(bool as_sparse) {
    sparse = as_sparse;
    values.clear();
    indices.clear();
  }
  void add(Index j, double v) {
    if (v == 0) return;
    indices.push_back(j);
    values.push_back(v);
  }
  void finish() {
    double squares = 0, sizes = 0;  // local, so that they stay in registers
    for (const double v : values) squares += v * v, sizes += std::abs(v);
    square = squares, length = sizes;
  }
};

class Support {
 public:
  std::size_t size() const { return size_; }
  std::size_t slots() const { return slots_; }  // in use or free
  std::size_t room() const {
    return (slots_ + tile_rows - 1) / tile_rows * tile_rows;
  }  // length of an array by slot, padded
  std::size_t first() const { return first_; }
  std::size_t slot(std::size_t position) const { return (first_ + position) % slots_; }
  std::size_t position(std::size_t slot) const { return (slot + slots_ - first_) % slots_; }
  double* weights() { return weights_.data(); }  // by slot, 0 in free slots
  const double* weights() const { return weights_.data(); }

  double self(std::size_t slot, Form form) const { return (form == Form::laplacian ? lengths_ : squares_)[slot]; }

  // Visits the slots in the order of the list until `found` returns true.
  template <class Found>
  std::size_t find(Found found) const {
    const std::size_t end = first_ + size_;
    for (std::size_t s = first_; s < std::min(end, slots_); ++s)
      if (found(s)) return s;
    for (std::size_t s = slots_; s < end; ++s)
      if (found(s - slots_)) return s - slots_;
    return slots_;
  }

  // Inner sums of a row with every slot; `out` has `room()` entries. `pad` must be all zeros and is again afterwards.
  void inner(const StoredRow& x, Form form, Table& pad, double* out) const {
    if (!sparse_) {
      (form == Form::laplacian ? overlaps : dots)(tiles_.data(), slots_, x.values.data(), x.values.size(), out);
      return;
    }
    std::fill_n(out, room(), 0.0);
    if (slots_ == 0 || x.indices.empty()) return;
    pad.grow(std::max(features_, static_cast<std::size_t>(x.indices.back()) + 1));
    double* wide = pad.data();
    for (std::size_t k = 0; k < x.indices.size(); ++k) wide[x.indices[k]] = x.values[k];
    if (form == Form::laplacian) sums(wide, out, [](double v, double z) { return overlap(v, z); });
    else sums(wide, out, [](double v, double z) { return v * z; });
    for (const Index j : x.indices) wide[j] = 0;
  }
  // Kernel values of a row with every slot.
  void values(const StoredRow& x, const Function& kernel, Table& pad, double* out) const {
    inner(x, kernel.form, pad, out);
    const Aligned& selves = kernel.form == Form::laplacian ? lengths_ : squares_;
    kernel.apply(x.self(kernel.form), selves.data(), (slots_ + 3) / 4 * 4, out);
  }

  // Appends to the list. Returns the slot; rows change slots only if some were freed before.
  std::size_t push_back(const StoredRow& x, double weight) {
    if (size_ == slots_) {
      if (first_ > 0) straighten();
      ++slots_;
      weights_.resize(room());
      squares_.resize(room());
      lengths_.resize(room());
      if (sparse_ || (slots_ == 1 && x.sparse)) grow_sparse();
      else tiles_.resize(room() / tile_rows);
    }
    const std::size_t s = slot(size_++);
    write(s, x, weight);
    return s;
  }
  // Removes the first row of the list. Returns its slot.
  std::size_t pop_front() {
    const std::size_t s = first_;
    write(s, {sparse_, {}, {}}, 0);
    first_ = --size_ == 0 ? 0 : (first_ + 1) % slots_;
    return s;
  }
  // Replaces the first row of the list and appends in its slot; all slots must be in use.
  void turn(const StoredRow& x, double weight) {
    write(first_, x, weight);
    first_ = (first_ + 1) % slots_;
  }
  // Replaces the row in a slot.
  void write(std::size_t s, const StoredRow& x, double weight) {
    weights_[s] = weight;
    squares_[s] = x.square;
    lengths_[s] = x.length;
    features_ =
        std::max(features_, x.sparse ? (x.indices.empty() ? 0 : x.indices.back() + std::size_t{1}) : x.values.size());
    if (sparse_) {
      bytes_ += x.bytes() - rows_[s].bytes();
      rows_[s] = x;
      return;
    }
    Aligned& tile = tiles_[s / tile_rows];
    if (tile.size() < x.values.size() * tile_rows) tile.resize(x.values.size() * tile_rows);
    double* at = tile.data() + s % tile_rows;
    const std::size_t n = x.values.size(), all = tile.size() / tile_rows;
    for (std::size_t j = 0; j < n; ++j) at[j * tile_rows] = x.values[j];
    for (std::size_t j = n; j < all; ++j) at[j * tile_rows] = 0;
  }
  void read(std::size_t s, StoredRow& out) const {
    if (sparse_) {
      out = rows_[s];
      return;
    }
    const Aligned& tile = tiles_[s / tile_rows];
    out.sparse = false;
    out.indices.clear();
    out.values.resize(tile.size() / tile_rows);
    for (std::size_t j = 0; j < out.values.size(); ++j) out.values[j] = tile[j * tile_rows + s % tile_rows];
    out.square = squares_[s];
    out.length = lengths_[s];
  }

  void make_sparse() {
    if (sparse_) return;
    rows_.resize(slots_);
    for (std::size_t s = 0; s < slots_; ++s) {
      read(s, rows_[s]);
      rows_[s].make_sparse();
      bytes_ += rows_[s].bytes();
    }
    tiles_.clear();
    sparse_ = true;
  }
  void clear() { *this = {}; }
  std::size_t bytes() const { return (sparse_ ? bytes_ : 8 * slots_ * features_) + 24 * room(); }

  // Rows in the order of their slots: dense ones with `features` values each, or sparse ones as ends, indices and values.
  void state(auto&& visit, const std::string& name, Shape shape) {
    Count slots = slots_, size = size_, first = first_, sparse = sparse_;
    Series weights, values, indices, ends;
    if (!visit.restores()) {
      weights.values.assign(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(slots_));
      write_out(shape.features, values.values, indices.values, ends.values);
    }
    visit((name + ".slots").c_str(), slots);
    visit((name + ".size").c_str(), size);
    visit((name + ".first").c_str(), first);
    visit((name + ".sparse").c_str(), sparse);
    visit(("kept." + name + ".weights").c_str(), weights);
    visit(("kept." + name + ".values").c_str(), values);
    if (sparse) {
      visit(("kept." + name + ".indices").c_str(), indices);
      visit(("kept." + name + ".ends").c_str(), ends);
    }
    if (!visit.restores()) return;
    validate(weights.values.size() == slots && all_finite(weights.values), "kept." + name + ".weights");
    validate(size <= slots, name + ".size");
    validate(slots == 0 ? first == 0 : first < slots, name + ".first");
    // An empty list becomes sparse with its first row.
    validate(sparse == shape.sparse || (slots == 0 && sparse == 0), name + ".sparse");
    clear();
    sparse_ = sparse;
    if (sparse) read_sparse(name, shape.features, weights.values, values.values, indices.values, ends.values);
    else read_dense(name, shape.features, weights.values, values.values);
    size_ = size;
    first_ = first;
  }

 private:
  // Rows beyond these bounds are never stored: arithmetic on them overflows.
  void restore_row(const StoredRow& x, double weight, const std::string& entry) {
    validate(x.square < 1e300 && x.length < 1e300, entry);
    push_back(x, weight);
  }
  void read_dense(const std::string& name, std::size_t features, const std::vector<double>& weights,
                  const std::vector<double>& values) {
    const std::string entry = "kept." + name + ".values";
    const std::size_t n = weights.size();
    validate(n == 0 ? values.empty() : values.size() % n == 0 && values.size() / n == features, entry);
    StoredRow x;
    for (std::size_t s = 0; s < n; ++s) {
      x.take(DenseRow{values.data() + s * features, static_cast<Index>(features), 0}, false);
      restore_row(x, weights[s], entry);
    }
  }
  void read_sparse(const std::string& name, std::size_t features, const std::vector<double>& weights,
                   const std::vector<double>& values, const std::vector<double>& indices,
                   const std::vector<double>& ends) {
    const std::string entry = "kept." + name;
    validate(ends.size() == weights.size(), entry + ".ends");
    validate(indices.size() == values.size(), entry + ".indices");
    StoredRow x;
    std::vector<Index> where;
    std::size_t at = 0;
    for (std::size_t s = 0; s < weights.size(); ++s) {
      validate(is_whole(ends[s], static_cast<double>(values.size()) + 1) && ends[s] >= static_cast<double>(at),
               entry + ".ends");
      where.clear();
      for (std::size_t k = at; k < static_cast<std::size_t>(ends[s]); ++k) {
        validate(is_whole(indices[k], static_cast<double>(features)), entry + ".indices");
        where.push_back(static_cast<Index>(indices[k]));
        validate(where.size() < 2 || where[where.size() - 2] < where.back(), entry + ".indices");
      }
      x.take(SparseRow{where.data(), values.data() + at, static_cast<Index>(where.size()), 0}, true);
      restore_row(x, weights[s], entry + ".values");
      at = static_cast<std::size_t>(ends[s]);
    }
    validate(at == values.size(), entry + ".ends");
  }
  void write_out(std::size_t features, std::vector<double>& values, std::vector<double>& indices,
                 std::vector<double>& ends) const {
    StoredRow x;
    for (std::size_t s = 0; s < slots_; ++s) {
      read(s, x);
      values.insert(values.end(), x.values.begin(), x.values.end());
      if (sparse_) {
        indices.insert(indices.end(), x.indices.begin(), x.indices.end());
        ends.push_back(static_cast<double>(values.size()));
      } else {
        values.resize((s + 1) * features);
      }
    }
  }
  // Inner sums of sparse rows with the row in `wide`, four at a time (each sum is a dependency chain).
  template <class Term>
  void sums(const double* wide, double* out, Term term) const {
    for (std::size_t s = 0; s < slots_; s += 4) {
      const std::size_t rows = std::min(std::size_t{4}, slots_ - s);
      std::size_t n[4] = {}, common = std::numeric_limits<std::size_t>::max();
      const Index* indices[4];
      const double* values[4];
      for (std::size_t r = 0; r < 4; ++r) {
        if (r < rows) n[r] = rows_[s + r].values.size();
        const StoredRow& z = rows_[s + (r < rows ? r : 0)];
        indices[r] = z.indices.data(), values[r] = z.values.data();
        common = std::min(common, n[r]);
      }
      double sum[4] = {};
      for (std::size_t k = 0; k < common; ++k)
        for (std::size_t r = 0; r < 4; ++r) sum[r] += term(wide[indices[r][k]], values[r][k]);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t k = common; k < n[r]; ++k) sum[r] += term(wide[indices[r][k]], values[r][k]);
        out[s + r] = sum[r];
      }
    }
  }
  void grow_sparse() {
    sparse_ = true;
    rows_.resize(slots_);
    bytes_ += rows_.back().bytes();
  }
  // Rotates the list so that its first row is in slot 0.
  void straighten() {
    std::vector<std::pair<StoredRow, double>> all(size_);
    for (std::size_t p = 0; p < size_; ++p) {
      read(slot(p), all[p].first);
      all[p].second = weights_[slot(p)];
    }
    first_ = 0;
    for (std::size_t p = 0; p < size_; ++p) write(p, all[p].first, all[p].second);
  }

  bool sparse_ = false;
  std::size_t slots_ = 0, size_ = 0, first_ = 0;
  std::size_t features_ = 0;  // of the widest row ever stored
  std::vector<Aligned> tiles_;
  std::vector<StoredRow> rows_;
  std::size_t bytes_ = 0;  // of sparse rows
  Aligned weights_, squares_, lengths_;
};

}  // namespace lopsided::kernel
