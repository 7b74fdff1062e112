// Options and state of a model as Python dicts.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "../core/stream/model.hpp"
#include "arrays.hpp"

namespace lopsided {

// Takes the options it is asked for out of a dict; what is left was not known.
struct OptionsFrom final : OptionVisitor {
  explicit OptionsFrom(nb::dict options) : options(std::move(options)) {}
  nb::dict options;

  void operator()(const char* name, double& value) override { take(name, value); }
  void operator()(const char* name, bool& value) override { take(name, value); }
  void operator()(const char* name, std::vector<double>& values) override { take(name, values); }
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
  void operator()(const char* name, Symmetric& m) override { square(name, m); }
  void operator()(const char* name, SymmetricOf<float>& m) override { square(name, m); }
  // Only the features that have a number: those at NAME, their numbers in NAME.values.
  void operator()(const char* name, Table& t) override {
    std::vector<std::uint32_t> at;
    std::vector<double> values;
    t.for_each([&](std::size_t j, const double* row) {
      at.push_back(static_cast<std::uint32_t>(j));
      values.insert(values.end(), row, row + t.width());
    });
    const std::size_t n = at.size();
    state[name] = to_numpy<std::uint32_t>(std::move(at), {n});
    state[(std::string(name) + ".values").c_str()] = to_numpy<double>(std::move(values), {n, t.width()});
  }
  void operator()(const char* name, std::vector<double>& few) override { state[name] = few; }
  void operator()(const char* name, Series& many) override {
    const std::size_t size = many.values.size();
    state[name] = to_numpy<double>({many.values.begin(), many.values.end()}, {size});
  }
  void operator()(const char* name, double& value) override { state[name] = value; }
  void operator()(const char* name, Count& value) override { state[name] = value; }

 private:
  template <class Value>
  void square(const char* name, SymmetricOf<Value>& m) {
    std::vector<Value> values(m.size() * m.size());
    m.read(values.data());
    state[name] = to_numpy<Value>(std::move(values), {m.size(), m.size()});
  }
};

struct StateFromDict final : StateVisitor {
  explicit StateFromDict(nb::dict state) : state(std::move(state)) {}
  bool restores() const override { return true; }
  nb::dict state;

  void operator()(const char* name, Vector& v) override {
    const auto given = array(name, {v.size()});
    v.assign(given.data(), v.size());
  }
  void operator()(const char* name, Symmetric& m) override { m.write(array(name, {m.size(), m.size()}).data()); }
  void operator()(const char* name, SymmetricOf<float>& m) override {
    m.write(array(name, {m.size(), m.size()}).data());
  }
  void operator()(const char* name, Table& t) override {
    const auto at = nb::cast<nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(find(name));
    const auto values = array((std::string(name) + ".values").c_str(), {at.size(), t.width()});
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (at.data()[k] >= t.size() || (k > 0 && at.data()[k] <= at.data()[k - 1]))
        throw nb::value_error((std::string("state ") + name + " names a feature that cannot be").c_str());
      std::copy_n(values.data() + k * t.width(), t.width(), t[at.data()[k]]);
    }
  }
  void operator()(const char* name, std::vector<double>& few) override {
    few = nb::cast<std::vector<double>>(find(name));
  }
  void operator()(const char* name, Series& many) override {
    const auto given = nb::cast<Doubles>(find(name));
    many.values.assign(given.data(), given.data() + given.size());
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
    if (!std::all_of(given.data(), given.data() + given.size(), [](double v) { return std::isfinite(v); }))
      throw nb::value_error((std::string("state ") + name + " is not finite").c_str());
    return given;
  }
};

}  // namespace lopsided
