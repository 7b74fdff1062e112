#include "model.hpp"

#include <algorithm>
#include <unordered_map>

#include "module.hpp"

namespace lopsided {

namespace {

// A named tuple of some kind.
nb::object tuple_of(const nb::type_object& kind, std::initializer_list<nb::object> items) {
  auto* type = reinterpret_cast<PyTypeObject*>(kind.ptr());
  if (!PyType_IsSubtype(type, &PyTuple_Type)) throw nb::type_error("kind must be a named tuple");
  nb::object out = nb::steal(python::new_tuple(type, items.size()));
  if (!out.is_valid()) throw nb::python_error();
  std::size_t k = 0;
  for (const nb::object& item : items) python::set_item(out.ptr(), k++, item.inc_ref().ptr());
  return out;
}

nb::list listed(const std::vector<Reason>& reasons) {
  nb::list out;
  const auto place = [](const Place& at) { return nb::make_tuple(at.feature, at.from, at.below); };
  for (const Reason& one : reasons) out.append(nb::make_tuple(place(one.first), place(one.second), one.effect));
  return out;
}

}  // namespace

Pass pass_over(const HeldRows& held, const Line<std::int8_t>& labels, const Doubles& weights, const Order& order,
               std::optional<double> rho, Count every, Count first, Count last) {
  const Count rows = held.rows.size();
  if (labels.size() != rows || (weights && weights->size() != rows))
    throw nb::value_error("labels and weights must be as many as the rows");
  if (first > last || last > rows || (order && last - first != rows))
    throw nb::value_error("give an order, or rows first to last that are there");
  Pass pass;
  pass.labels = labels.data() + first;
  pass.weights = weights ? weights->data() + first : nullptr;
  pass.order = order ? order->data() : nullptr;
  pass.size = order ? order->size() : last - first;
  pass.rho = rho;
  pass.every = every;
  for (Count i = 0; order && i < pass.size; ++i)
    if (pass.at(i) >= rows) throw nb::value_error("order names a row that is not there");
  return pass;
}

nb::dict told(const Pass& pass, double seconds) {
  std::vector<double> curve;
  for (const Tally& t : pass.curve)
    for (const double v : {double(t.events), t.positives, t.negatives, t.false_negatives, t.false_positives,
                           double(t.queries), double(t.updates), t.money})
      curve.push_back(v);
  nb::dict out;
  out["positives"] = pass.tally.positives;
  out["negatives"] = pass.tally.negatives;
  out["false_negatives"] = pass.tally.false_negatives;
  out["false_positives"] = pass.tally.false_positives;
  out["events"] = pass.tally.events;
  out["queries"] = pass.tally.queries;
  out["updates"] = pass.tally.updates;
  out["money"] = pass.tally.money;
  out["forgotten"] = pass.forgotten;
  out["seconds"] = seconds;
  out["curve"] = to_numpy<double>(std::move(curve), {pass.curve.size(), 8});
  return out;
}

PyModel::PyModel(std::string_view kind, const nb::dict& options, int hash_bits, bool weighted)
    : session(kind, Interpreter::get()), features(hash_bits), weighted_(weighted) {
  if (hash_bits < 0 || hash_bits > 28) throw nb::value_error("hash_bits must be from 0 to 28");
  OptionsFrom visit(nb::steal<nb::dict>(PyDict_Copy(options.ptr())));
  session.look([&](Model& model) { model.options(visit); });
  for (auto [name, _] : visit.options)
    throw nb::value_error((session.kind() + " has no option " + nb::cast<std::string>(name)).c_str());
}

nb::dict PyModel::learn(const HeldRows& held, Line<std::int8_t> labels, Doubles weights, Order order,
                        std::optional<double> rho, Count every, bool keep_scores, Doubles days, Doubles delays,
                        Count first, std::optional<Count> last, PriceTable prices, bool keep_chances,
                        LateTable earlier) {
  Part part(features, held, first, last.value_or(held.rows.size()));
  Pass pass = pass_over(held, labels, weights, order, rho, every, part.first, part.last);
  const auto fits = [&](const auto& line) { return !line || line->size() == held.rows.size(); };
  if (!fits(days) || !fits(delays)) throw nb::value_error("days and delays must be as many as the rows");
  pass.days = days ? days->data() + first : nullptr;
  pass.delays = delays ? delays->data() + first : nullptr;
  pass.prices = prices_of(prices, held.rows.size());
  pass.prices.first = pass.prices.at(first);
  if (earlier) pass.earlier = {reinterpret_cast<const Late*>(earlier->data()), earlier->shape(0)};
  Fresh<double> scores(keep_scores ? pass.size : 0);
  if (keep_scores) pass.scores = scores.data();
  Fresh<double> chances(keep_chances ? pass.size : 0);
  if (keep_chances) pass.chances = chances.data();
  const bool asks = keep_scores && session.look([](Model& model) { return model.asker().on(); });
  const bool decides = keep_scores && session.look([&](Model& m) { return !m.decider().by_sign(pass.prices); });
  std::vector<std::int8_t> alarms(decides ? pass.size : 0);
  if (decides) pass.alarms = alarms.data();
  std::vector<double> probabilities(asks ? pass.size : 0);
  std::vector<std::int8_t> asked(asks ? pass.size : 0);
  if (asks) {
    pass.probabilities = probabilities.data();
    pass.asked = asked.data();
  }
  const auto learn = [&] {
    try {
      return session.learn(part, pass);
    } catch (DataError& fault) {
      throw DataError(fault.what(), fault.row + static_cast<std::int64_t>(first), fault.column);
    }
  };
  nb::dict out = told(pass, explained(learn, [&] { return held.names; }));
  if (keep_scores) out["scores"] = std::move(scores).to_numpy();
  if (keep_chances) out["chances"] = std::move(chances).to_numpy();
  if (decides) out["alarms"] = to_numpy<std::int8_t>(std::move(alarms), {pass.size});
  if (asks) {
    out["probabilities"] = to_numpy<double>(std::move(probabilities), {pass.size});
    out["asked"] = to_numpy<std::int8_t>(std::move(asked), {pass.size});
  }
  return out;
}

nb::tuple PyModel::ask(const HeldRows& held, Doubles days, PriceTable prices) {
  const std::size_t size = held.rows.size();
  if (days && days->size() != size) throw nb::value_error("days must be as many as the rows");
  Fresh<std::int64_t> forgotten(size);
  Fresh<double> scores(size), probabilities(size);
  Fresh<std::int8_t> alarms(size), asked(size);
  Part part(features, held);
  const AskedAbout given{days ? days->data() : nullptr, prices_of(prices, size)};
  const Answers out{scores.data(), alarms.data(), probabilities.data(), asked.data(), forgotten.data()};
  const Count first = explained([&] { return session.ask(part, given, out); }, [&] { return held.names; });
  return nb::make_tuple(first, std::move(scores).to_numpy(), std::move(alarms).to_numpy(), std::move(asked).to_numpy(),
                        std::move(probabilities).to_numpy(), std::move(forgotten).to_numpy());
}

nb::object PyModel::learn_one(nb::handle x, nb::handle y, nb::handle weight, const nb::dict& codes, bool free,
                              bool checked, double sampled) {
  const std::optional<double> much = weight_of(weight);
  const std::optional<int> sign = sign_of(y, codes);
  if (!sign || !may_weigh(much)) return nb::none();
  const auto label = static_cast<std::int8_t>(*sign);
  double score = std::numeric_limits<double>::quiet_NaN();  // stays so where the weight is 0
  Pass pass;
  pass.labels = &label;
  pass.weights = &*much;
  pass.size = 1;
  pass.free = free;
  pass.sampled = sampled;
  pass.scores = &score;
  if (!with_event(x, true, checked, [&](RowSource& source) { session.learn(source, pass); })) return nb::none();
  return nb::float_(score);
}

nb::object PyModel::score_one(nb::handle x, bool checked) {
  double score;
  if (!with_event(x, false, checked, [&](RowSource& source) { session.score(source, &score); })) return nb::none();
  return nb::float_(score);
}

nb::object PyModel::predict_one(nb::handle x, const nb::list& labels) {
  double score;
  if (!with_event(x, false, false, [&](RowSource& source) { session.score(source, &score); })) return nb::none();
  return labels[score >= 0 ? 1 : 0];
}

nb::object PyModel::explain_one(nb::handle x, bool checked) {
  Reasons found;
  if (!with_event(x, false, checked, [&](RowSource& source) { found = session.explain(source); })) return nb::none();
  return nb::make_tuple(found.base, listed(found.all));
}

nb::object PyModel::strongest_one(nb::handle x, std::size_t most) {
  Reasons found;
  if (!with_event(x, false, false, [&](RowSource& source) { found = session.explain(source); })) return nb::none();
  std::vector<Reason> sums;
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (const Reason& one : found.all) {
    const std::uint64_t both = std::uint64_t(one.first.feature) << 32 | static_cast<std::uint32_t>(one.second.feature);
    const auto [at, fresh] = places.try_emplace(both, sums.size());
    if (fresh) sums.push_back(one);
    else if (one.second.feature >= 0) return nb::none();
    else sums[at->second].effect += one.effect;
  }
  std::erase_if(sums, [](const Reason& one) { return one.effect == 0; });
  std::stable_sort(sums.begin(), sums.end(),
                   [](const Reason& a, const Reason& b) { return std::abs(a.effect) > std::abs(b.effect); });
  sums.resize(std::min(most, sums.size()));
  return listed(sums);
}

nb::object PyModel::ask_one(nb::handle x, std::optional<double> day, nb::type_object kind, nb::handle positive,
                            nb::handle negative, const EventPrices& prices, bool checked) {
  if (!day && session.look([](Model& model) { return model.asker().budget.daily; })) return nb::none();
  const double on = day.value_or(0);
  const std::optional<Prices> price = prices_of(prices);
  const AskedAbout given{&on, {price ? &*price : nullptr}};
  std::int64_t forgotten;
  double score, probability;
  std::int8_t alarmed, asked;
  Count id;
  const auto ask = [&](RowSource& source) {
    id = session.ask(source, given, {&score, &alarmed, &probability, &asked, &forgotten});
  };
  if (!with_event(x, true, checked, ask)) return nb::none();
  return tuple_of(kind,
                  {nb::cast(id), nb::float_(score), nb::borrow(alarmed ? positive : negative), nb::bool_(asked != 0),
                   nb::float_(probability), forgotten < 0 ? nb::none() : nb::cast(forgotten)});
}

bool PyModel::tell(nb::handle id, nb::handle y, nb::handle weight, const nb::dict& codes) {
  const auto event = event_of(id);
  const std::optional<double> much = weight_of(weight);
  const std::optional<int> sign = sign_of(y, codes);
  if (!event || !sign || !may_weigh(much)) return false;
  return session.tell(*event, *sign, *much);
}

bool PyModel::learn_events(nb::handle events, nb::handle labels, const nb::dict& codes) {
  if (!PyList_CheckExact(events.ptr()) || !PyList_CheckExact(labels.ptr())) return false;
  const std::size_t size = nb::len(labels);
  if (size == 0 || nb::len(events) != size || !PyDict_Check(python::item_of(events.ptr(), 0))) return false;
  auto signs = std::exchange(signs_, {});  // another thread may be here too
  signs.clear();
  for (std::size_t i = 0; i < size && i < nb::len(labels); ++i) {
    const nb::object label = nb::borrow(python::item_of(labels.ptr(), i));  // its __hash__ may change the list
    const std::optional<int> sign = sign_of(label, codes);
    if (!sign) return false;
    signs.push_back(static_cast<std::int8_t>(*sign));
  }
  const nb::list given = nb::borrow<nb::list>(events);
  if (expected_.on() && !fits(given)) return false;
  Events source(features, given, batch_);
  source.size = signs.size();
  Pass pass;
  pass.labels = signs.data();
  pass.size = signs.size();
  explained([&] { session.learn(source, pass); }, [] { return nb::none(); });
  signs_ = std::move(signs);
  return true;
}

void PyModel::merge(PyModel& base, const nb::list& models, const std::vector<double>& weights,
                    const std::vector<std::vector<Index>>& places, const nb::list& names) {
  const auto copy = [](Model& model) { return model.clone(); };
  std::vector<MergePart> parts;
  for (std::size_t k = 0; k < models.size(); ++k)
    parts.push_back({nb::cast<PyModel&>(models[k]).session.look(copy), places.at(k), weights.at(k)});
  take(merge_states(session.kind(), *base.session.look(copy), parts), names);
}

void PyModel::split(PyModel& base, double shards) {
  take(base.session.look([&](Model& model) { return split_state(session.kind(), model, shards); }),
       base.features.list());
}

nb::dict PyModel::asking() {
  return session.look([](Model& model) {
    Asker& asker = model.asker();
    nb::dict out;
    out["events"] = asker.budget.events;
    out["queries"] = asker.budget.used;
    out["left"] = asker.budget.left();
    const Budget& budget = asker.budget;
    if (budget.begun) out["latest_day"] = budget.first + static_cast<double>(budget.period);  // of a daily budget
    asker.estimates.state([&](const char* name, double& value) { out[name] = value; });
    return out;
  });
}

nb::tuple PyModel::nonzeros() {
  std::vector<Index> at;
  std::vector<double> weights;
  session.look([&](const Model& model) { model.nonzeros(at, weights); });
  const std::size_t size = at.size();
  return nb::make_tuple(to_numpy<Index>(std::move(at), {size}), to_numpy<double>(std::move(weights), {size}));
}

void bind_model(nb::module_& m) {
  m.def(
      "hash_name", [](std::string_view name, int bits) { return hashed_column(NameHash().add(name), bits); },
      nb::arg("name"), nb::arg("bits"), "The column of a hashed name.");
  const auto pending = [](auto act) {
    return [act](PyModel& m, Count id) {
      return m.session.look([=](Model& model) { return act(model.asker().pending, id); });
    };
  };
  nb::class_<PyModel>(m, "Model", "A learner with its scaling, costs and counts.")
      .def(nb::init<std::string_view, const nb::dict&, int, bool>(), nb::arg("kind"), nb::arg("options"),
           nb::arg("hash_bits") = 0, nb::arg("weighted") = true)
      .def("learn", &PyModel::learn, nb::arg("rows"), nb::arg("labels"), nb::arg("weights").none(),
           nb::arg("order").none(), nb::arg("rho").none(), nb::arg("every"), nb::arg("scores"),
           nb::arg("days") = nb::none(), nb::arg("delays") = nb::none(), nb::arg("first") = 0,
           nb::arg("last") = nb::none(), nb::arg("prices") = nb::none(), nb::arg("chances") = false,
           nb::arg("earlier") = nb::none(),
           "One pass; what happened in it. `earlier` are labels that come during it, of events that wait: after which "
           "event, the event, the label and its weight.")
      .def("score", &PyModel::score, nb::arg("rows"))
      .def("margins", &PyModel::margins, nb::arg("scores"), nb::arg("prices") = nb::none(),
           "What scores mean for decisions: an alarm from 0 on.")
      .def("margin", &PyModel::margin, nb::arg("score"), nb::arg("prices") = nb::none(), "The same for one score.")
      .def("probability", &PyModel::probability, nb::arg("score"), "The probability of the positive class.")
      .def("probabilities", &PyModel::probabilities, nb::arg("scores"), "The probabilities of the positive class.")
      .def("ask", &PyModel::ask, nb::arg("rows"), nb::arg("days") = nb::none(), nb::arg("prices") = nb::none())
      .def("learn_one", &PyModel::learn_one, nb::arg("x").none(), nb::arg("y").none(), nb::arg("weight").none(),
           nb::arg("codes"), nb::arg("free") = false, nb::arg("checked") = false, nb::arg("sampled") = 0.0,
           nb::sig("def learn_one(self, x: object, y: object, weight: object, codes: dict, free: bool = False, "
                   "checked: bool = False, sampled: float = 0.0) -> float | None"),
           "Learn from one event and return its score; None if that needs a closer look. With free its label was not "
           "asked for and the event was met before, and became known with the chance `sampled`, or 0 if nobody knows; "
           "with "
           "checked it is as the schema says.")
      .def("explain_one", &PyModel::explain_one, nb::arg("x").none(), nb::arg("checked") = false,
           nb::sig("def explain_one(self, x: object, checked: bool = False) -> tuple[float, list[Any]] | None"),
           "Why an event gets its score: the base and effects as ((feature, from, below), the same of a second "
           "feature or -1, effect); None as learn_one.")
      .def("strongest_one", &PyModel::strongest_one, nb::arg("x").none(), nb::arg("most"),
           nb::sig("def strongest_one(self, x: object, most: int) -> list[Any] | None"),
           "The strongest effects of `explain_one`, each feature or pair once; None if that needs a closer look.")
      .def("score_one", &PyModel::score_one, nb::arg("x").none(), nb::arg("checked") = false,
           nb::sig("def score_one(self, x: object, checked: bool = False) -> float | None"),
           "The score of one event, or None as learn_one.")
      .def("predict_one", &PyModel::predict_one, nb::arg("x").none(), nb::arg("labels"),
           nb::sig("def predict_one(self, x: object, labels: list[Any]) -> Any"),
           "The label of one event by the sign of its score: one of [negative, positive], or None as learn_one.")
      .def("ask_one", &PyModel::ask_one, nb::arg("x").none(), nb::arg("day").none(), nb::arg("kind"),
           nb::arg("positive").none(), nb::arg("negative").none(), nb::arg("prices") = nb::none(),
           nb::arg("checked") = false,
           nb::sig("def ask_one(self, x: object, day: float | None, kind: type, positive: object, negative: object, "
                   "prices: typing.Any = None, checked: bool = False) -> typing.Any"),
           "The answer about one event, or None as learn_one.")
      .def("tell", &PyModel::tell, nb::arg("id").none(), nb::arg("y").none(), nb::arg("weight").none(),
           nb::arg("codes"), nb::sig("def tell(self, id: object, y: object, weight: object, codes: dict) -> bool"),
           "Learn from an event that waits; False if that needs a closer look.")
      .def("learn_events", &PyModel::learn_events, nb::arg("events").none(), nb::arg("labels").none(), nb::arg("codes"),
           nb::sig("def learn_events(self, events: object, labels: object, codes: dict) -> bool"),
           "Learn from a list of dicts; False if that needs a closer look.")
      .def("expect", &PyModel::expect, nb::arg("kinds").none(), nb::arg("mixed"),
           nb::sig("def expect(self, kinds: dict[str, int] | None, mixed: bool) -> None"),
           "What the members of events are: 0 number, 1 true or false, 2 text, 3 any; plus 4 if not all have it.")
      .def("fits", &PyModel::fits, nb::arg("events"), "Whether all events are plainly as expected.")
      .def("event_rows", &PyModel::event_rows, nb::arg("events"), "A list of dicts as rows.")
      .def("number_rows", &PyModel::number_rows, nb::arg("events"),
           "A list of Numbers as rows; None if they need a closer look.")
      .def("waits", pending([](Pending& p, Count id) { return p.waits(id); }), nb::arg("id"),
           "Whether an event waits for its label.")
      .def("forget", pending([](Pending& p, Count id) { return p.forget(id); }), nb::arg("id"))
      .def("asking", &PyModel::asking, "What the questions have come to.")
      .def_prop_ro("pending",
                   [](PyModel& m) { return m.session.look([](Model& model) { return model.asker().pending.ids(); }); })
      .def("snapshot", &PyModel::snapshot,
           nb::sig("def snapshot(self) -> tuple[int, dict[str, typing.Any], list[str]]"),
           "Features, state and names at one moment.")
      .def(
          "state", [](PyModel& m) { return nb::object(m.snapshot()[1]); },
          nb::sig("def state(self) -> dict[str, typing.Any]"))
      .def("restore", &PyModel::restore, nb::arg("features"), nb::arg("state"), nb::arg("names"))
      .def("merge", &PyModel::merge, nb::arg("base"), nb::arg("models"), nb::arg("weights"), nb::arg("places"),
           nb::arg("names"), "Take the state that models have together which started from the base.")
      .def("split", &PyModel::split, nb::arg("base"), nb::arg("shards"),
           "Take the state with which one of several models continues from the base.")
      .def("coefficients", &PyModel::coefficients)
      .def("nonzeros", &PyModel::nonzeros, "Features and weights other than 0.")
      .def_prop_ro(
          "banked_nonzeros", [](PyModel& m) { return m.session.banked_nonzeros(); },
          "How many features have a weight, of a model that has not left its bank; else None.")
      .def_prop_ro(
          "by_sign",
          [](PyModel& m) { return m.session.look([](Model& model) { return model.decider().by_sign({}); }); },
          "Whether decisions are the signs of the scores.")
      .def_prop_ro(
          "calibrated",
          [](PyModel& m) {
            return m.session.look(
                [](Model& model) { return model.decider().log_odds || model.decider().calibration.labels() > 0; });
          },
          "Whether probabilities are known: by what the scores of labelled events were.")
      .def_prop_ro("names", [](PyModel& m) { return m.features.list(); })
      .def_prop_ro("names_bytes", [](PyModel& m) { return m.features.bytes(); })
      .def_prop_ro("features", [](PyModel& m) { return m.session.features(); })
      .def_prop_ro("rounds", [](PyModel& m) { return m.session.look([](Model& model) { return model.rounds(); }); })
      .def_prop_ro("updates", [](PyModel& m) { return m.session.look([](Model& model) { return model.updates(); }); })
      .def_prop_ro("rho", [](PyModel& m) { return m.session.look([](Model& model) { return model.rho(); }); });
}

}  // namespace lopsided
