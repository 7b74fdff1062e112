// Options of models into a bank, and their state back: both name them in the same order.
#pragma once

#include <bit>

#include "../numbers/real.hpp"
#include "../simd.hpp"
#include "../stream/model.hpp"

LOPSIDED_ISA_BEGIN

template <class Real>
concept Several = requires(Real& v) { v[0] = 0.0; } && !requires(Real& v) { v.size(); };

// The options of a model.
struct OptionList final : OptionVisitor {
  std::vector<double> values;

  void operator()(const char*, double& value) override { values.push_back(value); }
  void operator()(const char*, bool& value) override { values.push_back(value); }
  void operator()(const char*, std::vector<double>&) override {}
  int choose(const char*, std::initializer_list<const char*>, int now) override {
    values.push_back(now);
    return now;
  }
};

// Gives the options of a model to a bank. A number has its own element of a vector; all other options are shared, and
// must be equal to those of the first model.
struct GiveOptions {
  const std::vector<double>&values, &first;
  int place;
  std::size_t at = 0;
  bool same = true;

  template <class Value>
  void operator()(const char*, Value& value) {
    if constexpr (Several<Value>) {
      if (place == 0) value = all<Value>(values[at]);  // slots without a model
      value[place] = values[at++];
    } else {
      value = static_cast<Value>(shared());
    }
  }
  template <class Choice>
  void operator()(const char*, Choice& value, std::initializer_list<const char*>) {
    value = static_cast<Choice>(static_cast<int>(shared()));
  }

 private:
  double shared() {
    same = same && values[at] == first[at];
    return values[at++];
  }
};

// Addresses of the state of a model or a bank.
struct StateList final : StateVisitor {
  struct Item {
    double* number = nullptr;
    Count* count = nullptr;
    Vector* vector = nullptr;
    Table* table = nullptr;
  };
  std::vector<Item> items;
  int place = 0;

  void operator()(const char*, Vector& values) override { items.push_back({.vector = &values}); }
  void operator()(const char*, Table& values) override { items.push_back({.table = &values}); }
  void operator()(const char*, double& value) override { items.push_back({.number = &value}); }
  void operator()(const char*, Count& value) override { items.push_back({.count = &value}); }
  void operator()(const char*, Symmetric&) override { items.push_back({}); }
  void operator()(const char*, SymmetricOf<float>&) override { items.push_back({}); }
  void operator()(const char*, std::vector<double>&) override { items.push_back({}); }
  void operator()(const char*, Series&) override { items.push_back({}); }
  void operator()(const char*, bool&) override { items.push_back({}); }
  template <Several Real>
  void operator()(const char*, Real& value) {
    items.push_back({.number = reinterpret_cast<double*>(&value) + place});
  }
};

inline bool same_bits(double a, double b) { return std::bit_cast<Count>(a) == std::bit_cast<Count>(b); }

LOPSIDED_ISA_END
