// A step along x, if there is one.
#pragma once

#include "../learner.hpp"
#include "../numbers/real.hpp"
#include "../simd.hpp"

LOPSIDED_ISA_BEGIN

template <class Real>
struct Step {
  Mask<Real> taken{};
  Real by{};
};

bool take(const Step<double>& step, Vector& weights, const RowLike auto& x) {
  if (step.taken) add(weights, step.by, x);
  return step.taken;
}

LOPSIDED_ISA_END
