// Detectors of changes as Python objects.
#include "../core/metrics/change.hpp"
#include "arrays.hpp"
#include "module.hpp"

namespace lopsided {

namespace {

// Of each change: the index of the value after which it was found, and the means before and after it.
void note_change(nb::list& out, std::size_t i, const ChangeDetector& found) {
  out.append(nb::make_tuple(i, found.before(), found.after()));
}
nb::list find_changes(ChangeDetector& detector, Line<double> values) {
  nb::list out;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (detector.add(values.data()[i])) note_change(out, i, detector);
  return out;
}
nb::list find_rank_changes(RankingDetector& ranking, Line<double> scores, Line<bool> positive) {
  if (scores.size() != positive.size()) throw nb::value_error("a label for each score");
  nb::list out;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (ranking.add(scores.data()[i], positive.data()[i])) note_change(out, i, ranking.detector);
  return out;
}

auto as_array(std::vector<double> values) {
  const std::size_t size = values.size();
  return to_numpy<double>(std::move(values), {size});
}
std::span<const double> as_span(Line<double> values) { return {values.data(), values.size()}; }

}  // namespace

void bind_change(nb::module_& m) {
  nb::class_<ChangeDetector>(m, "ChangeDetector", "Finds changes of a mean (ADWIN).")
      .def(nb::init<double, double, Count>(), nb::arg("delta"), nb::arg("block"), nb::arg("every"))
      .def("add_many", &find_changes, nb::arg("values"))
      .def("state", [](const ChangeDetector& detector) { return as_array(detector.state()); })
      .def(
          "restore", [](ChangeDetector& detector, Line<double> state) { detector.restore(as_span(state)); },
          nb::arg("state"));
  nb::class_<RankingDetector>(m, "RankingDetector", "Finds changes of the AUC (ADWIN).")
      .def(nb::init<double, double, Count>(), nb::arg("delta"), nb::arg("block"), nb::arg("every"))
      .def("add_many", &find_rank_changes, nb::arg("scores"), nb::arg("positive"))
      .def("state",
           [](const RankingDetector& ranking) {
             return nb::make_tuple(as_array(ranking.recent()), as_array(ranking.detector.state()));
           })
      .def(
          "restore",
          [](RankingDetector& ranking, Line<double> recent, Line<double> state) {
            ranking.restore(as_span(recent), as_span(state));
          },
          nb::arg("recent"), nb::arg("state"));
}

}  // namespace lopsided
