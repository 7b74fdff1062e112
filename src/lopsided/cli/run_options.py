"""What the command line says to `lopsided run`."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from .active_options import DEFAULT_LEARNER, LearnerOptions
from .model_lock import lock_path
from .options import ReadingOptions, check_apart, check_writable, parse_costs
from .period_table import parse_period


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions(LearnerOptions, ReadingOptions):
    """What the command line says."""

    data: str
    load_path: str | None
    save_path: str | None
    predictions: str | None
    curve: str | None
    report_path: str | None
    every: int | None
    period: str | None
    checkpoint: int | None
    resume: bool
    limit: int | None
    cost: tuple[float, float] | None
    cost_columns: tuple[str, ...]
    capacity: str | None
    as_json: bool
    safe_csv: bool
    quiet: bool
    delay: int | None = None
    label_time: str | None = None
    max_pending: int | None = None

    def __post_init__(self) -> None:
        if self.every is not None and self.curve is None:
            raise click.UsageError("--every is for --curve: leave it out, or name a file")
        if self.every is not None and self.period is not None:
            raise click.UsageError("--every and --period: the curve has a point for each period")
        parse_period(self.period)
        if self.delay is not None and self.label_time is not None:
            raise click.UsageError("--delay and --label-time: give one of them")
        check_apart((self.data,), (self.save_path, *self.results, *self.beside))
        check_apart((self.load_path,), (*self.results, *self.beside))
        for path in (self.save_path, *self.results):
            check_writable(path)
        if (self.checkpoint or self.resume) and self.save_path is None:
            raise click.UsageError("--checkpoint and --resume need --save FILE")
        if self.learner is not None and self.load_path is not None and not self.resume:
            raise click.UsageError("--learner and --load: the saved model has its learner")

    @property
    def costs(self) -> dict[str, Any] | None:
        """The costs that are given, as a model takes them."""
        return parse_costs(self.cost, self.cost_columns)

    @property
    def results(self) -> tuple[str | None, ...]:
        """The files that are written besides the model."""
        return self.predictions, self.curve, self.report_path, self.bad_lines

    @property
    def checkpoint_path(self) -> str:
        """The checkpoint of the run."""
        return f"{self.save_path}.checkpoint"

    @property
    def beside(self) -> tuple[str, ...]:
        """The files that come and go beside the model."""
        if self.save_path is None:
            return ()
        return self.checkpoint_path, lock_path(self.save_path)

    @property
    def period_size(self) -> int | str | None:
        """Rows of a period, or "day"; a report has periods even if nobody asks for them."""
        size = parse_period(self.period)
        if size is None and self.report_path is not None:
            return "auto" if self.time is None else "day"
        return size

    @property
    def points_every(self) -> int:
        """Rows between points of the curve."""
        return 1000 if self.every is None else self.every

    @property
    def fingerprint(self) -> dict[str, str]:
        """What a resumed run must have in common with the interrupted one, as text."""
        free = ("data", "save_path", "checkpoint", "resume", "limit", "as_json", "quiet")
        given = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in (*free, "form", "skip_bad", "bad_lines")
        }
        given |= {"learner": self.learner or DEFAULT_LEARNER, "every": self.points_every}
        return {name.removesuffix("_path"): repr(value) for name, value in given.items()}
