// Labels and weights of single events as numbers, without calling code that could do anything.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <optional>

#include "python.hpp"

namespace lopsided {

// Types of NumPy, looked up when the first model is made: the module is imported without NumPy when it is built.
struct NumpyTypes {
  PyTypeObject *array, *floating, *integer;

  static const NumpyTypes& get() {
    static const NumpyTypes types = [] {
      const nb::module_ numpy = nb::module_::import_("numpy");
      const auto type = [&](const char* name) {
        return reinterpret_cast<PyTypeObject*>(nb::object(numpy.attr(name)).release().ptr());
      };
      return NumpyTypes{type("ndarray"), type("floating"), type("integer")};
    }();
    return types;
  }
};

// -1 or 1, by a dict of labels; nothing for any other label.
inline std::optional<int> sign_of(nb::handle label, const nb::dict& codes) {
  PyObject* code = PyDict_GetItemWithError(codes.ptr(), label.ptr());
  if (code) return static_cast<int>(PyLong_AsLong(code));
  PyErr_Clear();
  return {};
}

// A finite number that is not negative; nothing for anything else.
inline std::optional<double> weight_of(nb::handle weight) {
  PyObject* const w = weight.ptr();
  double value;
  if (PyFloat_CheckExact(w)) {
    value = python::value_of(w);
  } else if (PyLong_Check(w)) {
    value = PyLong_AsDouble(w);
  } else {
    const NumpyTypes& types = NumpyTypes::get();
    if (!PyFloat_Check(w) && !PyObject_TypeCheck(w, types.floating) && !PyObject_TypeCheck(w, types.integer)) return {};
    value = PyFloat_AsDouble(w);
  }
  if (value == -1) PyErr_Clear();  // too large, or that number
  if (std::isfinite(value) && value >= 0) return value;
  return {};
}

// The number of an event; nothing for what cannot be one.
inline std::optional<std::uint64_t> event_of(nb::handle id) {
  if (!PyLong_CheckExact(id.ptr())) return {};
  const long long value = PyLong_AsLongLong(id.ptr());
  if (value == -1) PyErr_Clear();
  if (value < 0) return {};
  return static_cast<std::uint64_t>(value);
}

}  // namespace lopsided
