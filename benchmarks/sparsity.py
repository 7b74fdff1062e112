"""What the sparse paper claims, beside what happens here: python -m benchmarks.sparsity [--quick].

Wang et al., "A framework of sparse online learning", figures 1 to 5, on their synthetic set and on
data sets that are looked for where `lopsided data list` looks. As in the paper every learner is
tuned without shrinking, here by the progressive pass over the training rows; then the shrink is
swept and finished models are judged on test rows. Error at a sparsity is read off between the
points of the sweep. Rows have unit length. RDA, FSOL and SSOL have several schedules of the shrink:
FSOL is the constant one of theorem 2, SSOL that of theorem 3, l1 / t. A model without a weight for
a row says positive, so for the error the more frequent class is the positive one; at 1:99 it is the
rare one.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import sparse

import lopsided
from lopsided.data.generators import sparse_paper
from lopsided.data.sets import downloads as cache
from lopsided.papers.sweeps import sparsity_sweep, tuned

from .quality import load

SCALING = {"scaling": "unit"}
TRUNCATION = ("STG", "FOBOS", "Ada-FOBOS")
DUAL = ("FSOL", "Ada-RDA", "SSOL")
SETS = ("synthetic", "news20_mc", "pcmac_features", "smsspam", "rcv1_vw_small", "w8a")
LEVELS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
# How far the shrinks of the learners reach: of a sum of gradients, or of one round.
L1 = {
    "FSOL": np.geomspace(0.03, 3000, 26),
    "SSOL": np.geomspace(1, 1e7, 36),
    "Ada-RDA": np.geomspace(1e-6, 0.3, 26),
}
ROUNDWISE = np.geomspace(1e-7, 0.3, 30)


def synthetic(quick):
    rows = (20_000, 5_000) if quick else (100_000, 10_000)
    (train,), (test,) = (
        sparse_paper(n, test=t, block_rows=n) for n, t in zip(rows, (False, True), strict=True)
    )
    return tuple(
        (sparse.csr_matrix((b.X.data, b.X.indices, b.X.indptr), shape=b.X.shape), b.y)
        for b in (train, test)
    )


def read(name, quick):
    """Train and test rows, shuffled; None if the set is not on this machine."""
    if name == "synthetic":
        return synthetic(quick)
    found = cache.find(name)
    if found is None or found.kind != "prepared":
        return None
    X, y = load(found.paths, found.dataset.features)
    y = np.where(y > 0, 1, -1)
    order = np.random.default_rng(0).permutation(len(y))
    cut = 3 * len(y) // 4
    return (X[order[:cut]], y[order[:cut]]), (X[order[cut:]], y[order[cut:]])


def rare(part, share=0.01, seed=0):
    """The same rows with so many positives dropped that one in a hundred is left."""
    X, y = part
    positive = np.flatnonzero(y > 0)
    keep = round(share / (1 - share) * (len(y) - len(positive)))
    dropped = np.random.default_rng(seed).permutation(positive)[keep:]
    rows = np.setdiff1d(np.arange(len(y)), dropped)
    return X[rows], y[rows]


def curve(name, train, test, params):
    """Points of the sweep, from no shrink to an empty model, in the order of sparsity."""
    grid = [0.0, *L1.get(name.removeprefix("CS-"), ROUNDWISE)]
    points = sparsity_sweep(
        [name], *train, l1=grid, test=test, parameters={name: {**SCALING, **params}}
    )
    return sorted(points, key=lambda p: p.sparsity)


def at(points, level, field="error"):
    """What was measured at a sparsity, between its neighbours; NaN beyond the ends of the sweep."""
    xs = [p.sparsity for p in points]
    if not xs[0] - 0.02 <= level <= xs[-1]:
        return float("nan")
    return float(np.interp(level, xs, [getattr(p, field) for p in points]))


def table(title, rows):
    print(f"\n{title}\n\n| learner | " + " | ".join(f"{100 * s:g} %" for s in LEVELS) + " |")
    print("|---" * (1 + len(LEVELS)) + "|")
    for name, values in rows.items():
        cells = ("–" if np.isnan(v) else f"{v:.4g}" for v in values)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def claim(text, true, figures):
    print(f"\n{'holds' if true else 'DOES NOT HOLD'}: {text} ({figures})", flush=True)


def figures_1_to_3(name, train, test):
    """Error and time against sparsity."""
    if np.mean(train[1] > 0) < 0.5:
        train, test = ((X, -y) for X, y in (train, test))
    curves, params = {}, {}
    for learner in (*TRUNCATION, "RDA", *DUAL):
        params[learner] = tuned(learner, *train, fixed=SCALING)
        curves[learner] = curve(learner, train, test, params[learner])
    errors = {k: [at(points, s) for s in LEVELS] for k, points in curves.items()}
    table(f"{name}: test error against sparsity", errors)
    times = {
        k: [1e6 * at(points, s, "seconds") / train[0].shape[0] for s in LEVELS]
        for k, points in curves.items()
    }
    table(f"{name}: microseconds a row against sparsity", times)
    print("\ntuned: " + "; ".join(f"{k} {v}" for k, v in params.items()))
    base = min(p[0].sparsity for p in curves.values())
    low, high = 0.0 if base == 0 else base + 0.02, 0.9

    def rise(learner):
        start = at(curves[learner], max(low, curves[learner][0].sparsity))
        return at(curves[learner], high) - start

    rises = {k: rise(k) for k in (*TRUNCATION, *DUAL)}
    told = ", ".join(f"{k} {100 * v:+.1f}" for k, v in rises.items())
    worst_dual = max(rises[k] for k in DUAL)
    claim(
        f"{name}: up to 90 % sparsity dual averaging loses less than truncation",
        worst_dual < np.nanmin([rises[k] for k in TRUNCATION]),
        f"points of error from the least sparse to 90 %: {told}",
    )
    tops = [0.9, 0.95, 0.99]
    ranks = {s: {k: at(p, s) for k, p in curves.items()} for s in tops}
    best = {
        s: min(r, key=lambda k, r=r: np.inf if np.isnan(r[k]) else r[k]) for s, r in ranks.items()
    }
    claim(
        f"{name}: SSOL is best at high sparsity",
        all(b == "SSOL" for b in best.values()),
        "; ".join(
            f"at {100 * s:g} % {b} {ranks[s][b]:.4f}, SSOL {ranks[s]['SSOL']:.4f}"
            for s, b in best.items()
        ),
    )
    if name == "synthetic":
        jump = {k: (at(curves[k], 0.8), at(curves[k], 0.9), at(curves[k], 0.97)) for k in DUAL}
        claim(
            "synthetic: the error of dual averaging jumps past 90 %",
            all(c - b > 3 * abs(b - a) for a, b, c in jump.values()),
            "; ".join(f"{k} {a:.4f}, {b:.4f}, {c:.4f}" for k, (a, b, c) in jump.items())
            + " at 80, 90 and 97 %",
        )


def figures_4_and_5(name, train, test):
    """Balanced accuracy with one positive in a hundred."""
    train, test = rare(train), rare(test, seed=1)
    if (train[1] > 0).sum() < 20 or (test[1] > 0).sum() < 20:
        print(f"\n{name}: too few positives are left at 1:99")
        return
    rows, top = {}, {}
    for learner in ("CS-FSOL", "CS-SSOL", "FSOL", "SSOL", *TRUNCATION, "Ada-RDA"):
        params = tuned(learner, *train, balanced=True, fixed=SCALING)
        points = curve(learner, train, test, params)
        rows[learner] = [at(points, s, "balanced") for s in LEVELS]
        top[learner] = max(p.balanced for p in points)
    for learner in ("COG-II", "CPA", "PAUM"):
        params = tuned(learner, *train, balanced=True, fixed=SCALING)
        model = lopsided.make(learner, **SCALING, **params).fit(*train)
        called = model.predict(test[0])
        top[learner] = np.mean([np.mean(called[test[1] == c] == c) for c in (-1, 1)])
        rows[learner] = [top[learner], *[float("nan")] * (len(LEVELS) - 1)]
    table(f"{name} at 1:99: balanced accuracy against sparsity", rows)
    ranked = sorted(top, key=top.get, reverse=True)
    claim(
        f"{name} at 1:99: CS-SSOL is best",
        ranked[0] == "CS-SSOL",
        ", ".join(f"{k} {top[k]:.3f}" for k in ranked),
    )


def main():
    quick = "--quick" in sys.argv
    chosen = [a for a in sys.argv[1:] if a in SETS] or SETS
    for name in chosen:
        parts = read(name, quick)
        if parts is None:
            print(f"\n{name}: not on this machine")
            continue
        figures_1_to_3(name, *parts)
        figures_4_and_5(name, *parts)


if __name__ == "__main__":
    main()
