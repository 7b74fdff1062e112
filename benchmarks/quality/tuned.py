"""Balanced accuracy on real data: learners as they come, and the best that tuning could find.

Each stream is seen once and every event judged before it is learned; ratios are estimated on the
way. Streams are shuffled (ten times if short, and the mean is shown), but those in time order are
kept so.

"best tuned" tries every linear learner with every value of its paper's grid, with and without an
intercept, as it comes and with classes weighted by their counts, on rows as they are (sparse: unit
length, or standard scores and unit length) and, up to 400 features, on dense ones (centred standard
scores and unit length); full covariances where that takes minutes. It keeps the best on the very
stream it is shown for: nobody could know it beforehand.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

import lopsided
from lopsided.catalog import CATALOG
from lopsided.data.sets import downloads as cache
from lopsided.data.sets import registry

from .files import IN_TIME, folders, load

AS_THEY_COME = ("Perceptron", "PA-I", "COG-II", "ACOG-II-diag")
SECOND_ORDER_LIMIT = 1e9  # rows x features^2, for a full covariance
WITHIN = 0.015 + 5e-4  # of the best tuned Recommended must be; printed figures are rounded
ACCURACY = Path(__file__).parents[2] / "docs" / "accuracy.md"
FEW = 64  # features up to which a full covariance is tried on raw rows too


def orders(name, rows):
    if name in IN_TIME:
        return [None]
    repeats = 10 if rows < 5_000 else 3 if rows < 70_000 else 1
    return [np.random.default_rng(seed).permutation(rows) for seed in range(repeats)]


def judge(make, X, y, visits):
    runs = (lopsided.progressive(make(), X, y, order=o, resume=True, points=0) for o in visits)
    return float(np.mean([run.sum() for run in runs]))


def tuned(forms, y, visits):
    """Return the best figure there is to be had, and how."""
    jobs = []
    for (X, scaling), entry, intercept in product(forms, CATALOG, (False, True)):
        full = entry.preset.get("covariance") == "full"
        linear = entry.family == "linear" and "sketch" not in str(entry.preset)
        rows, columns = X.shape
        if not linear or (full and rows * columns**2 > SECOND_ORDER_LIMIT):
            continue
        if full and scaling == "unit" and columns > FEW:
            continue
        grid = [
            dict(zip(entry.grid, values, strict=True)) for values in product(*entry.grid.values())
        ]
        blind = entry.make().get_params().get("class_weight", "") is None and entry.name != "PA"
        weighings = [{}, {"class_weight": "balanced"}] if blind else [{}]
        for values, weighing in product(grid, weighings):
            options = {"scaling": scaling, "intercept": intercept, **values, **weighing}
            jobs.append((X, entry.name, options))

    def run(job):
        X, name, options = job
        try:
            return judge(lambda: lopsided.make(name, **options), X, y, visits)
        except ValueError:  # a score that overflows
            return 0.0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        figures = list(pool.map(run, jobs))
    at = int(np.argmax(figures))
    _, name, options = jobs[at]
    rate = next((f" {v:g}" for v in options.values() if type(v) is float), "")
    return figures[at], name + rate


def main(names):
    heads = ["data", "rows", "features", "negatives per positive", *AS_THEY_COME, "**Recommended**"]
    heads += ["best tuned", "", "difference"]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for name in names or registry.names():
        found = cache.find(name, folders())
        if found is None or found.kind != "prepared":
            if names:
                print(f"| {name} | not on this machine |")
            continue
        X, y = load(found.paths, found.dataset.features)
        visits = orders(name, len(y))
        figures = [
            judge(lambda n=n: lopsided.make(n), X, y, visits)
            for n in (*AS_THEY_COME, "Recommended")
        ]
        forms = [(X, "unit"), (X, "standard+unit")]
        if X.shape[1] <= 400:
            forms.append((X.toarray(), "standard+unit"))
        best, how = tuned(forms, y, visits)
        cells = [name, f"{len(y):,}", f"{X.shape[1]:,}", f"{(y < 0).sum() / (y > 0).sum():.3g}"]
        cells += [f"{v:.1%}" for v in figures] + [
            f"{best:.1%}",
            how,
            f"{100 * (figures[-1] - best):+.1f}",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


def published() -> dict[str, float]:
    """Return the best tuned figure of each set, from the table in docs/accuracy.md."""
    rows = (line.strip("| ").split(" | ") for line in ACCURACY.read_text().splitlines())
    return {
        row[0]: float(row[9].rstrip("%")) / 100 for row in rows if len(row) == 12 and "%" in row[9]
    }


def recommended(names):
    """Print how far Recommended is from the best tuned figures of docs/accuracy.md."""
    bests = published()
    behind = []
    for name in names or bests:
        found = cache.find(name, folders())
        if found is None:
            print(f"{name}: not on this machine")
            continue
        X, y = load(found.paths, found.dataset.features)
        figure = judge(lambda: lopsided.make("Recommended"), X, y, orders(name, len(y)))
        behind.append(bests[name] - figure)
        word = "pass" if behind[-1] <= WITHIN else "FAIL"
        print(f"{word}  {name:22} {figure:.1%}  best tuned {bests[name]:.1%}", flush=True)
    reached = sum(gap <= WITHIN for gap in behind)
    print(f"within 1.5 points of the best tuned on {reached} of {len(behind)} sets")
