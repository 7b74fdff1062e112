#include "scaling.hpp"

#include <algorithm>

#include "../numbers/loops.hpp"
#include "../numbers/zscore.hpp"

namespace lopsided {

void Prepare::reserve(std::size_t features) {
  if (standard) spread_.reserve(features);
  if (standard && centred) mean_.reserve(features);
}

void Prepare::grow(std::size_t features) {
  if (standard) spread_.grow(features);
  if (standard && centred) mean_.grow(features);
}

void Prepare::fade() {
  if (!standard) return;
  rows_ /= 2;
  for (std::size_t j = 0; j < spread_.size(); ++j) spread_[j] /= 2;
}

void Prepare::go_back() {
  marked_ = false;
  if (!standard || rows_ == before_.rows) return;  // no row has come
  rows_ = before_.rows;
  for (std::size_t k = 0; k < before_.columns.size(); ++k)
    spread_[static_cast<std::size_t>(before_.columns[k])] = before_.spread[k];
  if (!before_.columns.empty()) return;
  std::ranges::copy(before_.spread, spread_.data());
  std::ranges::copy(before_.mean, mean_.data());
}

DenseRow Prepare::prepared(const DenseRow& raw, Index known, bool keep, Scratch& out) {
  const Index n = std::min(raw.size, known);
  out.values.resize(static_cast<std::size_t>(n + offset()));
  double* z = out.values.data() + offset();
  const double share = 1 / (static_cast<double>(rows_) + 1);
  if (standard && marked_) {
    before_.columns.clear();
    before_.spread.assign(spread_.data(), spread_.data() + n);
    before_.mean.assign(mean_.data(), mean_.data() + (centred ? n : 0));
  }
  if (!standard) std::copy_n(raw.values, n, z);
  else if (centred) loops::centre(raw.values, n, share, mean_.data(), spread_.data(), keep, z);
  else loops::divide(raw.values, n, share, spread_.data(), keep, z);
  rows_ += keep;
  double outside = 0;
  for (Index j = n; j < raw.size; ++j) outside += stranger(raw.values[j], share);
  return finish<DenseRow>(out, n, outside);
}

SparseRow Prepare::prepared(const SparseRow& raw, Index known, bool keep, Scratch& out) {
  out.values.resize(static_cast<std::size_t>(raw.size + offset()));
  out.indices.resize(out.values.size());
  const double share = 1 / (static_cast<double>(rows_) + 1);
  Index* __restrict at = out.indices.data() + offset();
  double* __restrict z = out.values.data() + offset();
  double outside = 0;
  Index n = 0;
  if (keep || all_below(raw, known)) {
    n = raw.size;
    std::copy_n(raw.indices, n, at);
    std::copy_n(raw.values, n, z);
  } else {
    for (Index k = 0; k < raw.size; ++k) {
      at[n] = raw.indices[k];
      z[n] = raw.values[k];
      if (at[n] < known) ++n;
      else outside += stranger(z[n], share);
    }
  }
  if (standard) {
    // Gathered, so that roots and quotients are taken several at a time.
    gathered_.resize(static_cast<std::size_t>(n));
    double* __restrict gathered = gathered_.data();
    double* __restrict spread = spread_.data();
    for (Index k = 0; k < n; ++k) gathered[k] = spread[at[k]];
    if (marked_) {
      before_.columns.assign(at, at + n);
      before_.spread.assign(gathered, gathered + n);
      before_.mean.clear();
    }
    loops::divide(z, n, share, gathered, true, z);
    for (Index k = 0; keep && k < n; ++k) spread[at[k]] = gathered[k];
  }
  rows_ += keep;
  if (intercept) {
    for (Index k = 0; k < n; ++k) ++at[k];
    out.indices[0] = 0;
  }
  return finish<SparseRow>(out, n, outside);
}

// Squared score of a feature never met before.
double Prepare::stranger(double x, double share) const {
  double mean = 0, spread = 0;
  const double z = !standard ? x
                   : centred ? standard::centre(x, mean, spread, share)
                             : standard::divide(x, spread, share);
  return z * z;
}

bool Prepare::all_below(const SparseRow& row, Index known) {
  int above = 0;  // without a way out in the middle: this is several at a time
  for (Index k = 0; k < row.size; ++k) above |= row.indices[k] >= known;
  return above == 0;
}

template <class Row>
Row Prepare::finish(Scratch& out, Index n, double outside) {
  outside_ = outside;
  double* z = out.values.data() + offset();
  double square = std::same_as<Row, SparseRow> ? sparse_square(z, n) : loops::squares(z, n);
  double scale = stretch(square + outside);
  if (intercept) {
    for (Index k = 0; k < n; ++k) z[k] *= scale;
    square = square * scale * scale + 1;
    scale = 1;
    out.values[0] = 1;
    ++n;
  }
  if constexpr (std::same_as<Row, SparseRow>) return {out.indices.data(), out.values.data(), n, square, scale};
  else return {out.values.data(), n, square, scale};
}

}  // namespace lopsided
