// What the members of events are, as a model's schema has them: most events are seen to be as expected in a few
// nanoseconds a member; all others need a closer look.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <vector>

#include "python.hpp"

namespace lopsided {

class Expected {
 public:
  // A member is one of these, plus `optional` if not every event has it.
  enum Kind : long { number = 0, flag = 1, text = 2, any = 3, optional = 4 };

  bool on() const { return kinds_.is_valid(); }
  // Kinds by name; None: anything goes.
  void set(nb::object kinds) {
    recalled_.clear();
    needed_ = 0;
    kinds_ = kinds.is_none() ? nb::object() : std::move(kinds);
    if (on())
      for (auto [_, kind] : nb::borrow<nb::dict>(kinds_)) needed_ += !(nb::cast<long>(kind) & optional);
  }
  bool fits(nb::handle event) {
    if (!on()) return true;
    PyObject *key, *value;
    Py_ssize_t at = 0;
    std::size_t place = 0, needed = 0;
    while (PyDict_Next(event.ptr(), &at, &key, &value)) {
      const long kind = kind_of(place++, key);
      if (kind < 0 || !is(kind & any, value)) return false;
      needed += !(kind & optional);
    }
    return needed == needed_;
  }

 private:
  struct Recalled {
    nb::object name;
    long kind = -1;
  };

  static bool is(long kind, PyObject* value) {
    if (PyUnicode_CheckExact(value)) return kind == text || kind == any;
    if (PyBool_Check(value)) return kind == flag || kind == any;
    if (PyFloat_Check(value)) return kind != text && !std::isnan(python::value_of(value));
    return kind != text && PyLong_CheckExact(value);
  }
  // -1 if the name is not known.
  long kind_of(std::size_t place, PyObject* key) {
    if (place < recalled_.size() && recalled_[place].name.ptr() == key) return recalled_[place].kind;
    PyObject* found = PyUnicode_CheckExact(key) ? PyDict_GetItem(kinds_.ptr(), key) : nullptr;
    if (!found) return -1;
    if (place >= recalled_.size()) recalled_.resize(place + 1);
    recalled_[place] = {nb::borrow(key), PyLong_AsLong(found)};
    return recalled_[place].kind;
  }

  nb::object kinds_;  // a dict
  std::vector<Recalled> recalled_;  // the last name at each place of the dicts
  std::size_t needed_ = 0;
};

}  // namespace lopsided
