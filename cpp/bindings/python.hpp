// Reading Python's objects. A module for every Python from 3.12 on is compiled against the stable ABI, which has calls
// where CPython's headers of one version read an object in place.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace lopsided {

namespace nb = nanobind;

namespace python {

#ifdef Py_LIMITED_API

inline double value_of(PyObject* a_float) { return PyFloat_AsDouble(a_float); }
inline Py_ssize_t size_of(PyObject* a_dict) { return PyDict_Size(a_dict); }
inline Py_ssize_t length_of(PyObject* text) { return PyUnicode_GetLength(text); }
inline PyObject* item_of(PyObject* a_list, std::size_t k) { return PyList_GetItem(a_list, static_cast<Py_ssize_t>(k)); }
inline PyObject* new_tuple(PyTypeObject* type, std::size_t size) {
  return reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, static_cast<Py_ssize_t>(size));
}
inline void set_item(PyObject* tuple, std::size_t k, PyObject* item) {
  PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(k), item);
}

#else

inline double value_of(PyObject* a_float) { return PyFloat_AS_DOUBLE(a_float); }
inline Py_ssize_t size_of(PyObject* a_dict) { return PyDict_GET_SIZE(a_dict); }
inline Py_ssize_t length_of(PyObject* text) { return PyUnicode_GET_LENGTH(text); }
inline PyObject* item_of(PyObject* a_list, std::size_t k) {
  return PyList_GET_ITEM(a_list, static_cast<Py_ssize_t>(k));
}
inline PyObject* new_tuple(PyTypeObject* type, std::size_t size) {
  return type->tp_alloc(type, static_cast<Py_ssize_t>(size));
}
inline void set_item(PyObject* tuple, std::size_t k, PyObject* item) {
  PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(k), item);
}

#endif

// The bytes of a string as UTF-8; no data if it has none, and then an error is set.
inline std::string_view utf8_of(PyObject* text) {
#ifndef Py_LIMITED_API
  if (PyUnicode_IS_COMPACT_ASCII(text))
    return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text)), static_cast<std::size_t>(length_of(text))};
#endif
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
  return {bytes, bytes ? static_cast<std::size_t>(size) : 0};
}

}  // namespace python

}  // namespace lopsided
