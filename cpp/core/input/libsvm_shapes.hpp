// Shuffle tables for numbers in LIBSVM text that are loaded 16 bytes at a time (libsvm_avx2.cpp).
#pragma once

#include <array>
#include <bit>

#include "number.hpp"

namespace lopsided {

// Shuffle control that moves the digits of a number to the right end of 16 bytes, by its length and the position of
// its dot: 0 for none, else one more than its byte.
struct Shape {
  std::array<unsigned char, 16> control;
  double divisor[2];  // of a number that is positive, negative
};
inline constexpr int longest = 16;
using Shapes = std::array<std::array<Shape, 32>, longest + 1>;

constexpr std::array<unsigned char, 16> last_bytes(int length) {
  std::array<unsigned char, 16> control{};
  for (int j = 0; j < 16; ++j) control[j] = static_cast<unsigned char>(j >= 16 - length ? j : 0x80);
  return control;
}

constexpr Shapes make_shapes() {
  Shapes shapes{};
  for (int length = 0; length <= longest; ++length)
    for (int place = 0; place < 32; ++place) {
      // An empty number checks the last byte, its separator, which is not a digit: it is refused.
      Shape shape{last_bytes(std::max(length, 1)), {1.0, -1.0}};
      const int decimals = 16 - place;
      // A lone dot stays in place and is refused, as it is not a digit.
      if (place >= 1 && place <= 16 && decimals < length && length > 1) {
        for (int j = 15; j >= 0; --j) {
          const int from = j >= place ? j : j - 1;
          shape.control[j] = static_cast<unsigned char>(from >= 16 - length ? from : 0x80);
        }
        shape.divisor[0] = powers_of_ten[decimals];
        shape.divisor[1] = -powers_of_ten[decimals];
      }
      shapes[length][place] = shape;
    }
  return shapes;
}
inline constexpr Shapes shapes = make_shapes();

inline constexpr std::size_t longest_index = 8;
constexpr auto make_index_shapes() {
  std::array<std::array<unsigned char, 16>, longest_index + 1> out{};
  for (int length = 0; length < static_cast<int>(out.size()); ++length) out[length] = last_bytes(std::max(length, 1));
  return out;
}
inline constexpr auto index_shapes = make_index_shapes();

// Stands for an odd number: reads as 0 without an error.
inline constexpr Shape no_shape{last_bytes(0), {1.0, -1.0}};

// Shape for `0.` followed by 15 or 16 digits, or null; 16 digits only if they are below 2^53.
inline constexpr Shape long_shapes[] = {{last_bytes(15), {1e15, -1e15}}, {last_bytes(16), {1e16, -1e16}}};
inline const Shape* long_shape(const char* p, std::size_t length) {
  if ((length != 17 && length != 18) || p[0] != '0' || p[1] != '.') return nullptr;
  if (length == 18 && p[2] == '9') return nullptr;
  return &long_shapes[length - 17];
}

inline constexpr int longest_compact = 10;

// Eight bytes of shuffle control as a double, so that two of them are loaded into one register.
constexpr double as_word(const unsigned char* bytes) {
  std::array<unsigned char, 8> word{};
  for (int j = 0; j < 8; ++j) word[j] = bytes[j];
  return std::bit_cast<double>(word);
}

// For a number of up to eight digits in the last of 16 bytes (more are refused): shuffle control and divisor, by its
// length with colon and sign, whether it is negative, and the position of its dot.
constexpr std::size_t compact_shape(std::size_t length, std::size_t negative, std::size_t place) {
  return 2 * (32 * (2 * length + negative) + place);
}
constexpr auto make_compact_shapes() {
  std::array<double, compact_shape(longest_compact + 2, 0, 0)> out{};
  for (int length = 0; length <= longest_compact; ++length)
    for (int negative = 0; negative < 2; ++negative)
      for (int place = 0; place < 32; ++place) {
        Shape shape = shapes[std::max(length - negative, 0)][place];
        // The byte before the number is not a digit: a number that is too long is refused.
        if (shape.control[7] != 0x80) shape.control[15] = static_cast<unsigned char>(15 - length);
        out[compact_shape(length + 1, negative, place)] = as_word(&shape.control[8]);
        out[compact_shape(length + 1, negative, place) + 1] = shape.divisor[negative];
      }
  return out;
}
inline constexpr auto compact_shapes = make_compact_shapes();

// Shuffle control of the index before it, by the lengths with colon and blank.
constexpr std::size_t compact_index(std::size_t value, std::size_t index) { return 16 * value + index; }
constexpr auto make_compact_indices() {
  std::array<double, compact_index(longest_compact + 2, 0)> out{};
  for (int value = 0; value <= longest_compact; ++value)
    for (int length = 0; length <= static_cast<int>(longest_index) && length + value < 16; ++length) {
      const auto last = index_shapes[length];
      unsigned char control[8];
      for (int j = 0; j < 8; ++j) control[j] = static_cast<unsigned char>(last[j + 8] == 0x80 ? 0x80 : j + 7 - value);
      out[compact_index(value + 1, length + 1)] = as_word(control);
    }
  return out;
}
inline constexpr auto compact_indices = make_compact_indices();

}  // namespace lopsided
