"""Whatever differs from what a model knows is said, whichever way it comes."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lopsided
from lopsided import COG, Active
from lopsided.data import open_reader
from lopsided.errors import DataError, InputError
from lopsided.estimator.schema import Schema
from lopsided.persist import from_bytes, to_bytes

EVENTS = [{"n": 1.0 + k % 3, "ok": k % 2 == 0, "c": "xyz"[k % 3]} for k in range(12)]
LABELS = [k % 2 for k in range(12)]


@pytest.fixture
def learn(tmp_path):
    """A model of a table of numbers, flags and texts."""

    def learned(**rules):
        table = pd.DataFrame(EVENTS).assign(id=range(12), label=LABELS)
        table.to_parquet(tmp_path / "d.parquet")
        reader = open_reader(str(tmp_path / "d.parquet"), key="id", missing="indicate")
        model = lopsided.make("COG-II")
        for block in reader:
            model.partial_fit(block.X, block.y)
        record = {**reader.schema().record(), **rules}
        model.schema_ = Schema.of(record)
        return from_bytes(to_bytes(model))

    return learned


def by_dict(model, event, folder):
    return [model.score_one(event)]


def by_dicts(model, event, folder):
    return model.score_many([EVENTS[0], event])[1:]


def by_frame(model, event, folder):
    return model.score_many(pd.DataFrame([event]))


def by_polars(model, event, folder):
    return model.score_many(pl.DataFrame([event]))


def by_reader(model, path):
    names = model.feature_names_in_.tolist()
    options = {"names": names, "schema": model.schema_, "labelled": False}
    reader = open_reader(str(path), **options)
    scores = [score for block in reader for score in model.score_many(block.X)]
    for note in reader.notes:
        if "no id" not in note:
            warnings.warn(str(note), UserWarning, stacklevel=1)
    return scores


def by_csv(model, event, folder):
    cells = {n: int(v) if isinstance(v, bool) and n == "ok" else v for n, v in event.items()}
    pd.DataFrame([cells]).to_csv(folder / "n.csv", index=False)
    return by_reader(model, folder / "n.csv")


def by_parquet(model, event, folder):
    pd.DataFrame([event]).to_parquet(folder / "n.parquet")
    return by_reader(model, folder / "n.parquet")


def by_json_lines(model, event, folder):
    (folder / "n.jsonl").write_text(json.dumps(event) + "\n")
    return by_reader(model, folder / "n.jsonl")


EVENT_WAYS = [by_dict, by_dicts, by_json_lines]
TABLE_WAYS = [by_frame, by_polars, by_csv, by_parquet]
ways = pytest.mark.parametrize("way", EVENT_WAYS + TABLE_WAYS)


@ways
def test_what_the_model_knows_has_one_score_in_every_way(learn, tmp_path, way):
    model, event = learn(), EVENTS[1]
    expected = model.score_one(event)
    assert way(model, event, tmp_path) == pytest.approx([expected], rel=1e-12)
    assert way(model, {"id": 7, **event}, tmp_path) == pytest.approx([expected], rel=1e-12)


@ways
@pytest.mark.parametrize("bad", [{"n": "much"}, {"n": True}])
def test_no_number_where_the_model_knows_numbers_is_an_error(learn, tmp_path, way, bad):
    with pytest.raises((InputError, DataError), match='"n"'):
        way(learn(), {**EVENTS[1], **bad}, tmp_path)


@pytest.mark.parametrize("way", [by_dict, by_dicts, by_json_lines, by_frame, by_polars, by_parquet])
def test_a_number_written_as_text_is_an_error(learn, tmp_path, way):  # CSV has nothing but text
    with pytest.raises((InputError, DataError), match='"n"'):
        way(learn(), {**EVENTS[1], "n": "1"}, tmp_path)


@ways
def test_a_number_as_a_category_is_a_text(learn, tmp_path, way):
    model = learn()
    model.schema_ = Schema.of({**model.schema_.record(), "categories": ["c"]})
    assert way(model, {**EVENTS[1], "c": 7}, tmp_path) == [
        pytest.approx(model.score_one({**EVENTS[1], "c": "7"}), rel=1e-12)
    ]


@pytest.mark.parametrize("way", EVENT_WAYS)
def test_an_unknown_member_is_ignored_with_a_warning(learn, tmp_path, way):
    model = learn()
    with pytest.warns(UserWarning, match=r"new.*does not know|new.*unknown to the model"):
        scores = way(model, {**EVENTS[1], "new": 5.0}, tmp_path)
    assert scores == pytest.approx([model.score_one(EVENTS[1])], rel=1e-12)


@pytest.mark.parametrize("way", TABLE_WAYS)
def test_an_unknown_column_is_an_error(learn, tmp_path, way):
    with pytest.raises(DataError, match='"new", which the model does not know'):
        way(learn(), {**EVENTS[1], "new": 5.0}, tmp_path)


@ways
def test_unknown_ones_can_be_errors_everywhere(learn, tmp_path, way):
    with pytest.raises((InputError, DataError), match='"new"'):
        way(learn(unknown="error"), {**EVENTS[1], "new": 5.0}, tmp_path)


@ways
@pytest.mark.parametrize("rule", ["ignore", "learn"])
@pytest.mark.filterwarnings("ignore")
def test_unknown_ones_can_be_ignored_everywhere(learn, tmp_path, way, rule):
    model = learn(unknown=rule)
    scores = way(model, {**EVENTS[1], "new": 5.0}, tmp_path)
    assert scores == pytest.approx([model.score_one(EVENTS[1])], rel=1e-12)


@pytest.mark.parametrize("way", EVENT_WAYS)
def test_a_missing_member_is_a_missing_value(learn, tmp_path, way):
    model = learn()
    lacking = {name: value for name, value in EVENTS[1].items() if name != "n"}
    expected = model.score_one({**lacking, "n": None})
    assert way(model, lacking, tmp_path) == pytest.approx([expected], rel=1e-12)
    assert expected != model.score_one(EVENTS[1])
    with pytest.raises((InputError, DataError), match='"n"'):
        way(learn(missing="error"), lacking, tmp_path)


@pytest.mark.parametrize("way", TABLE_WAYS)
def test_a_missing_column_is_an_error(learn, tmp_path, way):
    lacking = {name: value for name, value in EVENTS[1].items() if name != "n"}
    with pytest.raises(DataError, match='no column "n"'):
        way(learn(), lacking, tmp_path)


def test_missing_values_that_leave_rows_out_cannot_leave_out_an_event(learn):
    model = learn(missing="drop")
    for event in ({**EVENTS[1], "n": np.nan}, {"ok": True, "c": "x"}):
        with pytest.raises(InputError, match=r'"n".*missing values leave events out'):
            model.score_one(event)


def test_missing_cells_of_frames_are_those_of_dicts(learn):
    model = learn()
    frame = pd.DataFrame([EVENTS[0], {**EVENTS[1], "n": None}]).astype({"n": "Float64"})
    expected = [model.score_one(EVENTS[0]), model.score_one({**EVENTS[1], "n": None})]
    assert model.score_many(frame) == pytest.approx(expected, rel=1e-12)


# Learning ----------------------------------------------------------------------------------------


def test_a_new_member_is_learned_from_with_one_warning(learn):
    model = learn()
    before = model.n_features_in_
    with pytest.warns(UserWarning, match="'new': new to the model"):
        model.learn_one({**EVENTS[1], "new": 5.0}, 1)
    model.learn_one({**EVENTS[1], "new": 4.0}, 0)  # known from now on
    model.partial_fit([{**EVENTS[1], "new": 4.0}, EVENTS[2]], [0, 1])
    assert model.n_features_in_ == before + 1
    assert "new" in model.schema_.optional
    assert model.score_one({**EVENTS[1], "new": 9.0}) != model.score_one(EVENTS[1])
    with pytest.raises(InputError, match='"new"'):
        model.learn_one({**EVENTS[1], "new": "x"}, 1)


@pytest.mark.parametrize("rule", ["error", "ignore", "learn"])
def test_what_becomes_of_a_new_member_can_be_said(learn, rule):
    model = learn(unknown=rule)
    before, event = model.n_features_in_, {**EVENTS[1], "new": 5.0}
    if rule == "error":
        for learning in (
            lambda: model.learn_one(event, 1),
            lambda: model.partial_fit([EVENTS[0], event], [0, 1]),
        ):
            with pytest.raises(InputError, match='"new"'):
                learning()
    else:
        model.learn_one(event, 1)
        model.partial_fit([EVENTS[0], event], [0, 1])
    assert model.n_features_in_ == before + (rule == "learn")


def test_a_bad_row_of_a_batch_is_named_and_nothing_is_learned(learn):
    model = learn()
    before = to_bytes(model)
    with pytest.raises(InputError, match="row 1") as caught:
        model.partial_fit([EVENTS[0], {**EVENTS[1], "n": "1"}], [0, 1])
    assert caught.value.row == 1
    assert to_bytes(model) == before


def test_events_that_are_asked_about_are_checked(learn):
    model = Active.around(learn(), budget=5)
    for asking in (model.ask, lambda x: model.ask_many([EVENTS[0], x])):
        with pytest.raises(InputError, match='"n"'):
            asking({**EVENTS[1], "n": "1"})
    model.ask(EVENTS[0])
    with pytest.raises(InputError, match='"n"'):
        model.teach({**EVENTS[1], "n": True}, 1)


def test_an_event_is_explained_as_it_is_scored(learn):
    model = learn()
    event = {**EVENTS[1], "n": None}
    assert model.explain_one(event).score == pytest.approx(model.score_one(event))


# Data frames -------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [True, False, True, True]})


def test_a_model_of_a_data_frame_knows_its_columns():
    model = COG().fit(FRAME, [0, 1, 0, 1])
    assert model.schema_ == Schema(numbers=("a", "b"), flags=("b",))
    for event, fault in (
        ({"a": 1.0}, '"b": this object has no such member'),
        ({"a": "1", "b": 1.0}, '"a": found "1"'),
        ({"a": True, "b": 1.0}, '"a": found true'),
    ):
        for call in (model.score_one, lambda x: model.learn_one(x, 1)):
            with pytest.raises(InputError, match=fault):
                call(event)
    assert model.score_one({"a": 1.0, "b": True}) == model.score_many(FRAME)[0]


def test_text_and_truth_values_in_a_column_of_numbers_are_errors():
    model = COG().fit(FRAME, [0, 1, 0, 1])
    for column, fault in ((["1"] * 4, '"a" as categories'), ([True] * 4, '"a" as true')):
        for call in (model.score_many, lambda X: model.partial_fit(X, [0, 1, 0, 1])):
            with pytest.raises((InputError, DataError), match=fault):
                call(FRAME.assign(a=column))


def test_a_new_column_is_learned_from_with_a_warning():
    model = COG().fit(FRAME, [0, 1, 0, 1])
    wider = FRAME.assign(c=1.0)
    with pytest.warns(UserWarning, match='"c": new to the model'):
        model.partial_fit(wider, [0, 1, 0, 1])
    assert model.schema_.numbers == ("a", "b", "c")
    model.score_many(wider)
    model.schema_ = Schema.of({**model.schema_.record(), "unknown": "ignore"})
    assert model.score_many(wider.assign(d=2.0)).tolist() == model.score_many(wider).tolist()


def test_fit_starts_over_with_the_columns_too():
    model = COG().fit(FRAME, [0, 1, 0, 1])
    model.fit([{"w": 1.0}, {"v": 2.0}], [0, 1])
    assert model.schema_ is None
    model.score_one({"z": 1.0})


# Streams of dicts --------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), [(1.0, "x"), ("x", 2)])
@pytest.mark.parametrize("batch", [False, True])
def test_a_feature_stays_a_number_or_a_text(before, after, batch):
    model = COG().learn_one({"a": before, "b": 1.0}, 0).learn_one({"a": before}, 1)
    saved = to_bytes(model)
    for call in (
        lambda x: model.learn_one(x, 1),
        lambda x: model.partial_fit([{"a": before}, x], [0, 1]),
        lambda x: COG().fit([{"a": before}, x], [0, 1]),
        model.score_one,
    ):
        with pytest.raises(InputError, match=r"feature 'a' is a .*was .* before") as caught:
            call({"a": after, "new": 1.0})
        assert caught.value.row in (None, 1)
    assert to_bytes(model) == saved
    model.schema_ = Schema(unknown="learn")
    model.learn_one({"a": after}, 1)
    model.score_one({"a": before})
    model.schema_ = None
    for event in ({"a": before}, {"a": after}):
        from_bytes(to_bytes(model)).learn_one(event, 0)  # it has met both


def test_new_names_and_lacking_ones_are_normal_there():
    model = COG().learn_one({"a": 1.0}, 0).learn_one({"b": 1.0, "c": "x"}, 1)
    model.learn_one({"c": "new", "d": 1}, 0).learn_one({}, 1)
    assert model.n_features_in_ == 5


def test_a_rule_is_one_of_three():
    with pytest.raises(ValueError, match="unknown"):
        Schema(unknown="what")
