// The state of a model by name, as values that can be computed with.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "../stream/restore.hpp"

namespace lopsided::merging {

struct Entry {
  enum class Form { vector, symmetric, table, list, series, number, count };
  Form form = Form::number;
  std::vector<double> values;       // of a table: `width` numbers for each of its rows
  std::vector<std::uint32_t> rows;  // of a table: the features that have numbers, in order
  std::size_t size = 0;             // of a symmetric matrix: its rows; of a table: its width
  Count count = 0;

  double number() const { return form == Form::count ? static_cast<double>(count) : values[0]; }
};

using State = std::map<std::string, Entry>;

// Options of a model by name: numbers, flags as 0 and 1, and choices.
struct Options {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> choices;
};

// What is written to a visitor.
State state_from(const std::function<void(StateVisitor&)>& write);
State state_of(Model& model);
Options options_of(const Model& model);

class StateFrom final : public StateRestorer {
 public:
  explicit StateFrom(const State& state) : state_(state) {}
  std::size_t bytes() const override;

 private:
  Array array(const char* name) override;
  std::span<const std::uint32_t> features(const char* name) override { return find(name).rows; }
  std::vector<double> list(const char* name) override { return find(name).values; }
  std::vector<double> series(const char* name) override { return find(name).values; }
  double number(const char* name) override { return find(name).number(); }
  Count count(const char* name) override { return find(name).count; }
  const Entry& find(const std::string& name) const;

  const State& state_;
};

}  // namespace lopsided::merging
