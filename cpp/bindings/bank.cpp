// Several models in one pass.
#include "model.hpp"
#include "module.hpp"

namespace lopsided {

namespace {

std::vector<Session*> sessions_of(const nb::list& models) {
  std::vector<Session*> out;
  for (const nb::handle model : models) out.push_back(&nb::cast<PyModel*>(model)->session);
  return out;
}

std::vector<Fresh<double>> arrays(std::size_t count, std::size_t size) {
  std::vector<Fresh<double>> out;
  for (std::size_t m = 0; m < count; ++m) out.emplace_back(size);
  return out;
}

// For each model what happened, or what went wrong and in which row and column. None, and nothing has happened, if
// they cannot learn together.
nb::object learn_bank(const nb::list& models, const HeldRows& held, Line<std::int8_t> labels, Doubles weights,
                      Order order, std::optional<double> rho, Count every, bool keep_scores) {
  const Pass pass = pass_over(held, labels, weights, order, rho, every, 0, held.rows.size());
  const std::vector<Session*> all = sessions_of(models);
  if (held.events || pass.weightless()) return nb::none();
  auto scores = arrays(all.size(), keep_scores ? pass.size : 0);
  std::vector<Banked> bank(all.size(), {nullptr, pass});
  for (std::size_t m = 0; keep_scores && m < all.size(); ++m) bank[m].pass.scores = scores[m].data();
  double seconds = 0;
  if (!Session::learn_together(all, held.rows, bank, seconds)) return nb::none();
  nb::list out;
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (const auto& failure = bank[m].failure) {
      out.append(nb::make_tuple(failure->what(), failure->row, failure->column));
      continue;
    }
    if (!held.names.is_none())
      nb::cast<PyModel*>(models[m])->features.extend(nb::cast<nb::list>(held.names),
                                                     static_cast<std::size_t>(all[m]->features()));
    nb::dict one = told(bank[m].pass, seconds / static_cast<double>(all.size()));
    if (keep_scores) one["scores"] = std::move(scores[m]).to_numpy();
    out.append(one);
  }
  return out;
}

// None if the models must be asked one by one.
nb::object score_bank(const nb::list& models, const HeldRows& held) {
  const std::vector<Session*> all = sessions_of(models);
  if (held.events) return nb::none();
  auto scores = arrays(all.size(), held.rows.size());
  std::vector<double*> out;
  for (auto& one : scores) out.push_back(one.data());
  if (!Session::score_together(all, held.rows, out)) return nb::none();
  nb::list found;
  for (auto& one : scores) found.append(std::move(one).to_numpy());
  return found;
}

}  // namespace

void bind_bank(nb::module_& m) {
  m.def("learns_together", &learns_together, nb::arg("kind"), "Whether several models of a kind can share a pass.");
  m.def("learn_together", &learn_bank, nb::arg("models"), nb::arg("rows"), nb::arg("labels"), nb::arg("weights").none(),
        nb::arg("order").none(), nb::arg("rho").none(), nb::arg("every"), nb::arg("scores"),
        "One pass for several models.");
  m.def("score_together", &score_bank, nb::arg("models"), nb::arg("rows"),
        "Scores by each of several models that have learned together; None if they must be asked one by one.");
}

}  // namespace lopsided
