// States of models as entries that can be changed, and everything that can be done with a model that took one.
#pragma once

#include <limits>
#include <map>
#include <variant>

#include "../core/registry/registry.hpp"
#include "../core/stream/restore.hpp"

namespace states {

using namespace lopsided;

struct Values {
  std::vector<double> values;
  std::vector<std::size_t> shape;
  bool operator==(const Values&) const = default;
};
struct List {
  std::vector<double> values;
  bool operator==(const List&) const = default;
};
using Features = std::vector<std::uint32_t>;
using Entries = std::map<std::string, std::variant<Count, double, List, Features, Values>>;

struct StateToEntries final : StateVisitor {
  Entries all;
  void operator()(const char* name, Vector& v) override {
    all[name] = Values{{v.data(), v.data() + v.size()}, {v.size()}};
  }
  void operator()(const char* name, Symmetric& m) override { square(name, m); }
  void operator()(const char* name, SymmetricOf<float>& m) override { square(name, m); }
  void operator()(const char* name, Table& t) override {
    Features at;
    Values out;
    t.for_each([&](std::size_t j, const double* row) {
      at.push_back(static_cast<std::uint32_t>(j));
      out.values.insert(out.values.end(), row, row + t.width());
    });
    out.shape = {at.size(), t.width()};
    all[name] = at;
    all[std::string(name) + ".values"] = out;
  }
  void operator()(const char* name, std::vector<double>& few) override { all[name] = List{few}; }
  void operator()(const char* name, Series& many) override { all[name] = List{many.values}; }
  void operator()(const char* name, double& value) override { all[name] = value; }
  void operator()(const char* name, Count& value) override { all[name] = value; }

 private:
  template <class Value>
  void square(const char* name, SymmetricOf<Value>& m) {
    std::vector<Value> values(m.size() * m.size());
    m.read(values.data());
    all[name] = Values{{values.begin(), values.end()}, {m.size(), m.size()}};
  }
};

class StateFromEntries final : public StateRestorer {
 public:
  explicit StateFromEntries(const Entries& all) : all_(all) {}
  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const auto& [name, entry] : all_)
      if (const auto* found = std::get_if<Values>(&entry)) sum += 8 * found->values.size();
    return sum;
  }

 private:
  Array array(const char* name) override {
    const auto& found = find<Values>(name);
    return {found.values.data(), found.shape};
  }
  std::span<const std::uint32_t> features(const char* name) override { return find<Features>(name); }
  std::vector<double> list(const char* name) override { return find<List>(name).values; }
  std::vector<double> series(const char* name) override { return find<List>(name).values; }
  double number(const char* name) override { return find<double>(name); }
  Count count(const char* name) override { return find<Count>(name); }

  template <class Value>
  const Value& find(const char* name) {
    const auto found = all_.find(name);
    validate(found != all_.end() && std::holds_alternative<Value>(found->second), name);
    return std::get<Value>(found->second);
  }
  const Entries& all_;
};

// Options by name; those that a learner does not have are left alone. A choice is given by its number.
struct Options final : OptionVisitor {
  std::map<std::string, double> wanted;
  std::vector<double> kernels;
  int taken = 0;

  explicit Options(std::map<std::string, double> wanted) : wanted(std::move(wanted)) {}
  void operator()(const char* name, double& value) override { value = take(name, value); }
  void operator()(const char* name, bool& value) override { value = take(name, value) != 0; }
  void operator()(const char* name, std::vector<double>& values) override {
    if (std::string(name) == "kernels" && wanted.contains("kernels")) values = {0, 0.5, 3, 1, 2, 1, 3, 1}, ++taken;
    if (std::string(name) == "directions" && wanted.contains("directions")) values = {1, 0, 0, 1}, ++taken;
  }
  int choose(const char* name, std::initializer_list<const char*>, int now) override {
    return static_cast<int>(take(name, now));
  }

 private:
  double take(const char* name, double now) {
    const auto found = wanted.find(name);
    if (found == wanted.end()) return now;
    ++taken;
    return found->second;
  }
};

inline const std::map<std::string, double> asking = {
    {"query", 1}, {"budget", 5}, {"budget_per", 10}, {"max_pending", 4}};
inline const std::map<std::string, double> settings[] = {
    {},
    {{"standard", 1}, {"centred", 1}, {"intercept", 1}, {"scales", 0}},
    {{"standard", 1}, {"scales", 0}, {"query", 2}, {"probability", 0.7}, {"max_pending", 4}},
    asking,
    {{"query", 5}, {"probability", 0.3}, {"max_pending", 4}},
    {{"target_sparsity", 0.5}},
    {{"target_sparsity", 0.9}, {"query", 1}, {"max_pending", 4}, {"period", 3}},
    {{"sketch_size", 2}, {"sketch_every", 3}},
    {{"sketch_size", 2}, {"directions", 1}},
    {{"gamma", 0.5},
     {"size.negative", 3},
     {"size.positive", 2},
     {"buffer_size", 4},
     {"neighbors.negative", 1},
     {"truncation", 5},
     {"fit_threshold", 1},
     {"kernels", 1}},
    {{"kernel", 3},
     {"policy", 3},
     {"size.negative", 2},
     {"buffer_size", 2},
     {"violators_first", 1},
     {"neighbors.negative", 1},
     {"tolerance", 0.001}},
    {{"buffer_negative", 3}, {"buffer_positive", 2}, {"variant", 1}},
    {{"buffer_negative", 3}, {"buffer_positive", 2}, {"query", 1}, {"max_pending", 3}},
    {{"dense", 1}, {"trial", 30}},
    {{"scales", 0}, {"trial", 30}, {"query", 1}, {"max_pending", 3}},
};

// A few rows, dense and sparse.
struct Stream {
  Index columns;
  std::vector<double> dense, values;
  std::vector<std::int32_t> starts{0}, indices;
  std::vector<std::int8_t> labels;

  Stream(Count rows, Index columns, Index step) : columns(columns), dense(rows * static_cast<Count>(columns)) {
    for (Count i = 0; i < rows; ++i) {
      double sum = 0;
      for (Index j = static_cast<Index>(i) % step; j < columns; j += step) {
        const double v = std::sin(1 + 2.3 * static_cast<double>(i) + 1.7 * j);
        dense[i * static_cast<Count>(columns) + static_cast<Count>(j)] = v;
        indices.push_back(j);
        values.push_back(v);
        sum += v;
      }
      starts.push_back(static_cast<std::int32_t>(indices.size()));
      labels.push_back(sum > 0 ? 1 : -1);
    }
  }
  Count size() const { return labels.size(); }
  Rows rows(bool sparse) const {
    if (sparse)
      return Rows({starts.data(), indices.data(), values.data(), false, false, false, values.size()}, size(), columns);
    return Rows({dense.data(), false, columns, 1}, size(), columns);
  }
  Pass pass() const {
    Pass out;
    out.labels = labels.data();
    out.size = size();
    return out;
  }
};

inline void learn(Model& model, const Stream& stream, bool sparse) {
  Pass pass = stream.pass();
  model.learn(stream.rows(sparse), pass);
}
inline void ask(Model& model, const Stream& stream, bool sparse) {
  const Count n = stream.size();
  std::vector<double> scores(n), probabilities(n);
  std::vector<std::int8_t> alarms(n), asked(n);
  std::vector<std::int64_t> forgotten(n);
  model.ask(stream.rows(sparse), {},
            {scores.data(), alarms.data(), probabilities.data(), asked.data(), forgotten.data()});
}

// Everything that can be done with a model. Errors are fine: a score may overflow.
inline void use(Model& model, const Stream& known, const Stream& wider, bool asks) {
  const auto safely = [](auto act) {
    try {
      act();
    } catch (const std::exception&) {
    }
  };
  std::vector<double> scores(std::max(known.size(), wider.size()));
  if (asks) {
    safely([&] {
      for (const Count id : model.asker().pending.ids()) model.tell(id, id % 2 ? 1 : -1, 1);
    });
    safely([&] { ask(model, known, true); });
  }
  safely([&] { model.score(wider.rows(true), scores.data()); });
  safely([&] { learn(model, known, true); });
  safely([&] { model.score(known.rows(false), scores.data()); });
  safely([&] { learn(model, wider, false); });
  if (asks) {
    safely([&] { ask(model, wider, false); });
    safely([&] {
      if (const auto ids = model.asker().pending.ids(); !ids.empty()) model.tell(ids.back(), 1, 1);
    });
  }
  safely([&] {
    std::vector<Index> features;
    std::vector<double> weights;
    model.nonzeros(features, weights);
    model.coefficients();
    StateToEntries saved;
    model.state(saved);
  });
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity();

}  // namespace states
