"""Learners of a user's own package: made by name, listed, compared, saved, loaded."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import lopsided
from lopsided import catalog, persist
from lopsided.estimator.costs import CostSensitiveClassifier
from lopsided.estimator.parameters import estimator, positive

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = (X[:, 0] > 0.5).astype(int)


class Eager(lopsided.COG):
    """COG that steps far. And more about it."""


@estimator
class Own(CostSensitiveClassifier):
    """A learner with a parameter of its own.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    """

    learning_rate: float = positive(0.3)

    _core_name = "cog"


class Curious(lopsided.Active):
    """Active learning of a user's own."""


@pytest.fixture(autouse=True)
def the_catalog_as_before(monkeypatch):
    for name in ("_REGISTERED", "_BY_NAME"):
        monkeypatch.setattr(catalog, name, dict(getattr(catalog, name)))


@pytest.mark.parametrize("cls", [Eager, Own, Curious])
def test_a_registered_class_is_as_good_as_one_of_the_package(cls, tmp_path):
    assert lopsided.register(cls) is cls
    name = cls.__name__
    assert lopsided.learners()[-1] == name
    model = lopsided.make(name.lower(), scaling="unit").fit(X, Y)
    assert type(model) is cls
    model.save(tmp_path / "m")
    others = [
        lopsided.load(tmp_path / "m", cls),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        copy.copy(model),
    ]
    model.partial_fit(X, Y)
    for other in others:
        assert type(other) is cls
        assert repr(other) == repr(model)
        assert other.partial_fit(X, Y).coef_.tolist() == model.coef_.tolist()
    result = lopsided.compare([name, "COG-II"], X, Y, permutations=2, grid={})
    assert [row.name for row in result.rows] == [name, "COG-II"]
    assert catalog.memory(model) == catalog.find(name).memory


def test_a_registered_learner_can_be_inside_another(tmp_path):
    lopsided.register(Eager)
    model = lopsided.Active(Eager(learning_rate=3), budget=10).fit(X, Y)
    model.save(tmp_path / "m")
    assert type(lopsided.load(tmp_path / "m").learner) is Eager
    assert lopsided.Active("Eager").fit(X, Y).learner == "Eager"


def test_presets_grids_and_aliases():
    lopsided.register(
        Eager,
        "Eager-far",
        preset={"learning_rate": 5.0},
        paper="ours",
        grid={"learning_rate": [1, 5]},
        aliases=["far"],
    )
    lopsided.register(lopsided.COG, "COG-near", preset={"learning_rate": 0.01}, purpose="careful")
    assert repr(lopsided.make("FAR")) == "Eager(learning_rate=5.0)"
    entry = catalog.find("far")
    assert (entry.purpose, entry.paper) == ("COG that steps far. And more about it", "ours")
    assert (entry.kind, entry.family) == ("cog", "test_register")
    assert type(lopsided.make("COG-near")) is lopsided.COG
    result = lopsided.compare(["far"], X, Y, permutations=2)
    assert {run.parameters["learning_rate"] for run in result.sweep} == {1, 5}


def test_a_class_defined_again_takes_the_place_of_the_old_one():
    def define():
        class Again(lopsided.COG):
            pass

        return Again

    lopsided.register(define(), "one")
    lopsided.register(define(), "two")
    latest = lopsided.register(define(), "two")
    assert lopsided.learners().count("two") == 1
    assert type(lopsided.make("one")) is type(lopsided.make("two")) is latest
    lopsided.Active("one").fit(X, Y)
    latest = lopsided.register(define(), "one")
    assert type(lopsided.Active("one").fit(X, Y)._inner()) is latest


class COG(lopsided.AROW):
    pass


class NoCore(CostSensitiveClassifier):
    _core_name = "nothing"


@pytest.mark.parametrize(
    ("args", "options", "error", "words"),
    [
        ((lopsided.COG(),), {}, TypeError, "takes a subclass of an estimator of lopsided"),
        ((dict,), {}, TypeError, "compare takes scikit-learn classifiers without registration"),
        ((Eager, "COG-II"), {}, ValueError, "there is already a learner 'COG-II' (algorithms.lin"),
        ((Eager, "new"), {"aliases": ["cs-ogd"]}, ValueError, "already a learner 'COG-II'"),
        ((COG, "new"), {}, ValueError, "already a class COG (lopsided.algorithms.linear:COG)"),
        ((NoCore,), {}, ValueError, "NoCore: _core_name must be a learner of the core"),
        ((CostSensitiveClassifier,), {}, ValueError, "not None: derive the class from a learner"),
        ((Eager,), {"preset": {"learning_rat": 1}}, TypeError, "did you mean 'learning_rate'?"),
        ((Eager,), {"preset": {"learning_rate": -1}}, ValueError, "learning_rate=-1 is invalid"),
        ((Eager,), {"grid": {"learning_rat": [1]}}, ValueError, "grid: Eager has no parameter"),
    ],
)
def test_what_cannot_be_registered(args, options, error, words):
    before = lopsided.learners()
    with pytest.raises(error) as raised:
        lopsided.register(*args, **options)
    assert words in str(raised.value)
    assert lopsided.learners() == before


def test_a_class_that_is_not_registered_is_not_saved(tmp_path):
    model = Eager().fit(X, Y)
    for attempt in (lambda: model.save(tmp_path / "m"), lambda: pickle.dumps(model)):
        with pytest.raises(TypeError, match=r"until it is registered: lopsided.register\(Eager\)"):
            attempt()
    with pytest.raises(TypeError, match=r"lopsided.register\(Eager\)"):
        lopsided.Active(Eager()).fit(X, Y).save(tmp_path / "m")


MODULE = """
import pathlib
import lopsided
pathlib.Path("imported").touch()

@lopsided.register
class Mine(lopsided.COG):
    '''A learner of a package of mine.'''
"""


@pytest.fixture
def in_a_process(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)

    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_file_names_the_module_to_import_but_never_imports_it(in_a_process, tmp_path):
    rows = "[[1.0, 0.0], [0.0, 1.0]], [1, 0]"
    save = f"import mine; mine.Mine().fit({rows}).save('m')"
    assert in_a_process(sys.executable, "-c", save)[0] == 0
    (tmp_path / "imported").unlink()
    code, _, stderr = in_a_process(sys.executable, "-c", "import lopsided; lopsided.load('m')")
    assert code == 1
    assert "m: it holds a 'Mine' of the module 'mine', which is not registered here" in stderr
    assert "import mine" in stderr
    assert not (tmp_path / "imported").exists()
    load = f"import lopsided, mine; print(lopsided.load('m').partial_fit({rows}))"
    assert in_a_process(sys.executable, "-c", load)[1] == "Mine()\n"


def test_the_files_of_the_package_name_no_module():
    data = persist.to_bytes(lopsided.COG().fit(X, Y))
    assert b"module" not in data


def test_the_command_line_knows_learners_of_modules_that_it_is_told_to_import(in_a_process):
    script = [sys.executable, "-m", "lopsided"]
    code, stdout, _ = in_a_process(*script, "--import", "mine", "learners", "--json")
    assert code == 0
    assert json.loads(stdout)[-1]["name"] == "Mine"
    code, stdout, _ = in_a_process(*script, "--import", "mine", "learners", "mine")
    assert "Mine: A learner of a package of mine\n" in stdout
    assert "in Python: lopsided.make('Mine'), a mine.Mine\n" in stdout
    code, _, stderr = in_a_process(*script, "learners", "mine")
    assert (code, "there is no learner 'mine'" in stderr) == (1, True)
    code, _, stderr = in_a_process(*script, "--import", "nothing_of_this_name", "learners")
    assert (code, "nothing_of_this_name" in stderr) == (1, True)
