// A list of support vectors and the score that they give: the common part of kernel learners with one list.
#pragma once

#include "support.hpp"

namespace lopsided::kernel {

class List {
 public:
  Function kernel;

  double observe(const StoredRow& x) { return score_ = look(x, row_.values); }
  double score(const StoredRow& x) const { return look(x, scored_.values); }

  void clear() { rows_.clear(); }
  void make_sparse() { rows_.make_sparse(); }
  std::size_t bytes() const { return rows_.bytes(); }

  // `most`: the capacity.
  void state(auto&& visit, Shape shape, double most = std::numeric_limits<double>::infinity()) {
    rows_.state(visit, "kept", shape);
    validate(static_cast<double>(rows_.size()) <= most, "kept.size");
  }

 protected:
  // Writes the kernel values with every slot to `row`; returns their weighted sum.
  double look(const StoredRow& x, std::vector<double>& row) const {
    row.resize(rows_.room());
    rows_.values(x, kernel, pad_.values, row.data());
    return weighted(rows_.weights(), row.data(), rows_.room());
  }
  void scale(double by) {
    for (std::size_t s = 0; s < rows_.slots(); ++s) {
      double& weight = rows_.weights()[s];
      weight *= by;
      if (std::abs(weight) < 1e-300) weight = 0;  // avoid slow arithmetic on subnormals
    }
  }

  Support rows_;
  double score_ = 0;                  // of the row observed last
  ScratchOf<std::vector<double>> row_;  // its kernel values, by slot

 private:
  mutable ScratchOf<std::vector<double>> scored_;
  mutable ScratchOf<Table> pad_;
};

}  // namespace lopsided::kernel
