"""lopsided explain."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import click
import numpy as np

from .._text import visible
from ..data.block import Dense, Sparse
from ..errors import InputError
from ..estimator.base import OnlineClassifier
from ..estimator.batch import CheckedEvent
from ..persist import load_run
from .options import ReadingOptions, reader_from, reading_options
from .output import print_table


@click.command(
    epilog="""\b
Examples:
  lopsided explain model.lop new.csv
  lopsided explain model.lop new.csv --top 3 --limit 100 --json
"""
)
@click.argument("model")
@click.argument("data")
@click.option("--top", type=click.IntRange(1), default=8, show_default=True, help="Reasons a row.")
@click.option("--limit", type=click.IntRange(1), default=5, show_default=True, help="Rows at most.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each row.")
@reading_options
def command(model: str, data: str, top: int, limit: int, as_json: bool, **reading: Any) -> None:
    """Show why rows of DATA get their scores: the effects of their features, which sum to it."""
    found, _ = load_run(model)
    reader = reader_from(data, ReadingOptions(**reading), found, labelled=False)
    left = limit
    for block in reader:
        lines = block.lines[:left].tolist()
        for row, (line, event) in enumerate(zip(lines, events_of(block.X, found), strict=False)):
            kept = {name: cells[row] for name, cells in block.kept.items()}
            why = found.explain_one(event)
            more = why.reasons[top:]
            rest = (len(more), sum(reason.effect for reason in more))
            if as_json:
                shown = [dataclasses.asdict(reason) for reason in why.reasons[:top]]
                about = {"line": line, **kept, "score": why.score, "base": why.base}
                others = {"others": rest[0], "effect_of_others": rest[1]}
                click.echo(json.dumps({**about, "reasons": shown, **others}))
            else:
                place = [f"line {line}", *(f"{name} {text}" for name, text in kept.items())]
                _print(", ".join(place), why, top, rest)
        left -= len(block.lines)
        if left <= 0:
            break


def _print(place: str, why: Any, top: int, rest: tuple[int, float]) -> None:
    rows = [("base", "", f"{why.base:+.4f}")]
    for reason in why.reasons[:top]:
        value = "" if reason.value is None else f"{reason.value:g}"
        rows.append((reason.feature, value, f"{reason.effect:+.4f}"))
    if rest[0]:
        rows.append((f"{rest[0]} others", "", f"{rest[1]:+.4f}"))
    click.echo(f"{visible(place)}: score {why.score:+.4f}")
    print_table(rows)
    click.echo()


def events_of(X: Any, model: OnlineClassifier) -> Iterator[Any]:
    """Yield the rows of a block one by one."""
    if isinstance(X, list):
        yield from map(CheckedEvent, X)
    elif isinstance(X, Dense):
        for row in X.array.tolist():
            yield CheckedEvent(zip(X.names, row, strict=True))
    elif isinstance(X, Sparse) and X.hashed:
        raise InputError("explain: the names of the features are hashed, so there are none to show")
    else:
        size = model.n_features_in_
        named = isinstance(X, Sparse) and X.names is not None
        starts, indices, data = (X.indptr, X.indices, X.data) if hasattr(X, "indptr") else X.csr()
        for first, last in pairwise(starts.tolist()):
            columns, values = indices[first:last], data[first:last]
            if named:
                row_of = {X.names[j]: float(v) for j, v in zip(columns, values, strict=True)}
                yield CheckedEvent(row_of)
            else:
                row = np.zeros(size)
                known = columns < size
                row[columns[known]] = values[known]
                yield row
