#include "module.hpp"

#include "../core/simd.hpp"

NB_MODULE(_core, m) {
  // Models that outlive the interpreter, as in worker processes, are no leak to warn of.
  nanobind::set_leak_warnings(false);
  m.doc() = "The compiled core of lopsided.";
  m.attr("instruction_set") = lopsided::simd::best();
  lopsided::bind_rows(m);
  lopsided::bind_model(m);
  lopsided::bind_bank(m);
  lopsided::bind_text(m);
  lopsided::bind_csv(m);
  lopsided::bind_auc(m);
  lopsided::bind_change(m);
  lopsided::bind_json(m);
}
