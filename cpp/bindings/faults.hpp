// Faults in rows as Python exceptions. What they are called and how they are worded is set from Python.
#pragma once

#include <nanobind/nanobind.h>

#include "../core/base.hpp"

namespace lopsided {

namespace nb = nanobind;

void explain_faults_with(nb::callable explanation);
// Makes the fault the current Python exception. `names`: those of the columns, or None.
void set_fault(const DataError& fault, const nb::object& names);

// Calls act; the error of a fault in it names the column by the names that `names` returns.
template <class Act, class Names>
decltype(auto) explained(Act act, Names names) {
  try {
    return act();
  } catch (const DataError& fault) {
    set_fault(fault, names());
    throw nb::python_error();
  }
}

}  // namespace lopsided
