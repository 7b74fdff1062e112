// What formulas are written over: a number, or a vector of numbers, one for each of several models.
#pragma once

#include "base.hpp"

namespace lopsided {

template <class Real>
using Mask = decltype(Real{} < Real{});

template <class Real>
Real all(double value) {
  return value - Real{};  // + 0 would make 0 of -0
}
template <class Real, class Which>
Real choose(const Which& which, const Real& yes, const Real& no) {
  return which ? yes : no;
}
template <class Real>
Real least(const Real& a, const Real& b) {
  return b < a ? b : a;
}
template <class Real>
Real most(const Real& a, const Real& b) {
  return a < b ? b : a;
}
inline bool any(bool which) { return which; }
inline double root(double value) { return std::sqrt(value); }

}  // namespace lopsided
