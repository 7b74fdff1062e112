"""Reports of commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from .. import report
from .._atomic import write_atomically
from ..estimator.base import OnlineClassifier
from ..evaluation.periods import Periods
from ..evaluation.stream import StreamRun
from ..report.points import Points
from .alarm_reasons import LatestAlarms
from .output import Bill
from .period_table import periods_of


def typed() -> list[str]:
    """Return the command that is running, as it was typed."""
    return ["lopsided", *sys.argv[1:]]


class RunReport:
    """The report of a run: points along the way, the page in the end.

    Parameters
    ----------
    path : str
        Where it goes; "-" for standard output.
    kept : dict, optional
        The points of an interrupted run to resume.
    alarms : list of int, optional
        Its latest alarms.
    """

    def __init__(
        self, path: str, kept: dict[str, Any] | None = None, alarms: Sequence[int] | None = None
    ) -> None:
        report.require()
        self.path, self.points = path, Points(kept)
        self.alarms = LatestAlarms(alarms)

    def write(
        self,
        name: str,
        model: OnlineClassifier,
        data: str,
        run: StreamRun,
        bill: Bill,
        notes: Sequence[str],
    ) -> None:
        """Write the page."""
        known: dict[str, Any] = {"name": data}
        if model.__sklearn_is_fitted__():
            known["features"] = model.n_features_in_
        prices = Bill() if bill.own else bill
        both = run.counts.positives and run.counts.negatives
        course = report.Course(
            [*self.points.curve, run.counts],
            levels=run.auc.levels if both else None,
            reliability=run.reliability,
            periods=periods_of(run.periods, bill) if run.periods else Periods(),
            changes=run.watch.changes,
            own_prices=bill.own,
        )
        page = report.render(
            {name: course},
            command=typed(),
            cost=(prices.miss, prices.alarm),
            data=known,
            parameters={name: model.get_params()},
            notes=notes,
            reasons=self.alarms.table(model) if model.__sklearn_is_fitted__() else None,
        )
        if self.path == "-":
            click.echo(page, nl=False)
        else:
            write_atomically(self.path, page.encode())
