#include "labels.hpp"

#include <algorithm>

LOPSIDED_ISA_BEGIN

template <class Value>
TwoValues<Value> two_values(const Value* y, Count n) {
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
bool signs(const Value* y, Count n, Value negative, Value positive, std::int8_t* out) {
  int others = 0;
  for (Count i = 0; i < n; ++i) {
    const int sign = (y[i] == positive) - (y[i] == negative);
    out[i] = static_cast<std::int8_t>(sign);
    others |= sign == 0;
  }
  return !others;
}

template TwoValues<std::int32_t> two_values(const std::int32_t*, Count);
template TwoValues<std::int64_t> two_values(const std::int64_t*, Count);
template TwoValues<double> two_values(const double*, Count);
template bool signs(const std::int32_t*, Count, std::int32_t, std::int32_t, std::int8_t*);
template bool signs(const std::int64_t*, Count, std::int64_t, std::int64_t, std::int8_t*);
template bool signs(const double*, Count, double, double, std::int8_t*);

LOPSIDED_ISA_END
