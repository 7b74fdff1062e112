// How the named parts of a model are read and written: its state and its options.
#pragma once

#include <initializer_list>
#include <span>

#include "numbers/symmetric.hpp"
#include "numbers/table.hpp"

namespace lopsided {

// A long list of numbers that belong to no feature.
struct Series {
  std::vector<double> values;
};

// State that has an entry for each feature and grows with their number.
template <class Values>
concept PerFeature = requires(Values& values, std::size_t size) {
  values.reserve(size);
  values.grow(size);
  { values.bytes() } -> std::same_as<std::size_t>;
};

// Reads or writes the named parts of a model: to save, load, copy and inspect it.
struct StateVisitor {
  virtual ~StateVisitor() = default;
  virtual bool restores() const { return false; }  // it writes
  // The rows of the table restored last: all others are zero, and there may be billions of them.
  virtual std::span<const std::uint32_t> restored_rows() const { return {}; }
  virtual void operator()(const char* name, Vector& values) = 0;
  virtual void operator()(const char* name, Symmetric& values) = 0;
  virtual void operator()(const char* name, SymmetricOf<float>& values) = 0;
  virtual void operator()(const char* name, Table& values) = 0;
  virtual void operator()(const char* name, std::vector<double>& few) = 0;  // belong to no feature
  virtual void operator()(const char* name, Series& many) = 0;
  virtual void operator()(const char* name, double& value) = 0;
  virtual void operator()(const char* name, Count& value) = 0;
  // A flag is stored as the count 0 or 1.
  virtual void operator()(const char* name, bool& flag) {
    Count count = flag;
    (*this)(name, count);
    if (count > 1) throw std::invalid_argument(std::string("state ") + name + " is neither 0 nor 1");
    flag = count == 1;
  }
};

// Sets the options of a model before its first row.
struct OptionVisitor {
  virtual ~OptionVisitor() = default;
  virtual void operator()(const char* name, double& value) = 0;
  virtual void operator()(const char* name, bool& value) = 0;
  virtual void operator()(const char* name, std::vector<double>& values) = 0;
  virtual int choose(const char* name, std::initializer_list<const char*> choices, int now) = 0;

  template <class Choice>
  void operator()(const char* name, Choice& value, std::initializer_list<const char*> choices) {
    value = static_cast<Choice>(choose(name, choices, static_cast<int>(value)));
  }
};

}  // namespace lopsided
