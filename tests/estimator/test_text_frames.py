"""Data frames that hold texts: the same as their rows as dicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

import lopsided
from lopsided import COG, Active, OneVsRest, Recommended
from lopsided.data.readers.csv import CsvReader
from lopsided.errors import DataError, InputError
from lopsided.persist import to_bytes

RNG = np.random.default_rng(8)
N = 400
FRAME = pd.DataFrame(
    {
        "amount": RNG.lognormal(3, 1, N).round(2) * (RNG.random(N) < 0.9),
        "shop": RNG.choice(["food", "games", "a=b", "x y"], N),
        "night": RNG.random(N) < 0.2,
        "items": RNG.integers(0, 4, N),
    }
)
Y = ((FRAME["shop"] == "games") & (RNG.random(N) < 0.7)).astype(int).to_numpy()
EVENTS = FRAME.to_dict("records")
FORMS = {
    "pandas": lambda f: f,
    "objects": lambda f: f.astype({"shop": object}),
    "category": lambda f: f.astype({"shop": "category"}),
    "polars": pl.from_pandas,
    "polars categories": lambda f: pl.from_pandas(f).cast({"shop": pl.Categorical}),
    "arrow": pa.Table.from_pandas,
    "arrow dictionary": lambda f: pa.Table.from_pandas(f.astype({"shop": "category"})),
}


def state(model):
    core = model.fitted.core
    return core.names, {k: np.asarray(v).tolist() for k, v in core.state().items()}


@pytest.mark.parametrize("form", FORMS)
def test_a_frame_with_texts_is_the_same_as_its_rows_as_dicts(form):
    X = FORMS[form](FRAME)
    dicts = Recommended(positive=1).fit(EVENTS, Y)
    model = Recommended(positive=1).fit(X, Y)
    assert state(model) == state(dicts)
    assert model.schema_.categories == ("shop",)
    assert model.schema_.numbers == ("amount", "night", "items")
    np.testing.assert_array_equal(model.predict_proba(X), dicts.predict_proba(EVENTS))
    np.testing.assert_array_equal(model.predict(X), dicts.predict(EVENTS))
    again = Recommended(positive=1)
    half = N // 2
    parts = (slice(0, half), slice(half, N))
    for part in parts:
        again.partial_fit(FORMS[form](FRAME[part]), Y[part], classes=[0, 1])
    assert state(again) == state(dicts)


def test_every_door_takes_them():
    costs = {"miss": "amount", "alarm": 3.0}
    one = lopsided.progressive(Recommended(positive=1, costs=costs), FRAME, Y)
    two = lopsided.progressive(Recommended(positive=1, costs=costs), EVENTS, Y)
    assert (one.scores == two.scores).all()
    assert (one.alarms == two.alarms).all()
    asked = [Active(COG(), budget=20).fit(X, Y) for X in (FRAME, EVENTS)]
    found = [model.ask_many(X) for model, X in zip(asked, (FRAME, EVENTS), strict=True)]
    assert (found[0].score == found[1].score).all()
    names = np.array(["a", "b", "c"])[Y + (np.arange(N) % 7 == 0)]
    classes = [OneVsRest(COG()).fit(X, names).predict(X) for X in (FRAME, EVENTS)]
    assert (classes[0] == classes[1]).all()
    tables = [lopsided.compare(["COG-II"], X, Y, permutations=2) for X in (FRAME, EVENTS)]
    assert tables[0].rows[0].mean["metric"] == tables[1].rows[0].mean["metric"]
    hashed = [COG(hash_bits=10).fit(X, Y).score_many(X) for X in (FRAME, EVENTS)]
    assert (hashed[0] == hashed[1]).all()


def test_categories_may_be_numbers():
    numbered = FRAME.assign(items=FRAME["items"].astype("category"))
    model = COG().fit(numbered, Y)
    assert model.schema_.categories == ("shop", "items")
    assert "items=3" in model.fitted.core.names
    texts = FRAME.assign(items=FRAME["items"].astype(str))
    assert state(model) == state(COG().fit(texts, Y))


def test_what_does_not_fit_is_an_error_and_the_model_unchanged():
    model = COG().fit(FRAME, Y)
    saved = to_bytes(model)
    for wrong, kind, fault in (
        (FRAME.drop(columns="amount"), DataError, 'no column "amount"'),
        (FRAME.assign(amount="9"), DataError, '"amount" as categories, which were numbers'),
        (FRAME.assign(shop=[None, *FRAME["shop"][1:]]), InputError, 'feature "shop"'),
    ):
        for call in (model.score_many, lambda X: model.partial_fit(X, Y)):
            with pytest.raises(kind, match=fault):
                call(wrong)
    with pytest.raises(DataError, match='"new", which the model does not know'):
        model.score_many(FRAME.assign(new="x"))
    assert to_bytes(model) == saved
    with pytest.raises(TypeError, match="row 2: feature 'shop' is None"):
        COG().fit(FRAME.assign(shop=["a", "b", None, *FRAME["shop"][3:]]), Y)
    strange = FRAME.assign(shop="never seen")
    assert np.isfinite(model.score_many(strange)).all()


def test_hours_and_weekdays_of_a_frame_are_those_of_its_rows(tmp_path):
    times = pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(N) * 5000, unit="s")
    table = FRAME.drop(columns=["night", "items"]).assign(at=times)
    path = tmp_path / "t.csv"
    table.assign(y=Y).to_csv(path, index=False)
    reader = CsvReader(path, label="y", categorical=["shop"], time_features="at")
    model = COG()
    for block in reader:
        model.partial_fit(block.X, block.y, classes=[0, 1])
    model.schema_ = reader.schema()
    events = table.to_dict("records")
    for form in ("pandas", "polars", "arrow"):
        scores = model.score_many(FORMS[form](table))
        assert scores.tolist() == [model.score_one(event) for event in events]


def test_classifiers_from_elsewhere_say_that_they_take_no_texts():
    for X in (FRAME, EVENTS):
        with pytest.raises(TypeError, match="FeatureHasher"):
            lopsided.progressive(SGDClassifier(), X, Y)
        pipeline = make_pipeline(FeatureHasher(64), SGDClassifier(loss="log_loss", random_state=1))
        found = lopsided.progressive(pipeline, X, Y, refit_every=100)
        assert len(found.scores) == N


def test_whole_numbers_are_one_category_whatever_their_type():
    codes = FRAME["items"]
    model = COG().fit(FRAME.assign(items=codes.astype("category")), Y)
    wanted = model.score_many(FRAME.assign(items=codes.astype(str)))
    for items in (codes.astype(float), codes, codes.astype(float).astype("category")):
        assert model.score_many(FRAME.assign(items=items)).tolist() == wanted.tolist()


def test_frames_that_cannot_be_read():
    model = COG().fit(FRAME, Y)
    for give in FORMS.values():
        for call in (model.predict, lambda X: model.partial_fit(X, []), lambda X: COG().fit(X, [])):
            with pytest.raises(InputError, match="0 sample"):
                call(give(FRAME.head(0)))
    nested = pa.table({"a": [{"b": 1}, {"b": 2}], "c": ["x", "y"]})
    with pytest.raises(InputError, match="column 'a' does not hold numbers"):
        COG().fit(nested, [0, 1])


def test_a_comparison_of_a_frame_can_be_resumed(tmp_path):
    path = tmp_path / "journal"
    found = [lopsided.compare(["PA"], FRAME, Y, permutations=2, resume=path) for _ in range(2)]
    assert found[0].rows[0].mean == found[1].rows[0].mean
    with pytest.raises(InputError):
        lopsided.compare(["PA"], FRAME.assign(shop="x"), Y, permutations=2, resume=path)
