"""KOIL and its baselines on the data sets of its paper, beside the published figures.

python -m benchmarks.kernel_auc [NAME ...] [--learners A,B] [--figures] looks for the files of the
authors (NAME.libsvm.xz and NAME.IdxCv.txt.xz, values from 0 to 1) in koil/ of $LOPSIDED_DATA and of
../shared/data. Each of 4 x 5 folds is held out once; the rest is learned in one pass in the order
of the file, with parameters chosen by 5 folds within it from powers of 2, 2^-10 to 2^10, by a
coarse search. Figures are means of the held-out AUC; those in brackets are the paper's.

--figures shows the held-out AUC against the rows learned, the buffer size and the neighbours, of
the parameters chosen most often. --out FILE keeps what is found as JSON and goes on from it.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

import lopsided
from lopsided import papers
from lopsided.comparison.statistics import paired_t

NAMES = ("sonar", "glass", "heart", "vowel", "australian", "diabetes", "german", "segment")
KOIL = ("KOIL-RS++", "KOIL-FIFO++", "KOIL-RS", "KOIL-FIFO", "KOIL-inf")
BASELINES = (
    *("Perceptron", "OAM-seq", "OPAUC", "NORMA"),
    *("RBP", "Forgetron", "Projectron", "Projectron++"),
)


def published(name, learner):
    """What table 1 of Hu et al. 2015 prints."""
    parts = {part.set: part for part in papers.find("koil-table-1").parts}
    row = parts[f"koil/{name}"].printed.get(learner)
    return None if row is None else row[0].mean


def load(name):
    """Return dense rows, labels and the fold of each row in 4 repeats."""
    from sklearn.datasets import load_svmlight_file

    folders = [os.environ.get("LOPSIDED_DATA", "."), "../shared/data"]
    for folder in (Path(f) / "koil" for f in folders):
        if (folder / f"{name}.libsvm.xz").exists():
            with lzma.open(folder / f"{name}.libsvm.xz") as file:
                X, y = load_svmlight_file(file)
            with lzma.open(folder / f"{name}.IdxCv.txt.xz", "rt") as file:
                return X.toarray(), y, np.loadtxt(file, dtype=int)
    raise SystemExit(f"{name}: neither in koil/ of $LOPSIDED_DATA nor in ../shared/data/koil")


def held_out(name, learner, **options):
    """Return the AUC of each of the 20 folds and the parameters chosen for it."""
    X, y, folds = load(name)
    found = lopsided.compare(
        {learner: lopsided.make(learner, scaling="none")},
        X,
        y,
        grid={learner: dict(lopsided.catalog.find(learner).grid)},
        folds=folds,
        metric="auc",
        search="coarse" if lopsided.catalog.find(learner).grid else "all",
        **options,
    )
    return [run.value for run in found.runs], [run.parameters for run in found.runs]


def show(name, learner, results):
    values, chosen = results[name][learner]
    theirs = published(name, learner)
    beside = "" if theirs is None else f" ({theirs:.3f})"
    usual = Counter(json.dumps(c) for c in chosen).most_common(1)[0][0]
    print(
        f"{name:12}{learner:14}{np.mean(values):.3f}±{np.std(values, ddof=1):.3f}{beside}  {usual}",
        flush=True,
    )


def differences(name, results):
    """Print how the policies stand to one another."""
    mine = {learner: np.array(r[0]) for learner, r in results[name].items()}
    for a, b in (
        *((plain + "++", plain) for plain in ("KOIL-RS", "KOIL-FIFO")),
        *((plus, "KOIL-inf") for plus in KOIL[:2]),
    ):
        if a in mine and b in mine:
            gap, p = np.mean(mine[a] - mine[b]), paired_t(mine[a], mine[b])
            print(f"{name:12}{a} - {b}: {gap:+.4f} (p = {p:.3g})")


def usual(name, learner, results):
    """Return the parameters chosen most often."""
    chosen = results.get(name, {}).get(learner) or held_out(name, learner)
    return json.loads(Counter(json.dumps(c) for c in chosen[1]).most_common(1)[0][0])


def mean_auc(name, make, rows=None):
    """Return the mean held-out AUC over the folds, after so many rows."""
    X, y, folds = load(name)
    values = []
    for column in folds.T:
        for fold in np.unique(column):
            train = np.flatnonzero(column != fold)[:rows]
            held = column == fold
            if len(np.unique(y[train])) == 2:
                model = make().fit(X[train], y[train])
                values.append(lopsided.metrics.auc(y[held], model.decision_function(X[held])))
    return float(np.mean(values))


def over_time(name, results):
    """Figure 1: each policy after a tenth, two tenths, ... of the rows."""
    rows = [int(0.8 * len(load(name)[1]) * k / 10) for k in range(1, 11)]
    settings = usual(name, "KOIL-inf", results)
    for learner in KOIL:
        make = partial(lopsided.make, learner, scaling="none", **settings)
        yield learner, {n: mean_auc(name, make, n) for n in rows}


def by_buffer_size(name, results):
    """Figure 2: buffers of each class from 10 to 200 rows."""
    return _against(name, results, "buffer_size", (10, 25, 50, 75, 100, 150, 200))


def by_neighbours(name, results):
    """Figure 3: from 1 to all neighbours of a buffer of 100."""
    return _against(name, results, "n_neighbors", (1, *range(10, 101, 10)))


def _against(name, results, parameter, values):
    for learner in KOIL[:2]:
        make = partial(lopsided.make, learner, scaling="none", **usual(name, learner, results))
        yield learner, {v: mean_auc(name, partial(make, **{parameter: v})) for v in values}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--learners", default=",".join(KOIL + BASELINES))
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    results = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    for name in options.names:
        for learner in [] if options.figures else options.learners.split(","):
            if learner not in results.setdefault(name, {}):
                results[name][learner] = held_out(name, learner, jobs=options.jobs)
                if options.out:
                    options.out.write_text(json.dumps(results))
            show(name, learner, results)
        if not options.figures:
            differences(name, results)
        for figure in (over_time, by_buffer_size, by_neighbours) if options.figures else ():
            print(f"{name}: {figure.__doc__}")
            for learner, curve in figure(name, results):
                print(f"  {learner:14}" + " ".join(f"{k}:{v:.3f}" for k, v in curve.items()))


if __name__ == "__main__":
    main()
