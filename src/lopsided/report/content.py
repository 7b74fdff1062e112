"""The content of a report, independent of its source."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .._text import percent
from ..evaluation.changes import Change
from ..evaluation.periods import HEADER, Periods
from ..evaluation.reliability import Reliability
from ..metrics import Counts, Levels
from .course import Course

PRICES = (1.0, 1000.0)  # of a miss, in false alarms: the range of the figure


@dataclasses.dataclass(frozen=True)
class Curve:
    """Measures along a stream."""

    events: tuple[float, ...] = ()
    sum: tuple[float, ...] = ()
    cost: tuple[float, ...] = ()
    queries: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True)
class LearnerReport:
    """One learner: its counts (the mean over several runs), curve and standard deviations."""

    name: str
    counts: Counts
    curve: Curve = Curve()
    spread: Mapping[str, float] = dataclasses.field(default_factory=dict)
    levels: Levels | None = None
    reliability: Reliability | None = None
    periods: Periods = dataclasses.field(default_factory=Periods)
    changes: Sequence[Change] = ()


Line: TypeAlias = tuple[Sequence[float], Sequence[float], Sequence[float]]


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A metric by a parameter: values, means and deviations of each learner.

    Other parameters, if any (`others`), are at their best for each value.
    """

    parameter: str
    lines: Mapping[str, Line]
    others: bool = False


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of text; the first cell of a row is its name. Rows of `beside` are for comparison."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: int | None = None
    beside: Sequence[Sequence[str]] = ()
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Content:
    """The content of a report."""

    title: str
    sentence: str
    table: Table
    learners: Sequence[LearnerReport]
    fn: float
    fp: float
    unit: str = ""
    metric: str = "sum"
    percent: bool = True
    weight: float = 0.5  # of sensitivity in the sum
    passes: str = ""  # what the curves show, if not the same as the table
    sweeps: Sequence[Sweep] = ()
    own_prices: bool = False  # each event has its own
    reasons: Table | None = None
    facts: Sequence[tuple[str, str]] = ()
    command: str = ""


def clean(value: Any) -> str:
    """Return foreign text on one line, without unprintable characters."""
    text = " ".join(str(value).split()).encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def money(value: float, unit: str) -> str:
    """Return a cost with its unit."""
    if not unit:
        return f"{value:,.6g}"
    return f"{unit}{value:,.0f}" if len(unit) == 1 else f"{value:,.0f} {unit}"


def trivial(counts: Counts) -> dict[str, Counts]:
    """Return the counts of the two constant rules on the same stream."""
    p, n = counts.positives, counts.negatives
    return {
        "flag nobody": Counts(positives=p, negatives=n, false_negatives=p),
        "flag everybody": Counts(positives=p, negatives=n, false_positives=n),
    }


def from_runs(
    runs: Mapping[str, Course],
    *,
    title: str,
    cost: tuple[float, float],
    unit: str,
    reasons: Table | None = None,
) -> Content:
    """Return the content for runs."""
    fn, fp = cost
    learners = [
        LearnerReport(
            clean(name),
            run.counts[-1],
            _curve([c for c in run.counts if c.events], fn, fp),
            levels=run.levels,
            reliability=run.reliability,
            periods=run.periods,
            changes=run.changes,
        )
        for name, run in runs.items()
    ]
    order = sorted(range(len(learners)), key=lambda k: learners[k].counts.cost(fn, fp))
    return Content(
        title=clean(title),
        sentence=_sentence(learners, order, fn, fp, unit),
        table=_table(learners, order[0] if len(order) > 1 else None, fn, fp, unit),
        learners=learners,
        fn=fn,
        fp=fp,
        unit=unit,
        own_prices=any(run.own_prices for run in runs.values()),
        reasons=reasons,
    )


def period_table(periods: Periods, most: int = 62) -> Table:
    """Return the latest periods as a table."""
    left = len(periods) - most
    note = "Precision, recall, AUC and average precision are those of the events of the period."
    if left > 0:
        note = f"{note} The table leaves out the first {left:,} periods."
    return Table(HEADER, periods.cells()[-most:], note=note)


def _curve(points: Sequence[Counts], fn: float, fp: float) -> Curve:
    return Curve(
        events=tuple(c.events for c in points),
        sum=tuple(c.sum(unseen=math.nan) for c in points),
        cost=tuple(c.cost(fn, fp) for c in points),
        queries=tuple(c.queries for c in points),
    )


def _sentence(
    learners: Sequence[LearnerReport], order: Sequence[int], fn: float, fp: float, unit: str
) -> str:
    best = learners[order[0]]
    c = best.counts
    found = f"{c.positives - c.false_negatives:,.10g} of {c.positives:,.10g} positives"
    did = f"found {found} and raised {c.false_positives:,.10g} false alarms"
    if len(learners) == 1:
        return f"{best.name} {did} in {c.events:,} events."
    cost, worst = c.cost(fn, fp), learners[order[-1]]
    most = worst.counts.cost(fn, fp)
    text = f"{best.name} made the cheapest mistakes: {money(cost, unit)}"
    text += f", {1 - cost / most:.0%} less than {worst.name}" if most > cost else ""
    return f"{text}. It {did} in {c.events:,} events."


def _table(
    learners: Sequence[LearnerReport], best: int | None, fn: float, fp: float, unit: str
) -> Table:
    def row(name: str, c: Counts) -> list[str]:
        return [
            name,
            percent(c.sensitivity),
            percent(c.specificity),
            percent(c.sum(unseen=math.nan)),
            percent(c.precision),
            f"{c.positives - c.false_negatives:,.10g}",
            f"{c.false_negatives:,.10g}",
            f"{c.false_positives:,.10g}",
            money(c.cost(fn, fp), unit),
            money(c.cost_per_thousand(fn, fp), unit),
        ]

    header = ["learner", "sensitivity", "specificity", "balanced", "precision", "found", "missed"]
    header += ["false alarms", "cost", "per 1,000 events"]
    rows = [row(x.name, x.counts) for x in learners]
    if any(x.counts.queries < x.counts.events for x in learners):
        header.append("labels used")
        for cells, x in zip(rows, learners, strict=True):
            cells.append(f"{x.counts.queries:,}")
    beside = [row(*item) for item in trivial(learners[0].counts).items()]
    return Table(
        header,
        rows,
        best,
        [[*cells, *[""] * (len(header) - len(cells))] for cells in beside],
        f"Cost at {money(fn, unit)} per missed positive and {money(fp, unit)} per false alarm.",
    )


def cheapest(lines: Mapping[str, Counts]) -> list[tuple[str, float]]:
    """Return the cheapest learners as the price of a miss rises, each with its upper price."""
    price, last = PRICES
    found = []
    while price < last:
        name = min(lines, key=lambda k: (lines[k].cost(price, 1), lines[k].false_negatives))
        now, until = lines[name], last
        for other in lines.values():
            saved = now.false_negatives - other.false_negatives
            if saved > 0:
                until = min(until, (other.false_positives - now.false_positives) / saved)
        found.append((name, until))
        price = math.nextafter(max(until, price), math.inf)
    return found
