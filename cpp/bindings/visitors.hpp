// Options and state of a model as Python dicts.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "../core/stream/restore.hpp"
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

class StateFromDict final : public StateRestorer {
 public:
  explicit StateFromDict(nb::dict state) : state_(std::move(state)) {}

  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const auto& [name, value] : state_)
      if (nb::hasattr(value, "nbytes")) sum += nb::cast<std::size_t>(value.attr("nbytes"));
    return sum;
  }

 private:
  using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
  using Features = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  Array array(const char* name) override {
    doubles_ = find<Doubles>(name);
    Array out{doubles_.data(), {}};
    for (std::size_t k = 0; k < doubles_.ndim(); ++k) out.shape.push_back(doubles_.shape(k));
    return out;
  }
  std::span<const std::uint32_t> features(const char* name) override {
    features_ = find<Features>(name);
    return {features_.data(), features_.size()};
  }
  std::vector<double> list(const char* name) override { return find<std::vector<double>>(name); }
  std::vector<double> series(const char* name) override {
    const auto given = find<Doubles>(name);
    return {given.data(), given.data() + given.size()};
  }
  double number(const char* name) override { return find<double>(name); }
  Count count(const char* name) override { return find<Count>(name); }

  template <class Value>
  Value find(const char* name) {
    if (!state_.contains(name)) throw std::invalid_argument(std::string("no state ") + name);
    Value out{};
    if (!nb::try_cast(state_[name], out)) validate(false, name);
    return out;
  }

  nb::dict state_;
  Doubles doubles_;
  Features features_;
};

}  // namespace lopsided
