"""lopsided compare."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from typing import Any, cast

import click
import numpy as np
from numpy.typing import NDArray

from .. import report
from .._atomic import write_atomically
from ..catalog import Entry, entries, find
from ..comparison import Comparison, compare, tables
from ..comparison.grids import learners_of
from ..comparison.measures import NAMES, measure
from ..data.block import Block, Dense, Sparse
from ..data.gather import gather, taken
from ..errors import BadRowError, DataError, LabelError
from ..estimator.base import OnlineClassifier
from ..estimator.batch import is_events
from ..estimator.labels import Labels, each_strange
from .active_options import time_option
from .compare_options import CompareOptions
from .label_times import LabelTimes
from .late_run import WHEN
from .options import (
    cost_option,
    parse_label,
    parse_settings,
    print_notes,
    quiet_option,
    reader_with,
    reading_options,
    settings_option,
)
from .output import Live, left_out, write_bad_lines
from .report_file import typed
from .signals import stop_by_exception

DEFAULT_LEARNERS = (
    "Recommended",
    "Perceptron",
    "PA-I",
    "CPA",
    "PAUM",
    "AROW-diag",
    "COG-I",
    "COG-II",
    "ACOG-I-diag",
    "ACOG-II-diag",
)


def _metric(name: str) -> str:
    try:
        measure(name)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return name


@click.command(
    epilog="""\b
Examples:
  lopsided compare events.csv --label fraud --positive yes
  lopsided compare a9a --learners COG-II,ACOG-II-diag --grid learning_rate=0.1,1,10
  lopsided compare w8a:train --test w8a:test --metric auc --output table.tex
"""
)
@click.argument("data")
@click.option("--learners", help="Comma-separated names, all, linear or sparse. [ten common ones]")
@click.option(
    "--grid",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Values to try for a parameter, instead of those of the catalog; none: defaults only; "
    "paper: the full grids of the papers. Repeatable.",
)
@settings_option("A parameter of all learners that have it. Repeatable.")
@click.option("--positive", help="The positive label. [the larger of the two]")
@click.option("--permutations", type=click.IntRange(1), help="Number of random orders. [20]")
@click.option(
    "--folds",
    metavar="K|FILE",
    help="Hold out folds instead: K, or a file with a fold number per row (a column per repeat).",
)
@click.option("--test", help="Score these rows after learning from DATA.")
@click.option(
    "--order",
    type=click.Choice(["random", "time"]),
    default="random",
    show_default=True,
    help="time: one run in the order of DATA.",
)
@click.option(
    "--metric",
    default="sum",
    show_default=True,
    callback=lambda _ctx, _param, name: _metric(name),
    help=f"What decides: {', '.join(NAMES)}.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1),
    help="Weight of sensitivity in the sum. [0.5]",
)
@cost_option("Costs of mistakes.")
@time_option
@WHEN[0]
@WHEN[1]
@click.option(
    "--select",
    type=click.Choice(["honest", "best"]),
    default="honest",
    show_default=True,
    help="Choose parameters on runs that are not reported, or, as papers do, on those that are.",
)
@click.option(
    "--inner",
    type=click.IntRange(0),
    help="With --folds: folds inside the training part that choose parameters; 0: the pass over "
    "it. [5]",
)
@click.option(
    "--search",
    type=click.Choice(["all", "coarse"]),
    default="all",
    show_default=True,
    help="coarse: every fourth value of long grids, then the neighbours of the best.",
)
@click.option("--seed", type=click.IntRange(0), help="Seed of permutations and folds. [0]")
@click.option("--jobs", "-j", type=click.IntRange(1), help="Number of threads. [all cores]")
@click.option(
    "--resume", metavar="JOURNAL", help="Record finished runs here; resume if the file exists."
)
@click.option(
    "--table",
    "form_out",
    type=click.Choice(tables.FORMATS),
    help="How to print the result. [text, or by the extension of --output]",
)
@click.option("--output", "-o", help="Write the table to this file.")
@click.option("--report", help="Write a report to this HTML file.")
@click.option("--sweep", metavar="NAME", help="Print the metric against this parameter instead.")
@click.option("--json", "as_json", is_flag=True, help="The same as --table json.")
@quiet_option
@reading_options
def command(**options: Any) -> int:
    """Compare learners on DATA: the same rows, the same runs, parameters chosen for each.

    DATA is read into memory: a file (LIBSVM, CSV, Parquet, JSON lines or NPZ, plain or compressed),
    the name of a data set, or - for standard input.
    """
    given = CompareOptions(**options)
    if given.report is not None:
        report.require()
    models, grid = _learners(given)
    points = [learner.points for learner in learners_of(models, grid)]
    given.check(points)
    job = _Job(given, models, grid)
    result = job.run(Live(given.quiet or given.as_json))
    if isinstance(result, int):
        return result
    for text in job.left_out:
        click.echo(f"left out: {text}", err=True)
    _write(given, result, job.left_out)
    return 0


def _write(options: CompareOptions, result: Comparison, notes: list[str]) -> None:
    """Write the table and the report."""
    sweep, form = options.sweep, options.table_form
    table = result.table(form) if sweep is None else tables.sweep(result, sweep, form)
    if options.output not in (None, "-"):
        write_atomically(str(options.output), table.encode())
    elif options.report != "-":  # the page goes there
        click.echo(table, nl=False)
    if options.report is None:
        return
    page = report.render(result, command=typed(), data={"name": options.data}, notes=notes)
    if options.report == "-":
        click.echo(page, nl=False)
    else:
        write_atomically(options.report, page.encode())


def _learners(options: CompareOptions) -> tuple[dict[str, OnlineClassifier], Any]:
    """Return the learners and their grids."""
    entries = _entries(options.learners)
    settings = parse_settings(options.settings)
    made = {}
    for name in settings:
        if not any(name in entry.make().parameter_names() for entry in entries):
            raise click.UsageError(f"--set {name}: no learner has this parameter")
    for entry in entries:
        own = entry.make().parameter_names()
        made[entry.name] = entry.make(**{k: v for k, v in settings.items() if k in own})
    given = options.grid
    if not given or given == ("paper",):
        return made, {
            entry.name: {
                name: tried
                for name, tried in (entry.paper_grid if given else entry.grid).items()
                if name not in settings
            }
            for entry in entries
        }
    if given == ("none",):
        return made, {}
    grid: dict[str, list[Any]] = {}
    for name, values in map(_values, given):
        if name in grid or name in settings:
            raise click.UsageError(f"{name} is given twice: once, --grid {name}=VALUE,VALUE,...")
        grid[name] = values
    return made, grid


def _entries(names: str | None) -> list[Entry]:
    if names is None:
        return [find(name) for name in DEFAULT_LEARNERS]
    if names == "all":
        return list(entries())
    if names in ("linear", "sparse"):
        return [entry for entry in entries() if entry.family == names]
    found = [find(name.strip()) for name in names.split(",")]
    for at, entry in enumerate(found):
        if entry in found[:at]:
            raise click.UsageError(f"--learners: {entry.name} is named twice")
    return found


def _values(text: str) -> tuple[str, list[Any]]:
    """Read NAME=VALUE,VALUE,...: values are Python literals or words."""
    name, equals, values = text.partition("=")
    if not equals or not values:
        raise click.UsageError(f"--grid {text!r}: expected NAME=VALUE,VALUE,..., none or paper")
    try:
        found = ast.literal_eval(f"[{values}]")
    except (ValueError, SyntaxError):
        found = [parse_settings((f"v={value}",))["v"] for value in values.split(",")]
    return name.strip().replace("-", "_"), found


class _Job:
    """The data and what to do with it."""

    def __init__(
        self, options: CompareOptions, models: dict[str, OnlineClassifier], grid: Any
    ) -> None:
        self.left_out: list[str] = []
        self._options, self._models, self._grid = options, models, grid
        self._model = next(iter(models.values()))
        self._done = self._total = 0
        self._block, reader = self._read(options.data, None)
        self._settings = options.settings_of_compare(len(self._block.lines))
        if options.label_time is not None:
            self._settings["time"] = self._block.time
            self._settings["label_time"] = self._block.label_time
        if options.test is not None:
            held, _ = self._read(options.test, reader)
            _widen(self._block, held)
            self._settings["held_out"] = (held.X, held.y, held.weight)

    def run(self, live: Live) -> Comparison | int:
        """Return the comparison, or an exit code if it was interrupted."""

        def progress(done: int, total: int) -> None:
            self._done, self._total = done, total
            live.runs(done, total)

        stop_by_exception()
        journal, block = self._options.resume, self._block
        try:
            return compare(
                self._models,
                block.X,
                self._labels(block),
                grid=self._grid,
                sample_weight=block.weight,
                resume=journal,
                progress=progress,
                **self._settings,
            )
        except (LabelError, BadRowError) as error:
            if error.row is None:
                raise
            raise DataError.of(error, block.file, int(block.lines[error.row])) from None
        except KeyboardInterrupt as stop:
            live.close()
            then = (
                "nothing was kept; with --resume JOURNAL a comparison can be resumed"
                if journal is None
                else "run the same command again to resume"
            )
            when = "before the first run ended"
            if self._total:
                when = f"after {self._done:,} of {self._total:,} runs"
            click.echo(f"interrupted {when}: {then}", err=True)
            return int(stop.args[0])
        finally:
            live.close()

    def _read(self, data: str, before: Any) -> tuple[Block, Any]:
        """Return the rows of a file; what comes after another file has its columns and classes."""
        known: dict[str, Any] = {"hash_bits": self._model.hash_bits, "labelled": True}
        if before is not None:
            known["names"] = getattr(self._block.X, "names", None)
            known["classes"] = (
                np.unique(self._block.y).tolist() if self._block.y is not None else ()
            )
        times, given = None, self._options
        if given.label_time is not None:
            if before is None:
                times = LabelTimes(given.label_time, given)
                given = times.reading(given, given.time)
            else:  # what is held out is not learned from
                aside = (str(given.time), str(given.label_time))
                given = dataclasses.replace(given, time=None, drop=(*given.drop, *aside))
        with contextlib.nullcontext() if times is None else times.opening():
            reader = reader_with(data, given, **known)
        if getattr(reader, "base", 0) is None and getattr(before, "base", None) is not None:
            reader.base = before.base
        block = gather(
            reader if times is None else (times.timed(b, reader.bad) for b in times.blocks(reader))
        )
        print_notes(reader)
        if self._options.unknown == "learn" and is_events(block.X):
            block.X = [_by_value(event) for event in block.X]
        if self._options.positive is not None:
            like = self._labels(block)[0].item()
            for model in self._models.values():
                model.positive = parse_label(self._options.positive, like)
        block = self._of_two_classes(block, reader.bad)
        self.left_out += left_out(reader)
        if before is None:
            write_bad_lines(reader, self._options.bad_lines)
        return block, reader

    @staticmethod
    def _labels(block: Block) -> NDArray[Any]:
        if block.y is None:
            raise DataError(block.file, int(block.lines[0]), expected="a label on every row")
        return block.y

    def _of_two_classes(self, block: Block, bad: Any) -> Block:
        """Return the block without rows of a third class, which are bad lines."""
        y = self._labels(block)
        weight = getattr(self._model, "class_weight", None)
        kept = np.arange(len(y))
        while True:
            try:
                Labels.start(self._model.positive, None, weight).read(y, kept)
                break
            except LabelError as error:
                if error.row is None:
                    raise
                strange = each_strange(error, y)
                for one in strange:
                    bad.add(DataError.of(one, block.file, int(block.lines[cast(int, one.row)])))
                kept = np.setdiff1d(kept, [one.row for one in strange], assume_unique=True)
        return block if len(kept) == len(y) else taken(block, kept)


def _widen(*blocks: Block) -> None:
    """Let rows of several files be equally wide."""
    dense = [block.X for block in blocks if isinstance(block.X, Dense)]
    names = max((X.names for X in dense), key=len, default=[])
    for rows in dense:  # a column that says where cells are empty may be of one file only
        more = len(names) - rows.array.shape[1]
        rows.array, rows.names = np.pad(rows.array, ((0, 0), (0, more))), names
    sparse = [block.X for block in blocks if isinstance(block.X, Sparse) and not block.X.names]
    width = max((X.shape[1] for X in sparse), default=0)
    for X in sparse:
        X.shape = (X.shape[0], width)


def _by_value(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event whose texts are features of their own; numbers keep their names."""
    texts = {name: value for name, value in event.items() if isinstance(value, str)}
    named = {f"{name}={value}": 1.0 for name, value in texts.items()}
    return {**{name: value for name, value in event.items() if name not in texts}, **named}
