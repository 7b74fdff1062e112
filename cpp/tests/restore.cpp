// States that hold anything: a model refuses them, or it works on within its memory. Run under sanitizers.
#include "states.hpp"

#include <functional>

#include "../core/metrics/running_auc.hpp"
#include "check.hpp"

using namespace states;

namespace {

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
  Count seen = 0, refused = 0, accepted = 0;
};

void restore_changed(const Model& fresh, const Entries& good, Index features, const Stream& known, const Stream& wider,
                     bool asks, Outcomes& outcomes) {
  Changes{good, static_cast<Count>(features),
          [&](const std::string&, const Entries& bad) {
            if (outcomes.seen++ % check::one_in != 0) return;
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
    CHECK(outcomes.refused > 20 / check::one_in && outcomes.accepted > 20 / check::one_in);
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
