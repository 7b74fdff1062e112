#include "state.hpp"

namespace lopsided::merging {

namespace {

class Collector final : public StateVisitor {
 public:
  State state;

  void operator()(const char* name, Vector& v) override {
    add(name, Entry::Form::vector).values.assign(v.data(), v.data() + v.size());
  }
  void operator()(const char* name, Symmetric& m) override { square(name, m); }
  void operator()(const char* name, SymmetricOf<float>& m) override { square(name, m); }
  void operator()(const char* name, Table& t) override {
    Entry& entry = add(name, Entry::Form::table);
    entry.size = t.width();
    t.for_each([&](std::size_t j, const double* row) {
      entry.rows.push_back(static_cast<std::uint32_t>(j));
      entry.values.insert(entry.values.end(), row, row + t.width());
    });
  }
  void operator()(const char* name, std::vector<double>& few) override { add(name, Entry::Form::list).values = few; }
  void operator()(const char* name, Series& many) override { add(name, Entry::Form::series).values = many.values; }
  void operator()(const char* name, double& value) override { add(name, Entry::Form::number).values = {value}; }
  void operator()(const char* name, Count& value) override { add(name, Entry::Form::count).count = value; }

 private:
  Entry& add(const char* name, Entry::Form form) {
    Entry& entry = state[name];
    entry.form = form;
    return entry;
  }
  template <class Value>
  void square(const char* name, SymmetricOf<Value>& m) {
    std::vector<Value> values(m.size() * m.size());
    m.read(values.data());
    Entry& entry = add(name, Entry::Form::symmetric);
    entry.size = m.size();
    entry.values.assign(values.begin(), values.end());
  }
};

struct OptionReader final : OptionVisitor {
  Options found;
  void operator()(const char* name, double& value) override { found.numbers[name] = value; }
  void operator()(const char* name, bool& value) override { found.numbers[name] = value; }
  void operator()(const char*, std::vector<double>&) override {}
  int choose(const char* name, std::initializer_list<const char*> choices, int now) override {
    found.choices[name] = choices.begin()[now];
    return now;
  }
};

}  // namespace

State state_from(const std::function<void(StateVisitor&)>& write) {
  Collector visit;
  write(visit);
  return std::move(visit.state);
}
State state_of(Model& model) {
  return state_from([&](StateVisitor& visit) { model.state(visit); });
}

// Of a copy: a model that is given options starts over.
Options options_of(const Model& model) {
  OptionReader visit;
  model.clone()->options(visit);
  return std::move(visit.found);
}

std::size_t StateFrom::bytes() const {
  std::size_t sum = 0;
  for (const auto& [name, entry] : state_) sum += 8 * entry.values.size() + 4 * entry.rows.size();
  return sum;
}

StateRestorer::Array StateFrom::array(const char* name) {
  const std::string_view text = name, ending = ".values";
  if (text.ends_with(ending)) {
    const auto table = state_.find(std::string(text.substr(0, text.size() - ending.size())));
    if (table != state_.end() && table->second.form == Entry::Form::table)
      return {table->second.values.data(), {table->second.rows.size(), table->second.size}};
  }
  const Entry& entry = find(name);
  if (entry.form == Entry::Form::symmetric) return {entry.values.data(), {entry.size, entry.size}};
  return {entry.values.data(), {entry.values.size()}};
}

const Entry& StateFrom::find(const std::string& name) const {
  const auto found = state_.find(name);
  if (found == state_.end()) throw std::invalid_argument("no state " + name);
  return found->second;
}

}  // namespace lopsided::merging
