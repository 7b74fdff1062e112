// NORMA (Kivinen, Smola & Williamson 2004): gradient steps on a hinge in the space of the kernel. In every
// round the weights shrink by 1 - learning_rate * regularization; a row with y (f(x) + b) <= margin is stored with the
// weight learning_rate * y, which is added to b too. The margin is 1, or adapts so that a share nu of the rows falls
// below it. Rows may be dropped when they are `truncation` rounds old.
#pragma once

#include <deque>

#include "list.hpp"

namespace lopsided {

class Norma : public kernel::List {
 public:
  double observe(const kernel::StoredRow& x) { return scale_ * List::observe(x) + b_; }
  double score(const kernel::StoredRow& x) const { return scale_ * List::score(x) + b_; }

  bool learn(const kernel::StoredRow& x, const Target& t) {
    const bool error = t.y * (scale_ * score_ + b_) <= margin_;
    const double step = learning_rate_ * t.weight * t.y;
    shrink();
    if (error) {
      rows_.push_back(x, step / scale_);
      if (bias_) b_ += step;
      if (truncation_ > 0) born_.push_back(t.round);
    }
    if (nu_ > 0) margin_ -= learning_rate_ * (error - nu_);
    while (!born_.empty() && static_cast<double>(t.round - born_.front()) >= truncation_) {
      rows_.pop_front();
      born_.pop_front();
    }
    return error;
  }

  void clear() {
    List::clear();
    born_.clear();
    b_ = 0;
    scale_ = 1;
    start();
  }
  void options(auto&& visit) {
    visit("learning_rate", learning_rate_);
    visit("regularization", regularization_);
    visit("nu", nu_);
    visit("bias", bias_);
    visit("truncation", truncation_);
    start();
  }
  void state(auto&& visit, kernel::Shape shape) {
    visit("bias", b_);
    visit("norma.margin", margin_);
    visit("norma.scale", scale_);
    validate(std::isfinite(b_), "bias");
    validate(std::isfinite(margin_), "norma.margin");
    validate(scale_ > 0 && scale_ <= 1, "norma.scale");
    List::state(visit, shape);
    if (truncation_ == 0) return;
    Series born;
    born.values.assign(born_.begin(), born_.end());
    visit("kept.born", born);
    if (!visit.restores()) return;
    validate(born.values.size() == rows_.size() && std::is_sorted(born.values.begin(), born.values.end()), "kept.born");
    born_.clear();
    for (const double round : born.values) {
      validate(is_whole(round, 0x1p53), "kept.born");
      born_.push_back(static_cast<Count>(round));
    }
  }

 private:
  void start() { margin_ = nu_ > 0 ? 0 : 1; }
  // Weights must be multiplied by scale_, which shrinks in their place.
  void shrink() {
    scale_ *= 1 - learning_rate_ * regularization_;
    if (scale_ > 0x1p-128) return;
    scale(scale_);
    scale_ = 1;
  }

  double learning_rate_ = 0.01, regularization_ = 0.01;
  double nu_ = 0, truncation_ = 0;  // 0: none
  bool bias_ = false;

  double b_ = 0, margin_ = 1, scale_ = 1;
  std::deque<Count> born_;  // the round in which each row was stored; used with a truncation
};

}  // namespace lopsided
