#pragma once

#include <nanobind/nanobind.h>

namespace lopsided {

void bind_rows(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_bank(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_csv(nanobind::module_& m);
void bind_auc(nanobind::module_& m);
void bind_change(nanobind::module_& m);
void bind_json(nanobind::module_& m);

}  // namespace lopsided
