"""lopsided demo."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ..catalog import make
from ..data.generators import Fraud, fraud
from ..data.readers.tabular.arrow import arrow
from ..evaluation.progressive import progressive
from ..metrics import Counts
from ..report import require, write
from ..report.content import money, trivial
from .options import check_writable, quiet_option
from .output import Bill, Live, heading, measures, print_json
from .report_file import typed

EVENTS = 100_000
MISS, ALARM, UNIT = 100, 5, "€"
OURS = "Recommended"
# What each learner is told.
LEARNERS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("PA-I", "told nothing of costs", {"intercept": True}),
    ("AROW-diag", "classes weighted evenly", {"class_weight": "balanced", "intercept": True}),
    (OURS, "told the prices", {"costs": {"miss": MISS, "alarm": ALARM}}),
)


@click.command(
    epilog="""\b
Examples:
  lopsided demo
  lopsided demo --seed 7 --output seven.html
"""
)
@click.option(
    "--output", "-o", default="report.html", show_default=True, help="Where to write the report."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the stream."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@quiet_option
def command(output: str, seed: int, as_json: bool, quiet: bool) -> None:
    """Show what cost-sensitive learning is for, on a made-up stream of payments.

    Three learners score each payment, then learn its label. A table shows what each found, missed
    and cost; an HTML report shows it in figures. Takes a few seconds and needs no data.
    """
    check_writable(output)
    _check_not_taken(output)
    live = Live(quiet or as_json)
    live.say("making payments")
    stream = fraud(EVENTS, seed=seed, block_rows=EVENTS)
    block = next(iter(stream))
    runs = {}
    for name, _, told in LEARNERS:
        live.say(f"running {name}")
        model = make(name, **told)
        runs[name] = progressive(model, block.X, block.y, resume=True, points=60)
    live.say("drawing the report")
    missing = _write(runs, output, stream)
    live.close()
    best = stream.best(MISS, ALARM).cost
    if as_json:
        _print_json(runs, best, seed, None if missing else output)
        return
    _print_stream(runs[OURS], stream)
    _print_table(runs, best)
    click.echo()
    _echo(_bought(runs))
    click.echo()
    click.echo(missing or f"The same in figures: {output} (open it in a browser).")
    click.echo("\nNext, with your own data:")
    try:
        arrow("pyarrow")
    except ImportError:
        click.echo("  pip install pyarrow   # to read CSV and Parquet")
    click.echo(
        f"  lopsided run YOUR.csv --label COLUMN --positive fraud --cost {MISS} {ALARM} \\\n"
        "    --report run.html"
    )
    click.echo("  lopsided compare YOUR.csv --label COLUMN --report compare.html")


def _write(runs: Mapping[str, Any], output: str, stream: Fraud) -> str:
    """Write the report; return what is missing, if it cannot be made here."""
    try:
        require()
    except ImportError as error:
        return f"No report: {error}"
    write(
        runs,
        output,
        title="lopsided demo: fraud among payments",
        command=typed(),
        cost=(MISS, ALARM),
        unit=UNIT,
        data={"name": "made-up payments", "events": stream.rows, "features": len(stream.names)},
        parameters={name: told for name, _, told in LEARNERS},
        seed=stream.seed,
        notes=(
            "The data is made up; the figures were measured on it. Each event was judged before "
            "its label was learned, and seen once.",
        ),
    )
    return ""


def _print_stream(counts: Counts, stream: Fraud) -> None:
    days = stream.rows / stream.per_day
    _echo(
        f"A made-up stream of {stream.rows:,} payments in {days:g} days, {counts.positives:,.0f} "
        f"of them fraud. A missed fraud costs {money(MISS, UNIT)}, a false alarm "
        f"{money(ALARM, UNIT)}. Each payment is judged when it comes; then its label is learned, "
        "and it is not seen again."
    )
    click.echo()


def _print_table(runs: Mapping[str, Counts], best: float) -> None:
    whole = runs[OURS]
    rows = [(name, "", c) for name, c in trivial(whole).items()]
    rows += [(name, what, runs[name]) for name, what, _ in LEARNERS]
    heading(
        f"{'learner':39}{'found':>6}{'missed':>8}{'alarms':>8}{'per 1,000':>10}{'cost':>9}".rstrip()
    )
    for name, what, c in rows:
        click.echo(
            f"{name + (', ' if what else '') + what:39}{c.positives - c.false_negatives:6,.0f}"
            f"{c.false_negatives:8,.0f}{c.false_positives:8,.0f}"
            f"{money(c.cost_per_thousand(MISS, ALARM), UNIT):>10}"
            f"{money(c.cost(MISS, ALARM), UNIT):>9}"
        )
    each = money(1000 * best / EVENTS, UNIT)
    click.echo(f"{'the best that any rule can expect':61}{each:>10}{money(best, UNIT):>9}")


def _bought(runs: Mapping[str, Counts]) -> str:
    """Return the sentence that says what telling the prices was worth."""
    cost = runs[OURS].cost(MISS, ALARM)
    parts = []
    for name, what, _ in LEARNERS:
        if name != OURS:
            other = runs[name].cost(MISS, ALARM)
            word = "less" if cost <= other else "more"
            share = abs(other - cost) / other
            parts.append(f"{share:.0%} {word} than {name} ({what})")
    return f"Told the prices, {OURS} cost {' and '.join(parts)}."


def _echo(text: str) -> None:
    click.echo(textwrap.fill(text, 79))


def _print_json(runs: Mapping[str, Counts], best: float, seed: int, report: str | None) -> None:
    whole = runs[OURS]
    told = {name: what for name, what, _ in LEARNERS}
    named = {**trivial(whole), **runs}
    print_json(
        {
            "events": EVENTS,
            "seed": seed,
            "price_of_a_miss": MISS,
            "price_of_a_false_alarm": ALARM,
            "learners": [
                {
                    "learner": name,
                    "told": told.get(name),
                    **measures(counts, Bill(MISS, ALARM)),
                }
                for name, counts in named.items()
            ],
            "best_expected_cost": best,
            "report": report,
        }
    )


def _check_not_taken(output: str) -> None:
    """Raise rather than replace a file that is not a report."""
    path = Path(output)
    if output == "-":
        raise click.UsageError("--output: the table goes to standard output; name a file")
    if path.is_file() and b'content="lopsided"' not in path.read_bytes()[:1000]:
        raise click.UsageError(f"{output} exists and is not a report: choose another --output")
