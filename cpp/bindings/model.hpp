// A model of the core as a Python object: arrays and dicts become rows, results become arrays and dicts.
// Batches run without the interpreter lock.
#pragma once

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include "../core/merge/merge.hpp"
#include "expected.hpp"
#include "faults.hpp"
#include "scalars.hpp"
#include "sources.hpp"
#include "visitors.hpp"

namespace lopsided {

// Python code of other threads runs while the core is at work.
struct Interpreter final : Host {
  void* leave() override { return PyEval_SaveThread(); }
  void come_back(void* left) override { PyEval_RestoreThread(static_cast<PyThreadState*>(left)); }
  static Interpreter& get() {
    static Interpreter one;
    return one;
  }
};

using Doubles = std::optional<Line<double>>;
using Order = std::optional<Line<std::int64_t>>;
// Prices of events: miss, alarm, hit and pass of each, or one row for all.
using PriceTable = std::optional<nb::ndarray<const double, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>>;
using LateTable = PriceTable;  // rows as Late

// Those of one event: miss, alarm, hit, pass.
using EventPrices = std::optional<std::array<double, 4>>;

inline std::optional<Prices> prices_of(const EventPrices& one) {
  if (!one) return {};
  return Prices{(*one)[0], (*one)[1], (*one)[2], (*one)[3]};
}
inline PriceList prices_of(const PriceTable& table, std::size_t rows) {
  static_assert(sizeof(Prices) == 4 * sizeof(double));
  if (!table) return {};
  if (table->shape(0) != rows && table->shape(0) != 1)
    throw nb::value_error("prices must be one, or as many as the rows");
  return {reinterpret_cast<const Prices*>(table->data()), table->shape(0) == 1 ? Count{0} : Count{1}};
}

// What a pass is given: one entry for each row of a batch, of which rows first to last are visited.
Pass pass_over(const HeldRows& held, const Line<std::int8_t>& labels, const Doubles& weights, const Order& order,
               std::optional<double> rho, Count every, Count first, Count last);
// What happened in it.
nb::dict told(const Pass& pass, double seconds);

class PyModel {
 public:
  PyModel(std::string_view kind, const nb::dict& options, int hash_bits, bool weighted);

  nb::dict learn(const HeldRows& held, Line<std::int8_t> labels, Doubles weights, Order order,
                 std::optional<double> rho, Count every, bool keep_scores, Doubles days, Doubles delays, Count first,
                 std::optional<Count> last, PriceTable prices, bool keep_chances, LateTable earlier);
  auto score(const HeldRows& held) {
    Fresh<double> out(held.rows.size());
    Part part(features, held);
    explained([&] { session.score(part, out.data()); }, [&] { return held.names; });
    return std::move(out).to_numpy();
  }
  // What scores mean: the margins of decisions, alarms from 0 on, and the probabilities of the positive class.
  auto margins(Line<double> scores, PriceTable prices) {
    const PriceList given = prices_of(prices, scores.size());
    return for_each_score(scores,
                          [=](Model& model, double score, std::size_t i) { return model.margin(score, given.at(i)); });
  }
  double margin(double score, const EventPrices& prices) {
    const std::optional<Prices> given = prices_of(prices);
    return session.look([&](Model& model) { return model.margin(score, given ? &*given : nullptr); });
  }
  double probability(double score) {
    return session.look([=](Model& model) { return sigmoid(model.log_odds(score)); });
  }
  auto probabilities(Line<double> scores) {
    return for_each_score(scores,
                          [](Model& model, double score, std::size_t) { return sigmoid(model.log_odds(score)); });
  }
  // Events without labels. The number of the first, arrays of scores, decisions, whether the label is wanted,
  // probabilities of a question, and the numbers of events that had to be forgotten, -1 for none.
  nb::tuple ask(const HeldRows& held, Doubles days, PriceTable prices);

  // One event, a dict or an array of doubles. None, and nothing done, if it needs a closer look: something is no
  // label that the codes know, no weight, no row as long as the model expects, or, unless it was checked, a dict
  // other than the model expects.
  nb::object learn_one(nb::handle x, nb::handle y, nb::handle weight, const nb::dict& codes, bool free, bool checked,
                       double sampled);
  nb::object score_one(nb::handle x, bool checked);
  nb::object predict_one(nb::handle x, const nb::list& labels);
  nb::object explain_one(nb::handle x, bool checked);
  // Only the strongest of these, each feature or pair of them once. None as well where that takes their words: a pair
  // came more than once.
  nb::object strongest_one(nb::handle x, std::size_t most);
  nb::object ask_one(nb::handle x, std::optional<double> day, nb::type_object kind, nb::handle positive,
                     nb::handle negative, const EventPrices& prices, bool checked);
  // What the members of events are: kinds by name, or None; and whether a name may have values of several kinds.
  void expect(nb::object kinds, bool mixed) {
    expected_.set(std::move(kinds));
    features.let_mix(mixed);
  }
  bool fits(const nb::list& events) {
    for (nb::handle event : events)
      if (!PyDict_Check(event.ptr()) || !expected_.fits(event)) return false;
    return true;
  }
  bool tell(nb::handle id, nb::handle y, nb::handle weight, const nb::dict& codes);
  bool learn_events(nb::handle events, nb::handle labels, const nb::dict& codes);

  // Many events as one batch; names met in it are kept when the model has learned from it.
  HeldRows event_rows(const nb::list& events) {
    auto out = std::make_shared<EventRows>();
    explained([&] { session.look([&](const Model& model) { features.read(events, model, *out); }); },
              [] { return nb::none(); });
    const Rows rows = out->rows();
    return {{}, rows, std::move(out)};
  }

  // The same of Numbers; none if they need a closer look.
  std::optional<HeldRows> number_rows(const nb::list& events) {
    if (expected_.on()) return {};
    auto out = std::make_shared<EventRows>();
    if (!session.look([&](const Model& model) { return features.read_numbers(events, model, *out); })) return {};
    const Rows rows = out->rows();
    return HeldRows{{}, rows, std::move(out)};
  }

  // Features, state and names at one moment.
  nb::tuple snapshot() {
    return session.look([&](Model& model) {
      StateToDict visit;
      model.state(visit);
      return nb::make_tuple(model.features(), visit.state, features.list());
    });
  }
  void restore(Index known, nb::dict state, const nb::list& names) {
    StateFromDict from(std::move(state));
    session.restore(known, from, [&] { features.extend(names, names.size()); });
  }
  // Take the state that several models, or the shards of one, have together: see core/merge/merge.hpp.
  void merge(PyModel& base, const nb::list& models, const std::vector<double>& weights,
             const std::vector<std::vector<Index>>& places, const nb::list& names);
  void split(PyModel& base, double shards);
  nb::dict asking();
  auto coefficients() {
    std::vector<double> w = session.look([](const Model& model) { return model.coefficients(); });
    const std::size_t size = w.size();
    return to_numpy<double>(std::move(w), {size});
  }
  nb::tuple nonzeros();

  Session session;
  Features features;

 private:
  nb::ndarray<nb::numpy, double> for_each_score(const Line<double>& scores, auto value) {
    Fresh<double> out(scores.size());
    session.look([&](Model& model) {
      for (std::size_t i = 0; i < scores.size(); ++i) out.data()[i] = value(model, scores.data()[i], i);
    });
    return std::move(out).to_numpy();
  }
  // Whether a row of numbers is one that the model takes as it is.
  bool takes(nb::handle x, bool learning, Line<double>& row) const {
    if (Py_TYPE(x.ptr()) != NumpyTypes::get().array || features.hashed() || !nb::try_cast(x, row, false)) return false;
    const auto known = static_cast<std::size_t>(session.features());
    return row.size() > 0 && (row.size() == known || (row.size() > known && learning && !features.named()));
  }
  // Calls act with the rows of one event; false if it is none that the model takes as it is.
  template <class Act>
  bool with_event(nb::handle x, bool learning, bool checked, Act act) {
    const auto names = [&] { return nb::object(features.list()); };
    if (PyDict_Check(x.ptr())) {
      if (!checked && !expected_.fits(x)) return false;
      OneEvent source(features, x, one_);
      explained([&] { act(source); }, names);
      return true;
    }
    Line<double> row;
    if (!takes(x, learning, row)) return false;
    OneRow source(row);
    explained([&] { act(source); }, names);
    return true;
  }
  void take(const MergedState& merged, const nb::list& names) {
    merging::StateFrom from(merged.state);
    session.restore(merged.features, from, [&] { features.extend(names, names.size()); });
  }
  bool may_weigh(std::optional<double> weight) const { return weight && (weighted_ || *weight == 0 || *weight == 1); }

  Expected expected_;
  bool weighted_;  // weights other than 0 and 1 have an effect
  EventRows one_, batch_;  // kept for their capacity
  std::vector<std::int8_t> signs_;
};

}  // namespace lopsided
