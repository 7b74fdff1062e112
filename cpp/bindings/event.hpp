// One event from a dict of named features, as a row.
//
// A number is the value of the feature of that name; True and False are 1 and 0; a string makes the
// feature "name=string" with the value 1. Names are looked up in a table or hashed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "../core/hash.hpp"
#include "../core/rows.hpp"
#include "names.hpp"

namespace lopsided {

class EventReader {
 public:
  // 0 bits: names are kept in the table.
  EventReader(const NameTable& names, int hash_bits) : names_(names), hash_bits_(hash_bits) {}

  // Reads a dict; names not in the table get the columns after the last known one.
  void read(nb::dict event, Index known) {
    values_.clear();
    indices_.clear();
    fresh_.clear();
    known_ = hash_bits_ ? Index(1) << hash_bits_ : known;
    const auto n = static_cast<std::size_t>(PyDict_Size(event.ptr()));
    merging_ = hash_bits_ > 0;
    if (merging_) start_merging(n);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(event.ptr(), &at, &key, &value)) {
      if (!PyUnicode_Check(key)) fail(nb::type_error, "a feature's name must be a string, not ", key);
      if (PyUnicode_Check(value)) add_category(key, value, n);
      else put(column(key), number(key, value));
    }
    starts_ = {0, static_cast<std::int32_t>(values_.size())};
  }

  Rows rows() const {
    return Rows({starts_.data(), indices_.data(), values_.data(), false, false, false,
                 values_.size(), true},
                1, known_ + static_cast<Index>(fresh_.size()));
  }
  std::vector<nb::object>& fresh() { return fresh_; }  // the names met for the first time
  bool hashed() const { return hash_bits_ > 0; }

 private:
  template <class Error>
  [[noreturn]] static void fail(Error error, const char* text, nb::handle what) {
    throw error((text + std::string(nb::repr(what).c_str())).c_str());
  }

  static std::string_view text(PyObject* s) {
    Py_ssize_t size;
    const char* utf8;
    if (PyUnicode_IS_COMPACT_ASCII(s)) {
      utf8 = reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(s));
      size = PyUnicode_GET_LENGTH(s);
    } else {
      utf8 = PyUnicode_AsUTF8AndSize(s, &size);
      if (!utf8) throw nb::python_error();
    }
    return {utf8, static_cast<std::size_t>(size)};
  }

  static double number(PyObject* key, PyObject* value) {
    const double v = PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : PyFloat_AsDouble(value);
    if (v == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      const std::string name = nb::repr(nb::handle(key)).c_str();
      const std::string kind = Py_TYPE(value)->tp_name;
      throw nb::type_error(("feature " + name + " must be a number or a string, not " + kind).c_str());
    }
    if (!std::isfinite(v)) {
      const std::string name = nb::repr(nb::handle(key)).c_str();
      const char* what = std::isnan(v) ? "NaN" : "inf";
      throw nb::value_error(("feature " + name + " is " + what + "; leave out or fill in what is missing").c_str());
    }
    return v;
  }

  Index column_of(const NameHash& hash) const {
    return static_cast<Index>(hash.value() >> (64 - hash_bits_));
  }

  Index column(PyObject* name) {
    if (hash_bits_) return column_of(NameHash().add(text(name)));
    const Index j = names_.find(name);
    return j != NameTable::absent ? j : stranger(nb::borrow(name));
  }

  void add_category(PyObject* key, PyObject* value, std::size_t n) {
    if (hash_bits_) {
      put(column_of(NameHash().add(text(key)).add("=").add(text(value))), 1);
      return;
    }
    if (!merging_) {  // "a=b" may also be a name of its own
      start_merging(n);
      merging_ = true;
      for (Index k = 0; k < static_cast<Index>(indices_.size()); ++k) slot(indices_[k]) = k + 1;
    }
    const std::string name = std::string(text(key)) + "=" + std::string(text(value));
    const nb::str full(name.c_str(), name.size());
    put(column(full.ptr()), 1);
  }

  Index stranger(nb::object name) {
    for (std::size_t k = 0; k < fresh_.size() && merging_; ++k)
      if (PyUnicode_Compare(fresh_[k].ptr(), name.ptr()) == 0) return known_ + static_cast<Index>(k);
    fresh_.push_back(std::move(name));
    return known_ + static_cast<Index>(fresh_.size()) - 1;
  }

  void put(Index j, double v) {
    if (merging_) {
      Index& at = slot(j);
      if (at > 0) {
        values_[static_cast<std::size_t>(at - 1)] += v;
        return;
      }
      at = static_cast<Index>(indices_.size()) + 1;
    }
    indices_.push_back(j);
    values_.push_back(v);
  }

  // Where column j stands in the row so far, plus 1: a small open-addressing table.
  void start_merging(std::size_t n) {
    std::size_t size = 64;
    while (size < 4 * n) size *= 2;
    slots_.assign(size, 0);
  }
  Index& slot(Index j) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t k = (static_cast<std::uint32_t>(j) * 0x9e3779b1u) & mask;
    while (slots_[k] > 0 && indices_[static_cast<std::size_t>(slots_[k] - 1)] != j) k = (k + 1) & mask;
    return slots_[k];
  }

  const NameTable& names_;
  int hash_bits_;
  Index known_ = 0;
  bool merging_ = false;
  std::vector<double> values_;
  std::vector<Index> indices_;
  std::vector<Index> slots_;
  std::vector<nb::object> fresh_;
  std::array<std::int32_t, 2> starts_{};
};

}  // namespace lopsided
