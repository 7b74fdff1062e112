"""What users do wrong with rows, and rows that only look wrong.

Each table is data: the bad input, the error, words of its message.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from refusals import INF, LEARN, NAN, X, Y, frame, refuses

from lopsided import COG, learners, make
from lopsided.persist import to_bytes

SCORE = {
    "decision_function": lambda m, x, y: m.decision_function(x),
    "predict": lambda m, x, y: m.predict(x),
    "score": lambda m, x, y: m.score(x, y),
}


def sick(value, row=3, column=2, dtype=float):
    bad = X.astype(dtype)
    bad[row, column] = value
    return bad


def csr(indptr=(0, 1, 2, 3, 4), indices=(0, 1, 2, 0), data=(1.0, 2, 3, 4), shape=(4, 3), kind="i8"):
    """Return what claims to be a CSR matrix; scipy itself would refuse to make some of them."""
    return SimpleNamespace(
        format="csr",
        indptr=np.array(indptr, dtype=np.int64),
        indices=np.array(indices).astype(kind),
        data=np.array(data, dtype=float),
        shape=shape,
    )


# fmt: off
BAD_X = {
    "nan": (sick(NAN), ValueError, ["NaN", "row 3, column 2"]),
    "inf": (sick(-INF, 1, 0), ValueError, ["inf", "row 1, column 0"]),
    "nan in float32": (sick(NAN, dtype="f4"), ValueError, ["NaN", "row 3, column 2"]),
    "nan in Fortran order": (np.asfortranarray(sick(NAN)), ValueError, ["row 3, column 2"]),
    "nan with negative strides": (sick(NAN)[::-1, ::-1], ValueError, ["row 0, column 0"]),
    "values whose squares overflow": (X * 1e200, ValueError, ["too large", "row 0"]),
    "larger than float64": (
        X.astype(np.longdouble) * np.longdouble("1e4000"), ValueError, ["row 0", "inf"]),
    "integer larger than float64": ([[10**400, 1, 1]] * 4, ValueError, ["row 0, column 0"]),
    "0-d": (np.array(3.0), ValueError, ["2D", "0D"]),
    "1-d": (X[0], ValueError, ["2D", "1D", "learn_one"]),
    "3-d": (X[None], ValueError, ["2D", "3D"]),
    "no rows": (X[:0], ValueError, ["0 sample"]),
    "no columns": (X[:, :0], ValueError, ["0 feature"]),
    "none": (None, ValueError, ["2D"]),
    "one number": (5, ValueError, ["2D"]),
    "ragged": ([[1, 2], [3], [4, 5], [6, 7]], ValueError, []),
    "text": (X.astype(str), ValueError, ["numbers"]),
    "bytes": (X.astype("S3"), ValueError, ["numbers"]),
    "one text": ("abc", ValueError, ["numbers"]),
    "complex": (X * 1j, ValueError, ["complex"]),
    "dates": (np.zeros((4, 3), "M8[s]"), ValueError, ["numbers"]),
    "durations": (np.zeros((4, 3), "m8[s]"), ValueError, ["numbers"]),
    "structured": (np.zeros(4, [("a", float)]), ValueError, ["numbers"]),
    "text as objects": (sick("dear", dtype=object), ValueError, ["row 3, column 2", "dear"]),
    "None as object": (sick(None, dtype=object), ValueError, ["NaN", "row 3, column 2"]),
    "dict as object": (sick({}, dtype=object), TypeError, ["row 3, column 2"]),
    "a generator": ((row for row in X), TypeError, ["array"]),
    "a set": ({1, 2}, TypeError, ["array"]),
    "masked": (np.ma.masked_greater(X, 2), ValueError, ["mask", "row 0, column 2"]),
    "frame with times": (
        frame(c=pd.date_range("2026-01-01", periods=4)), ValueError, ["column 'c'", "times"]),
    "frame without rows yet": (
        pl.DataFrame(frame()).lazy(), TypeError, ["LazyFrame", "collect it first"]),
    "frame with NaN": (frame(c=[1, NAN, 1, 1]), ValueError, ["row 1, column 2 ('c')", "NaN"]),
    "frame with NA": (
        frame(c=pd.array([1, 2, None, 3], dtype="Int64")), ValueError, ["row 2, column 2 ('c')"]),
    "frame with dates": (
        frame(c=pd.to_datetime(["2020"] * 4)), ValueError, ["column 'c'", "numbers"]),
    "frame with durations": (
        frame(c=pd.to_timedelta([1] * 4)), ValueError, ["column 'c'", "numbers"]),
    "frame with complex": (frame(c=[1j] * 4), ValueError, ["column 'c'", "numbers"]),
    "frame with names of two kinds": (frame().assign(**{"c": 1}).rename(columns={"c": 1}),
                                      TypeError, ["string names"]),
    "frame with a name twice": (
        pd.DataFrame(X, columns=list("aba")), ValueError, ["two columns", "'a'"]),
    "csr: index too large": (csr(indices=(0, 1, 2, 3)), ValueError, ["3", "0..2", "row 3"]),
    "csr: int32 index too large": (
        csr(indices=(0, 1, 2, 3), kind="i4"), ValueError, ["3", "0..2", "row 3"]),
    "csr: negative index": (csr(indices=(0, 1, -1, 0)), ValueError, ["-1", "0..2", "row 2"]),
    "csr: int32 negative index": (
        csr(indices=(0, 1, -1, 0), kind="i4"), ValueError, ["-1", "0..2", "row 2"]),
    "csr: index that is small in 32 bits": (
        csr(indices=(0, 1, 2**32, 0)), ValueError, ["4294967296", "row 2"]),
    "csr: index beyond int64": (
        csr(indices=np.array([0, 1, 2**63 + 1, 0], "u8"), kind="u8"), ValueError, ["row 2"]),
    "csr: unsorted and out of range": (
        csr((0, 3, 3, 3, 4), (2, 9, 0, 0), kind="i4"), ValueError, ["9", "row 0"]),
    "csr: indices are floats": (csr(kind="f8"), ValueError, ["indices", "integer"]),
    "csr: indptr starts late": (csr((1, 1, 2, 3, 4)), ValueError, ["indptr", "row 0"]),
    "csr: indptr falls": (csr((0, 3, 2, 3, 4)), ValueError, ["indptr", "row 1"]),
    "csr: indptr negative": (csr((0, -1, 2, 3, 4)), ValueError, ["indptr", "row 0"]),
    "csr: indptr ends beyond the values": (csr((0, 1, 2, 3, 9)), ValueError, ["indptr", "row 3"]),
    "csr: indptr too short": (csr((0, 1, 2, 4)), ValueError, ["CSR", "4 row starts"]),
    "csr: fewer values": (csr(data=(1, 2)), ValueError, ["CSR", "2 values"]),
    "csr: values in a table": (csr(data=np.ones((4, 2))), ValueError, ["CSR"]),
    "csr: negative shape": (csr((), (), (), (-1, 3)), ValueError, []),
    "csr: negative columns": (csr((0,) * 5, (), (), (4, -1)), ValueError, []),
    "csr: too wide": (csr(shape=(4, 2**31)), ValueError, ["columns", "2147483648"]),
    "csr: nan": (csr(data=(1, 2, NAN, 4)), ValueError, ["NaN", "row 2, column 2"]),
    "csr: one row as 1-d": (sp.csr_array(X[0]), ValueError, ["2D", "1D"]),
    "coo: 1-d": (sp.coo_array(X[0]), ValueError, ["2D", "1D"]),
}
# fmt: on


@pytest.mark.parametrize("call", [*LEARN, *SCORE])
@pytest.mark.parametrize("name", BAD_X)
@pytest.mark.promise("all or nothing")
def test_bad_rows_are_refused_and_the_model_is_as_it_was(name, call):
    bad, error, words = BAD_X[name]
    if name == "a generator":
        bad = (row for row in X)
    named = isinstance(bad, pd.DataFrame) and "c" in bad
    model = COG().fit(pd.DataFrame(X, columns=list("abc")) if named else X, Y)
    refuses(lambda m: {**LEARN, **SCORE}[call](m, bad, Y), model, error, words)
    if call in LEARN:
        refuses(lambda m: LEARN[call](m, bad, Y), COG(), error, words)


# Forms besides those that every learner is given (`streams.DENSE`).
GOOD_X = {
    "float16": X.astype("f2"), "long double": X.astype(np.longdouble), "integers": X.astype(int),
    "uint8": X.astype("u1"), "numbers as objects": X.astype(object), "matrix": np.asmatrix(X),
    "every other column": np.repeat(X, 2, axis=1)[:, ::2], "masked nowhere": np.ma.array(X),
    "unaligned": np.frombuffer(b"x" + X.tobytes(), "u1")[1:].view("f8").reshape(X.shape),
    "inside records": np.rec.fromarrays([*X.T, Y.astype("i1")])[["f0", "f1", "f2"]].view(
        [("x", "f8", 3), ("y", "i1")])["x"],
    "frame of Int64": pd.DataFrame(X.astype(int)).astype("Int64"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD_X)
def test_any_form_of_the_same_numbers_gives_the_same_bits(name):
    assert to_bytes(COG().fit(GOOD_X[name], Y)) == to_bytes(COG().fit(X, Y))


def test_csr_unsorted_and_with_duplicates_is_sorted_and_summed():
    plain = sp.csr_matrix(([3.0, 1, 2], [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    for kind in ("i4", "i8", ">i4", "u2"):
        mixed = csr((0, 3, 4), (2, 0, 0, 1), (1, 1, 2, 2), (2, 3), kind)
        assert to_bytes(COG().fit(mixed, [0, 1])) == to_bytes(COG().fit(plain, [0, 1]))


WRONG_COLUMNS = {
    "fewer": (X, X[:, :2], ["2 features", "3 features"]),
    "more": (X, np.hstack([X, X]), ["6 features", "3 features"]),
    "more, sparse": (X, sp.csr_matrix(np.hstack([X, X])), ["6 features", "3 features"]),
    "another name": (frame(c=1), frame(d=1), ["d", "c", "names"]),
    "another order": (frame(c=1), frame(c=1)[["a", "c", "b"]], ["order"]),
}


@pytest.mark.parametrize("name", WRONG_COLUMNS)
def test_scoring_wants_the_columns_that_were_learned(name):
    first, second, words = WRONG_COLUMNS[name]
    model = COG().fit(first, Y)
    refuses(lambda m: m.decision_function(second), model, ValueError, words)
    if name.startswith("more"):
        assert model.partial_fit(second, Y).n_features_in_ == 6
    else:
        refuses(lambda m: m.partial_fit(second, Y), model, ValueError, words)


BAD_LAST = {
    "nan": lambda x, y, w: x.__setitem__((-1, -1), NAN),
    "third label": lambda x, y, w: y.__setitem__(-1, 2),
    "negative weight": lambda x, y, w: w.__setitem__(-1, -1),
}


@pytest.mark.parametrize(("sparse", "columns"), [(False, 2), (False, 3), (True, 3)])
@pytest.mark.parametrize("name", BAD_LAST)
@pytest.mark.promise("all or nothing")
def test_the_last_of_a_million_rows_spoils_all(name, sparse, columns):
    rows = 1_000_000
    x, y, w = np.ones((rows, columns)), np.arange(rows) % 2, np.ones(rows)
    BAD_LAST[name](x, y, w)
    x = sp.csr_matrix(x) if sparse else x
    model = COG().fit(X[:, :2], Y)
    refuses(lambda m: m.partial_fit(x, y, sample_weight=w), model, ValueError, ["row 999999"])
    refuses(lambda m: m.fit(x, y, sample_weight=w), COG(), ValueError, [])


@pytest.mark.parametrize("name", learners())
def test_a_batch_smaller_than_the_model_is_all_or_nothing_too(name):
    wide = np.random.default_rng(1).normal(size=(3, 60))
    model = make(name).fit(sp.csr_matrix(wide), [0, 1, 1])
    bad = sp.lil_matrix((3, 70))
    bad[0, 69], bad[2, 1] = 1.0, NAN
    refuses(lambda m: m.partial_fit(bad, [1, 0, 1]), model, ValueError, ["row 2, column 1"])


# Growing beyond what there is room for; in a process of its own because it used to corrupt memory.
TOO_WIDE = {
    "full covariance": ("ACOG(covariance='full')", 40_001, "40000"),
    "memory": ("COG()", 2**31 - 2, ""),
}


@pytest.mark.parametrize("name", TOO_WIDE)
def test_features_beyond_memory_leave_the_model_as_it_was(name):
    learner, columns, word = TOO_WIDE[name]
    code = f"""
        import resource, numpy as np, scipy.sparse as sp
        from lopsided import ACOG, COG
        from lopsided.persist import to_bytes
        x = sp.csr_matrix(np.random.default_rng(0).normal(size=(50, 100)))
        model = {learner}.fit(x, np.arange(50) % 2)
        before = to_bytes(model)
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        wide = sp.csr_matrix(([1.0], ([0], [{columns} - 1])), shape=(1, {columns}))
        for _ in range(3):
            try:
                model.partial_fit(wide, [1])
            except (ValueError, MemoryError) as error:
                assert {word!r} in str(error), error
            else:
                raise SystemExit("accepted")
            assert to_bytes(model) == before, model.n_features_in_
            model.decision_function(x)
    """
    code = textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])


# fmt: off
EXTREMES = {
    **{f"values of {s}": {"X": X * s} for s in (1e150, 1e-150, 1e-162, 1e-170, 5e-324)},
    "huge weights": {"w": [1e306, 1e307, 1e306, 1e307]},
    "tiny weights": {"w": [1e-306, 1e-307, 5e-324, 1e-300]},
}
# fmt: on


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("learner", learners())
def test_extreme_numbers_are_refused_or_scored_with_finite_numbers(learner, name):
    given = {"X": X, "w": None, **EXTREMES[name]}
    model = make(learner, scaling="none")
    if given["w"] and not model._weights_matter():
        return
    try:
        model.fit(given["X"], Y, sample_weight=given["w"])
        scores = model.decision_function(given["X"])
    except ValueError as error:
        assert re.search("large|small|overflow", str(error))  # noqa: PT017
    else:
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e-158, 3e-162, 1e-170])
def test_unit_length_holds_for_rows_of_any_size_or_they_are_refused(scale):
    model = COG(scaling="unit", learning_rate=1.0)
    try:
        model.fit(X * scale, Y)
    except ValueError as error:
        assert re.search("large|small", str(error))  # noqa: PT017
    else:
        plain = COG(scaling="unit", learning_rate=1.0).fit(X, Y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("name", ["SSACOG-I", "SSACOG-II", "SACOG-II"])
@pytest.mark.promise("all or nothing")
def test_a_wide_model_is_unchanged_when_its_scores_overflow(name):
    rows = sp.random(50, 60_000, 0.001, format="csr", random_state=0)
    labels = np.where(np.arange(50) % 3 == 0, 1, -1)
    model = make(name, scaling="none").partial_fit(rows, labels)
    before = to_bytes(model)
    with pytest.raises(ValueError, match="the score is not finite"):
        model.partial_fit(rows * 1e150, labels)
    assert to_bytes(model) == before
