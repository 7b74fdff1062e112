// Decimal text to double, correctly rounded.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

namespace lopsided {

inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline constexpr std::uint64_t whole_powers_of_ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// Parses the leading digits of eight bytes at once: their number and value. Little-endian only.
inline int front_digits(const char* p, std::uint64_t& value) {
  std::uint64_t w;
  std::memcpy(&w, p, 8);
  const std::uint64_t high = 0xf0f0f0f0f0f0f0f0, zeros = 0x3030303030303030;
  w ^= zeros;  // a digit is now 0 to 9
  const std::uint64_t others = ((w | (w + 0x0606060606060606)) & high);
  const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
  if (count == 0) return 0;
  w <<= 64 - 8 * count;  // zeros in front
  w = w * 10 + (w >> 8);
  value =
      (((w & 0x000000ff000000ff) * 0x000f424000000064) + (((w >> 16) & 0x000000ff000000ff) * 0x0000271000000001)) >> 32;
  return count;
}

// Appends the digits at p to value and returns the first character after them.
inline const char* read_digits(const char* p, const char* end, std::uint64_t& value) {
  while (end - p >= 8) {
    std::uint64_t part = 0;
    const int count = front_digits(p, part);
    value = value * whole_powers_of_ten[count] + part;
    p += count;
    if (count < 8) return p;
  }
  for (; p < end && is_digit(*p); ++p) value = value * 10 + static_cast<std::uint64_t>(*p - '0');
  return p;
}

// Reads a number at p and returns the first character after it, or p when there is none. Text such as
// nan or inf is not a number.
[[gnu::always_inline]] inline const char* read_number(const char* p, const char* end, double& out) {
  const char* const start = p;
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  const char* const digits = p;
  std::uint64_t mantissa = 0;
  if (end - p >= 2 && is_digit(p[0]) && !is_digit(p[1])) {
    mantissa = static_cast<std::uint64_t>(*p++ - '0');  // the common case: well predicted
  } else {
    p = read_digits(p, end, mantissa);
  }
  std::ptrdiff_t count = p - digits;
  int exponent = 0;
  if (p < end && *p == '.') {
    const char* const fraction = ++p;
    p = read_digits(p, end, mantissa);
    count += p - fraction;
    exponent = static_cast<int>(fraction - p);
  }
  if (count == 0) return start;
  if (p < end && (*p == 'e' || *p == 'E')) {
    const char* q = p + 1;
    const bool down = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) ++q;
    int power = 0;
    const char* const first = q;
    for (; q < end && is_digit(*q); ++q)
      if (power < 100'000'000) power = power * 10 + (*q - '0');
    if (q > first) {
      exponent += down ? -power : power;
      p = q;
    }
  }
  // Clinger's fast path: both operands are exact, so there is one rounding. 18 digits cannot overflow the mantissa.
  if (count <= 18 && mantissa <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
    const auto m = static_cast<double>(mantissa);
    const double value = exponent < 0 ? m / powers_of_ten[-exponent] : m * powers_of_ten[exponent];
    out = negative ? -value : value;
    return p;
  }
  if (std::from_chars(digits, p, out).ec == std::errc::result_out_of_range) {
    // Out of range: overflow or underflow, by the position of the first nonzero digit. Not strtod, whose decimal point
    // depends on the locale.
    std::ptrdiff_t zeros = 0;
    for (const char* q = digits; *q == '0' || *q == '.'; ++q) zeros += *q == '0';
    out = count - zeros + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
  if (negative) out = -out;
  return p;
}

}  // namespace lopsided
