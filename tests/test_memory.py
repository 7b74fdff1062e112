"""The memory of a model is what the catalog says, by what the process really takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lopsided
from lopsided.catalog import CATALOG, make, memory
from lopsided.catalog_data import OTHER_KINDS, ROWS

SLACK = 2.5e6  # a huge page, and what the allocator keeps

# Each model is made in a child of its own, from data that are there already.
MEASURE = """
import ctypes, json, os
import numpy as np
from scipy.sparse import csr_matrix
import lopsided
from lopsided.catalog import CATALOG

def resident():
    ctypes.CDLL(None).malloc_trim(0)
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

rng = np.random.default_rng(0)
d, rows = 800_000, 40
starts = np.arange(rows + 1, dtype=np.int32) * (d // rows)
wide = csr_matrix((rng.normal(size=d), np.arange(d, dtype=np.int32), starts), shape=(rows, d))
narrow = rng.normal(size=(20, 1500))
labels = np.tile([-1, 1], rows // 2)

def held(model, X):
    y = labels[: X.shape[0]]
    type(model)(**model.get_params(deep=False)).partial_fit(rng.normal(size=(4, 5)), labels[:4])
    before = resident()
    model.partial_fit(X, y)
    after = resident()
    kept = 0
    if hasattr(model, "members_") and hasattr(model.members_[0], "n_support"):
        kept = sum(sum(member.n_support) for member in model.members_)
    elif hasattr(model, "dual_coef_"):
        kept = len(model.dual_coef_)
    elif "buffer_size" in model.get_params():
        kept = len(y)
    return after - before, kept

def in_a_child(model, X):
    read, write = os.pipe()
    if not os.fork():
        os.write(write, json.dumps(held(model, X)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        return json.load(answer)

out = {}
for entry in CATALOG:
    X = narrow if "d d" in entry.memory else wide
    given = {"gamma": 1.0} if "gamma" in entry.make().get_params() else {}  # else 50 rows are kept
    given |= {"rank": 5} if "rank" in entry.make().get_params() else {}  # else it takes 660 MB
    out[entry.name] = in_a_child(entry.make(scaling="unit", **given), X)
for name in ("AROW", "SSOL-full", "OA3"):
    model = lopsided.make(name, scaling="unit", covariance_dtype="float32")
    out[f"{name} float32"] = in_a_child(model, narrow)
mixture = lopsided.KOIL(scaling="unit", kernels=[{"gamma": 0.5}, {"gamma": 1.0}, {"gamma": 2.0}])
out["mixture"] = in_a_child(mixture, wide)
for scaling in ("unit", "standard"):
    for form, X in (("dense", rng.normal(size=(2, d))), ("sparse", wide)):
        out[f"{form} {scaling}"] = in_a_child(lopsided.COG(scaling=scaling), X)
for m in (3, 12):
    out[f"sketch {m}"] = in_a_child(lopsided.make("SACOG-II", scaling="unit", sketch_size=m), wide)
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def measured():
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process is read as on Linux")
    return json.loads(subprocess.check_output([sys.executable, "-c", MEASURE], text=True))


def value(formula, **variables):
    """The number that a formula stands for; a space multiplies."""
    return eval(re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", formula), {}, variables)


def variables(entry, kept):
    d = 1500 if "d d" in entry.memory else 800_000
    power = 1 << max(kept // 2 - 1, 0).bit_length()
    return {"d": d, "m": 5, "R": kept, "r": 12 * 20_000, "P": power}


@pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: entry.name)
def test_a_model_holds_what_the_catalog_says(entry, measured):
    held, kept = measured[entry.name]
    most = value(entry.memory, **variables(entry, kept))
    assert 0.52 * most <= held <= 1.02 * most + SLACK


@pytest.mark.parametrize("name", ["AROW", "SSOL-full", "OA3"])
def test_a_covariance_of_float32_holds_what_the_catalog_says(name, measured):
    formula = memory(make(name, covariance_dtype="float32"))
    most = value(formula, d=1500)
    assert 0.52 * most <= measured[f"{name} float32"][0] <= 1.02 * most + SLACK


def test_the_memory_of_a_sketch_grows_with_its_size(measured):
    for m in (3, 12):
        assert measured[f"sketch {m}"][0] == pytest.approx(8 * (m + 1) * 800_000, rel=0.1)


def test_scaling_takes_what_the_page_says(measured):
    more = {
        form: measured[f"{form} standard"][0] - measured[f"{form} unit"][0]
        for form in ("dense", "sparse")
    }
    assert more["sparse"] == pytest.approx(8 * 800_000, rel=0.1)
    assert more["dense"] == pytest.approx(24 * 800_000, rel=0.1)


def test_several_kernels_hold_what_the_catalog_says(measured):
    held, kept = measured["mixture"]
    formula = memory(lopsided.KOIL(kernels=[{"gamma": 0.5}, {"gamma": 1.0}, {"gamma": 2.0}]))
    power = 1 << (kept // 6 - 1).bit_length()
    most = value(formula, d=800_000, K=3, R=kept, r=12 * 20_000, P=power)
    assert 0.52 * most <= held <= 1.02 * most + SLACK


def test_every_kind_of_the_core_has_its_formula():
    registry = Path(__file__).parent.parent / "cpp" / "core" / "registry"
    sources = "".join(path.read_text() for path in registry.glob("*.cpp"))
    kinds = set(re.findall(r'\{"([a-z0-9-]+)", ', sources))
    rows = [*ROWS, *OTHER_KINDS]
    assert {"cog", "koil-mixture", "arow-full-float32"} <= kinds == {row["kind"] for row in rows}
    formulas = {(row["kind"], row["memory"]) for row in rows}
    assert len(formulas) == len(kinds)  # all rows of a kind agree


@pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: entry.name)
def test_a_row_of_the_catalog_has_the_kind_and_the_memory_of_its_model(entry):
    assert (entry.kind, entry.memory) == (entry.make().core_kind(), memory(entry.make()))
