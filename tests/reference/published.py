"""Published figures for german, and the data they were computed from.

Means and sample standard deviations over the 20 permutations published with the code of Zhang
et al. 2019, from `lopsided.papers`. "sum", sensitivity and specificity are per cent.
"""

from __future__ import annotations

import lzma
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lopsided import catalog
from lopsided.papers import find


@dataclass(frozen=True)
class Row:
    """One run of one learner.

    class_weight is None for learners that do not see costs, "balanced", or "cost": the ratio
    c_p / c_n of the paper's cost runs. `rule` is what the learner gives where the published
    figures cannot be had from it.
    """

    paper: str
    learner: str
    estimator: str
    parameters: dict = field(hash=False)
    class_weight: str | None
    metric: str
    published: tuple[str, str, str]  # metric, sensitivity, specificity
    rule: tuple[str, str, str] | None = None

    @property
    def id(self):
        return f"{self.paper}-{self.learner}-{self.metric}"

    @property
    def rho(self):
        """class_weight as `run` takes it."""
        cp = FALSE_NEGATIVE_COST[self.paper]
        return cp / (1 - cp) if self.class_weight == "cost" else self.class_weight


_TABLES = [find(name) for name in ("csogd-table-2", "acog-table-2")]
FALSE_NEGATIVE_COST = {table.paper: table.fn for table in _TABLES}
COST_UNIT = {
    table.paper: 1 / column.scale
    for table in _TABLES
    for part in table.parts
    for column in part.columns
    if column.name == "cost"
}

# ROMMA does not see costs, so its two runs should be one; the cost run is the one it gives.
_RULE = {("ACOG", "ROMMA", "sum"): ("57.593±2.964", "43.650±4.372", "71.536±1.932")}


def _row(table, part, learner):
    facts = dict(table.learners[learner])
    entry = catalog.find(facts.pop("is"))
    costs = facts.pop("costs", part.metric)
    class_weight = {"sum": "balanced", "cost": "cost"}[costs]
    if getattr(entry.make(), "class_weight", None) is None:
        class_weight = None
    return Row(
        table.paper,
        learner,
        entry.cls.__name__,
        {**entry.preset, **facts, **part.stated.get(learner, {})},
        class_weight,
        part.metric,
        tuple(map(str, part.printed[learner][:3])),
        _RULE.get((table.paper, learner, part.metric)),
    )


TABLE = [
    _row(table, part, learner)
    for table in _TABLES
    for part in table.parts
    if part.set == "german"
    for learner in part.learners
]


DATA_FOLDERS = [
    *([Path(os.environ["LOPSIDED_DATA"])] if os.environ.get("LOPSIDED_DATA") else []),
    Path(__file__).resolve().parents[3] / "shared" / "data",
]


def _find(name):
    return next((folder / name for folder in DATA_FOLDERS if (folder / name).is_file()), None)


def german():
    """X (1000, 24), y in {-1, +1} and 20 visiting orders; None when the data is not there."""
    rows, permutations = _find("german.libsvm.xz"), _find("oa3/german.ID_ALL.npz")
    if rows is None or permutations is None:
        return None
    return *_dense(rows, 24), np.load(permutations)["ID_ALL"].astype(np.intp) - 1


def _dense(path, d):
    with lzma.open(path, "rt") as file:
        lines = file.read().splitlines()
    X = np.zeros((len(lines), d))
    for i, line in enumerate(lines):
        for pair in line.split()[1:]:
            j, value = pair.split(":")
            X[i, int(j) - 1] = float(value)
    return X, np.array([1 if float(line.split()[0]) > 0 else -1 for line in lines])


# Hu et al. 2015 (KOIL), table 1: features and held-out AUC of the linear perceptron, mean and
# standard deviation over 4 x 5 folds.
KOIL_PERCEPTRON = {
    "glass": (9, 0.810, 0.065),
    "heart": (13, 0.876, 0.066),
    "vowel": (10, 0.848, 0.070),
    "australian": (14, 0.869, 0.035),
    "diabetes": (8, 0.726, 0.059),
    "german": (24, 0.748, 0.033),
}


def koil(name):
    """X, y and the folds of 4 repeats as the authors published them; None when not there."""
    rows, folds = (_find(f"koil/{name}.{end}.xz") for end in ("libsvm", "IdxCv.txt"))
    if rows is None or folds is None:
        return None
    with lzma.open(folds, "rt") as file:
        return *_dense(rows, KOIL_PERCEPTRON[name][0]), np.loadtxt(file, dtype=int)


def _unit_rows(X):
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


def prepare_csogd(X):
    """z-scores over the whole set with the sample standard deviation, then rows of length one."""
    return _unit_rows((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))


def prepare_acog(X):
    """Rows of length one."""
    return _unit_rows(X)


PREPARE = {"CSOGD": prepare_csogd, "ACOG": prepare_acog}


def disagreements(row, passes):
    """The printed figures that passes do not give to the last digit, in words.

    passes : (metric, sensitivity, specificity) of each permutation, as fractions and a total cost
    """
    unit = 1 / COST_UNIT[row.paper] if row.metric == "cost" else 100.0
    ours = np.array(passes) * np.array([unit, 100.0, 100.0])
    wrong = []
    columns = (row.metric, "sensitivity", "specificity")
    for name, printed, column in zip(columns, row.rule or row.published, ours.T, strict=True):
        mean, std = (float(number) for number in printed.split("±"))
        # A mean cost can lie half-way between two printed numbers, hence the allowance.
        if abs(column.mean() - mean) > 0.0005 + 1e-9:
            wrong.append(f"{name}: {column.mean():.4f}, published {mean}")
        if abs(column.std(ddof=1) - std) > 0.0005 + 1e-9:
            wrong.append(f"std of {name}: {column.std(ddof=1):.4f}, published {std}")
    return wrong
