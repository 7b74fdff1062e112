"""lopsided predict."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from ..persist import load_run
from .options import (
    ReadingOptions,
    check_apart,
    check_writable,
    reader_from,
    reading_options,
    safe_csv_option,
)
from .output import left_out, write_bad_lines
from .result_file import ResultFile, cell


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
@safe_csv_option
@reading_options
def command(model: str, data: str, output: str | None, safe_csv: bool, **reading: Any) -> None:
    """Write line, score and label of every row of DATA as CSV; 0 and above is positive."""
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
            decoded = found.labels.decode(np.asarray(scores) >= 0).tolist()
            labels = (cell(label, safe=safe_csv) for label in decoded)
            rows = zip(block.lines.tolist(), scores.tolist(), labels, strict=True)
            file = file or ResultFile(output or "-", "line,score,predicted")
            file.write(f"{line},{score!r},{label}" for line, score, label in rows)
        whole = True
    finally:
        if file is not None:
            file.close(whole=whole)
    write_bad_lines(reader, options.bad_lines)
    for text in left_out(reader):
        click.echo(f"left out: {text}", err=True)
