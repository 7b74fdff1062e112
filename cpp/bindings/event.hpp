// Events from dicts of named features, as rows.
//
// A number is the value of the feature of that name; True and False are 1 and 0; a string makes the
// feature "name=string" with the value 1. Names are looked up in a table or hashed.
#pragma once

#include <string>
#include <string_view>

#include "../core/input/rows.hpp"
#include "../core/numbers/hash.hpp"
#include "names.hpp"
#include "python.hpp"

namespace lopsided {

// The rows of some events, and the names that were met in them for the first time.
struct EventRows {
  std::vector<std::int64_t> starts{0};
  std::vector<Index> indices;
  std::vector<double> values;
  NameTable fresh;
  NameTable texts;  // names met for the first time with a string
  Index known = 0;

  Rows rows() const {
    return Rows({starts.data(), indices.data(), values.data(), true, false, false, values.size(), true},
                starts.size() - 1, known + fresh.size());
  }
  void look_up_again(const NameTable& names);
  void reserve(std::size_t events, std::size_t features) {
    const std::size_t likely = std::min(events * features, std::size_t{1} << 20);
    starts.reserve(events + 1);
    indices.reserve(likely);
    values.reserve(likely);
  }
  void clear(Index features) {
    starts.resize(1);
    indices.clear();
    values.clear();
    fresh.clear();
    texts.clear();
    known = features;
  }
};

inline void EventRows::look_up_again(const NameTable& names) {
  NameTable still_fresh;
  std::vector<Index> now;
  for (Index j = 0; j < fresh.size(); ++j) {
    now.push_back(names.find(fresh.name(j).ptr()));
    if (now.back() != NameTable::absent) continue;
    now.back() = names.size() + still_fresh.size();
    still_fresh.append(nb::borrow(fresh.name(j)));
  }
  for (Index& j : indices)
    if (j >= known) j = now[static_cast<std::size_t>(j - known)];
  known = names.size();
  fresh = std::move(still_fresh);
}

// The column of a hashed name among 2 ** bits.
inline Index hashed_column(const NameHash& hash, int bits) { return static_cast<Index>(hash.value() >> (64 - bits)); }

class EventReader {
 public:
  // 0 bits: names are kept in the table. `texts` are names whose values are strings.
  EventReader(const NameTable& names, const NameTable& texts, int hash_bits)
      : names_(names), texts_(texts), hash_bits_(hash_bits) {}
  bool may_mix = false;  // numbers and strings under one name

  bool hashed() const { return hash_bits_ > 0; }
  Index columns() const { return Index(1) << hash_bits_; }
  std::size_t usual() const { return distinct_; }  // features of an event

  // The columns of names whose values are all numbers; false if an event of them needs a closer look.
  bool find_columns(const nb::list& names, EventRows& out, std::vector<Index>& columns) {
    out_ = &out;
    columns.clear();
    for (nb::handle name : names) {
      if (hashed() || (!may_mix && is_text(name.ptr()))) return false;
      columns.push_back(look_up(name.ptr()));
    }
    return true;
  }

  // Appends a dict as a row; names not in the table get the columns after the last known one.
  void add(nb::handle event, EventRows& out) {
    out_ = &out;
    first_ = out.values.size();
    const auto n = static_cast<std::size_t>(python::size_of(event.ptr()));
    PyObject *key, *value;
    Py_ssize_t at = 0;
    const auto next = [&] { return PyDict_Next(event.ptr(), &at, &key, &value) != 0; };

    // Streams repeat themselves: the same name objects at the same places, event after event.
    const std::size_t usual = std::min(n, distinct_);
    out.indices.insert(out.indices.end(), columns_.data(), columns_.data() + usual);
    out.values.resize(first_ + usual);
    double* values = out.values.data() + first_;
    const nb::object* names = recalled_.data();
    if (usual < n || !as_usual(n, names, values, key, value, next)) {
      at = 0;
      std::size_t k = 0;
      bool more = next();
      for (; more && k < usual && key == names[k].ptr() && plain(value, values[k]); ++k) more = next();
      place_ = k;
      if (more || k < usual) rest(event, n, more, key, value, next);
    }
    out.starts.push_back(static_cast<std::int64_t>(out.values.size()));
  }

 private:
  // Reads a dict of the usual names with finite floats; whether it is one is seen only at its end, without branches.
  static bool as_usual(std::size_t n, const nb::object* names, double* values, PyObject*& key, PyObject*& value,
                       auto next) {
    std::uintptr_t others = 0;
    bool finite = true;
    std::size_t k = 0;
    for (; k < n && next() && PyFloat_CheckExact(value); ++k) {
      others |= reinterpret_cast<std::uintptr_t>(key) ^ reinterpret_cast<std::uintptr_t>(names[k].ptr());
      values[k] = python::value_of(value);
      finite &= std::isfinite(values[k]);
    }
    return (k == n) & (others == 0) & finite;
  }

  // Reads a finite number, unless that takes code of others.
  static bool plain(PyObject* value, double& out) {
    if (PyFloat_CheckExact(value)) {
      out = python::value_of(value);
    } else if (PyLong_CheckExact(value) || PyBool_Check(value)) {
      out = PyLong_AsDouble(value);
      if (out == -1 && PyErr_Occurred()) {  // too large
        PyErr_Clear();
        return false;
      }
    } else if (PyFloat_Check(value)) {
      out = python::value_of(value);
    } else {
      return false;
    }
    return std::isfinite(out);
  }

  // What is left of an event from the place on where it differs from those before.
  [[gnu::noinline]] void rest(nb::handle event, std::size_t n, bool more, PyObject*& key, PyObject*& value, auto next) {
    out_->indices.resize(first_ + place_);
    out_->values.resize(first_ + place_);
    merging_ = false;
    repeatable_ = n;
    if (hashed()) merge(n);
    for (; more; more = next(), ++place_) {
      if (!PyUnicode_Check(key))
        throw nb::type_error(("a feature's name must be a string, not " + quoted(key)).c_str());
      if (PyUnicode_Check(value)) {
        add_category(key, value, n);
      } else if (PyFloat_CheckExact(value)) {
        put(column(key), number(key, value));
      } else {  // __float__ may run any code
        const nb::object held_key = nb::borrow(key), held_value = nb::borrow(value);
        const double v = number(key, value);
        if (static_cast<std::size_t>(PyDict_Size(event.ptr())) != n)
          throw nb::type_error("the event was changed while it was read");
        put(column(key), v);
      }
    }
    distinct_ = std::max(distinct_, repeatable_);
  }
  void not_from_here() { repeatable_ = std::min(repeatable_, place_); }

  static std::string quoted(PyObject* what) { return nb::repr(nb::handle(what)).c_str(); }

  static std::string_view text(PyObject* s) {
    const std::string_view utf8 = python::utf8_of(s);
    if (!utf8.data()) {
      PyErr_Clear();
      throw nb::value_error(("feature " + quoted(s) + " cannot be hashed: it is not UTF-8").c_str());
    }
    return utf8;
  }

  static constexpr const char* missing = "; leave out or fill in what is missing";

  // NumPy's complex numbers have a __float__, which drops the imaginary part.
  static bool is_complex(PyObject* value) {
    if (PyComplex_Check(value)) return true;
    const nb::object dtype = nb::getattr(nb::handle(value), "dtype", nb::none());
    const nb::object kind = nb::getattr(dtype, "kind", nb::none());
    return nb::isinstance<nb::str>(kind) && PyUnicode_CompareWithASCIIString(kind.ptr(), "c") == 0;
  }

  static double number(PyObject* key, PyObject* value) {
    const auto no_number = [&] {
      const nb::object kind = nb::handle(value).type().attr("__name__");
      return nb::type_error(
          ("feature " + quoted(key) + " must be a number or a string, not " + nb::str(kind).c_str()).c_str());
    };
    if (!PyFloat_Check(value) && !PyLong_Check(value) && is_complex(value)) throw no_number();
    const double v = PyFloat_CheckExact(value) ? python::value_of(value) : PyFloat_AsDouble(value);
    if (v == -1 && PyErr_Occurred()) {
      const bool large = PyErr_ExceptionMatches(PyExc_OverflowError);
      if (!large && !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
        throw nb::python_error();
      PyErr_Clear();
      if (large) throw nb::value_error(("feature " + quoted(key) + " is too large").c_str());
      if (value == Py_None) throw nb::type_error(("feature " + quoted(key) + " is None" + missing).c_str());
      throw no_number();
    }
    if (!std::isfinite(v))
      throw nb::value_error(("feature " + quoted(key) + " is " + (std::isnan(v) ? "NaN" : "inf") + missing).c_str());
    return v;
  }

  Index column_of(const NameHash& hash) const { return hashed_column(hash, hash_bits_); }

  Index column(PyObject* name) {
    if (place_ < recalled_.size() && recalled_[place_].ptr() == name) return columns_[place_];
    const Index j = look_up(name);
    if (j >= names_.size() && !hashed() && !may_mix && is_text(name)) changed(name, "a number", "strings");
    if (place_ < most_recalled && (hashed() || j < names_.size())) {  // fresh names may be refused
      if (place_ >= recalled_.size()) {
        recalled_.resize(place_ + 1);
        columns_.resize(place_ + 1);
      }
      recalled_[place_] = nb::borrow(name);
      columns_[place_] = j;
      distinct_ = std::min(distinct_, place_);
    } else {
      not_from_here();
    }
    return j;
  }

  bool is_text(PyObject* name) const {
    return texts_.find(name) != NameTable::absent || out_->texts.find(name) != NameTable::absent;
  }
  [[noreturn]] static void changed(PyObject* name, const char* now, const char* before) {
    throw DataError("feature " + quoted(name) + " is " + now + ", and was " + before + " before", -1);
  }

  Index look_up(PyObject* name) {
    if (hashed()) return column_of(NameHash().add(text(name)));
    Index j = names_.find(name);
    if (j != NameTable::absent) return j;
    j = out_->fresh.find(name);
    if (j == NameTable::absent) {
      j = out_->fresh.size();
      out_->fresh.append(nb::borrow(name));
    }
    return out_->known + j;
  }

  void add_category(PyObject* key, PyObject* value, std::size_t n) {
    not_from_here();
    if (hashed()) {
      put(column_of(NameHash().add(text(key)).add("=").add(text(value))), 1);
      return;
    }
    if (!is_text(key)) {
      const bool is_number = names_.find(key) != NameTable::absent || out_->fresh.find(key) != NameTable::absent;
      if (is_number && !may_mix) changed(key, "a string", "numbers");
      out_->texts.append(nb::borrow(key));
    }
    if (!merging_) merge(n);  // "a=b" may also be a name of its own
    const nb::object name = nb::steal(PyUnicode_FromFormat("%U=%U", key, value));
    put(look_up(name.ptr()), 1);
  }

  void put(Index j, double v) {
    if (merging_) {
      Index& at = slot(j);
      if (at > 0) {
        out_->values[static_cast<std::size_t>(at - 1)] += v;
        not_from_here();
        return;
      }
      at = static_cast<Index>(out_->indices.size()) + 1;
    }
    out_->indices.push_back(j);
    out_->values.push_back(v);
  }

  // From here on columns that come again are added up.
  void merge(std::size_t n) {
    std::size_t size = 64;
    while (size < 4 * n) size *= 2;
    slots_.assign(size, 0);
    merging_ = true;
    for (std::size_t k = first_; k < out_->indices.size(); ++k) slot(out_->indices[k]) = static_cast<Index>(k) + 1;
  }
  // Where column j stands in the row so far, plus 1: a small open-addressing table.
  Index& slot(Index j) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t k = (static_cast<std::uint32_t>(j) * 0x9e3779b1u) & mask;
    while (slots_[k] > 0 && out_->indices[static_cast<std::size_t>(slots_[k] - 1)] != j) k = (k + 1) & mask;
    return slots_[k];
  }

  static constexpr std::size_t most_recalled = 1024;

  const NameTable& names_;
  const NameTable& texts_;
  std::vector<nb::object> recalled_;  // the last name at each place of the dicts
  std::vector<Index> columns_;        // and its column
  std::size_t distinct_ = 0;          // this many of the columns, from the first on, differ from each other
  int hash_bits_;
  EventRows* out_ = nullptr;
  std::size_t first_ = 0;       // where the row begins
  std::size_t place_ = 0;       // in the dict
  std::size_t repeatable_ = 0;  // up to here each recalled name has its own column
  bool merging_ = false;
  std::vector<Index> slots_;
};

}  // namespace lopsided
