"""Labels for Recommended: python -m benchmarks.labels recommended [STREAM ...] [--rows N].

Balanced accuracy and AUC of all events, each scored before its label, at budgets of 1, 2, 5 and
10 % of the events, and how many labels are worth 95 % of the balanced accuracy with every label.
Beside Recommended with its own rule: the same learner taking the first labels, taking labels at
random and asking by margin; OA3-diag and CSOAL with their own rules; river's logistic regression
with labels at random and with its EntropySampler. Nobody is tuned. Real sets are shuffled. The rule
of Recommended was chosen on mammography, shuttle, phishing, covtype class 4 and the generated
streams payments/101 and /102, rules/101 and /102.
"""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import numpy as np

from lopsided import Active, Recommended, make, progressive
from lopsided.metrics import auc
from lopsided.papers.label_sweeps import labels_needed

from .quality import real
from .quality.generated import generate
from .quality.streams import Stream, Table

STREAMS = ("creditcard", "w8a", "nslkdd20_r2l", "payments/11", "rules/11")
SHARES = (0.01, 0.02, 0.05, 0.1)
GOAL = 0.95
SEEDS = 2  # of the questions

OURS: dict[str, Any] = {
    "Recommended": lambda _: Active(Recommended()),
    "first come": lambda _: Active(Recommended(), query="always"),
    "at random": lambda share: Active(Recommended(), query="random", probability=share),
    "by margin": lambda _: Active(Recommended(), query="margin"),
    "OA3-diag": lambda _: make("OA3-diag", intercept=True),
    "CSOAL": lambda _: make("CSOAL", intercept=True),
}
RIVER = ("river, at random", "river, entropy")
Found = dict[float, tuple[float, float]]  # balanced accuracy and AUC by share of labels


def load(name: str, rows: int) -> Stream:
    """Return a generated stream, or a real set in random order."""
    if "/" in name:
        family, seed = name.split("/")
        return generate(family, rows, int(seed))
    whole = real.load(name)
    order = np.random.default_rng(0).permutation(len(whole))[:rows]
    return Stream(name, type(whole.rows)(whole.rows.csr[order]), whole.y[order])


def ours(stream: Stream, contender: str) -> Found:
    """Run one of our learners with every budget, and with every label."""
    X = stream.rows.events if isinstance(stream.rows, Table) else stream.rows.csr
    if not isinstance(stream.rows, Table) and X.shape[1] <= 60:
        X = X.toarray()
    y = stream.y.astype(np.int64)
    found = {}
    for share in (*SHARES, 1.0):
        runs = []
        for seed in range(SEEDS if share < 1 and contender != "first come" else 1):
            model = OURS[contender](share).set_params(seed=seed, budget=round(share * len(y)))
            if share == 1:
                model = model._inner()
            result = progressive(model, X, y, resume=True, points=0)
            runs.append((result.sum(), result.auc))
        found[share] = tuple(np.mean(runs, axis=0))
    return found


def river(stream: Stream, contender: str) -> Found:
    """Run river's logistic regression; it alarms above the share of positives among its labels."""
    from river.active import EntropySampler
    from river.linear_model import LogisticRegression

    events, y = _scaled(stream), stream.y
    found = {}
    for share in (*SHARES, 1.0):
        model: Any = LogisticRegression()
        sampler = EntropySampler(model, seed=0)
        draws = np.random.default_rng(0).random(len(y))
        left, scores, alarms = round(share * len(y)), np.empty(len(y)), np.empty(len(y), bool)
        bought = positives = 0
        for i, x in enumerate(events):
            p, wanted = sampler.predict_proba_one(x)
            scores[i] = p.get(True, 0.5)
            alarms[i] = scores[i] >= (positives + 1) / (bought + 2)
            if share == 1 or contender == "river, at random":
                wanted = draws[i] < share
            if wanted and left:
                model.learn_one(x, bool(y[i]))
                left, bought, positives = left - 1, bought + 1, positives + int(y[i])
        balanced = (alarms[y].mean() + (~alarms[~y]).mean()) / 2
        found[share] = balanced, auc(y, scores)
    return found


def _scaled(stream: Stream) -> list[dict[str, float]]:
    """Return events with the standard scores of their numbers, which need no labels."""
    from river.preprocessing import StandardScaler

    scaler, out = StandardScaler(), []
    for numbers, rest in zip(*stream.rows.split(), strict=True):
        scaler.learn_one(numbers)
        out.append({**scaler.transform_one(numbers), **rest})
    return out


def needed(found: Found, events: int) -> str:
    """Return how many labels are worth 95 % of what all are worth."""
    goal = GOAL * found[1.0][0]
    points: Any = [
        SimpleNamespace(budget=share, labels=share * events, sum=pair[0])
        for share, pair in found.items()
    ]
    labels = labels_needed(points, goal)
    if labels is None:
        return "–"
    least = SHARES[0] * events
    return f"{'up to ' if labels <= least else ''}{labels:,.0f} for {100 * goal:.1f}"


def table(stream: Stream, contenders: list[str]) -> None:
    """Print what became of all contenders on a stream, one row each."""
    print(f"\n{stream.name}, {len(stream):,} events, {int(stream.y.sum()):,} of them positive\n")
    head = ["", *(f"{share:.0%}" for share in SHARES), "every label", "labels for 95 %"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for name in contenders:
        found = (river if name in RIVER else ours)(stream, name)
        cells = [f"{100 * a:.1f} / {b:.3f}" for a, b in found.values()]
        print("| " + " | ".join([name, *cells, needed(found, len(stream))]) + " |", flush=True)


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labels recommended")
    parser.add_argument("streams", nargs="*", default=STREAMS)
    parser.add_argument("--rows", type=int, default=60_000, help="at most")
    parser.add_argument("--contenders", default=",".join((*OURS, *RIVER)).replace(", ", "; "))
    options = parser.parse_args(given)
    contenders = [name.replace("; ", ", ") for name in options.contenders.split(",")]
    for name in options.streams:
        table(load(name, options.rows), contenders)
