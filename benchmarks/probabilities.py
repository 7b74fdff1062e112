"""How good the probabilities are: python -m benchmarks.probabilities [SET ...].

Log loss and calibration error (20 bins of equally many events) of progressive probabilities, on the
second half of each stream: ours, made in one pass, beside Platt's sigmoid and isotonic regression
that scikit-learn fits to all scores of the first half, and beside the logistic regressions of river
and Vowpal Wabbit where they are installed.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lopsided

from .quality import real

SETS = ("creditcard", "a9a", "w8a", "mammography")
LEARNERS = ("Recommended", "ACOG-II-diag", "PA-I", "COG-II", "AROW-diag")
ROWS = 50_000
STEP = 250  # events between looks at a model
Vector = NDArray[np.float64]


def log_loss(p: Vector, y: Vector) -> float:
    """Return the mean of -ln of the probability of the label."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return float(-np.mean(np.where(y > 0, np.log(p), np.log(1 - p))))


def calibration_error(p: Vector, y: Vector, parts: int = 20) -> float:
    """Return how far mean probability and share of positives are apart, on average over bins."""
    order = np.array_split(np.argsort(p, kind="stable"), parts)
    return float(sum(len(o) * abs(p[o].mean() - y[o].mean()) for o in order) / len(p))


def ours(name: str, X: Any, y: Vector) -> tuple[Vector, Vector]:
    """Return progressive scores and probabilities."""
    model = lopsided.make(name)
    scores, said = np.zeros(len(y)), np.full(len(y), 0.5)
    for first in range(0, len(y), STEP):
        part = slice(first, first + STEP)
        if first:
            said[part] = model.predict_proba(X[part])[:, 1]
        scores[part] = lopsided.progressive(model, X[part], y[part], resume=True, points=0).scores
    return scores, said


def batch(scores: Vector, y: Vector, half: int) -> dict[str, Vector]:
    """Return the probabilities of the second half, calibrated on the first."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression

    platt = LogisticRegression(C=1e6).fit(scores[:half, None], y[:half])
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores[:half], y[:half])
    return {
        "batch Platt": platt.predict_proba(scores[half:, None])[:, 1],
        "batch isotonic": isotonic.predict(scores[half:]),
    }


def river_lr(X: Any, y: Vector) -> Vector:
    """Return the probabilities of river's logistic regression, asked before it learns."""
    from river import compose, linear_model, preprocessing

    model = compose.Pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
    out = []
    for x, label in zip(X, y > 0, strict=True):
        event = dict(enumerate(np.ravel(x if isinstance(x, np.ndarray) else x.toarray()).tolist()))
        out.append(model.predict_proba_one(event).get(True, 0.0))
        model.learn_one(event, bool(label))
    return np.array(out)


def vowpal(X: Any, y: Vector) -> Vector:
    """Return the probabilities of Vowpal Wabbit's logistic regression."""
    from vowpalwabbit import Workspace

    model = Workspace("--loss_function logistic --link logistic --quiet")
    out = []
    for x, label in zip(X, y > 0, strict=True):
        row = np.ravel(x if isinstance(x, np.ndarray) else x.toarray())
        text = " ".join(f"f{j}:{row[j]:.6g}" for j in np.flatnonzero(row))
        out.append(model.predict(f"| {text}"))
        model.learn(f"{1 if label else -1} | {text}")
    return np.array(out)


def main(names: list[str]) -> None:
    """Print the table."""
    print("| set | learner | probabilities | log loss | calibration error |")
    print("|---|---|---|---:|---:|")
    for name in names or SETS:
        stream = real.load(name, ROWS)
        X, y = stream.rows.csr, np.asarray(stream.y, dtype=np.float64)
        if X.shape[1] < 200:
            X = X.toarray()
        half = len(y) // 2
        rows: list[tuple[str, str, Vector]] = []
        for learner in LEARNERS:
            scores, said = ours(learner, X, y)
            rows.append((learner, "ours", said[half:]))
            rows += [(learner, how, p) for how, p in batch(scores, y, half).items()]
        for module, title, run in (("river", "river LR", river_lr), ("vowpalwabbit", "VW", vowpal)):
            if importlib.util.find_spec(module):
                rows.append((title, "its own", run(X, y)[half:]))
        for learner, how, p in rows:
            loss, error = log_loss(p, y[half:]), calibration_error(p, y[half:])
            print(f"| {name} | {learner} | {how} | {loss:.5f} | {error:.3%} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
