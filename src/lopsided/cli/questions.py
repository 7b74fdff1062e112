"""lopsided questions."""

from __future__ import annotations

import json

import click

from .._text import visible
from ..algorithms.active import Active
from ..persist import load_run
from .options import safe_csv_option
from .result_file import cell, on_screen
from .waiting import Waiting


@click.command(
    epilog="""\b
Examples:
  lopsided questions model.lop
  lopsided questions model.lop --json | jq .txn_id
"""
)
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Write JSON lines instead of CSV.")
@safe_csv_option
def command(model: str, as_json: bool, safe_csv: bool) -> None:
    """Write the questions of MODEL that wait for a label, oldest first.

    Each comes with its line and score when it was asked, and with the columns that `lopsided ask`
    was told to copy.
    """
    found, state = load_run(model)
    if not isinstance(found, Active):
        raise click.UsageError(f"{visible(model)}: this model does not ask for labels")
    rows = Waiting.of(state).described(found)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if as_json:
        lines = [json.dumps(row) for row in rows]
    else:
        lines = [",".join(map(cell, columns))] if rows else []
        for row in rows:
            values = ["" if row.get(name) is None else row[name] for name in columns]
            lines.append(",".join(cell(value, safe=safe_csv) for value in values))
    for line in on_screen(lines):
        click.echo(line)
    if not rows:
        click.echo("no question waits", err=True)
