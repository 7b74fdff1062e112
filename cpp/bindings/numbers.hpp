// The features of an event of which all are numbers, without a dict: the names once for all events that have them.
#pragma once

#include <nanobind/nanobind.h>

#include <bit>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "python.hpp"

namespace lopsided {

// Names of features in the order in which events bring them.
struct Shape {
  std::vector<std::string> texts;
  nb::list names;  // the same as Python's strings
  nb::dict blank;  // a dict with these names
};

struct Numbers {
  std::shared_ptr<const Shape> shape;
  std::vector<double> values;

  nb::dict dict() const {
    nb::dict out = nb::steal<nb::dict>(PyDict_Copy(shape->blank.ptr()));
    for (std::size_t k = 0; k < values.size(); ++k)
      if (PyDict_SetItem(out.ptr(), python::item_of(shape->names.ptr(), k), nb::float_(values[k]).ptr()))
        throw nb::python_error();
    return out;
  }
  // The values as an array of MessagePack.
  nb::bytes packed() const {
    const auto size = static_cast<std::uint32_t>(values.size());
    std::string out(9 * values.size() + 5, '\0');
    char* to = out.data();
    const auto put = [&](std::uint64_t number, int bytes) {
      for (int k = 8 * bytes - 8; k >= 0; k -= 8) *to++ = static_cast<char>(number >> k);
    };
    if (size < 16) {
      put(0x90 | size, 1);
    } else {
      put(size < 65536 ? 0xdc : 0xdd, 1);
      put(size, size < 65536 ? 2 : 4);
    }
    for (const double value : values) {
      put(0xcb, 1);
      put(std::bit_cast<std::uint64_t>(value), 8);
    }
    return nb::bytes(out.data(), static_cast<std::size_t>(to - out.data()));
  }
};

}  // namespace lopsided
