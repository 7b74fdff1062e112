"""What people hold their tables in: the same rows give the same model, without needless copies."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

import lopsided
from lopsided import COG, Active, OneVsRest, Recommended
from lopsided.estimator.frames import as_frame, frame_array

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.where(X[:, 0] > 0.8, 1, 0)
NAMES = ["a", "b", "c"]


def table():
    return pa.table(dict(zip(NAMES, X.T, strict=True)))


def duckdb_relation(arrow):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    return duckdb.connect().from_arrow(arrow)


def hugging_face(arrow):
    datasets = pytest.importorskip("datasets", reason="datasets of Hugging Face is not installed")
    return datasets.Dataset.from_dict(arrow.to_pydict())


class OnlyStream:
    """Nothing but the stream of the C interface."""

    def __init__(self, arrow):
        self.arrow = arrow

    def __arrow_c_stream__(self, requested_schema=None):
        return self.arrow.__arrow_c_stream__(requested_schema)


class OnlyInterchange:
    """Nothing but the interchange protocol of data frames."""

    def __init__(self, arrow):
        self.arrow = arrow

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.arrow.__dataframe__(nan_as_null, allow_copy)


FORMS = {
    "pandas": lambda t: t.to_pandas(),
    "pandas of Arrow": lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda t: pl.from_arrow(t),
    "table": lambda t: t,
    "chunks": lambda t: pa.concat_tables([t[:50], t[50:]]),
    "record batch": lambda t: t.combine_chunks().to_batches()[0],
    "reader": lambda t: t.to_reader(),
    "DuckDB": duckdb_relation,
    "Hugging Face": hugging_face,
    "stream": OnlyStream,
    "interchange": OnlyInterchange,
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_rows_give_the_same_model(form):
    give = FORMS[form]
    plain = COG().fit(X, Y)
    model = COG().fit(give(table()), Y)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    parts = COG().partial_fit(give(table()[:70]), Y[:70], classes=[0, 1])
    parts.partial_fit(give(table()[70:]), Y[70:])
    resumed = COG().partial_fit(X, Y, classes=[0, 1])
    np.testing.assert_array_equal(parts.coef_, resumed.coef_)
    np.testing.assert_array_equal(model.predict(give(table())), plain.predict(X))
    np.testing.assert_array_equal(model.predict_proba(give(table())), plain.predict_proba(X))
    np.testing.assert_array_equal(model.decision_function(give(table())), plain.score_many(X))
    run = lopsided.progressive(COG(), give(table()), Y)
    np.testing.assert_array_equal(run.scores, lopsided.progressive(COG(), X, Y).scores)
    labels = np.digitize(X[:, 0], [-1, 1])
    classes = OneVsRest("COG-II").fit(give(table()), labels)
    np.testing.assert_array_equal(
        classes.score_many(give(table())), OneVsRest("COG-II").fit(X, labels).score_many(X)
    )
    asked = Active("COG-II", query="always").ask_many(give(table()))
    assert len(asked) == 120


@pytest.mark.parametrize("form", FORMS)
def test_prices_are_found_in_a_column(form):
    costs = {"miss": "c", "alarm": 1}
    arrow = table().set_column(2, "c", [np.abs(X[:, 2]) * 30])
    plain = COG(costs=costs).fit(arrow.to_pandas(), Y)
    model = COG(costs=costs).fit(FORMS[form](arrow), Y)
    found = model.predict(FORMS[form](arrow))
    np.testing.assert_array_equal(found, plain.predict(arrow.to_pandas()))
    assert (found != COG().fit(arrow, Y).predict(arrow)).any()


def test_prices_can_be_a_function_of_the_rows_of_a_table():
    costs = {"miss": lambda event: 30 * abs(event["c"]), "alarm": 1}
    model = COG(costs=costs).fit(table(), Y)
    np.testing.assert_array_equal(
        model.predict(table()), COG(costs=costs).fit(table().to_pandas(), Y).predict(table())
    )


def test_labels_and_weights_may_be_columns_of_a_stream():
    plain = COG().fit(X, Y, sample_weight=np.arange(120))
    label, weight = pa.table({"y": Y}), pa.table({"w": np.arange(120.0)})
    found = COG().fit(OnlyStream(table()), OnlyStream(label), sample_weight=OnlyStream(weight))
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    relation = duckdb_relation(label)
    np.testing.assert_array_equal(COG().fit(X, relation).coef_, COG().fit(X, Y).coef_)
    with pytest.raises(ValueError, match="3 columns"):
        COG().fit(X, OnlyStream(table()))


def test_a_selection_of_rows_of_a_data_set_is_what_is_learned():
    data = hugging_face(table()).select(range(10, 60))
    np.testing.assert_array_equal(
        COG().fit(data, Y[10:60]).coef_, COG().fit(X[10:60], Y[10:60]).coef_
    )
    with pytest.raises(TypeError, match="no rows yet"):
        COG().fit(data.to_iterable_dataset(), Y[10:60])


def test_of_a_data_set_with_splits_one_must_be_chosen():
    class Splits(dict):
        def with_format(self, kind):
            raise AssertionError

    with pytest.raises(TypeError, match="choose one of its splits 'train', 'test'"):
        COG().fit(Splits(train=table(), test=table()), Y)


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_floats_of_a_frame_of_pandas_are_read_in_place(kind):
    frame = pd.DataFrame(X.astype(kind), columns=NAMES)
    array, names, flags = frame_array(frame)
    assert np.shares_memory(array, frame.to_numpy())
    assert (array.dtype, names, flags) == (np.dtype(kind), NAMES, [])
    np.testing.assert_array_equal(
        Recommended().fit(frame, Y).score_many(frame),
        Recommended().fit(X.astype(kind), Y).score_many(X.astype(kind)),
    )


def test_columns_of_arrow_are_not_copied_on_the_way_to_a_table():
    arrow = table()
    address = arrow.column(0).chunk(0).buffers()[1].address
    for give in (OnlyStream, FORMS["record batch"], FORMS["reader"]):
        assert as_frame(give(arrow)).column(0).chunk(0).buffers()[1].address == address


def test_mixed_columns_and_missing_values_are_as_they_were():
    frame = pd.DataFrame({"a": X[:, 0], "n": np.arange(120), "flag": X[:, 1] > 0})
    mixed = np.column_stack([X[:, 0], np.arange(120), X[:, 1] > 0])
    for give in (lambda f: f, pl.from_pandas, pa.Table.from_pandas):
        np.testing.assert_array_equal(COG().fit(give(frame), Y).coef_, COG().fit(mixed, Y).coef_)
    holes = pa.table({"a": pa.array([1.0, None, 2.0]), "b": [1.0, 2.0, 3.0]})
    for give in (FORMS["table"], FORMS["polars"], FORMS["pandas"], OnlyStream):
        with pytest.raises(ValueError, match=r"row 1.*column 0 \('a'\)"):
            COG().fit(give(holes), [0, 1, 0])
    moments = pa.table({"a": [1.0, 2.0, 3.0], "at": pa.array([0, 1, 2], pa.timestamp("s"))})
    with pytest.raises(ValueError, match="column 'at' holds times"):
        COG().fit(OnlyStream(moments), [0, 1, 0])


def test_others_are_left_alone():
    for given in (X, csr_matrix(X), [{"a": 1.0}], X.tolist()):
        assert as_frame(given) is given
