// The names of features: Python strings to column indices. Inside the process a name is found by the
// hash Python already keeps with it, then by its address, then by its text.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "../core/base.hpp"

namespace nb = nanobind;

namespace lopsided {

class NameTable {
 public:
  static constexpr Index absent = -1;

  Index size() const { return static_cast<Index>(names_.size()); }
  // Memory of the table and the names.
  std::size_t bytes() const {
    std::size_t sum = slots_.capacity() * sizeof(Slot) + names_.capacity() * sizeof(nb::object);
    for (const nb::object& name : names_) sum += nb::cast<std::size_t>(name.attr("__sizeof__")());
    return sum;
  }
  nb::handle name(Index j) const { return names_[static_cast<std::size_t>(j)]; }

  Index find(PyObject* name) const {
    if (slots_.empty()) return absent;
    const Py_hash_t hash = PyObject_Hash(name);
    for (std::size_t k = static_cast<std::size_t>(hash) & mask_;; k = (k + 1) & mask_) {
      const Slot& slot = slots_[k];
      if (slot.index == absent) return absent;
      if (slot.hash == hash && same(slot.index, name)) return slot.index;
    }
  }

  void clear() {
    if (names_.empty()) return;
    names_.clear();
    slots_.clear();
  }

  void append(nb::object name) {
    if (2 * (names_.size() + 1) > slots_.size()) rebuild(slots_.empty() ? 64 : 2 * slots_.size());
    place(PyObject_Hash(name.ptr()), size());
    names_.push_back(std::move(name));
  }

 private:
  struct Slot {
    Py_hash_t hash;
    Index index = absent;
  };

  bool same(Index j, PyObject* name) const {
    PyObject* known = names_[static_cast<std::size_t>(j)].ptr();
    return known == name || PyUnicode_Compare(known, name) == 0;
  }
  void place(Py_hash_t hash, Index index) {
    std::size_t k = static_cast<std::size_t>(hash) & mask_;
    while (slots_[k].index != absent) k = (k + 1) & mask_;
    slots_[k] = {hash, index};
  }
  void rebuild(std::size_t slots) {
    slots_.assign(slots, {});
    mask_ = slots - 1;
    for (Index j = 0; j < size(); ++j) place(PyObject_Hash(name(j).ptr()), j);
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::vector<nb::object> names_;
};

}  // namespace lopsided
