// A step of so many times x, where one is taken.
#pragma once

#include "../numbers/real.hpp"
#include "../numbers/row.hpp"

namespace lopsided {

template <class Real>
struct Step {
  Mask<Real> taken{};
  Real by{};
};

bool take(const Step<double>& step, Vector& weights, const RowLike auto& x) {
  if (step.taken) add(weights, step.by, x);
  return step.taken;
}

}  // namespace lopsided
