// The kernel perceptron (Freund & Schapire 1999): a row with y f(x) <= 0 is stored with the weight y.
#pragma once

#include "list.hpp"

namespace lopsided {

class KernelPerceptron : public kernel::List {
 public:
  bool learn(const kernel::StoredRow& x, const Target& t) {
    if (t.y * score_ > 0) return false;
    rows_.push_back(x, t.weight * t.y);
    return true;
  }
  void options(auto&&) {}
};

}  // namespace lopsided
