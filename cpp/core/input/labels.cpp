#include "labels.hpp"

#include <algorithm>

#include "../simd.hpp"

namespace lopsided {

namespace {

template <class Value>
[[gnu::always_inline]] inline TwoValues<Value> find_two(const Value* y, Count n) {
  constexpr Count block = 256;
  Value a = y[0], b = y[0];
  for (Count i = 0; i < n; i += block) {
    const Count end = std::min(i + block, n);
    Value others = 0;
    for (Count k = i; k < end; ++k) others += (y[k] != a) & (y[k] != b);
    if (others == 0) continue;
    for (Count k = i; k < end; ++k) {
      if (y[k] == a || y[k] == b) continue;
      if (a != b) return {a, b, k};
      b = y[k];
    }
  }
  return {a, b, n};
}

template <class Value>
[[gnu::always_inline]] inline bool find_signs(const Value* y, Count n, Value negative,
                                              Value positive, std::int8_t* out) {
  int others = 0;
  for (Count i = 0; i < n; ++i) {
    const int sign = (y[i] == positive) - (y[i] == negative);
    out[i] = static_cast<std::int8_t>(sign);
    others |= sign == 0;
  }
  return !others;
}

}  // namespace

LOPSIDED_CLONES TwoValues<std::int32_t> two_values(const std::int32_t* y, Count n) {
  return find_two(y, n);
}
LOPSIDED_CLONES TwoValues<std::int64_t> two_values(const std::int64_t* y, Count n) {
  return find_two(y, n);
}
LOPSIDED_CLONES TwoValues<double> two_values(const double* y, Count n) { return find_two(y, n); }

LOPSIDED_CLONES bool signs(const std::int32_t* y, Count n, std::int32_t negative,
                           std::int32_t positive, std::int8_t* out) {
  return find_signs(y, n, negative, positive, out);
}
LOPSIDED_CLONES bool signs(const std::int64_t* y, Count n, std::int64_t negative,
                           std::int64_t positive, std::int8_t* out) {
  return find_signs(y, n, negative, positive, out);
}
LOPSIDED_CLONES bool signs(const double* y, Count n, double negative, double positive,
                           std::int8_t* out) {
  return find_signs(y, n, negative, positive, out);
}

}  // namespace lopsided
