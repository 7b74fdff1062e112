// From a raw row to the row a learner sees: running standard scores, unit length, a constant.
//
// The features of a row are absorbed into the running statistics before it is scaled, so a standard
// score is never larger than the root of the number of rows. A row that is only scored (keep =
// false) is scaled as if it came next.
#pragma once

#include "../input/rows.hpp"

namespace lopsided {

class Prepare {
 public:
  bool unit = false;
  bool standard = false;
  bool centred = false;    // of standard: subtract the mean (dense streams)
  bool intercept = false;  // put the constant 1 in front, after scaling

  Index offset() const { return intercept ? 1 : 0; }

  // Features from `known` on have no state: they count in the length and are then left out. Prepared rows are taken
  // apart, so that those that need nothing live in registers.
  LOPSIDED_INLINE DenseRow row(const DenseRow& raw, Index known, bool keep, Scratch& out) {
    if (standard || intercept || raw.size > known) {
      const DenseRow x = prepared(raw, known, keep, out);
      return {x.values, x.size, x.square, x.scale};
    }
    return {raw.values, raw.size, raw.square, stretch(raw.square)};
  }
  LOPSIDED_INLINE SparseRow row(const SparseRow& raw, Index known, bool keep, Scratch& out) {
    if (standard || intercept || !(keep || all_below(raw, known))) {
      const SparseRow x = prepared(raw, known, keep, out);
      return {x.indices, x.values, x.size, x.square, x.scale};
    }
    return {raw.indices, raw.values, raw.size, raw.square, stretch(raw.square)};
  }

  // Squared length of what was left out of the last row: the scores of features without state.
  double outside() const { return outside_; }

  // The next row can be taken back, until `unmark`.
  void mark() { marked_ = true, before_.rows = rows_; }
  void unmark() { marked_ = false; }
  void go_back();

  // Rows so far count half.
  void fade();
  void reserve(std::size_t features);
  void grow(std::size_t features);
  void options(auto&& visit) {
    visit("unit", unit);
    visit("standard", standard);
    visit("centred", centred);
    visit("intercept", intercept);
  }
  void state(auto&& visit) {
    if (!standard) return;
    visit("scaling.rows", rows_);
    if (centred) visit("scaling.mean", mean_);
    visit("scaling.spread", spread_);
  }

 private:
  DenseRow prepared(const DenseRow& raw, Index known, bool keep, Scratch& out);
  SparseRow prepared(const SparseRow& raw, Index known, bool keep, Scratch& out);
  template <class Row>
  Row finish(Scratch& out, Index n, double outside);
  double stranger(double x, double share) const;
  double stretch(double square) const { return unit && square > 0 ? 1 / std::sqrt(square) : 1; }
  static bool all_below(const SparseRow& row, Index known);

  Count rows_ = 0;
  Vector mean_;    // of each feature, when centred
  Vector spread_;  // sum of squared distances from the mean, or from 0 when not centred
  std::vector<double> gathered_;
  struct Before {  // statistics that a marked row overwrote
    Count rows = 0;
    std::vector<Index> columns;  // none: the first ones
    std::vector<double> mean, spread;
  };
  bool marked_ = false;
  Before before_;
  double outside_ = 0;
};

}  // namespace lopsided
