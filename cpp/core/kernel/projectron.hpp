// The Projectron (Orabona, Keshet & Caputo 2009): as the kernel perceptron, but a row that the support vectors nearly
// span is not stored: its projection d on them is added to their weights. K d = k(x), and the distance is
// delta^2 = k(x, x) - k(x).d. Projectron++ also steps along d on right answers with a margin below 1.
//
// L with L L' = K is stored instead of the inverse of K: it needs half the work and is more accurate.
#pragma once

#include "../numbers/row.hpp"
#include "list.hpp"

namespace lopsided {

class Projectron : public kernel::List {
 public:
  enum class Threshold { norm, squared };
  static constexpr std::size_t most = 40000;  // L takes 6.4 GB

  bool learn(const kernel::StoredRow& x, const Target& t) {
    const double margin = t.y * score_;
    if (margin > 0 && !(plus_plus_ && margin < 1)) return false;
    const std::size_t n = rows_.size();
    const double inside = reach(n), itself = kernel.of_itself(x.self(kernel.form));
    const double rest = std::max(itself - inside, 0.0);
    const double distance = threshold_ == Threshold::norm ? std::sqrt(rest) : rest;
    if (margin > 0) {
      const double loss = 1 - margin, left = loss - distance / tolerance_;
      if (inside <= 0 || left <= 0) return false;
      add(t.weight * t.y * std::min({1.0, loss / inside, 2 * left / inside}), n);
    } else if (n > 0 && distance <= tolerance_) {
      add(t.weight * t.y, n);
    } else {
      if (rest == 0) return false;  // k(x, x) = 0: there is nothing to add
      keep(x, t.weight * t.y, std::sqrt(rest));
    }
    return true;
  }

  void clear() {
    List::clear();
    factor_.clear();
  }
  std::size_t bytes() const { return List::bytes() + 8 * factor_.size(); }
  void options(auto&& visit) {
    visit("tolerance", tolerance_);
    visit("plus_plus", plus_plus_);
    visit("threshold", threshold_, {"norm", "squared"});
  }
  void state(auto&& visit, kernel::Shape shape) {
    List::state(visit, shape, most);
    const std::size_t n = rows_.size();
    Series factor;
    if (!visit.restores()) factor.values = factor_;
    visit("kept.factor", factor);
    if (!visit.restores()) return;
    validate(rows_.slots() == n && rows_.first() == 0, "kept.size");  // rows are never removed
    validate(factor.values.size() == n * (n + 1) / 2 && all_finite(factor.values), "kept.factor");
    factor_ = std::move(factor.values);
    for (std::size_t i = 0; i < n; ++i) validate(line(i)[i] > 0, "kept.factor");
  }

 private:
  const double* line(std::size_t i) const { return factor_.data() + i * (i + 1) / 2; }

  // Solves L c = k(x), the kernel values of the row observed last; returns |c|^2 = k(x).d.
  double reach(std::size_t n) {
    c_.resize(n);
    double* c = c_.data();
    for (std::size_t i = 0; i < n; ++i) {
      const double* l = line(i);
      const auto before = fixed_order::products(static_cast<Index>(i), l, c);
      c[i] = (row_.values[i] - before) / l[i];
    }
    return fixed_order::products(static_cast<Index>(n), c, c);
  }
  // Adds step * d to the weights; L' d = c.
  void add(double step, std::size_t n) {
    double* __restrict c = c_.data();
    for (std::size_t i = n; i-- > 0;) {
      const double* __restrict l = line(i);
      const double d = c[i] / l[i];
      for (std::size_t j = 0; j < i; ++j) c[j] -= d * l[j];
      rows_.weights()[i] += step * d;
    }
  }
  void keep(const kernel::StoredRow& x, double weight, double delta) {
    if (rows_.size() == most) throw std::length_error("Projectron keeps at most 40000 rows: choose a larger tolerance");
    rows_.push_back(x, weight);
    factor_.insert(factor_.end(), c_.begin(), c_.end());
    factor_.push_back(delta);
  }

  double tolerance_ = 0.1;
  bool plus_plus_ = false;
  Threshold threshold_ = Threshold::norm;

  std::vector<double> factor_;  // L, row by row
  std::vector<double> c_;
};

}  // namespace lopsided
