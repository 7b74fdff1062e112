"""A walk over a dict of floats in C that does nothing else: no call on a dict can take less."""

from __future__ import annotations

import importlib.util
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

_CODE = """
#include <Python.h>
static PyObject* walk(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  double sum = 0;
  while (PyDict_Next(arguments[0], &at, &key, &value)) sum += PyFloat_AS_DOUBLE(value);
  return PyFloat_FromDouble(sum);
}
static PyMethodDef methods[] = {{"walk", (PyCFunction)walk, METH_FASTCALL, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "dict_walk", "", -1, methods};
PyMODINIT_FUNC PyInit_dict_walk(void) { return PyModule_Create(&module); }
"""


def dict_walk() -> Callable[[dict[str, float]], float] | None:
    """Return the sum of a dict's values, compiled; None where there is no compiler or header."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "dict_walk.c", Path(folder) / "dict_walk.so"
        source.write_text(_CODE)
        include = f"-I{sysconfig.get_path('include')}"
        command = ["cc", "-O2", "-shared", "-fPIC", include, str(source), "-o", str(library)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        spec = importlib.util.spec_from_file_location("dict_walk", library)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        walk: Callable[[dict[str, float]], float] = module.walk
        return walk
