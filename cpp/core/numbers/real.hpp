// The number type of formulas: a double, or a vector with one number for each of several models.
#pragma once

#include "../base.hpp"
#include "../simd.hpp"

LOPSIDED_ISA_BEGIN

template <class Real>
using Mask = decltype(Real{} < Real{});

template <class Real>
Real all(double value) {
  return value - Real{};  // + 0 would turn -0 into 0
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

template <class Which>
  requires(sizeof(Which) >= 16)
LOPSIDED_INLINE inline bool any(const Which& which) {
#ifdef LOPSIDED_AVX2_COPY
  if constexpr (sizeof(Which) == 32) {
    int found;
    asm("vmovmskpd %1, %0" : "=r"(found) : "x"(which));
    return found != 0;
  }
#endif
  long long found = 0;
  for (int l = 0; l < static_cast<int>(sizeof(Which) / sizeof(long long)); ++l) found |= which[l];
  return found != 0;
}
template <class Real>
  requires(sizeof(Real) >= 16)
Real root(const Real& value) {
  Real out;
  for (int l = 0; l < static_cast<int>(sizeof(Real) / sizeof(double)); ++l) out[l] = std::sqrt(value[l]);
  return out;
}

LOPSIDED_ISA_END
