"""What the command line says to `lopsided compare`, and what has no effect together."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ..comparison.result import EXTENSIONS
from ..data.folds import read_folds
from .options import ReadingOptions, check_apart, check_writable


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompareOptions(ReadingOptions):
    """What the command line says."""

    data: str
    learners: str | None
    grid: tuple[str, ...]
    settings: tuple[str, ...]
    positive: str | None
    permutations: int | None
    folds: str | None
    test: str | None
    order: str
    metric: str
    alpha: float | None
    cost: tuple[float, float]
    select: str
    inner: int | None
    search: str
    seed: int | None
    jobs: int | None
    resume: str | None
    form_out: str | None
    output: str | None
    report: str | None
    sweep: str | None
    as_json: bool
    quiet: bool
    delay: int | None = None
    label_time: str | None = None

    def __post_init__(self) -> None:
        if self.as_json and self.form_out not in (None, "json"):
            raise click.UsageError(f"--json and --table {self.form_out}: leave one of the two out")
        if self.delay is not None and self.label_time is not None:
            raise click.UsageError("--delay and --label-time: give one of them")
        if (self.label_time is None) != (self.time is None):
            raise click.UsageError("--label-time and --time need each other")
        if self.label_time is not None and self.order != "time" and self.folds is None:
            raise click.UsageError(
                "--label-time needs rows in their order: --order time or --folds"
            )
        if self.report == "-" and (self.output == "-" or self.as_json):
            raise click.UsageError("--report -: the table cannot go to standard output too")
        self.table_form  # noqa: B018  (raises)
        outputs = (self.output, self.report, self.resume, self.bad_lines)
        check_apart((self.data, self.test, self.folds), outputs)
        for path in outputs:
            check_writable(path)

    @property
    def table_form(self) -> str:
        """The format of the table: as given, or by the extension of its file."""
        if self.as_json or self.form_out is not None:
            return "json" if self.as_json else str(self.form_out)
        if self.output in (None, "-"):
            return "text"
        extension = os.path.splitext(str(self.output))[1].lower()
        if extension not in EXTENSIONS:
            raise click.UsageError(
                f"--output {self.output}: name it {', '.join(EXTENSIONS)}, or choose the format "
                "with --table"
            )
        return EXTENSIONS[extension]

    @property
    def _has_sum(self) -> bool:
        """Whether the table shows the weighted sum."""
        if self.metric == "sum" or self.sweep is not None:
            return self.metric == "sum"
        return self.metric == "cost" or self.table_form in ("csv", "json")

    def check(self, points: Sequence[Sequence[Mapping[str, Any]]]) -> None:
        """Refuse what has no effect, given the grid of each learner."""
        if self.sweep is not None:
            if not any(self.sweep in point for mine in points for point in mine):
                raise click.UsageError(
                    f"--sweep {self.sweep}: no learner has it in its grid; add --grid"
                )
            if self.search == "coarse":
                raise click.UsageError("--sweep: a coarse search leaves points of the grid out")
        if self.alpha is not None and self.report is None and not self._has_sum:
            raise click.UsageError(
                "--alpha: it weighs the sum, and the table has none; leave it out"
            )
        self._check_choice(any(len(mine) > 1 for mine in points))
        if self.folds is not None and (self.permutations or self.test or self.order == "time"):
            raise click.UsageError("--folds: leave out --permutations, --test and --order")
        if self.order == "time" and self.permutations:
            raise click.UsageError("--order time: leave out --permutations")

    def _check_choice(self, choosing: bool) -> None:
        """Refuse what has no effect on the choice of parameters."""
        honest = choosing and self.select == "honest"
        if self.inner is not None and not (honest and self.folds):
            raise click.UsageError(
                "--inner: it chooses parameters honestly inside --folds; leave it out"
            )
        by_itself = self.folds or self.test or self.order == "time"
        if self.search == "coarse" and not (honest and by_itself):
            raise click.UsageError(
                "--search coarse: for grids, with --folds, --test or --order time and an honest "
                "choice"
            )
        parted = honest and self.inner != 0
        folded = self.folds is not None and not self.folds.isdecimal() and not parted
        if self.seed is not None and (self.order != "random" or folded):
            raise click.UsageError("--seed: nothing is random here; leave it out")

    def settings_of_compare(self, rows: int) -> dict[str, Any]:
        """Return the arguments of `compare`, for data of this many rows."""
        names = ("permutations", "order", "metric", "select", "inner", "search", "jobs")
        settings = {name: getattr(self, name) for name in names}
        settings["fn"], settings["fp"] = self.cost
        settings["alpha"] = 0.5 if self.alpha is None else self.alpha
        settings["seed"] = self.seed or 0
        settings["delay"] = self.delay
        if self.folds is not None:
            decimal = self.folds.isdecimal()
            settings["folds"] = int(self.folds) if decimal else read_folds(self.folds, rows)
        return settings
