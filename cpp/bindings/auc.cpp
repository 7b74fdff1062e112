// The running AUC as a Python object.
#include "../core/metrics/running_auc.hpp"
#include "../core/validate.hpp"
#include "arrays.hpp"
#include "module.hpp"

namespace lopsided {

namespace {

void add_many(RunningAuc& auc, Line<bool> positive, Line<double> scores, Line<double> weights) {
  for (std::size_t i = 0; i < scores.size(); ++i) auc.add(positive.data()[i], scores.data()[i], weights.data()[i]);
}

nb::tuple state(RunningAuc& auc) {
  std::vector<std::uint64_t> keys;
  std::vector<double> levels, events;
  for (const auto& level : auc.levels()) {
    keys.push_back(level.key);
    levels.insert(levels.end(), {level.up, level.down, double(level.events)});
  }
  for (const auto& event : auc.events()) events.insert(events.end(), {event.score, event.weight});
  const std::size_t n = keys.size(), m = events.size();
  return nb::make_tuple(auc.dropped(), to_numpy<std::uint64_t>(std::move(keys), {n}),
                        to_numpy<double>(std::move(levels), {3 * n}), to_numpy<double>(std::move(events), {m}));
}

void restore(RunningAuc& auc, int dropped, Line<std::uint64_t> keys, Line<double> levels, Line<double> events) {
  if (levels.size() != 3 * keys.size() || events.size() % 2) throw nb::value_error("this is no state of a running AUC");
  std::vector<RunningAuc::Level> held;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const double* level = levels.data() + 3 * k;
    if (!is_whole(level[2], 0x1p32)) throw nb::value_error("this is no state of a running AUC");
    held.push_back({keys.data()[k], level[0], level[1], static_cast<std::uint32_t>(level[2])});
  }
  std::deque<RunningAuc::Event> window;
  for (std::size_t k = 0; k < events.size(); k += 2) window.push_back({events.data()[k], events.data()[k + 1]});
  auc.restore(dropped, held, std::move(window));
}

}  // namespace

void bind_auc(nb::module_& m) {
  nb::class_<RunningAuc>(m, "RunningAuc", "The AUC of events as they come.")
      .def(nb::init<std::size_t, std::size_t>(), nb::arg("window"), nb::arg("limit"))
      .def("add", &RunningAuc::add, nb::arg("positive"), nb::arg("score"), nb::arg("weight"))
      .def("add_many", &add_many, nb::arg("positive"), nb::arg("scores"), nb::arg("weights"))
      .def_prop_ro("value", &RunningAuc::value)
      .def_prop_ro("error", &RunningAuc::error)
      .def_prop_ro("size", &RunningAuc::size)
      .def("state", &state, "Dropped bits, keys, weights and counts of each key, events of the window.")
      .def("restore", &restore, nb::arg("dropped"), nb::arg("keys"), nb::arg("levels"), nb::arg("events"));
}

}  // namespace lopsided
