"""lopsided predict."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

import click
import numpy as np

from ..persist import load_run
from .options import check_writable, reader_from, reading_options


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
@reading_options
def command(model: str, data: str, output: str | None, **options: Any) -> None:
    """Write line, score and predicted label of every row of DATA as CSV; from 0 on is positive."""
    check_writable(output)
    found, _ = load_run(model)
    reader = reader_from(data, options, found, labelled=False)
    with contextlib.ExitStack() as stack:
        file = sys.stdout
        temporary = None
        if output is not None and output != "-":
            temporary = f"{output}.part"
            file = stack.enter_context(open(temporary, "w", encoding="utf-8"))
        try:
            file.write("line,score,predicted\n")
            for block in reader:
                scores = found.decision_function(block.X)
                labels = found._labels.decode(np.asarray(scores) >= 0).tolist()
                rows = zip(block.lines.tolist(), scores.tolist(), labels, strict=True)
                file.writelines(f"{line},{score!r},{label}\n" for line, score, label in rows)
        except BaseException:
            if temporary is not None:
                os.unlink(temporary)
            raise
    if temporary is not None and output is not None:
        os.replace(temporary, output)
    for error in reader.bad.found:
        click.echo(f"left out: {error}", err=True)
