"""The peers: one function per kind, with the settings that `contenders` lists."""

from __future__ import annotations

import itertools
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .metrics import Run, running_share
from .streams import FEW, Event, Matrix, Stream, Table, unit


def sgd(stream: Stream, batch: int = 100, **options: Any) -> Run:
    """Run scikit-learn's SGD, in batches that grow to a size: score, then learn what has come."""
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", random_state=0, **options)
    start = time.process_time()
    X = _standardized(stream, batch)
    y, scores, ready = stream.y.astype(np.int64), np.zeros(len(stream)), False
    for rows, come in _batches(stream, batch):
        if ready:
            scores[rows] = model.decision_function(X[rows])
        if len(come):
            model.partial_fit(X[come], y[come], classes=[0, 1])
            ready = True
    scores = np.clip(scores, -500, 500)
    return Run(scores, 1 / (1 + np.exp(-scores)), None, time.process_time() - start)


def lightgbm(stream: Stream, share: float = 0.05, **options: Any) -> Run:
    """Run LightGBM, fitted anew to all labels that have come after every 5 % of the stream."""
    from lightgbm import LGBMClassifier

    start = time.process_time()
    X, categorical = _coded(stream.rows)
    edges = np.unique(np.linspace(0, len(stream), round(1 / share) + 1).astype(int))
    order, after = stream.arrivals()
    p = running_share(stream)  # until there is a first model
    for first, last in itertools.pairwise(edges[1:]):
        come = np.sort(order[after < first])
        y = stream.y[come]
        if y.all() or not y.any():
            continue
        model = LGBMClassifier(verbose=-1, n_jobs=1, random_state=0, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about names of columns that it gave itself
            model.fit(X[come], y, categorical_feature=categorical)
            p[first:last] = model.predict_proba(X[first:last])[:, 1]
    return Run(p, p, None, time.process_time() - start)


def vowpal(stream: Stream, options: str) -> Run:
    """Run Vowpal Wabbit over a file: of late labels, events first stand there without a label."""
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        data, said = Path(folder, "rows"), Path(folder, "said")
        with data.open("w") as file:
            file.writelines(_vowpal_lines(stream))
        start = time.process_time()
        Workspace(f"-d {data} -p {said} {options} --quiet --no_stdin").finish()
        seconds = time.process_time() - start
        pairs = (line.split() for line in said.read_text().splitlines())
        p = np.array([float(pair[0]) for pair in pairs if len(pair) > 1])
    return Run(p, p, None, seconds)


def river_logistic(stream: Stream, **options: Any) -> Run:
    """Run river's logistic regression: numbers through its StandardScaler, categories plain."""
    from river.linear_model import LogisticRegression
    from river.preprocessing import StandardScaler

    scaler, model = StandardScaler(), LogisticRegression(**options)
    numbers, rest = stream.rows.split()

    def score(row: int) -> float:
        x = {**scaler.transform_one(numbers[row]), **rest[row]}
        return model.predict_proba_one(x).get(True, 0.5)

    def learn(row: int) -> None:
        scaler.learn_one(numbers[row])
        x = {**scaler.transform_one(numbers[row]), **rest[row]}
        model.learn_one(x, bool(stream.y[row]))

    return by_event(stream, score, learn)


def river_tree(stream: Stream, make: Callable[[], Any]) -> Run:
    """Run a tree or forest of river on events with every column in them."""
    model = make()
    events = _complete(stream.rows)

    def score(row: int) -> float:
        said = model.predict_proba_one(events[row])
        return said.get(True, 0.0) if said else 0.5

    return by_event(stream, score, lambda row: model.learn_one(events[row], bool(stream.y[row])))


def by_event(stream: Stream, score: Callable[[int], float], learn: Callable[[int], Any]) -> Run:
    """Score every event and learn labels as they come, one by one."""
    p = np.empty(len(stream))
    order, after = (part.tolist() for part in stream.arrivals())
    done = 0
    start = time.process_time()
    for row in range(len(stream)):
        p[row] = score(row)
        while done < len(order) and after[done] <= row:
            learn(order[done])
            done += 1
    return Run(p, p, None, time.process_time() - start)


def _batches(stream: Stream, size: int) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Yield rows to score, and then the rows whose labels have come since."""
    order, after = stream.arrivals()
    first, done, now = 0, 0, 1
    while first < len(stream):
        last = min(first + now, len(stream))
        come = int(np.searchsorted(after, last))
        yield slice(first, last), order[done:come]
        first, done, now = last, come, min(size, 2 * now)


def _standardized(stream: Stream, batch: int) -> Any:
    """Return rows whose numbers are standard scores of the stream so far, and the rest plain."""
    from scipy import sparse
    from sklearn.preprocessing import StandardScaler

    X, numeric = stream.rows.csr, stream.rows.numeric
    if not numeric.any():
        return X
    if isinstance(stream.rows, Matrix) and X.shape[1] > FEW:
        return unit(X)
    scaler, values = StandardScaler(), X[:, numeric].toarray()
    for rows, _ in _batches(stream, batch):
        scaler.partial_fit(values[rows])
        values[rows] = scaler.transform(values[rows])
    return sparse.hstack([sparse.csr_matrix(values), X[:, ~numeric]], format="csr")


def _coded(rows: Table | Matrix) -> tuple[Any, list[int]]:
    """Return a matrix for LightGBM, and which columns of it are codes of categories."""
    if isinstance(rows, Matrix):
        return rows.csr[:, np.unique(rows.csr.indices)], []
    codes = [np.unique(values, return_inverse=True)[1] for values in rows.texts.values()]
    X = np.column_stack([*rows.numbers.values(), *codes]).astype(np.float64)
    return X, list(range(rows.width, X.shape[1]))


def _complete(rows: Table | Matrix) -> list[Event]:
    """Return events with a value in every column."""
    if isinstance(rows, Table):
        return rows.events
    names = [f"f{j}" for j in range(rows.csr.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in rows.csr.toarray().tolist()]


def _vowpal_lines(stream: Stream) -> Iterator[str]:
    texts = _vowpal_texts(stream.rows)
    labels = np.where(stream.y, "1", "-1").tolist()
    if stream.delay is None:
        yield from (f"{y} e{text}" for y, text in zip(labels, texts, strict=True))
        return
    order, after = (part.tolist() for part in stream.arrivals())
    done = 0
    for row, text in enumerate(texts):
        yield f"e{text}"  # the tag marks what is judged
        while done < len(order) and after[done] <= row:
            yield f"{labels[order[done]]} {texts[order[done]]}"
            done += 1


def _vowpal_texts(rows: Table | Matrix) -> list[str]:
    if isinstance(rows, Matrix):
        return [
            "|n " + " ".join([f"{name}:{value:.7g}" for name, value in event.items()]) + "\n"
            for event in rows.events
        ]
    numbers, rest = rows.split()
    return [
        f"|c {' '.join(few)} |n {' '.join([f'{n}:{v:.7g}' for n, v in values.items()])}\n"
        for values, few in zip(numbers, rest, strict=True)
    ]
