"""Reports of commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from .. import report
from .._atomic import write_atomically
from ..estimator.base import OnlineClassifier
from ..metrics import Counts
from ..report.points import Points


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
        The points of an interrupted run to go on with.
    """

    def __init__(self, path: str, kept: dict[str, Any] | None = None) -> None:
        report.require()
        self.path, self.points = path, Points(kept)

    def write(
        self,
        name: str,
        model: OnlineClassifier,
        data: str,
        counts: Counts,
        cost: tuple[float, float],
        notes: Sequence[str],
    ) -> None:
        """Write the page."""
        known: dict[str, Any] = {"name": data}
        if model.__sklearn_is_fitted__():
            known["features"] = model.n_features_in_
        page = report.render(
            {name: [*self.points.curve, counts]},
            command=typed(),
            cost=cost,
            data=known,
            parameters={name: model.get_params()},
            notes=notes,
        )
        if self.path == "-":
            click.echo(page, nl=False)
        else:
            write_atomically(self.path, page.encode())
