// A list of rows with their weights, and the score that they give: what the kernel learners of one list
// have in common.
#pragma once

#include "support.hpp"

namespace lopsided::kernel {

class List {
 public:
  Function kernel;

  double observe(const Kernelled& x) { return score_ = look(x, row_.values); }
  double score(const Kernelled& x) const { return look(x, scored_.values); }

  void clear() { rows_.clear(); }
  void make_sparse() { rows_.make_sparse(); }
  std::size_t bytes() const { return rows_.bytes(); }

  // `most`: how many rows there can be.
  void state(auto&& visit, Shape shape, double most = std::numeric_limits<double>::infinity()) {
    rows_.state(visit, "kept", shape);
    validate(static_cast<double>(rows_.size()) <= most, "kept.size");
  }

 protected:
  // Kernels with every slot into `row`; returns their sum by weight.
  double look(const Kernelled& x, std::vector<double>& row) const {
    row.resize(rows_.room());
    rows_.values(x, kernel, pad_.values, row.data());
    return weighted(rows_.weights(), row.data(), rows_.room());
  }
  void scale(double by) {
    for (std::size_t s = 0; s < rows_.slots(); ++s) {
      double& weight = rows_.weights()[s];
      weight *= by;
      if (std::abs(weight) < 1e-300) weight = 0;  // what is smaller makes arithmetic slow
    }
  }

  Support rows_;
  double score_ = 0;                  // of the row met last
  Passing<std::vector<double>> row_;  // its kernels, by slot

 private:
  mutable Passing<std::vector<double>> scored_;
  mutable Passing<Table> pad_;
};

}  // namespace lopsided::kernel
