// States that hold anything: a model refuses them, or it works on within its memory. Run under sanitizers.
#include "../core/stream/restore.hpp"

#include <functional>
#include <limits>
#include <map>
#include <variant>

#include "../core/metrics/running_auc.hpp"
#include "../core/registry/registry.hpp"
#include "check.hpp"

using namespace lopsided;

namespace {

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

const std::map<std::string, double> asking = {{"query", 1}, {"budget", 5}, {"budget_per", 10}, {"max_pending", 4}};
const std::map<std::string, double> settings[] = {
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

void learn(Model& model, const Stream& stream, bool sparse) {
  Pass pass = stream.pass();
  model.learn(stream.rows(sparse), pass);
}
void ask(Model& model, const Stream& stream, bool sparse) {
  const Count n = stream.size();
  std::vector<double> scores(n), probabilities(n);
  std::vector<std::int8_t> alarms(n), asked(n);
  std::vector<std::int64_t> forgotten(n);
  model.ask(stream.rows(sparse), {},
            {scores.data(), alarms.data(), probabilities.data(), asked.data(), forgotten.data()});
}

// Everything that can be done with a model. Errors are fine: a score may overflow.
void use(Model& model, const Stream& known, const Stream& wider, bool asks) {
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

// Calls `then` with the state after each of the changes.
struct Changes {
  const Entries& good;
  Count features;
  std::function<void(const std::string&, const Entries&)> then;

  void all() {
    for (const auto& [name, entry] : good) {
      Entries bad = good;
      std::visit([&, &name = name](const auto& value) { change(name, bad, value); }, entry);
      bad.erase(name);
      then(name, bad);
    }
  }

 private:
  template <class Value>
  void set(const std::string& name, Entries& bad, Value value) {
    bad[name] = std::move(value);
    then(name, bad);
  }
  void change(const std::string& name, Entries& bad, Count was) {
    for (const Count v : {Count{0}, Count{1}, ~Count{0}, was - 1, was + 1, features - 1, features, features + 1,
                          Count{1} << 31, Count{1} << 53, (Count{1} << 53) + 1, Count{1} << 62})
      set(name, bad, v);
  }
  void change(const std::string& name, Entries& bad, double) {
    for (const double v : {0.0, -1.0, 0.5, 0x1p31, 0x1p62, 1e308, not_a_number, infinite, -infinite}) set(name, bad, v);
  }
  void change(const std::string& name, Entries& bad, const List& was) {
    const double n = static_cast<double>(features);
    const bool records = name.starts_with("pending.") || name.ends_with(".waiting") || name.ends_with("tives");
    const std::size_t many = was.values.size(),
                      front = records ? 11 : 2;  // of a long list its first numbers and the last
    for (std::size_t k = 0; k<many; k = k + 1> front && k + 1 < many ? many - 1 : k + 1) {
      List now = was;
      for (const double v : {0.0, -1.0, 0.5, now.values[k] + 1, n - 1, n, n + 1, 0x1p31, 0x1p53, 0x1p62, 1e308,
                             not_a_number, infinite}) {
        now.values[k] = v;
        set(name, bad, now);
      }
    }
    change_length(name, bad, was);
  }
  void change(const std::string& name, Entries& bad, const Features& was) {
    for (const std::size_t k : {std::size_t{0}, was.size() - 1})
      for (const Count v : {Count{0}, features - 1, features, features + 1, Count{1} << 31, (Count{1} << 32) - 1}) {
        if (was.empty()) continue;
        Features now = was;
        now[k] = static_cast<std::uint32_t>(v);
        set(name, bad, now);
      }
    Features longer = was;
    longer.push_back(was.empty() ? 0 : was.back() + 1);
    set(name, bad, longer);
    set(name, bad, Features{});
  }
  void change(const std::string& name, Entries& bad, const Values& was) {
    for (std::size_t k = 0; k < std::min<std::size_t>(was.values.size(), 2); ++k)
      for (const double v : {-1.0, 1e308, 1e-308, not_a_number, infinite}) {
        Values now = was;
        now.values[k] = v;
        set(name, bad, now);
      }
    for (const int by : {-1, 1}) {
      if (was.shape[0] == 0 && by < 0) continue;
      Values now = was;
      now.shape[0] += static_cast<std::size_t>(by);
      now.values.resize(now.shape.size() == 2 ? now.shape[0] * now.shape[1] : now.shape[0]);
      set(name, bad, now);
    }
    set(name, bad, Values{was.values, {was.values.size(), 1, 1}});
  }
  void change_length(const std::string& name, Entries& bad, const List& was) {
    set(name, bad, List{});
    List now = was;
    now.values.push_back(1);
    set(name, bad, now);
    now = was;
    if (!now.values.empty()) now.values.pop_back();
    set(name, bad, now);
  }
};

struct Outcomes {
  Count refused = 0, accepted = 0;
};

void restore_changed(const Model& fresh, const Entries& good, Index features, const Stream& known, const Stream& wider,
                     bool asks, Outcomes& outcomes) {
  Changes{good, static_cast<Count>(features),
          [&](const std::string&, const Entries& bad) {
            auto model = fresh.clone();
            try {
              StateFromEntries from(bad);
              restore(model, features, from);
            } catch (const std::invalid_argument& error) {
              CHECK(std::string(error.what()).starts_with("state "));
              CHECK(model->features() == 0 || model->features() == fresh.features());
              ++outcomes.refused;
              return;
            }
            ++outcomes.accepted;
            use(*model, known, wider, asks);
          }}
      .all();
}

bool has_matrix(const Entries& state) {
  return std::any_of(state.begin(), state.end(), [](const auto& named) {
    const auto* found = std::get_if<Values>(&named.second);
    return found && found->shape.size() == 2 && found->shape[0] == found->shape[1] && found->shape[0] > 2;
  });
}

void restore_changed(const Kind& kind, Options& options, bool sparse, bool wide, Outcomes& outcomes) {
  const Stream known(wide ? 6 : 9, wide ? 270 : 5, wide ? 67 : 2), wider(3, wide ? 280 : 7, wide ? 70 : 3);
  const auto fresh = kind.make();
  fresh->options(options);
  const auto model = fresh->clone();
  const bool asks = model->asker().on();
  learn(*model, known, sparse);
  if (asks) ask(*model, known, sparse);
  StateToEntries good;
  model->state(good);
  if (wide && has_matrix(good.all)) return;
  auto same = fresh->clone();
  StateFromEntries from(good.all);
  restore(same, model->features(), from);
  StateToEntries again;
  same->state(again);
  CHECK(again.all == good.all);
  restore_changed(*fresh, good.all, model->features(), known, wider, asks, outcomes);
}

void refuses_changed_states(std::size_t first) {  // every other kind: half of a long test
  for (std::size_t k = first; k < kinds().size(); k += 2) {
    const Kind& kind = kinds()[k];
    Outcomes outcomes;
    bool odd = false;  // every other setting learns from sparse rows, the defaults from both
    for (const auto& wanted : settings) {
      Options options(wanted);
      kind.make()->options(options);
      if (options.taken == 0 && !wanted.empty()) continue;
      restore_changed(kind, options, odd, false, outcomes);
      if (wanted.empty()) restore_changed(kind, options, !odd, false, outcomes);
      if (wanted.empty() || wanted.contains("trial") || wanted.contains("gamma"))
        restore_changed(kind, options, true, true, outcomes);
      odd = !odd;
    }
    CHECK(outcomes.refused > 20 && outcomes.accepted > 20);
  }
}

}  // namespace

TEST(even_kinds_refuse_a_changed_state_or_stay_within_their_memory) { refuses_changed_states(0); }
TEST(odd_kinds_refuse_a_changed_state_or_stay_within_their_memory) { refuses_changed_states(1); }

TEST(what_romma_says_of_its_length_is_validated) {
  const Stream stream(14, 5, 2);
  const auto fresh = make_model("romma"), taught = fresh->clone();
  learn(*taught, stream, false);
  StateToEntries state;
  taught->state(state);
  for (const Count reach : {Count{5}, Count{6}, Count{1} << 31, Count{1} << 62}) {
    state.all["reach"] = reach;
    StateFromEntries from(state.all);
    auto model = fresh->clone();
    if (reach == 5) restore(model, 5, from);
    else CHECK_THROWS(std::invalid_argument, restore(model, 5, from));
  }
}

TEST(a_refused_state_leaves_the_model_unchanged) {
  const Stream stream(14, 5, 2), other(9, 6, 2);
  for (const Kind& kind : kinds()) {
    auto model = kind.make();
    const auto source = kind.make();
    learn(*model, stream, false);
    learn(*source, other, false);
    StateToEntries before, state, after;
    model->state(before);
    source->state(state);
    state.all.erase(std::prev(state.all.end()));
    StateFromEntries from(state.all);
    CHECK_THROWS(std::invalid_argument, restore(model, 6, from));
    CHECK(model->features() == 5);
    model->state(after);
    CHECK(before.all == after.all);
  }
}

TEST(a_small_state_cannot_ask_for_much_memory) {
  const Stream stream(14, 5, 2);
  for (const char* kind :
       {"cog", "acog-full", "ssol-full-float32", "acog-dense-sketch", "opauc", "oam", "weighted-majority"}) {
    const auto fresh = make_model(kind), taught = fresh->clone();
    learn(*taught, stream, false);
    StateToEntries state;
    taught->state(state);
    for (const Index features : {1'000'000, 40'000, max_features, -1}) {
      if (features == 40'000 && !has_matrix(state.all)) continue;
      auto model = fresh->clone();
      StateFromEntries from(state.all);
      CHECK_THROWS(std::invalid_argument, restore(model, features, from));
    }
  }
}

TEST(billions_of_features_that_no_row_had_take_neither_time_nor_memory) {
  const Stream stream(14, 5, 2);
  for (const char* kind : {"ssol-diagonal", "dual-averaging", "additive-logistic"}) {
    const auto fresh = make_model(kind), taught = fresh->clone();
    learn(*taught, stream, false);
    StateToEntries state;
    taught->state(state);
    auto model = fresh->clone();
    StateFromEntries from(state.all);
    restore(model, max_features, from);
    CHECK(model->features() == max_features);
    std::vector<double> scores(stream.size()), expected(stream.size());
    model->score(stream.rows(true), scores.data());
    taught->score(stream.rows(true), expected.data());
    CHECK(scores == expected);
  }
}

TEST(a_running_auc_refuses_a_state_that_does_not_fit_together) {
  RunningAuc auc(4, 8);
  for (int i = 0; i < 9; ++i) auc.add(i % 2 == 0, i % 3, 1);
  const auto levels = auc.levels();
  const auto events = auc.events();
  RunningAuc(4, 8).restore(0, levels, events);
  const auto refuses = [&](int dropped, auto change_levels, auto change_events) {
    auto l = levels;
    auto e = events;
    change_levels(l), change_events(e);
    RunningAuc other(4, 8);
    CHECK_THROWS(std::invalid_argument, other.restore(dropped, l, e));
    CHECK(other.size() == 0);
  };
  const auto none = [](auto&) {};
  refuses(64, none, none);
  refuses(-1, none, none);
  refuses(63, none, none);
  refuses(0, [](auto& l) { std::swap(l[0], l[1]); }, none);
  refuses(0, [](auto& l) { ++l[0].key; }, none);
  refuses(0, [](auto& l) { ++l[0].events; }, none);
  refuses(0, [](auto& l) { l[0].up = not_a_number; }, none);
  refuses(0, [](auto& l) { l.pop_back(); }, none);
  refuses(0, none, [](auto& e) { e[0].score = 77; });
  refuses(0, none, [](auto& e) { e[0].score = not_a_number; });
  refuses(0, none, [](auto& e) { e[0].weight = infinite; });
  refuses(0, none, [](auto& e) { e.insert(e.end(), 9, e[0]); });
}
