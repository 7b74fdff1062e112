// What surrounds the rule of every kernel learner: the form of stored rows, the kernel, and a gamma that is estimated from
// the first rows.
//
// gamma = 0 stands for 1 / median of the nonzero distances between the first 50 rows (squared for gaussian);
// 1 if all are 0. Until then, every new row re-estimates it from the rows so far, and the rule learns them again with
// it: the model is always the one that knew its gamma from the start.
//
// A rule has: kernel; observe(row), its score, after which learn(row, target) learns from that row; score(row),
// which changes nothing; clear(), which leaves the options; make_sparse(), options, state and bytes.
#pragma once

#include "support.hpp"

namespace lopsided {

template <class Rule>
class KernelLearner {
 public:
  static constexpr Hooks hooks{.observe = true, .reserve = true, .grow = true, .new_features = true};

  static constexpr std::size_t settling = 50;  // rows that gamma is estimated from
  static constexpr std::size_t few = 256;  // features up to which sparse rows are stored dense

  Rule rule;

  double observe(const RowLike auto& x) {
    if (!started_) {
      started_ = 1;
      sparse_rows_ = std::same_as<std::remove_cvref_t<decltype(x)>, SparseRow>;
    }
    met_.values.take(x, sparse());
    return possible(met_.values) ? rule.observe(met_.values) : impossible;
  }
  double score(const RowLike auto& x) const {
    scored_.values.take(x, sparse());
    return possible(scored_.values) ? rule.score(scored_.values) : impossible;
  }
  bool learn(const RowLike auto&, const Target& t, double) {
    return settled() ? rule.learn(met_.values, t) : learn_anew(t);
  }

  void set_kernel(kernel::Form form, double gamma, double degree, double coef0) {
    rule.kernel = {form, gamma > 0 ? gamma : 1, degree, coef0};
    gamma_ = gamma;
  }

  void reserve(std::size_t) {}
  void grow(std::size_t features) {
    features_ = features;
    if (!sparse()) return;
    rule.make_sparse();
    first_.make_sparse();
  }
  std::size_t bytes() const { return rule.bytes() + first_.bytes(); }

  void options(auto&& visit) {
    visit("kernel", rule.kernel.form, {"gaussian", "laplacian", "linear", "polynomial"});
    visit("gamma", gamma_);
    visit("degree", rule.kernel.degree);
    visit("coef0", rule.kernel.coef0);
    rule.options(visit);
    if (gamma_ > 0) rule.kernel.gamma = gamma_;
  }
  void state(auto&& visit) {
    visit("kernel.started", started_);
    visit("kernel.sparse", sparse_rows_);
    visit("kernel.taken", taken_);
    validate(started_ <= 1, "kernel.started");
    validate(sparse_rows_ <= started_, "kernel.sparse");
    validate(taken_ <= started_, "kernel.taken");
    visit("kernel.gamma", rule.kernel.gamma);
    validate(rule.kernel.gamma > 0 && std::isfinite(rule.kernel.gamma), "kernel.gamma");
    const kernel::Shape shape{features_, sparse()};
    if (!settled()) {
      first_.state(visit, "first", shape);
      validate(first_.size() < settling && first_.slots() == first_.size() && first_.first() == 0, "first.size");
    }
    rule.state(visit, shape);
    if (restores(visit)) validate(started_ || bytes() == 0, "kernel.started");
  }

 private:
  static constexpr double impossible = std::numeric_limits<double>::quiet_NaN();

  bool sparse() const { return sparse_rows_ && features_ > few; }
  bool settled() const { return gamma_ > 0 || taken_ || !rule.kernel.radial(); }
  // Whether arithmetic with the row cannot overflow.
  bool possible(const kernel::StoredRow& x) const {
    return x.square < 1e300 && x.length < 1e300 && std::abs(rule.kernel.of_itself(x.self(rule.kernel.form))) < 1e300;
  }

  // The rows so far are stored with the weights of their events, whose sign is the label.
  [[gnu::noinline]] bool learn_anew(const Target& t) {
    first_.push_back(met_.values, t.y * t.weight);
    rule.clear();
    rule.kernel.gamma = median_gamma();
    bool stepped = false;
    kernel::StoredRow row;
    for (std::size_t k = 0; k < first_.size(); ++k) {
      const double weight = first_.weights()[k];
      first_.read(k, row);
      rule.observe(row);
      stepped = rule.learn(row, {weight > 0 ? 1.0 : -1.0, t.cost, std::abs(weight), k + 1});
    }
    if (first_.size() == settling) {
      taken_ = 1;
      first_.clear();
    }
    return stepped;
  }
  double median_gamma() {
    std::vector<double> inner(first_.room()), distances;
    kernel::StoredRow row, other;
    const kernel::Form form = rule.kernel.form;
    for (std::size_t k = 0; k < first_.size(); ++k) {
      first_.read(k, row);
      first_.inner(row, form, pad_.values, inner.data());
      for (std::size_t i = 0; i < k; ++i) {
        const double d = row.self(form) + first_.self(i, form) - 2 * inner[i];
        if (d > 0) distances.push_back(d);
      }
    }
    if (distances.empty()) return 1;
    std::sort(distances.begin(), distances.end());
    const std::size_t n = distances.size();
    return std::min(2 / (distances[(n - 1) / 2] + distances[n / 2]), 1e100);
  }

  double gamma_ = 0;
  Count started_ = 0, sparse_rows_ = 0;  // whether there was a row, and whether the first one was sparse
  Count taken_ = 0;  // whether gamma has been estimated
  std::size_t features_ = 0;
  kernel::Support first_;
  mutable kernel::ScratchOf<kernel::StoredRow> met_, scored_;
  kernel::ScratchOf<Table> pad_;
};

}  // namespace lopsided
