// The Forgetron, self-tuned (Dekel, Shalev-Shwartz & Singer 2008): as the kernel perceptron, but when the list is
// full all weights are multiplied by phi and then the oldest row is removed. The cost of removals so far is Q;
// phi is the largest number up to 1 that keeps Q <= 15/32 of the mistakes. Needs k(x, x) <= 1.
#pragma once

#include "list.hpp"

namespace lopsided {

class Forgetron : public kernel::List {
 public:
  bool learn(const kernel::StoredRow& x, const Target& t) {
    if (t.y * score_ > 0) return false;
    ++mistakes_;
    rows_.push_back(x, t.y);
    if (static_cast<double>(rows_.size()) > most_) forget();
    return true;
  }

  void clear() {
    List::clear();
    mistakes_ = 0;
    Q_ = 0;
  }
  void options(auto&& visit) { visit("buffer_size", most_); }
  void state(auto&& visit, kernel::Shape shape) {
    visit("forgetron.mistakes", mistakes_);
    visit("forgetron.Q", Q_);
    validate(Q_ < static_cast<double>(mistakes_) + 1 && std::isfinite(Q_), "forgetron.Q");
    List::state(visit, shape, most_);
  }

 private:
  void forget() {
    const double weight = rows_.weights()[rows_.first()], size = std::abs(weight);
    rows_.read(rows_.first(), oldest_.values);
    const double margin = (weight < 0 ? -1 : 1) * look(oldest_.values, row_.values);
    const double phi = shrinkage(size, margin), left = phi * size;
    scale(phi);
    Q_ += left * left + 2 * left - 2 * left * phi * margin;
    rows_.pop_front();
  }
  // The largest phi in (0, 1] with a phi^2 + b phi + c <= 0, where c < 0.
  double shrinkage(double size, double margin) const {
    if (size == 0) return 1;
    const double a = size * size - 2 * size * margin, b = 2 * size;
    const double c = Q_ - 15.0 / 32 * static_cast<double>(mistakes_), square = b * b - 4 * a * c;
    if (a < 0 && (square <= 0 || (-b - std::sqrt(square)) / (2 * a) <= 1)) return 1;
    return std::min(1.0, -2 * c / (b + std::sqrt(square)));
  }

  double most_ = 200;
  Count mistakes_ = 0;
  double Q_ = 0;
  kernel::ScratchOf<kernel::StoredRow> oldest_;
};

}  // namespace lopsided
