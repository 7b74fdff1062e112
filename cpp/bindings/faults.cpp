#include "faults.hpp"

#include <nanobind/stl/string.h>

namespace lopsided {

namespace {

PyObject* explanation = nullptr;  // held as long as the process lives

}  // namespace

void explain_faults_with(nb::callable given) {
  Py_XDECREF(explanation);
  explanation = given.release().ptr();
}

void set_fault(const DataError& fault, const nb::object& names) {
  if (!explanation) return PyErr_SetString(PyExc_ValueError, fault.what());
  const nb::object error = nb::handle(explanation)(fault.what(), fault.row, fault.column, names);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

}  // namespace lopsided
