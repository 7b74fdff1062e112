"""What a kept model answers, bit for bit: as loaded, and after learning more rows.

The script beside the files in tests/files/v1 and the test of these files both call `replay`, so it
uses nothing but the public interface of the version that wrote them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

FILES = Path(__file__).parent.parent / "files" / "v1"
NAMES = [f"f{j}" for j in range(5)]
LABELS = {"number": {1: 1, -1: 0}, "text": {1: "fraud", -1: "fine"}}


def as_form(rows, form):
    """Rows, which are lists of numbers, as the model is given them."""
    if form == "dict":  # zeros are left out, and one value in four is text
        return [
            {
                name: "high" if j == 3 and value > 0 else value
                for j, (name, value) in enumerate(zip(NAMES, row, strict=True))
                if value
            }
            for row in rows
        ]
    if form == "csr":
        import scipy.sparse as sp

        return sp.csr_matrix(np.array(rows, dtype=float))
    return np.array(rows, dtype=float)


def as_labels(signs, case):
    return [LABELS[case["labels"]][sign] for sign in signs]


def bits(scores):
    return [float(score).hex() for score in scores]


def scores_of(model, rows, case):
    given = as_form(rows, case["form"])
    if case["form"] == "dict":
        return bits([model.score_one(event) for event in given])
    return bits(model.score_many(given))


def ask_and_tell(model, rows, signs, case):
    """Ask about each row; tell the labels of the events that waited and of every second new one."""
    labels = as_labels(signs, case)
    for event in list(model.pending_):
        model.tell(event, labels[event % len(labels)])
    said = []
    for k, event in enumerate(as_form(rows, case["form"])):
        decision = model.ask(
            event, time=case["time"] + 700_000 + 30_000 * k if case["time"] else None
        )
        said.append([*bits([decision.score, decision.probability]), *decision[2:4], decision[5]])
        if decision.asked and k % 2 == 0:
            model.tell(decision.id, labels[k], case["weight"])
    return [said, model.pending_, model.queries_, float(model.budget_left_).hex()]


def replay(model, stream, case):
    """Return what the model says, before and after it learns from the rest of the stream."""
    before = scores_of(model, stream["judged"], case)
    asked = ask_and_tell(model, *stream["later"], case) if case["asks"] else None
    rows, signs = stream["later"]
    given, labels = as_form(rows, case["form"]), as_labels(signs, case)
    time = {}
    if case["time"]:  # days that follow those of ask_and_tell
        time = {"time": [case["time"] + 1_200_000 + 50_000 * k for k in range(len(rows))]}
    model.partial_fit(given, labels, **time)
    if not time:
        first = given[0] if case["form"] != "csr" else np.array(rows[0], dtype=float)
        model.learn_one(first, labels[0], case["weight"])
    after = scores_of(model, stream["judged"], case)
    return {"before": before, "asked": asked, "after": after}


def sha256(data):
    return hashlib.sha256(data).hexdigest()
