// Where the rows of a call come from: arrays, dicts, or one of either.
#pragma once

#include "../core/stream/session.hpp"
#include "arrays.hpp"
#include "numbers.hpp"

namespace lopsided {

// The names of a model's features, and dicts read by them.
class Features {
 public:
  explicit Features(int hash_bits) : reader_(names_, texts_, hash_bits) {}

  bool hashed() const { return reader_.hashed(); }
  bool named() const { return names_.size() > 0; }
  std::size_t bytes() const { return names_.bytes(); }
  nb::list list() const {
    nb::list out;
    for (Index j = 0; j < names_.size(); ++j) out.append(names_.name(j));
    return out;
  }
  // Names of features from the first without one on; those of the features before have not changed.
  void extend(const nb::list& names, std::size_t features) {
    features = std::min(features, names.size());
    const auto first = static_cast<std::size_t>(names_.size());
    for (std::size_t j = first; j < features; ++j) names_.append(nb::borrow(names[j]));
    for (std::size_t j = first; j < features; ++j) keep_mixed(nb::object(names[j]).ptr());
  }

  void read(nb::handle event, const Model& model, EventRows& out) {
    out.clear(columns(model));
    reader_.add(event, out);
  }
  void read(const nb::list& events, const Model& model, EventRows& out);
  // The same of Numbers; false if they need a closer look.
  bool read_numbers(const nb::list& events, const Model& model, EventRows& out);
  // Rows that were read before, by the names there are now.
  Rows settle(EventRows& rows) const {
    if (!hashed() && rows.known != names_.size()) rows.look_up_again(names_);
    return rows.rows();
  }
  void keep(const EventRows& read, const Model& model) {
    const NameTable& fresh = read.fresh;
    if (model.features() == names_.size() && fresh.size() > 0) return;  // nothing was learned from them
    for (Index j = 0; j < fresh.size(); ++j) names_.append(nb::borrow(fresh.name(j)));
    for (Index j = 0; j < read.texts.size(); ++j)
      if (texts_.find(read.texts.name(j).ptr()) == NameTable::absent) texts_.append(nb::borrow(read.texts.name(j)));
  }
  // Whether numbers and strings may have the same name.
  void let_mix(bool may) { reader_.may_mix = may; }

 private:
  // A model that knows both "a" and "a=b" has met numbers and strings under one name.
  void keep_mixed(PyObject* name) {
    const Py_ssize_t size = python::length_of(name);
    for (Py_ssize_t at = -1; (at = PyUnicode_FindChar(name, '=', at + 1, size, 1)) >= 0;) {
      nb::object head = nb::steal(PyUnicode_Substring(name, 0, at));
      if (names_.find(head.ptr()) != NameTable::absent && texts_.find(head.ptr()) == NameTable::absent)
        texts_.append(std::move(head));
    }
  }
  Index columns(const Model& model) const {
    if (hashed()) return reader_.columns();
    if (names_.size() != model.features())
      throw nb::value_error("this model learned from columns without names: give it rows of numbers, not dicts");
    return model.features();
  }

  NameTable names_;
  NameTable texts_;  // names of strings; a category has a name in `names_`
  EventReader reader_;
};

inline void Features::read(const nb::list& events, const Model& model, EventRows& out) {
  out.clear(columns(model));
  out.reserve(events.size(), reader_.usual());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const nb::object event = events[i];
    const auto place = [&](const std::exception& e) { return "row " + std::to_string(i) + ": " + e.what(); };
    if (!PyDict_Check(event.ptr())) throw nb::type_error(("row " + std::to_string(i) + " is not a dict").c_str());
    try {
      reader_.add(event, out);
    } catch (const nb::builtin_exception& e) {
      if (e.type() == nb::exception_type::type_error) throw nb::type_error(place(e).c_str());
      throw nb::value_error(place(e).c_str());
    } catch (const DataError& e) {
      throw DataError(e.what(), static_cast<std::int64_t>(i));
    }
  }
}

inline bool Features::read_numbers(const nb::list& events, const Model& model, EventRows& out) {
  out.clear(columns(model));
  std::vector<Index> columns;
  const Shape* shape = nullptr;
  for (nb::handle event : events) {
    const auto& numbers = nb::cast<const Numbers&>(event);
    if (numbers.shape.get() != shape) {
      shape = numbers.shape.get();
      if (!reader_.find_columns(shape->names, out, columns)) return false;
    }
    out.indices.insert(out.indices.end(), columns.begin(), columns.end());
    out.values.insert(out.values.end(), numbers.values.begin(), numbers.values.end());
    out.starts.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return true;
}

// One event, given as a dict.
struct OneEvent final : RowSource {
  OneEvent(Features& features, nb::handle event, EventRows& rows) : features(features), event(event), read(rows) {}
  bool long_work() const override { return false; }
  Rows rows(const Model& model) override {
    features.read(event, model, read);
    return read.rows();
  }
  void taken(const Model& model) override { features.keep(read, model); }

  Features& features;
  nb::handle event;
  EventRows& read;
};

// One event, given as numbers.
struct OneRow final : RowSource {
  explicit OneRow(const Line<double>& row) : row(row) {}
  bool long_work() const override { return false; }
  Rows rows(const Model&) override { return Rows({row.data(), false, 0, 1}, 1, static_cast<Index>(row.size())); }

  const Line<double>& row;
};

// A list of dicts that is read when its turn comes.
struct Events final : RowSource {
  Events(Features& features, const nb::list& events, EventRows& rows)
      : features(features), events(events), read(rows) {}
  Rows rows(const Model& model) override {
    features.read(events, model, read);
    const Rows rows = read.rows();
    if (rows.size() != size) throw nb::value_error("the batch was changed while it was read");
    return rows;
  }
  void taken(const Model& model) override {
    features.keep(read, model);
    if (read.values.capacity() > most_held) read = {};
  }

  static constexpr std::size_t most_held = std::size_t{1} << 18;
  Features& features;
  const nb::list& events;
  EventRows& read;
  Count size = events.size();
};

// Rows first to last of a batch.
struct Part final : RowSource {
  Part(Features& features, const HeldRows& held, Count first, Count last)
      : features(features), held(held), first(first), last(last) {}
  Part(Features& features, const HeldRows& held) : Part(features, held, 0, held.rows.size()) {}
  Rows rows(const Model&) override {
    const Rows all = held.events ? features.settle(*held.events) : held.rows;
    return first == 0 && last == all.size() ? all : all.part(first, last);
  }
  void taken(const Model& model) override {
    if (held.events) features.keep(*held.events, model);
    else if (!held.names.is_none())
      features.extend(nb::cast<nb::list>(held.names), static_cast<std::size_t>(model.features()));
  }

  Features& features;
  const HeldRows& held;
  Count first, last;
};

}  // namespace lopsided
