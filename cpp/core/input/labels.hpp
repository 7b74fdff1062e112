// Two-class labels as signs.
#pragma once

#include "../base.hpp"
#include "../simd.hpp"

namespace lopsided {

// The two distinct values of an array and the position of a third one, or n. A single value is given twice.
template <class Value>
struct TwoValues {
  Value first, second;
  Count third;
};

LOPSIDED_COPIES(template <class Value> TwoValues<Value> two_values(const Value* y, Count n); template <class Value>
                bool signs(const Value* y, Count n, Value negative, Value positive, std::int8_t* out);)

// Of 32-bit or 64-bit whole numbers, or doubles.
template <class Value>
TwoValues<Value> find_two_values(const Value* y, Count n) {
  return LOPSIDED_BEST(two_values(y, n));
}
// Writes -1, 1, or 0 for neither; true if there was no 0.
template <class Value>
bool find_signs(const Value* y, Count n, Value negative, Value positive, std::int8_t* out) {
  return LOPSIDED_BEST(signs(y, n, negative, positive, out));
}

}  // namespace lopsided
