"""Errors: one parent, fields, words for Python and for the command line, pickles."""

from __future__ import annotations

import ast
import builtins
import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import lopsided
from lopsided import COG, Active, errors, make
from lopsided.cli.faults import OPTIONS, SHELL, worded
from lopsided.data import open_reader
from lopsided.data.sets.registry import lookup
from lopsided.errors import LopsidedError, Method, Parameter, ParameterError

SOURCES = Path(lopsided.__file__).parent
CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, LopsidedError)
]
# One of each class, with its fields and its words.
EXAMPLES = [
    (errors.InputError("X has no rows", row=3), {"row": 3}, "X has no rows"),
    (errors.InputTypeError("X is a set"), {"what": "X is a set"}, "X is a set"),
    (errors.BadRowError("NaN", 7, column=2), {"row": 7, "column": 2}, "row 7: NaN; nothing was "),
    (errors.LabelError("found 3", 4), {"row": 4, "what": "found 3"}, "row 4: found 3"),
    (
        ParameterError("C", "must be positive", value=-1, owner="CPA"),
        {"parameter": "C", "value": -1, "owner": "CPA"},
        "CPA: C=-1 must be positive",
    ),
    (
        errors.UnknownNameError("learner", "COX", "did you mean 'COG'?"),
        {"kind": "learner", "name": "COX", "hint": "did you mean 'COG'?"},
        "there is no learner 'COX': did you mean 'COG'?",
    ),
    (
        errors.UnknownDatasetError("a9b", "none"),
        {"name": "a9b"},
        "there is no data set 'a9b': none",
    ),
    (
        errors.UnknownParameterError("COG", "c", "there is C"),
        {"owner": "COG", "name": "c"},
        "COG has no parameter 'c': there is C",
    ),
    (errors.DivergedError("not finite", 5), {"row": 5}, "row 5: not finite"),
    (errors.NotFittedError("call fit first"), {"where": ""}, "call fit first"),
    (
        errors.DataError("e.csv", 7, "amount", "abc", "a number", remedy=("drop it",)),
        {"file": "e.csv", "line": 7, "column": "amount", "found": "abc", "expected": "a number"},
        'e.csv, line 7, column "amount": found "abc", expected a number; drop it',
    ),
    (errors.ModelFileError("it is cut off", "m.lop"), {"file": "m.lop"}, "m.lop: it is cut off"),
    (errors.AbsentDataError("fetch it"), {"what": "fetch it"}, "fetch it"),
    (errors.FetchError("http://h", "404", "wait"), {"address": "http://h"}, "http://h: 404; wait"),
    (errors.InterruptedReadError(), {}, "reading was interrupted"),
    (LopsidedError("odd", where="here"), {"where": "here"}, "here: odd"),
]


def test_there_is_an_example_of_each_class():
    assert {type(error) for error, _, _ in EXAMPLES} == set(CLASSES)


@pytest.mark.parametrize(
    ("error", "fields", "words"), EXAMPLES, ids=[type(e).__name__ for e, _, _ in EXAMPLES]
)
def test_errors_have_fields_and_words_and_survive_a_pickle(error, fields, words):
    for copied in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(copied) is type(error)
        assert {name: getattr(copied, name) for name in fields} == fields
        assert str(copied).startswith(words)
        assert copied.args == error.args
        assert worded(copied) == worded(error)


X, Y = np.ones((4, 2)), [0, 1, 0, 1]
FITTED = COG().fit(X, Y)


def closed_file(tmp_path):
    (tmp_path / "e.csv").write_text("a,y\n1,0\nx,1\n")
    return list(open_reader(str(tmp_path / "e.csv"), label="y"))


# What a user does wrong, the error, the built-in class that others expect, fields.
REFUSALS = {
    "row": (lambda _: FITTED.predict([[1, np.nan]]), errors.BadRowError, ValueError, {"row": 0}),
    "shape": (lambda _: FITTED.predict([1, 2]), errors.InputError, ValueError, {}),
    "width": (lambda _: FITTED.predict([[1.0]]), errors.InputError, ValueError, {}),
    "type": (lambda _: FITTED.predict({1, 2}), errors.InputTypeError, TypeError, {}),
    "third label": (
        lambda _: FITTED.partial_fit(X, [0, 1, 2, 0]), errors.LabelError, ValueError, {"row": 2}),
    "no label": (lambda _: COG().fit(X, [0, 1, None, 1]), errors.LabelError, ValueError, {}),
    "one label": (lambda _: COG().fit(X, list("aaaa")), errors.LabelError, ValueError, {}),
    "parameter": (
        lambda _: COG(learning_rate=-1).fit(X, Y), ParameterError, ValueError,
        {"parameter": "learning_rate", "value": -1, "owner": "COG"}),
    "no effect": (
        lambda _: make("PA", C=2).fit(X, Y), ParameterError, ValueError, {"parameter": "C"}),
    "weight": (
        lambda _: COG().learn_one([1.0], 1, -1), ParameterError, ValueError,
        {"parameter": "weight", "value": -1}),
    "unknown parameter": (
        lambda _: COG(rate=1), errors.UnknownParameterError, TypeError, {"name": "rate"}),
    "unknown parameter, set": (
        lambda _: COG().set_params(rate=1), errors.UnknownParameterError, ValueError,
        {"name": "rate"}),
    "unknown learner": (
        lambda _: make("COX"), errors.UnknownNameError, ValueError,
        {"kind": "learner", "name": "COX"}),
    "unknown data set": (
        lambda _: lookup("a9b"), errors.UnknownDatasetError, LookupError, {"name": "a9b"}),
    "unknown metric": (
        lambda _: lopsided.compare(["COG-II"], X, Y, metric="su"), errors.UnknownNameError,
        ValueError, {"kind": "metric"}),
    "comparison": (
        lambda _: lopsided.compare(["COG-II"], X, Y, jobs=0), ParameterError, ValueError,
        {"parameter": "jobs", "value": 0}),
    "not fitted": (lambda _: COG().predict(X), errors.NotFittedError, AttributeError, {}),
    "event": (
        lambda _: Active(budget=1, positive=1, learner="COG-II").tell(7, 1), LopsidedError,
        ValueError, {}),
    "budget": (
        lambda _: lopsided.Budget(labels=-1), ParameterError, ValueError, {"parameter": "labels"}),
    "data": (
        closed_file, errors.DataError, ValueError, {"line": 3, "column": "a", "found": "x"}),
    "model file": (
        lambda p: lopsided.load(written(p / "m", b"\0" * 99)), errors.ModelFileError, ValueError,
        {}),
}  # fmt: skip


def written(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", REFUSALS)
def test_bad_input_is_an_error_of_the_package_with_fields(name, tmp_path):
    call, kind, builtin, fields = REFUSALS[name]
    with pytest.raises(builtin) as caught:
        call(tmp_path)
    error = caught.value
    assert isinstance(error, kind), type(error)
    assert isinstance(error, lopsided.LopsidedError)
    assert {name: getattr(error, name) for name in fields} == fields
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, kind)
    assert str(again) == str(error)


def test_a_model_that_has_not_learned_is_scikit_learns_error_too():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError) as caught:
        COG().predict(X)
    assert isinstance(caught.value, errors.NotFittedError)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), errors.NotFittedError)


# Those that are caught where they are raised, or stand for Python's own protocols.
ALLOWED = {"AttributeError", "NotImplementedError", "ImportError", "EOFError"}
INTERNAL = {
    "persist.py": {"ValueError"},  # becomes a ModelFileError
    "_container.py": {"ValueError"},  # becomes a ModelFileError
    "data/readers/row_cache.py": {"TypeError"},
    "_atomic.py": {"IsADirectoryError", "FileNotFoundError", "OSError"},
    "comparison/journal.py": {"ValueError"},  # a line that is not as it was written
    "data/readers/npz.py": {"ValueError"},  # becomes a DataError
    "service/sequencer.py": {"RuntimeError"},  # a fault of the service itself
    "data/sets/downloads.py": {"NotADirectoryError"},
}


def test_no_other_errors_are_raised():
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                kind = getattr(raised, "id", "")
                builtin = getattr(builtins, kind, None)
                if isinstance(builtin, type) and issubclass(builtin, Exception):
                    found.setdefault(name, set()).add(kind)
    others = {name: kinds - ALLOWED - INTERNAL.get(name, set()) for name, kinds in found.items()}
    assert {name: kinds for name, kinds in others.items() if kinds} == {}


def test_the_place_of_an_error_can_be_widened():
    inner = ParameterError("C", "must be positive", value=-1, owner="CPA")
    outer = inner.within("fold 2")
    assert str(outer) == "fold 2: CPA: C=-1 must be positive"
    assert outer.value == -1
    assert str(inner) == "CPA: C=-1 must be positive"
    assert str(LopsidedError("odd").within("here")) == "here: odd"


def test_a_fault_of_a_row_becomes_one_of_a_line():
    error = errors.DataError.of(errors.LabelError("no", 1, remedy=("stop",)), "e.csv", 9)
    assert str(error) == "e.csv, line 9: no; stop"


# The same error for Python and for the command line.
BOTH = [
    (
        ParameterError("positive", "is odd", value="x"),
        "positive='x' is odd",
        "--positive: 'x' is odd",
    ),
    (ParameterError("C", "is odd", value=1), "C=1 is odd", "C=1 is odd"),
    (ParameterError("time", "has no effect"), "time has no effect", "--time has no effect"),
    (
        errors.DataError("e", expected="there is none", parameter="label"),
        "e: label: there is none",
        "e: --label: there is none",
    ),
    (
        LopsidedError("odd", remedy=[("give ", Parameter("missing", "zero"))]),
        'odd; give missing="zero"',
        "odd; give --missing zero",
    ),
    (
        LopsidedError("odd", remedy=[("give ", Parameter("probability"))]),
        "odd; give probability=",
        "odd; give --set probability=VALUE",
    ),
    (
        LopsidedError("odd", remedy=["stop", ("call ", Method("fit")), "wait"]),
        "odd; stop or call fit or wait",
        "odd; stop or wait",
    ),
    (LopsidedError("odd", remedy=[("give ", Parameter("classes"))]), "odd; give classes=", "odd"),
]


@pytest.mark.parametrize(("error", "python", "shell"), BOTH, ids=range(len(BOTH)))
def test_errors_name_parameters_in_python_and_options_in_the_shell(error, python, shell):
    assert str(error) == python
    assert error.text(SHELL) == shell


def test_every_option_that_errors_name_exists():
    from lopsided.cli import ask, compare, run

    known = {flag for c in (ask, compare, run) for p in c.command.params for flag in p.opts}
    assert set(OPTIONS.values()) <= known
