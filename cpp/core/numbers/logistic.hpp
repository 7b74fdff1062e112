// Exponential, logarithm and what logistic models need of them, with the same bits on every machine: the C library
// chooses other code, and other last bits, where the processor has fused multiply-add.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lopsided {

// e^x within 1e-15 relative for |x| <= 700; x is clamped to that range.
[[gnu::always_inline]] inline double exponential(double x) {
  constexpr double magic = 0x1.8p52;  // adding it rounds to an integer, which is then in the low bits
  const double v = x < -700 ? -700 : x > 700 ? 700 : x;
  const double shifted = v * 0x1.71547652b82fep0 + magic, k = shifted - magic;
  const double r = (v - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;  // |r| <= ln 2 / 2
  double p = 1.0 / 6227020800;
  for (const double c : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                         1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5})
    p = p * r + c;
  p = p * r * r + r + 1;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + (std::bit_cast<std::uint64_t>(shifted) << 52));
}

// ln x within 1e-15 relative, for normal positive x.
[[gnu::always_inline]] inline double logarithm(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // x = 2^k m with m from sqrt(1/2) to sqrt(2); ln m = 2 artanh((m - 1) / (m + 1)).
  const std::uint64_t shifted = bits - 0x3fe6a09e667f3bcd;
  const auto k = static_cast<double>(static_cast<std::int64_t>(shifted) >> 52);
  const double m = std::bit_cast<double>((shifted & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double p = 2.0 / 21;
  for (const double c : {2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3})
    p = p * s2 + c;
  return k * 0x1.62e42fefa3800p-1 + (k * 0x1.ef35793c76730p-45 + (p * s2 * s + 2 * s));
}

// 1 / (1 + e^-z).
[[gnu::always_inline]] inline double sigmoid(double z) {
  const double e = exponential(z < 0 ? z : -z);
  return (z < 0 ? e : 1) / (1 + e);
}

// ln(1 + e^-m), the loss of a margin.
[[gnu::always_inline]] inline double log_loss(double margin) {
  const double e = exponential(margin < 0 ? margin : -margin);
  return (margin < 0 ? -margin : 0) + logarithm(1 + e);
}

}  // namespace lopsided
