// Labels of two kinds as signs.
#pragma once

#include "../base.hpp"

namespace lopsided {

// The two values of an array and where a third one stands, or n. One value alone is given twice.
template <class Value>
struct TwoValues {
  Value first, second;
  Count third;
};

TwoValues<std::int32_t> two_values(const std::int32_t* y, Count n);
TwoValues<std::int64_t> two_values(const std::int64_t* y, Count n);
TwoValues<double> two_values(const double* y, Count n);

// -1, 1, or 0 for neither; true if there was no 0.
bool signs(const std::int32_t* y, Count n, std::int32_t negative, std::int32_t positive,
           std::int8_t* out);
bool signs(const std::int64_t* y, Count n, std::int64_t negative, std::int64_t positive,
           std::int8_t* out);
bool signs(const double* y, Count n, double negative, double positive, std::int8_t* out);

}  // namespace lopsided
