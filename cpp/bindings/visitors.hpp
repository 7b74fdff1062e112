// Options and state of a model as Python dicts.
#pragma once

#include <nanobind/stl/string.h>

#include <string>

#include "../core/model.hpp"
#include "arrays.hpp"

namespace lopsided {

// Takes the options it is asked for out of a dict; what is left was not known.
struct OptionsFrom final : OptionVisitor {
  explicit OptionsFrom(nb::dict options) : options(std::move(options)) {}
  nb::dict options;

  void operator()(const char* name, double& value) override { take(name, value); }
  void operator()(const char* name, bool& value) override { take(name, value); }
  int choose(const char* name, std::initializer_list<const char*> choices, int now) override {
    std::string word;
    if (!take(name, word)) return now;
    int k = 0;
    for (const char* choice : choices) {
      if (word == choice) return k;
      ++k;
    }
    throw nb::value_error((std::string(name) + ": no choice " + word).c_str());
  }

 private:
  template <class Value>
  bool take(const char* name, Value& value) {
    if (!options.contains(name)) return false;
    value = nb::cast<Value>(options[name]);
    nb::del(options[name]);
    return true;
  }
};

struct StateToDict final : StateVisitor {
  nb::dict state;

  void operator()(const char* name, Vector& v) override {
    state[name] = to_numpy<double>({v.data(), v.data() + v.size()}, {v.size()});
  }
  void operator()(const char* name, Symmetric& m) override {
    std::vector<double> square(m.size() * m.size());
    m.read(square.data());
    state[name] = to_numpy<double>(std::move(square), {m.size(), m.size()});
  }
  void operator()(const char* name, double& value) override { state[name] = value; }
  void operator()(const char* name, Count& value) override { state[name] = value; }
};

struct StateFromDict final : StateVisitor {
  explicit StateFromDict(nb::dict state) : state(std::move(state)) {}
  nb::dict state;

  void operator()(const char* name, Vector& v) override {
    const auto given = array(name, {v.size()});
    v.assign(given.data(), v.size());
  }
  void operator()(const char* name, Symmetric& m) override {
    m.write(array(name, {m.size(), m.size()}).data());
  }
  void operator()(const char* name, double& value) override { value = nb::cast<double>(find(name)); }
  void operator()(const char* name, Count& value) override { value = nb::cast<Count>(find(name)); }

 private:
  using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

  nb::object find(const char* name) {
    if (!state.contains(name)) throw nb::value_error((std::string("no state ") + name).c_str());
    return state[name];
  }
  Doubles array(const char* name, std::initializer_list<std::size_t> shape) {
    auto given = nb::cast<Doubles>(find(name));
    bool same = given.ndim() == shape.size();
    for (std::size_t k = 0; same && k < shape.size(); ++k) same = given.shape(k) == shape.begin()[k];
    if (!same) throw nb::value_error((std::string("state ") + name + " has the wrong shape").c_str());
    return given;
  }
};

}  // namespace lopsided
