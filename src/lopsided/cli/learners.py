"""lopsided learners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ..catalog import Entry, entries, find
from .output import heading, print_json, print_table


@click.command(
    epilog="""\b
Examples:
  lopsided learners
  lopsided learners ACOG-II
"""
)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the learners, or show one with its parameters, grid and paper."""
    if name is None:
        if as_json:
            print_json([_about(entry) for entry in entries()])
        else:
            rows = [(entry.name, entry.purpose, entry.paper) for entry in entries()]
            print_table(rows, header=("learner", "what it is for", "from"))
        return
    entry = find(name)
    if as_json:
        print_json(_about(entry))
        return
    about = _about(entry)
    heading(entry.name, nl=False)
    click.echo(f": {entry.purpose}")
    if entry.paper:
        click.echo(f"from {entry.paper}")
    if entry.note:
        click.echo(entry.note)
    if entry.aliases:
        click.echo(f"also called {', '.join(entry.aliases)}")
    click.echo(f"in Python: lopsided.make({entry.name!r}), a {_class(entry)}\n")
    print_table(
        [(p["name"], repr(p["default"]), p["range"]) for p in about["parameters"]],
        header=("parameter", "default", "range"),
    )
    if entry.grid:
        click.echo(f"\ngrid: {_values(entry.grid)}")
    if entry.all_values:
        click.echo(f"whole grid: {_values(entry.all_values)}")


def _class(entry: Entry) -> str:
    cls = entry.cls
    module = cls.__module__.partition(".algorithms.")[0]  # a learner of the package is public
    return f"{module}.{cls.__qualname__}"


def _values(grid: Mapping[str, tuple[Any, ...]]) -> str:
    return "; ".join(f"{name} in {', '.join(map(_value, tried))}" for name, tried in grid.items())


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _about(entry: Entry) -> dict[str, Any]:
    parameters = [
        {"name": name, "default": default, "range": wanted}
        for name, default, wanted in entry.make().described()
    ]
    return {
        "name": entry.name,
        "purpose": entry.purpose,
        "paper": entry.paper,
        "note": entry.note,
        "aliases": list(entry.aliases),
        "class": entry.cls.__name__,
        "parameters": parameters,
        "grid": {k: list(v) for k, v in entry.grid.items()},
        "paper_grid": {k: list(v) for k, v in entry.paper_grid.items()},
    }
