"""lopsided predict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from ..persist import load_run
from .options import (
    ReadingOptions,
    check_apart,
    check_writable,
    cost_column_option,
    deciding_cost_option,
    parse_costs,
    print_notes,
    reader_from,
    reading_options,
    safe_csv_option,
)
from .output import left_out, with_kept, write_bad_lines
from .result_file import ResultFile, cell

_COLUMNS = ("line", "score", "predicted")


@click.command(
    epilog="""\b
Examples:
  lopsided predict model.lop new.csv --output scores.csv
  zcat new.svm.gz | lopsided predict model.lop -
"""
)
@click.argument("model")
@click.argument("data")
@click.option("--output", "-o", help="File to write to. [standard output]")
@click.option("--proba", is_flag=True, help="Write the probability of the positive label too.")
@deciding_cost_option
@cost_column_option
@safe_csv_option
@reading_options
def command(
    model: str,
    data: str,
    output: str | None,
    proba: bool,
    cost: tuple[float, float] | None,
    cost_columns: tuple[str, ...],
    safe_csv: bool,
    **reading: Any,
) -> None:
    """Write line, score and label of every row of DATA as CSV.

    DATA is read as the data that the model learned from was: no option need be given again.
    Labels are those of the lowest expected cost at the prices given here or kept with the model;
    without prices a score of 0 and above is positive.
    """
    costs = parse_costs(cost, cost_columns)
    options = ReadingOptions(**reading)
    check_apart((model, data), (output, options.bad_lines))
    check_writable(output)
    found, _ = load_run(model)
    reader = reader_from(data, options, found, labelled=False)
    file = None
    whole = False
    try:
        for block in reader:
            scores = found.score_many(block.X)
            decided = found.decided(scores, block.X, costs).tolist()
            labels = (cell(label, safe=safe_csv) for label in decided)
            columns: list[Iterable[str]] = [
                map(str, block.lines.tolist()),
                map(repr, scores.tolist()),
                labels,
            ]
            if proba:
                columns.append(map(repr, found.probabilities(scores).tolist()))
            columns += with_kept(block.kept, safe=safe_csv)
            header = ",".join([*_COLUMNS, *["probability"] * proba, *map(cell, block.kept)])
            file = file or ResultFile(output or "-", header)
            file.write(map(",".join, zip(*columns, strict=True)))
        whole = True
    finally:
        if file is not None:
            file.close(whole=whole)
    print_notes(reader)
    write_bad_lines(reader, options.bad_lines)
    for text in left_out(reader):
        click.echo(f"left out: {text}", err=True)
