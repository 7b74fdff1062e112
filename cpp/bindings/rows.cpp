// Batches: the user's arrays, read in place.
#include "../core/input/labels.hpp"
#include "../core/stream/threads.hpp"
#include "arrays.hpp"
#include "faults.hpp"
#include "module.hpp"

namespace lopsided {

namespace {

template <class Value>
void bind_labels(nb::module_& m) {
  using Labels = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  m.def(
      "two_values",
      [](const Labels& y) {
        const auto found = find_two_values(y.data(), y.size());
        return nb::make_tuple(found.first, found.second, found.third);
      },
      nb::arg("y").noconvert(), "The two values of an array, and where a third one stands.");
  m.def(
      "signs",
      [](const Labels& y, Value negative, Value positive) -> nb::object {
        std::vector<std::int8_t> out(y.size());
        if (!find_signs(y.data(), y.size(), negative, positive, out.data())) return nb::none();
        return nb::cast(to_numpy<std::int8_t>(std::move(out), {y.size()}));
      },
      nb::arg("y").noconvert(), nb::arg("negative"), nb::arg("positive"),
      "-1 and 1 for two labels; None if there are others.");
}

}  // namespace

void bind_rows(nb::module_& m) {
  m.def("explain_faults_with", &explain_faults_with, nb::arg("explanation"),
        "Set what makes an exception of a fault: its text, row and column, and the names of the columns.");
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const DataError& e) {
      set_fault(e, nb::none());
    }
  });

  m.def("threads_allowed", &threads_allowed, "How many threads there may be.");
  bind_labels<std::int32_t>(m);
  bind_labels<std::int64_t>(m);
  bind_labels<double>(m);
  nb::class_<HeldRows>(m, "Rows", "A batch of examples.")
      .def_static("dense", &dense_rows, nb::arg("x"), "A 2-D array of float64 or float32.")
      .def_static("csr", &csr_rows, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"),
                  "The three arrays of a CSR matrix.")
      .def_rw("names", &HeldRows::names, nb::arg().none(), "Those of the columns, or None.")
      .def_prop_ro("size", [](const HeldRows& r) { return r.rows.size(); })
      .def_prop_ro("columns", [](const HeldRows& r) { return r.rows.columns(); })
      .def_prop_ro("sparse", [](const HeldRows& r) { return r.rows.sparse(); });
}

}  // namespace lopsided
