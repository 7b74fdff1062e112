"""The periods of a run: days, or a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ..evaluation.periods import DAY, HEADER, PeriodLog, Periods
from .output import Bill, print_table

_PRINTED = 40  # periods
COLUMNS = (
    "period",
    "rows",
    "events",
    "positives",
    "alarms",
    "precision",
    "sensitivity",
    "specificity",
    "auc",
    "average_precision",
    "cost",
    "labels",
    "updates",
)
period_option = click.option(
    "--period",
    metavar="day|ROWS",
    help="Measures of each day (with --time), or of every N rows.",
)


def parse_period(text: str | None) -> int | str | None:
    """Return a size of periods as the command line gives it."""
    if text is None or text == DAY:
        return text
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise click.UsageError(f"--period: {text!r} is neither day nor a number of rows")


def periods_of(log: PeriodLog, bill: Bill) -> Periods:
    """Return the finished periods with what they cost."""
    return Periods(log.finished, None if bill.own else (bill.miss, bill.alarm))


def print_periods(log: PeriodLog, bill: Bill) -> None:
    """Write the table for people: the latest periods."""
    cells = periods_of(log, bill).cells()
    print_table(cells[-_PRINTED:], header=HEADER, right=range(1, len(HEADER)))
    if log.closed > _PRINTED:
        click.echo(f"{log.closed - _PRINTED:,} periods before these: --curve FILE has all")


def lines_since(log: PeriodLog, bill: Bill, written: int) -> Iterator[str]:
    """Yield the periods after the first `written` ones as lines of CSV."""
    new = log.closed - written
    if not new:
        return
    for record in Periods(log.finished[-new:], periods_of(log, bill).cost).records():
        cells = (record[name] for name in COLUMNS)
        yield ",".join("" if v != v else v if isinstance(v, str) else repr(v) for v in cells)
