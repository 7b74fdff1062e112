"""The result of a comparison."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._atomic import write_atomically
from .._json import plain
from ..errors import InputError
from ..estimator.parameters import nearest
from . import tables
from .one_run import Run
from .statistics import std

EXTENSIONS = {".txt": "text", ".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One learner over all splits, with the parameters chosen for each.

    Attributes
    ----------
    name : str
        The learner.
    parameters : dict
        The parameters chosen from the grid; the most frequent ones if they vary.
    varies : bool
        Whether the choice differs between splits.
    chosen : tuple of dict
        The choice for each split.
    mean, std : dict
        Mean and sample standard deviation of metric, sensitivity, specificity, sum, cost, updates,
        queries, seconds and, for learners with weights, nnz and sparsity.
    best : bool
        Whether it has the best mean of the metric.
    t_test, wilcoxon : float
        p-values of the paired tests against the best; NaN for the best itself.
    worse : bool
        Whether it is worse than the best by the t-test at 95 %.
    wins, ties, losses : int
        Number of other learners that it is better than, as good as and worse than by that test.
    """

    name: str
    parameters: dict[str, Any]
    varies: bool
    chosen: tuple[dict[str, Any], ...]
    mean: dict[str, float]
    std: dict[str, float]
    best: bool
    t_test: float
    wilcoxon: float
    worse: bool
    wins: int
    ties: int
    losses: int


@dataclasses.dataclass(kw_only=True)
class Comparison:
    """The result of a comparison.

    Attributes
    ----------
    rows : list of Row
        One per learner, in the order given.
    runs : list of Run
        The reported runs: for each learner and split the one with the chosen parameters.
    sweep : list of Run
        All runs: every learner, grid point and split.
    curves : dict
        The mean curve of the reported runs of each learner: lists "events", "sensitivity",
        "specificity", "sum", "cost" and "queries".
    metric, alpha, fn, fp, select
        As given to `compare`.
    larger_is_better : bool
        Which way the metric goes.
    selection : str
        How parameters were chosen, in words.
    about : dict
        The data and the settings: rows, features, positives, negatives, splits, kind, inner,
        search, seed, known_counts.
    """

    rows: list[Row]
    runs: list[Run]
    sweep: list[Run]
    curves: dict[str, dict[str, list[float]]]
    metric: str
    larger_is_better: bool
    alpha: float
    fn: float
    fp: float
    select: str
    selection: str
    about: dict[str, Any]

    def __repr__(self) -> str:
        return self.table().rstrip("\n")

    def _repr_html_(self) -> str:
        from ..report.compared import html

        return html(self)

    def plot(self, **about: Any) -> Any:
        """Return figures of the comparison, which a notebook shows; they need matplotlib.

        Parameters
        ----------
        **about
            `unit`, that of costs.
        """
        from ..report import plots

        return plots(self, **about)

    @property
    def best(self) -> Row:
        """The learner with the best mean."""
        return next(row for row in self.rows if row.best)

    def table(self, format: str = "text") -> str:  # noqa: A002
        """Return the learners as a table: "text", "csv", "json", "latex" or "markdown"."""
        return tables.table(self, format)

    def sweep_table(self, parameter: str) -> list[dict[str, Any]]:
        """Return the metric as a function of one parameter.

        One record for each grid point of each learner that has the parameter in its grid: mean and
        standard deviation of the metric over all runs, seconds and, for learners with weights, the
        number of nonzero weights (`nnz`) and the share of zero weights (`sparsity`).
        """
        if self.about["search"] != "all":
            raise InputError("a coarse search skips grid points: use search='all'")
        points: dict[tuple[str, int], list[Run]] = {}
        for run in self.sweep:
            if parameter in run.parameters:
                points.setdefault((run.learner, run.point), []).append(run)
        if not points:
            known = {name for run in self.sweep for name in run.parameters}
            hint = nearest(parameter, known) if known else "there are no grids"
            raise InputError(f"no learner has {parameter!r} in its grid: {hint}")
        return [
            {
                "learner": learner,
                "value": runs[0].parameters[parameter],
                "parameters": runs[0].parameters,
                "mean": float(np.mean([run.value for run in runs])),
                "std": std(np.array([run.value for run in runs])),
                "seconds": float(np.mean([run.seconds for run in runs])),
                "nnz": _mean([run.nnz for run in runs]),
                "sparsity": _mean([run.sparsity for run in runs]),
            }
            for (learner, _), runs in points.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the curves of single runs as JSON values."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        values["rows"] = [dataclasses.asdict(row) for row in self.rows]
        for name in ("runs", "sweep"):
            values[name] = [run.to_dict() for run in values[name]]
        found: dict[str, Any] = plain(values)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file; its extension decides: .txt, .csv, .json, .tex or .md."""
        extension = os.path.splitext(os.fspath(path))[1].lower()
        if extension not in EXTENSIONS:
            raise InputError(f"{path}: name it .txt, .csv, .json, .tex or .md")
        write_atomically(path, self.table(EXTENSIONS[extension]).encode())


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
