// Batches: the user's arrays, looked at in place.
#include "arrays.hpp"
#include "module.hpp"

namespace lopsided {

void bind_rows(nb::module_& m) {
  // Raised with (fault, row, column); the Python side makes a sentence of it.
  static nb::exception<DataError> row_error(m, "RowError", PyExc_ValueError);
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const DataError& e) {
      PyErr_SetObject(row_error.ptr(), nb::make_tuple(e.what(), e.row, e.column).ptr());
    }
  });

  nb::class_<HeldRows>(m, "Rows", "A batch of examples.")
      .def_static("dense", &dense_rows, nb::arg("x"), "A 2-D array of float64 or float32.")
      .def_static("csr", &csr_rows, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
                  nb::arg("columns"), "The three arrays of a CSR matrix.")
      .def_prop_ro("size", [](const HeldRows& r) { return r.rows.size(); })
      .def_prop_ro("columns", [](const HeldRows& r) { return r.rows.columns(); })
      .def_prop_ro("sparse", [](const HeldRows& r) { return r.rows.sparse(); });
}

}  // namespace lopsided
