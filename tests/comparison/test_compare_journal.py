"""Comparisons: a journal of the runs, and going on from it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from comparisons import RATES, small, timeless
from streams import csr

from lopsided import compare
from lopsided.comparison.journal import Journal


class Stop(Exception):  # noqa: N818
    pass


def interrupted_after(runs, calls):
    def progress(done, total):
        calls.append(done)
        if len(calls) == runs:
            raise Stop

    return progress


def test_an_interrupted_comparison_goes_on_to_the_same_result(tmp_path):
    X, y = small(100)
    journal = tmp_path / "journal"
    asked = {"grid": RATES, "permutations": 3, "metric": "auc"}
    whole = compare(["Perceptron", "COG-II"], X, y, **asked)
    for _ in range(2):
        with pytest.raises(Stop):
            compare(
                ["Perceptron", "COG-II"],
                X,
                y,
                **asked,
                resume=journal,
                progress=interrupted_after(3, []),
            )
        with journal.open("a") as file:
            file.write('{"task": [0, 0, 0], "val' + 20000 * "1")  # the power went
    calls = []
    again = compare(
        ["Perceptron", "COG-II"],
        X,
        y,
        **asked,
        resume=journal,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls == [(7, 12), (8, 12), (9, 12), (10, 12), (11, 12), (12, 12)]
    assert timeless(again) == timeless(whole)
    assert len([json.loads(line) for line in journal.read_text().splitlines()]) == 13
    kept = compare(["Perceptron", "COG-II"], X, y, **asked, resume=journal)
    assert kept.to_dict() == again.to_dict()  # times too: they are from the journal


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"X": lambda X: X + 1e-9}, "other data"),
        ({"X": csr}, "other data"),
        ({"y": lambda y: -y}, "other labels"),
        ({"learners": ["COG-I"]}, "other learners: COG-II = .*, not COG-I = "),
        ({"grid": {"learning_rate": [2.0]}}, r"other grids: .*1\.0.*, not .*2\.0"),
        ({"permutations": 3}, "2 permutations, not 3 permutations"),
        ({"seed": 1}, "other runs"),
        ({"metric": "cost"}, "other metric: sum, not cost"),
        ({"fn": 5.0}, "other prices: .*0.9.*, not .*5.0"),
        ({"sample_weight": np.full(60, 2.0)}, "other weights"),
        ({"points": 3}, "other points: 15, not 3"),
    ],
)
def test_a_journal_of_another_comparison_is_refused(change, what, tmp_path):
    X, y = small(60)
    asked = {
        "learners": ["COG-II"], "X": X, "y": y, "grid": {"learning_rate": [1.0]}, "permutations": 2,
        "resume": tmp_path / "journal",
    }  # fmt: skip
    compare(**asked)
    before = asked["resume"].read_bytes()
    other = {k: v(asked[k]) if callable(v) else v for k, v in change.items()}
    with pytest.raises(ValueError, match=what):
        compare(**{**asked, **other})
    assert asked["resume"].read_bytes() == before


def test_a_file_that_is_no_journal_is_left_alone(tmp_path):
    X, y = small(60)
    file = tmp_path / "precious.csv"
    for text in ("no newline", "a,b\n1,2\n", '{"kind": "x"}\n', "[]\n"):
        file.write_text(text)
        with pytest.raises(ValueError, match=r"precious\.csv is not the journal"):
            compare(["CPA"], X, y, permutations=2, resume=file)
        assert file.read_text() == text


def test_a_spoilt_line_of_a_journal_is_named(tmp_path):
    X, y = small(60)
    file = tmp_path / "journal"
    compare(["CPA"], X, y, permutations=3, resume=file)
    lines = file.read_text().splitlines()
    lines[2] = "spoilt"
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="line 3: this is not a run"):
        compare(["CPA"], X, y, permutations=3, resume=file)


def test_two_comparisons_do_not_share_a_journal_at_once(tmp_path):
    first = Journal(tmp_path / "jj", {"data": "a"})
    with pytest.raises(ValueError, match="another comparison is using"):
        Journal(tmp_path / "jj", {"data": "a"})
    first.close()
    Journal(tmp_path / "jj", {"data": "a"}).close()


def test_a_journal_cut_in_its_first_line_starts_anew(tmp_path):
    path = tmp_path / "jj"
    Journal(path, {"data": "a"}).close()
    whole = path.read_bytes()
    for size in (0, 5, len(whole) - 1):
        path.write_bytes(whole[:size])
        Journal(path, {"data": "a"}).close()
        assert path.read_bytes() == whole


def test_an_altered_digit_is_noticed(tmp_path):
    X, y = small()
    path = tmp_path / "journal"
    compare(["COG-II"], X, y, grid={}, permutations=2, resume=path)
    head, first, second = path.read_text().splitlines()
    for at, line in ((1, head), (2, first)):
        digit = max(k for k, c in enumerate(line[: line.index('"crc32"')]) if c.isdigit())
        other = line[:digit] + str((int(line[digit]) + 1) % 10) + line[digit + 1 :]
        lines = [head, first, second]
        lines[at - 1] = other
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(ValueError, match=r"not the journal|line 2: .*altered"):
            compare(["COG-II"], X, y, grid={}, permutations=2, resume=path)
