"""Nothing depends on where the positive label stands in the order of the two."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from streams import stream

import lopsided
from lopsided.cli import main

X, T = stream(rows=300)


def named(negative):
    return np.where(T == 1, "fraud", negative)


@pytest.mark.parametrize("metric", ["auc", "sum"])
def test_comparisons_are_the_same(metric):
    found = [
        [
            run.value
            for run in lopsided.compare(
                {"it": lopsided.COG(positive="fraud")}, X, named(negative), folds=3, metric=metric
            ).runs
        ]
        for negative in ("fine", "ok")
    ]
    assert found[0] == found[1]


def test_predictions_of_a_file_are_the_same(tmp_path):
    rows = tmp_path / "rows.svm"
    rows.write_text("".join(f"0 {' '.join(f'{j + 1}:{v}' for j, v in enumerate(x))}\n" for x in X))
    found = []
    for negative in ("fine", "ok"):
        model = lopsided.COG(positive="fraud", scaling="none").fit(X, named(negative))
        model.save(tmp_path / "model.lop")
        done = CliRunner().invoke(main, ["predict", str(tmp_path / "model.lop"), str(rows)])
        assert done.exit_code == 0, done.output
        found.append(done.stdout.replace(negative, "negative"))
    assert found[0] == found[1]
