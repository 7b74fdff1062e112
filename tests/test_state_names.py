"""The names of state that Python uses are those that the core writes, and stand in one place."""

import re
from pathlib import Path

import numpy as np
import pytest

import lopsided
from lopsided.estimator import state as entry

ROOT = Path(lopsided.__file__).parent
NAMES = {name: value for name, value in vars(entry).items() if name.isupper()}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = np.where(X[:, 0] > 0.5, 1, -1)


def models():
    yield from (lopsided.make(name) for name in lopsided.learners())
    yield lopsided.KOIL(kernels=[{"kernel": "linear"}, {"gamma": 0.5}], buffer_size=4)
    yield lopsided.make("SACOG-II", sketch_size=2)
    yield lopsided.make("COG-II", capacity="5/10")
    yield lopsided.Active("COG-II", budget="5/10", pace=True)
    yield lopsided.Active("COG-II", query="uncertainty")


@pytest.fixture(scope="module")
def written():
    """Return the names in the states of all learners, on dense and on sparse rows."""
    from scipy.sparse import csr_matrix

    found = set()
    for rows in (X, csr_matrix(X)):
        for model in models():
            found |= set(model.fit(rows, Y).fitted.core.state())
    wide = csr_matrix(np.pad(X, ((0, 0), (0, 3000))))
    found |= set(lopsided.KOIL(buffer_size=4).fit(wide, Y).fitted.core.state())
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_core_writes_it(name, written):
    pattern = re.escape(NAMES[name]).replace(r"\{\}", "[a-z0-9_]+")
    if name == "BUDGET":  # a beginning
        pattern += ".+"
    assert any(re.fullmatch(pattern, one) for one in written)


def test_no_other_module_spells_a_name_of_state():
    spelt = re.compile(r"""(?:\bcore\.state\(\)|\bstate(?:\(\))?)(?:\[|\.get\()f?"([^"]+)\"""")
    dotted = {value for value in NAMES.values() if "." in value and "{" not in value}
    for path in sorted(ROOT.rglob("*.py")):
        if path.name == "state.py" or path.parent.name in ("service", "cli", "evaluation"):
            continue
        text = path.read_text()
        strings = set(re.findall(r'"([a-z_.]+)"', text))
        assert not strings & dotted, path
        if path.parent.name == "algorithms":
            assert not spelt.findall(text), path
