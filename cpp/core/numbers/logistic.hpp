// Exponential, logarithm and what logistic models need of them, for one number or a vector, with the same bits on every
// machine: the C library chooses other code, and other last bits, where the processor has fused multiply-add. All of
// them are inlined and take the instruction set of their caller.
#pragma once

#include <cstdint>

#include "../simd.hpp"

namespace lopsided {

namespace detail {

template <class Real>
struct BitsOf {
  typedef std::uint64_t type __attribute__((vector_size(sizeof(Real))));
};
template <>
struct BitsOf<double> {
  using type = std::uint64_t;
};
template <class Real>
using Bits = typename BitsOf<Real>::type;

}  // namespace detail

// e^x within 1e-15 relative for |x| <= 700; x is clamped to that range.
template <class Real>
LOPSIDED_INLINE inline Real exponential(const Real& x) {
  using Bits = detail::Bits<Real>;
  constexpr double magic = 0x1.8p52;  // adding it rounds to an integer, which is then in the low bits
  const Real low = x < -700.0 ? Real{} - 700.0 : x, v = low > 700.0 ? Real{} + 700.0 : low;
  const Real shifted = v * 0x1.71547652b82fep0 + magic, k = shifted - magic;
  const Real r = (v - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;  // |r| <= ln 2 / 2
  Real p = Real{} + 1.0 / 6227020800;
  for (const double c : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                         1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5})
    p = p * r + c;
  p = p * r * r + r + 1.0;
  return __builtin_bit_cast(Real, __builtin_bit_cast(Bits, p) + (__builtin_bit_cast(Bits, shifted) << 52));
}

// ln x within 1e-15 relative, for normal positive x.
template <class Real>
LOPSIDED_INLINE inline Real logarithm(const Real& x) {
  using Bits = detail::Bits<Real>;
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd, mantissa = 0x000fffffffffffff, two52 = 0x4330000000000000;
  // x = 2^k m with m from sqrt(1/2) to sqrt(2); ln m = 2 artanh((m - 1) / (m + 1)).
  const Bits shifted = __builtin_bit_cast(Bits, x) - root_half;
  const Bits exponent = ((shifted + (std::uint64_t{1} << 62)) >> 52) + two52;  // k + 1,024 in the low bits of 2^52
  const Real k = __builtin_bit_cast(Real, exponent) - (0x1p52 + 1024);
  const Real m = __builtin_bit_cast(Real, (shifted & mantissa) + root_half);
  const Real s = (m - 1.0) / (m + 1.0), s2 = s * s;
  Real p = Real{} + 2.0 / 21;
  for (const double c : {2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3})
    p = p * s2 + c;
  return k * 0x1.62e42fefa3800p-1 + (k * 0x1.ef35793c76730p-45 + (p * s2 * s + 2.0 * s));
}

// 1 / (1 + e^-z).
template <class Real>
LOPSIDED_INLINE inline Real sigmoid(const Real& z) {
  const Real e = exponential(Real(z < 0.0 ? z : -z));
  return (z < 0.0 ? e : Real{} + 1.0) / (e + 1.0);
}

// ln(1 + e^-m), the loss of a margin.
template <class Real>
LOPSIDED_INLINE inline Real log_loss(const Real& margin) {
  const Real e = exponential(Real(margin < 0.0 ? margin : -margin));
  return (margin < 0.0 ? -margin : Real{}) + logarithm(Real(e + 1.0));
}

}  // namespace lopsided
