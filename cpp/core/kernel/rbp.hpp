// RBP, the randomized budget perceptron (Cavallanti, Cesa-Bianchi & Gentile 2007): as the kernel
// perceptron, but in a full list the new row replaces a random one.
#pragma once

#include "../numbers/random.hpp"
#include "list.hpp"

namespace lopsided {

class Rbp : public kernel::List {
 public:
  bool learn(const kernel::StoredRow& x, const Target& t) {
    if (t.y * score_ > 0) return false;
    const double weight = t.weight * t.y;
    if (static_cast<double>(rows_.size()) < most_) rows_.push_back(x, weight);
    else rows_.write(static_cast<std::size_t>(draw() * most_), x, weight);
    return true;
  }

  void clear() {
    List::clear();
    draws_ = 0;
  }
  void options(auto&& visit) {
    visit("buffer_size", most_);
    visit("seed", seed_);
  }
  void state(auto&& visit, kernel::Shape shape) {
    visit("draws", draws_);
    List::state(visit, shape, most_);
  }

 private:
  double draw() { return uniform(seed_, draws_++); }

  double most_ = 200, seed_ = 0;
  Count draws_ = 0;
};

}  // namespace lopsided
