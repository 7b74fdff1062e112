// The model of the core as a Python object. Batches run without the interpreter lock; a lock of its
// own keeps threads apart.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <chrono>
#include <mutex>

#include "../core/bank/learned.hpp"
#include "../core/registry/registry.hpp"
#include "event.hpp"
#include "module.hpp"
#include "visitors.hpp"

namespace lopsided {

namespace {

PyTypeObject* array_type = nullptr;  // of NumPy

template <class Value>
using Line = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What an answer is: a kind of named tuple, and the names of the classes in it.
struct Answering {
  nb::type_object kind;
  nb::handle positive, negative;

  nb::any tuple(std::initializer_list<nb::object> items) const {
    auto* type = reinterpret_cast<PyTypeObject*>(kind.ptr());
    if (!PyType_IsSubtype(type, &PyTuple_Type)) throw nb::type_error("kind must be a named tuple");
    auto out = nb::steal<nb::any>(type->tp_alloc(type, static_cast<Py_ssize_t>(items.size())));
    if (!out.is_valid()) throw nb::python_error();
    Py_ssize_t k = 0;
    for (const nb::object& item : items) PyTuple_SET_ITEM(out.ptr(), k++, item.inc_ref().ptr());
    return out;
  }
};

class PyModel {
 public:
  PyModel(const std::string& kind, const nb::dict& options, int hash_bits)
      : kind_(kind), model_(make_model(kind)), events_(names_, hash_bits) {
    if (!model_) throw nb::value_error(("no kind of learner " + kind).c_str());
    if (!array_type)  // not before: the module is imported where there is no NumPy, when it is built
      array_type = reinterpret_cast<PyTypeObject*>(nb::module_::import_("numpy").attr("ndarray").ptr());
    if (hash_bits < 0 || hash_bits > 28) throw nb::value_error("hash_bits must be from 0 to 28");
    OptionsFrom visit(nb::steal<nb::dict>(PyDict_Copy(options.ptr())));
    model_->options(visit);
    for (auto [name, _] : visit.options)
      throw nb::value_error((kind + " has no option " + nb::cast<std::string>(name)).c_str());
  }

  nb::dict learn(const HeldRows& held, Line<std::int8_t> labels, std::optional<Line<double>> weights,
                 std::optional<Line<std::int64_t>> order, std::optional<double> rho, Count every,
                 bool keep_scores, std::optional<Line<double>> days,
                 std::optional<Line<double>> delays) {
    Pass pass = pass_over(held, labels, weights, order, rho, every);
    const auto fits = [&](const auto& line) { return !line || line->size() == held.rows.size(); };
    if (!fits(days) || !fits(delays)) throw nb::value_error("days and delays must be as many as the rows");
    pass.days = days ? days->data() : nullptr;
    pass.delays = delays ? delays->data() : nullptr;
    Fresh<double> scores(keep_scores ? pass.size : 0);
    if (keep_scores) pass.scores = scores.data();
    const bool asks = keep_scores && model_->asker().on();
    std::vector<double> probabilities(asks ? pass.size : 0);
    std::vector<std::int8_t> asked(asks ? pass.size : 0);
    if (asks) {
      pass.probabilities = probabilities.data();
      pass.asked = asked.data();
    }

    const auto turn = take_turn();
    const Rows settled = settle(held);
    std::chrono::duration<double> seconds{};
    {
      nb::gil_scoped_release free;
      const auto start = std::chrono::steady_clock::now();
      model_->learn(settled, pass);
      seconds = std::chrono::steady_clock::now() - start;  // without the wait for the interpreter
    }
    if (held.events) keep_names(held.events->fresh);

    nb::dict out = told(pass, seconds.count());
    if (keep_scores) out["scores"] = std::move(scores).to_numpy();
    if (asks) {
      out["probabilities"] = to_numpy<double>(std::move(probabilities), {pass.size});
      out["asked"] = to_numpy<std::int8_t>(std::move(asked), {pass.size});
    }
    return out;
  }

  // Several models in one pass: for each what happened, or what went wrong and in which row and column. None, and
  // nothing has happened, if they cannot learn together.
  static nb::object learn_together(const nb::list& models, const HeldRows& held, Line<std::int8_t> labels,
                                   std::optional<Line<double>> weights,
                                   std::optional<Line<std::int64_t>> order, std::optional<double> rho,
                                   Count every, bool keep_scores) {
    const Pass pass = pass_over(held, labels, weights, order, rho, every);
    std::vector<PyModel*> all;
    for (const nb::handle model : models) all.push_back(nb::cast<PyModel*>(model));
    auto sorted = all;
    std::ranges::sort(sorted);
    const auto other = [&](PyModel* m) { return m->kind_ != all[0]->kind_; };
    if (held.events || all.empty() || std::ranges::adjacent_find(sorted) != sorted.end() ||
        std::ranges::any_of(all, other) || pass.weightless())
      return nb::none();
    std::vector<std::unique_lock<std::mutex>> turns;
    for (PyModel* model : sorted) turns.push_back(model->take_turn());
    std::vector<Banked> bank;
    std::vector<Fresh<double>> scores;
    for (std::size_t m = 0; m < all.size(); ++m) {
      bank.push_back({all[m]->model_.get(), pass});
      scores.emplace_back(keep_scores ? pass.size : 0);
      if (keep_scores) bank[m].pass.scores = scores[m].data();
    }
    std::shared_ptr<Learned> learned;
    std::chrono::duration<double> seconds{};
    {
      nb::gil_scoped_release free;
      const auto start = std::chrono::steady_clock::now();
      learned = lopsided::learn_together(all[0]->kind_, held.rows, bank);
      seconds = std::chrono::steady_clock::now() - start;
    }
    if (!learned) return nb::none();
    nb::list out;
    for (std::size_t m = 0; m < all.size(); ++m) {
      if (const auto& failure = bank[m].failure) {
        out.append(nb::make_tuple(failure->what(), failure->row, failure->column));
        continue;
      }
      all[m]->learned_ = learned;
      all[m]->place_ = m;
      nb::dict one = told(bank[m].pass, seconds.count() / static_cast<double>(all.size()));
      if (keep_scores) one["scores"] = std::move(scores[m]).to_numpy();
      out.append(one);
    }
    return out;
  }

  // Scores of rows by models that have learned together and were not looked at since, in one pass. None if they are to
  // be asked one by one.
  static nb::object score_together(const nb::list& models, const HeldRows& held) {
    std::vector<PyModel*> all;
    for (const nb::handle model : models) all.push_back(nb::cast<PyModel*>(model));
    const std::shared_ptr<Learned> learned = all.empty() ? nullptr : all[0]->learned_;
    if (!learned || held.events || std::ranges::any_of(all, [&](PyModel* m) { return m->learned_ != learned; }))
      return nb::none();
    std::vector<Fresh<double>> scores;
    std::vector<double*> out(learned->models());
    for (PyModel* model : all) {
      if (out[model->place_]) return nb::none();  // twice the same
      scores.emplace_back(held.rows.size());
      out[model->place_] = scores.back().data();
    }
    {
      nb::gil_scoped_release free;
      if (!learned->score(held.rows, out)) out.clear();
    }
    if (out.empty()) return nb::none();
    nb::list found;
    for (auto& one : scores) found.append(std::move(one).to_numpy());
    return found;
  }

  auto score(const HeldRows& held) {
    Fresh<double> out(held.rows.size());
    {
      const auto turn = take_turn();
      const Rows settled = settle(held);
      nb::gil_scoped_release free;
      model_->score(settled, out.data());
    }
    return std::move(out).to_numpy();
  }

  // One event: a dict of named features, or a row of numbers. Returns the score it had.
  double learn_event(const nb::dict& event, int y, double weight) {
    const auto turn = take_turn();
    const double score = learn_row(read(event), y, weight);
    keep_names(one_.fresh);
    return score;
  }
  double learn_row(const Line<double>& row, int y, double weight) {
    const auto turn = take_turn();
    return learn_row(one_row(row), y, weight);
  }
  // The short way for the usual event: None, and nothing done, for any other.
  nb::object step(nb::handle x, nb::handle y, nb::handle weight, const nb::dict& codes) {
    if (!PyFloat_CheckExact(weight.ptr()) || PyFloat_AS_DOUBLE(weight.ptr()) != 1) return nb::none();
    PyObject* code = PyDict_GetItemWithError(codes.ptr(), y.ptr());
    if (!code) {
      PyErr_Clear();
      return nb::none();
    }
    const int sign = static_cast<int>(PyLong_AsLong(code));
    if (PyDict_Check(x.ptr())) return nb::float_(learn_event(nb::borrow<nb::dict>(x), sign, 1));
    Line<double> row;
    return usual(x, row) ? nb::object(nb::float_(learn_row(row, sign, 1))) : nb::none();
  }
  // The same for the score of an event.
  nb::object glance(nb::handle x) {
    if (PyDict_Check(x.ptr())) return nb::float_(score_event(nb::borrow<nb::dict>(x)));
    Line<double> row;
    return usual(x, row) ? nb::object(nb::float_(score_row(row))) : nb::none();
  }
  // And for a batch of events: false, and nothing done, for any other.
  bool steps(nb::handle events, nb::handle labels, const nb::dict& codes) {
    if (!PyList_CheckExact(events.ptr()) || !PyList_CheckExact(labels.ptr())) return false;
    const std::size_t size = nb::len(labels);
    if (size == 0 || nb::len(events) != size || !PyDict_Check(PyList_GET_ITEM(events.ptr(), 0))) return false;
    const auto turn = take_turn();
    signs_.clear();
    for (std::size_t i = 0; i < size && i < nb::len(labels); ++i) {
      PyObject* code = PyDict_GetItemWithError(codes.ptr(), PyList_GET_ITEM(labels.ptr(), i));
      if (!code) {
        PyErr_Clear();
        return false;
      }
      signs_.push_back(static_cast<std::int8_t>(PyLong_AsLong(code)));
    }
    read(nb::borrow<nb::list>(events), batch_);
    const Rows rows = batch_.rows();
    if (rows.size() != signs_.size()) throw nb::value_error("the batch was changed while it was read");
    Pass pass;
    pass.labels = signs_.data();
    pass.size = rows.size();
    {
      nb::gil_scoped_release free;
      model_->learn(rows, pass);
    }
    keep_names(batch_.fresh);
    if (batch_.values.capacity() > most_held) batch_ = {};
    return true;
  }
  // Many events as one batch; names met in it are kept when the model has learned from it.
  HeldRows event_rows(const nb::list& events) {
    const auto turn = take_turn();
    auto out = std::make_shared<EventRows>();
    read(events, *out);
    const Rows rows = out->rows();
    return {{}, rows, std::move(out)};
  }
  void read(const nb::list& events, EventRows& out) {
    out.clear(columns_for_events());
    out.reserve(events.size(), events_.usual());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const nb::object event = events[i];
      const auto place = [&](const std::exception& e) { return "row " + std::to_string(i) + ": " + e.what(); };
      if (!PyDict_Check(event.ptr()))
        throw nb::type_error(("row " + std::to_string(i) + " is not a dict").c_str());
      try {
        events_.add(event, out);
      } catch (const nb::builtin_exception& e) {
        if (e.type() == nb::exception_type::type_error) throw nb::type_error(place(e).c_str());
        throw nb::value_error(place(e).c_str());
      }
    }
  }

  // Events without labels. The number of the first, arrays of scores, probabilities of a question, whether the
  // label is wanted, and the numbers of events that had to be forgotten, -1 for none.
  nb::tuple ask(const HeldRows& held, std::optional<Line<double>> days) {
    if (days && days->size() != held.rows.size())
      throw nb::value_error("days must be as many as the rows");
    const std::size_t size = held.rows.size();
    Fresh<std::int64_t> forgotten(size);
    Count first;
    Fresh<double> scores(size), probabilities(size);
    Fresh<std::int8_t> asked(size);
    {
      const auto turn = take_turn();
      const Rows settled = settle(held);
      first = model_->asker().budget.events;
      {
        nb::gil_scoped_release free;
        model_->ask(settled, days ? days->data() : nullptr,
                    {scores.data(), probabilities.data(), asked.data(), forgotten.data()});
      }
      if (held.events) keep_names(held.events->fresh);
    }
    return nb::make_tuple(first, std::move(scores).to_numpy(), std::move(asked).to_numpy(),
                          std::move(probabilities).to_numpy(), std::move(forgotten).to_numpy());
  }
  // One event, and what to call the classes in the answer.
  nb::any ask_event(const nb::dict& event, double day, const Answering& as) {
    const auto turn = take_turn();
    nb::any out = ask_row(read(event), day, as);
    keep_names(one_.fresh);
    return out;
  }
  nb::any ask_row(const Line<double>& row, double day, const Answering& as) {
    const auto turn = take_turn();
    return ask_row(one_row(row), day, as);
  }
  // The short way, as `step`, where the day does not matter.
  nb::any decide(nb::handle x, const Answering& as) {
    if (model_->asker().budget.daily) return nb::borrow<nb::any>(Py_None);
    if (PyDict_Check(x.ptr())) return ask_event(nb::borrow<nb::dict>(x), 0, as);
    Line<double> row;
    return usual(x, row) ? ask_row(row, 0, as) : nb::borrow<nb::any>(Py_None);
  }
  void tell(Count id, int y, double weight) {
    const auto turn = take_turn();
    model_->tell(id, y, weight);
  }
  bool waits(Count id) {
    const auto turn = take_turn();
    return model_->asker().pending.waits(id);
  }
  bool forget(Count id) {
    const auto turn = take_turn();
    return model_->asker().pending.forget(id);
  }
  std::vector<Count> pending() {
    const auto turn = take_turn();
    return model_->asker().pending.ids();
  }
  nb::dict asking() {
    const auto turn = take_turn();
    Asker& asker = model_->asker();
    nb::dict out;
    out["events"] = asker.budget.events;
    out["queries"] = asker.budget.used;
    out["left"] = asker.budget.left();
    asker.estimates.state([&](const char* name, double& value) { out[name] = value; });
    return out;
  }

  double score_event(const nb::dict& event) {
    const auto turn = take_turn();
    return score_row(read(event));
  }
  double score_row(const Line<double>& row) {
    const auto turn = take_turn();
    return score_row(one_row(row));
  }

  nb::dict state() {
    const auto turn = take_turn();
    StateToDict visit;
    model_->state(visit);
    return visit.state;
  }
  void restore(Index features, nb::dict state, const nb::list& names) {
    const auto turn = take_turn();
    model_->grow(features);
    StateFromDict visit(std::move(state));
    model_->state(visit);
    set_names(names);
    version_ = 0;
  }

  void set_names(const nb::list& names) {
    for (std::size_t j = static_cast<std::size_t>(names_.size()); j < names.size(); ++j)
      names_.append(nb::borrow(names[j]));
  }
  nb::list names() const {
    nb::list out;
    for (Index j = 0; j < names_.size(); ++j) out.append(names_.name(j));
    return out;
  }

  std::size_t names_bytes() const { return names_.bytes(); }

  auto coefficients() {
    const auto turn = take_turn();
    std::vector<double> w = model_->coefficients();
    const std::size_t size = w.size();
    return to_numpy<double>(std::move(w), {size});
  }
  nb::tuple nonzeros() {
    const auto turn = take_turn();
    std::vector<Index> features;
    std::vector<double> weights;
    model_->nonzeros(features, weights);
    const std::size_t size = features.size();
    return nb::make_tuple(to_numpy<Index>(std::move(features), {size}),
                          to_numpy<double>(std::move(weights), {size}));
  }
  // How many features have a weight, of a model that has not left its bank.
  std::optional<Count> banked_nonzeros() {
    const auto learned = learned_;
    if (!learned) return {};
    const std::size_t place = place_;
    nb::gil_scoped_release free;
    return learned->nonzeros(place);
  }
  Index features() { return learned_ ? learned_->features() : model_->features(); }
  Count rounds() { return catch_up().rounds(); }
  Count updates() { return catch_up().updates(); }
  double rho() { return catch_up().rho(); }

 private:
  static Pass pass_over(const HeldRows& held, const Line<std::int8_t>& labels,
                        const std::optional<Line<double>>& weights,
                        const std::optional<Line<std::int64_t>>& order, std::optional<double> rho, Count every) {
    const Count rows = held.rows.size();
    if (labels.size() != rows || (weights && weights->size() != rows))
      throw nb::value_error("labels and weights must be as many as the rows");
    Pass pass;
    pass.labels = labels.data();
    pass.weights = weights ? weights->data() : nullptr;
    pass.order = order ? order->data() : nullptr;
    pass.size = order ? order->size() : rows;
    pass.rho = rho;
    pass.every = every;
    for (Count i = 0; order && i < pass.size; ++i)
      if (pass.at(i) >= rows) throw nb::value_error("order names a row that is not there");
    return pass;
  }
  static nb::dict told(const Pass& pass, double seconds) {
    std::vector<double> curve;
    for (const Tally& t : pass.curve)
      for (const double v : {double(t.events), t.positives, t.negatives, t.false_negatives,
                             t.false_positives, double(t.queries), double(t.updates)})
        curve.push_back(v);
    nb::dict out;
    out["positives"] = pass.tally.positives;
    out["negatives"] = pass.tally.negatives;
    out["false_negatives"] = pass.tally.false_negatives;
    out["false_positives"] = pass.tally.false_positives;
    out["events"] = pass.tally.events;
    out["queries"] = pass.tally.queries;
    out["updates"] = pass.tally.updates;
    out["forgotten"] = pass.forgotten;
    out["seconds"] = seconds;
    out["curve"] = to_numpy<double>(std::move(curve), {pass.curve.size(), 7});
    return out;
  }

  // Waits for the model without holding up the interpreter.
  std::unique_lock<std::mutex> take_turn() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
      nb::gil_scoped_release free;
      lock.lock();
    }
    catch_up();
    return lock;
  }
  // The model as it is after the bank that it was in, which it leaves. Only under the interpreter lock.
  Model& catch_up() {
    if (learned_) {
      learned_->give(place_, *model_);
      learned_.reset();
    }
    return *model_;
  }

  // The rows of a batch; those of events once more by name, if names have come since they were read.
  Rows settle(const HeldRows& held) const {
    if (!held.events) return held.rows;
    if (!events_.hashed() && held.events->known != names_.size()) held.events->look_up_again(names_);
    return held.events->rows();
  }

  // An event that was scored is often learned next: what was read of it stays as long as it does not change.
  Rows read(const nb::dict& event) {
    const Index columns = columns_for_events();
    const std::uint64_t now = version(event);
    if (now == 0 || now != version_ || one_.known != columns) {
      version_ = 0;
      one_.clear(columns);
      events_.add(event, one_);
      if (events_.lasting()) version_ = now;
    }
    return one_.rows();
  }
  Index columns_for_events() const {
    if (events_.hashed()) return events_.columns();
    if (names_.size() != model_->features())
      throw nb::value_error(
          "this model learned from columns without names: give it rows of numbers, not dicts");
    return model_->features();
  }
  void keep_names(const NameTable& fresh) {
    if (model_->features() == names_.size()) return;  // nothing was learned from them
    for (Index j = 0; j < fresh.size(); ++j) names_.append(nb::borrow(fresh.name(j)));
  }
  static Rows one_row(const Line<double>& row) {
    return Rows({row.data(), false, 0, 1}, 1, static_cast<Index>(row.size()));
  }

  nb::any ask_row(const Rows& rows, double day, const Answering& as) {
    std::int64_t forgotten;
    double score, probability;
    std::int8_t asked;
    const Count id = model_->asker().budget.events;
    model_->ask(rows, &day, {&score, &probability, &asked, &forgotten});
    const nb::object gone = forgotten < 0 ? nb::none() : nb::cast(forgotten);
    return as.tuple({nb::cast(id), nb::float_(score), nb::borrow(score >= 0 ? as.positive : as.negative),
                     nb::bool_(asked != 0), nb::float_(probability), gone});
  }
  double score_row(const Rows& rows) {
    double out;
    model_->score(rows, &out);
    return out;
  }
  double learn_row(const Rows& rows, int y, double weight) {
    const auto label = static_cast<std::int8_t>(y);
    double score;
    Pass pass;
    pass.labels = &label;
    pass.weights = &weight;
    pass.size = 1;
    pass.scores = &score;
    model_->learn(rows, pass);
    return pass.tally.events ? score : std::numeric_limits<double>::quiet_NaN();
  }
  // An array of doubles that is as long as the model expects.
  bool usual(nb::handle x, Line<double>& row) {
    return Py_TYPE(x.ptr()) == array_type && !events_.hashed() && nb::try_cast(x, row, false) &&
           row.size() == static_cast<std::size_t>(features()) && row.size() > 0;
  }

  std::string kind_;
  std::unique_ptr<Model> model_;
  std::shared_ptr<Learned> learned_;  // and the model's place there, until it is looked at
  std::size_t place_ = 0;
  NameTable names_;
  EventReader events_;
  static constexpr std::size_t most_held = std::size_t{1} << 18;
  EventRows one_, batch_;  // kept for their room
  std::uint64_t version_ = 0;  // of the event in one_, if it is whole
  std::vector<std::int8_t> signs_;
  std::mutex mutex_;
};

}  // namespace

void bind_model(nb::module_& m) {
  m.def("hash_name",
        [](std::string_view name, int bits) { return hashed_column(NameHash().add(name), bits); },
        nb::arg("name"), nb::arg("bits"), "The column of a hashed name.");
  nb::class_<PyModel> model(m, "Model", "A learner with its scaling, costs and counts.");
  model.def(nb::init<const std::string&, const nb::dict&, int>(), nb::arg("kind"), nb::arg("options"),
           nb::arg("hash_bits") = 0)
      .def("learn", &PyModel::learn, nb::arg("rows"), nb::arg("labels"),
           nb::arg("weights").none(), nb::arg("order").none(), nb::arg("rho").none(),
           nb::arg("every"), nb::arg("scores"), nb::arg("days") = nb::none(),
           nb::arg("delays") = nb::none(), "One pass; what happened in it.")
      .def("ask", &PyModel::ask, nb::arg("rows"), nb::arg("days") = nb::none())
      .def("ask_event", [](PyModel& m, const nb::dict& event, double day, nb::type_object kind, nb::handle positive,
                           nb::handle negative) { return m.ask_event(event, day, {kind, positive, negative}); },
           nb::arg("event"), nb::arg("day"), nb::arg("kind"), nb::arg("positive").none(), nb::arg("negative").none())
      .def("ask_row", [](PyModel& m, const Line<double>& row, double day, nb::type_object kind, nb::handle positive,
                         nb::handle negative) { return m.ask_row(row, day, {kind, positive, negative}); },
           nb::arg("row"), nb::arg("day"), nb::arg("kind"), nb::arg("positive").none(), nb::arg("negative").none())
      .def("decide", [](PyModel& m, nb::handle x, nb::type_object kind, nb::handle positive,
                        nb::handle negative) { return m.decide(x, {kind, positive, negative}); },
           nb::arg("x").none(), nb::arg("kind"), nb::arg("positive").none(), nb::arg("negative").none(),
           "The answer about one event, or None as step.")
      .def("tell", &PyModel::tell, nb::arg("id"), nb::arg("y"), nb::arg("weight"))
      .def("waits", &PyModel::waits, nb::arg("id"), "Whether an event waits for its label.")
      .def("forget", &PyModel::forget, nb::arg("id"))
      .def("asking", &PyModel::asking, "What the questions have come to.")
      .def_prop_ro("pending", &PyModel::pending)
      .def("score", &PyModel::score, nb::arg("rows"))
      .def("learn_event", &PyModel::learn_event, nb::arg("event"), nb::arg("y"), nb::arg("weight"))
      .def("event_rows", &PyModel::event_rows, nb::arg("events"), "A list of dicts as rows.")
      .def("learn_row", nb::overload_cast<const Line<double>&, int, double>(&PyModel::learn_row),
           nb::arg("row"), nb::arg("y"), nb::arg("weight"))
      .def("step", &PyModel::step, nb::arg("x").none(), nb::arg("y").none(), nb::arg("weight").none(),
           nb::arg("codes"), nb::sig("def step(self, x: object, y: object, weight: object, codes: dict) -> float | None"),
           "Learn from one event and return its score; None if that needs a closer look.")
      .def("steps", &PyModel::steps, nb::arg("events").none(), nb::arg("labels").none(), nb::arg("codes"),
           nb::sig("def steps(self, events: object, labels: object, codes: dict) -> bool"),
           "Learn from a batch of events; False if that needs a closer look.")
      .def("glance", &PyModel::glance, nb::arg("x").none(), nb::sig("def glance(self, x: object) -> float | None"),
           "The score of one event, or None as step.")
      .def("score_event", &PyModel::score_event, nb::arg("event"))
      .def("score_row", nb::overload_cast<const Line<double>&>(&PyModel::score_row), nb::arg("row"))
      .def("state", &PyModel::state)
      .def("restore", &PyModel::restore, nb::arg("features"), nb::arg("state"), nb::arg("names"))
      .def("set_names", &PyModel::set_names, nb::arg("names"))
      .def("coefficients", &PyModel::coefficients)
      .def("nonzeros", &PyModel::nonzeros, "Features and weights other than 0.")
      .def_prop_ro("banked_nonzeros", &PyModel::banked_nonzeros,
                   "How many features have a weight, of a model that has not left its bank; else None.")
      .def_prop_ro("names", &PyModel::names)
      .def_prop_ro("names_bytes", &PyModel::names_bytes)
      .def_prop_ro("features", &PyModel::features)
      .def_prop_ro("rounds", &PyModel::rounds)
      .def_prop_ro("updates", &PyModel::updates)
      .def_prop_ro("rho", &PyModel::rho);
  m.def("learns_together", &learns_together, nb::arg("kind"), "Whether several models of a kind can share a pass.");
  m.def("learn_together", &PyModel::learn_together, nb::arg("models"), nb::arg("rows"), nb::arg("labels"),
        nb::arg("weights").none(), nb::arg("order").none(), nb::arg("rho").none(), nb::arg("every"),
        nb::arg("scores"), "One pass for several models.");
  m.def("score_together", &PyModel::score_together, nb::arg("models"), nb::arg("rows"),
        "Scores by each of several models that have learned together; None if they are to be asked one by one.");
}

}  // namespace lopsided
