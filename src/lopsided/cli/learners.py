"""lopsided learners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ..catalog import CATALOG, Entry, find
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
            print_json([_about(entry) for entry in CATALOG])
        else:
            rows = [(entry.name, entry.purpose, entry.paper) for entry in CATALOG]
            print_table(rows, header=("learner", "what it is for", "from"))
        return
    entry = find(name)
    if as_json:
        print_json(_about(entry))
        return
    about = _about(entry)
    heading(entry.name, nl=False)
    click.echo(f": {entry.purpose}")
    click.echo(f"from {entry.paper}")
    if entry.aliases:
        click.echo(f"also called {', '.join(entry.aliases)}")
    click.echo(f"in Python: lopsided.make({entry.name!r}), a lopsided.{entry.cls.__name__}\n")
    print_table(
        [(p["name"], repr(p["default"]), p["range"]) for p in about["parameters"]],
        header=("parameter", "default", "range"),
    )
    if entry.all_values:
        click.echo(f"\ngrid: {_values(entry.grid)}\ngrid of its paper: {_values(entry.all_values)}")
    elif entry.grid:
        click.echo(f"\ngrid of its paper: {_values(entry.grid)}")


def _values(grid: Mapping[str, tuple[Any, ...]]) -> str:
    return "; ".join(
        f"{name} in {', '.join(f'{v:g}' for v in tried)}" for name, tried in grid.items()
    )


def _about(entry: Entry) -> dict[str, Any]:
    parameters = [
        {"name": name, "default": default, "range": wanted}
        for name, default, wanted in entry.make().described()
    ]
    return {
        "name": entry.name,
        "purpose": entry.purpose,
        "paper": entry.paper,
        "aliases": list(entry.aliases),
        "class": entry.cls.__name__,
        "parameters": parameters,
        "grid": {k: list(v) for k, v in entry.grid.items()},
        "paper_grid": {k: list(v) for k, v in entry.paper_grid.items()},
    }
