"""What people see: results as text or JSON, progress while they wait."""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

import click

from .._atomic import write_atomically
from .._json import as_json
from .._text import aligned, percent, visible
from ..estimator.prices import is_per_event
from ..metrics import Counts, RunningAUC
from .faults import worded
from .result_file import cell

_NONE = "not available"
_C1 = re.compile("[\x7f-\x9f]")  # control characters that JSON leaves as they are


def print_json(value: Any) -> None:
    """Write a value as JSON; what is not available is null."""
    click.echo(_C1.sub(lambda found: f"\\u{ord(found.group()):04x}", as_json(value)))


def print_table(
    rows: Sequence[Sequence[str]],
    *,
    header: Sequence[str] | None = None,
    right: Container[int] = (),
) -> None:
    """Write columns side by side, as wide as they must be; those in `right` are flush right."""
    shown = [[visible(cell) for cell in row] for row in rows]
    lines = aligned([list(header), *shown] if header else shown, right)
    if header:
        heading(lines.pop(0))
    for line in lines:
        click.echo(line)


def heading(text: str, *, nl: bool = True) -> None:
    """Write in bold, where that is wanted and possible."""
    text = visible(text)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    click.echo(text if plain else click.style(text, bold=True), nl=nl)


def bad_lines(reader: Any, most: int | None = None) -> list[str]:
    """Return the bad lines that a reader left out, in their order."""
    found = sorted(reader.bad.found, key=lambda e: e.line or 0)
    return [worded(error) for error in found[:most]]


def write_bad_lines(reader: Any, path: str | None) -> None:
    """Write all bad lines that a reader left out to a file, if one is named."""
    if path is not None:
        write_atomically(path, "".join(f"{text}\n" for text in bad_lines(reader)).encode())


def with_kept(kept: Mapping[str, Sequence[str]], *, safe: bool) -> list[list[str]]:
    """Return the cells of columns that are copied to the results."""
    return [[cell(value, safe=safe) for value in cells] for cells in kept.values()]


def left_out(reader: Any, *, most: int = 20) -> list[str]:
    """Say what a reader left out; of bad lines only the first ones."""
    texts, dropped = bad_lines(reader, most), getattr(reader, "dropped", 0)
    more = len(reader.bad.found) - most
    if more > 0:
        texts.append(f"{more} more bad lines")
    if dropped:
        texts.append(f"{dropped:,} rows with missing values")
    return texts


class Bill(NamedTuple):
    """What mistakes cost: the same for all events, or `own` prices for each."""

    miss: float = 0.9
    alarm: float = 0.1
    own: bool = False

    @classmethod
    def of(cls, costs: Mapping[str, Any] | None) -> Bill:
        """Return that of a model with these costs."""
        if costs is None:
            return cls()
        if is_per_event(costs) or any(costs.get(kind) for kind in ("hit", "pass")):
            return cls(math.nan, math.nan, own=True)
        return cls(costs["miss"], costs["alarm"])

    def cost(self, counts: Counts) -> float:
        """Return what a run cost."""
        return counts.money if self.own else counts.cost(self.miss, self.alarm)

    def per_thousand(self, counts: Counts) -> float:
        """Return what a thousand of its events cost."""
        if not self.own:
            return counts.cost_per_thousand(self.miss, self.alarm)
        weight = counts.positives + counts.negatives
        return 1000 * counts.money / weight if weight else math.nan

    def __str__(self) -> str:
        if self.own:
            return "at the prices of each event"
        return f"at {self.miss:g} a missed positive and {self.alarm:g} a false alarm"


def measures(counts: Counts, bill: Bill) -> dict[str, Any]:
    """Return the figures of a run by name."""
    return {
        "events": counts.events,
        "positives": counts.positives,
        "negatives": counts.negatives,
        "false_negatives": counts.false_negatives,
        "false_positives": counts.false_positives,
        "sensitivity": counts.sensitivity,
        "specificity": counts.specificity,
        "sum": counts.sum(unseen=math.nan),
        "accuracy": counts.accuracy,
        "precision": counts.precision,
        "f1": counts.f1,
        "mcc": counts.mcc,
        "cost": bill.cost(counts),
        "cost_per_thousand": bill.per_thousand(counts),
        "labels": counts.queries,
        "updates": counts.updates,
    }


_SCALED = {
    "own": "by the learner itself",
    "none": "rows as they are",
    "unit": "rows of unit length",
    "standard": "standard scores",
    "standard+unit": "standard scores, then rows of unit length",
}


def print_result(
    counts: Counts,
    bill: Bill,
    auc: RunningAUC,
    left: float | None = None,
    scaling: tuple[str, str] | None = None,
    waiting: int = 0,
) -> None:
    """Write the figures of a run for people.

    `scaling` is what was wanted and what was used, `waiting` how many of the labels have not come.
    """
    within = f", within {auc.error:.1g}" if auc.error else ""
    caught = counts.positives - counts.false_negatives
    passed = counts.negatives - counts.false_positives
    print_table(
        [
            (
                "sensitivity",
                percent(counts.sensitivity, nan=_NONE),
                f"caught {caught:,.10g} of {counts.positives:,.10g} positives",
            ),
            (
                "specificity",
                percent(counts.specificity, nan=_NONE),
                f"let pass {passed:,.10g} of {counts.negatives:,.10g} negatives",
            ),
            ("balanced", percent(counts.sum(unseen=math.nan), nan=_NONE), "mean of the two"),
            ("AUC", percent(auc.value, nan=_NONE), f"a positive scores above a negative{within}"),
            (
                "precision",
                percent(counts.precision, nan=_NONE),
                f"of {caught + counts.false_positives:,.10g} alarms; "
                f"F1 {percent(counts.f1, 1)}, MCC {_number(counts.mcc)}",
            ),
            (
                "cost",
                f"{bill.cost(counts):,.6g}",
                f"{bill}; {_number(bill.per_thousand(counts))} per thousand events",
            ),
            (
                "labels",
                f"{max(0, counts.queries - waiting):,}",
                f"used, {counts.updates:,} steps taken"
                + ("" if left is None else f"; the budget has {left:,.10g} left"),
            ),
            *([("scaling", scaling[0], _SCALED[scaling[1]])] if scaling else []),
        ]
    )


class Live:
    """One line of progress on a terminal; nothing anywhere else."""

    def __init__(self, quiet: bool = False) -> None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._on = not quiet and terminal and os.environ.get("TERM") != "dumb"
        self._start = self._last = time.monotonic()
        self._shown = False
        self._begun: int | None = None

    def update(self, counts: Counts, bill: Bill, done: float | None) -> None:
        """Show where a run stands, at most ten times a second, after the first half second."""
        now = self._due()
        if now is None:
            return
        rate = counts.events / (now - self._start)
        parts = [
            f"{counts.events:,} rows",
            f"sens {percent(counts.sensitivity, 1)}",
            f"spec {percent(counts.specificity, 1)}",
            f"cost {bill.cost(counts):,.5g}",
            f"bal {percent(counts.sum(unseen=math.nan), 1)}",
            f"{rate:,.0f}/s",
            f"labels {counts.queries:,}",
        ]
        if done:
            left = (now - self._start) * (1 - done) / done
            parts[:1] = [f"{done:4.0%}", parts[0]]
            parts.append(f"{left:,.0f} s left")
            parts.append(_bar(done))
        self._show(parts)

    def say(self, what: str) -> None:
        """Show what is being done, at once."""
        if self._on:
            self._show([f"{what} …"])

    def bytes(self, file: str, done: int, total: int | None) -> None:
        """Show how much of a file has arrived."""
        if self._due() is None and done != total:
            return
        if self._on:
            share = [f"{done / total:4.0%}", _bar(done / total)] if total else []
            self._show([file, f"{done / 1e6:,.1f} MB", *share])

    def runs(self, done: int, total: int) -> None:
        """Show how many runs of a comparison are done."""
        if self._begun is None:
            self._begun = done - 1  # the others are from a journal
        now = self._due()
        if now is None:
            return
        left = (now - self._start) * (total - done) / (done - self._begun)
        share = done / total
        self._show(
            [f"{share:4.0%}", f"{done:,} of {total:,} runs", f"{left:,.0f} s left", _bar(share)]
        )

    def _due(self) -> float | None:
        """Return the time if a line is due."""
        now = time.monotonic()
        if not self._on or now - self._last < 0.1 or now - self._start < 0.5:
            return None
        self._last = now
        return now

    def _show(self, parts: Sequence[str]) -> None:
        self._shown = True  # first: an interruption may come in between
        click.echo("\r" + _fitting(parts, _width() - 1), err=True, nl=False)

    def close(self) -> None:
        """Clear the line."""
        if self._shown:
            click.echo("\r" + " " * (_width() - 1) + "\r", err=True, nl=False)
            self._shown = False


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:,.4g}"


def _fitting(parts: Sequence[str], width: int) -> str:
    """Return the parts that fit, whole: a number cut short is another number."""
    text = ""
    for part in parts:
        longer = f"{text}  {part}" if text else part
        if len(longer) > width:
            break
        text = longer
    return text.ljust(width)


def _bar(done: float, width: int = 20) -> str:
    full = int(done * width)
    return "█" * full + "░" * (width - full)


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns
