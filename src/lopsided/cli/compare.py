"""lopsided compare."""

from __future__ import annotations

import ast
import os
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from .._atomic import write_atomically
from ..catalog import Entry, entries, find, learners
from ..comparison import Comparison, compare, tables
from ..comparison.grids import learners_of
from ..comparison.measures import NAMES, measure
from ..comparison.result import EXTENSIONS
from ..data.block import Block, Sparse
from ..data.folds import read_folds
from ..data.gather import gather, taken
from ..errors import BadRowError, DataError, LabelError
from ..estimator.base import OnlineClassifier
from ..estimator.labels import Labels
from .options import (
    check_apart,
    check_writable,
    config_option,
    cost_option,
    parse_label,
    parse_settings,
    quiet_option,
    reader_with,
    reading_options,
    settings_option,
)
from .output import Live, left_out
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
@click.option("--learners", help="Names with commas between, all, linear or sparse. [the usual]")
@click.option(
    "--grid",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Values to try for a parameter, instead of those of the catalog; none: only defaults; "
    "paper: all of the papers. Repeatable.",
)
@settings_option("A parameter of all learners that have it. Repeatable.")
@click.option("--positive", help="The positive label. [the larger of the two]")
@click.option("--permutations", type=click.IntRange(1), help="How many random orders. [20]")
@click.option(
    "--folds",
    metavar="K|FILE",
    help="Hold out folds instead: so many, or a file with a fold number a row (columns: repeats).",
)
@click.option("--test", help="Report on these rows after learning from DATA.")
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
@cost_option("Prices of mistakes.")
@click.option(
    "--select",
    type=click.Choice(["honest", "best"]),
    default="honest",
    show_default=True,
    help="Choose parameters by what is not reported, or as papers do by the very runs reported.",
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
    help="coarse: every fourth value of long grids, then what is next to the best.",
)
@click.option("--seed", type=click.IntRange(0), help="Of permutations and folds. [0]")
@click.option("--jobs", "-j", type=click.IntRange(1), help="Threads. [all cores]")
@click.option("--resume", metavar="JOURNAL", help="Keep finished runs here; go on if it is there.")
@click.option(
    "--table",
    "form_out",
    type=click.Choice(tables.FORMATS),
    help="How to print the result. [text, or by the ending of --output]",
)
@click.option("--output", "-o", help="Write the table to this file.")
@click.option("--report", help="Write a report to this HTML file.")
@click.option("--sweep", metavar="NAME", help="Print the metric against this parameter instead.")
@click.option("--json", "as_json", is_flag=True, help="The same as --table json.")
@quiet_option
@config_option
@reading_options
def command(data: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Compare learners on DATA: the same rows, the same runs, parameters chosen for each.

    DATA is read whole: a file (LIBSVM, CSV, Parquet, JSON lines or NPZ, plain or compressed), the
    name of a data set, or - for standard input.
    """
    output, report, journal = (options.pop(name) for name in ("output", "report", "resume"))
    form = _form(options.pop("form_out"), as_json, output)
    if report == "-" and (output == "-" or as_json):
        raise click.UsageError("--report -: the table cannot go to standard output too")
    check_apart((data, options["test"], options["folds"]), (output, report, journal))
    for path in (output, report, journal):
        check_writable(path)
    if report is not None:
        from .. import report as reports

        reports.require()
    sweep = options.pop("sweep")
    models, grid = _learners(options)
    points = [learner.points for learner in learners_of(models, grid)]
    if sweep is not None and not any(sweep in point for mine in points for point in mine):
        raise click.UsageError(f"--sweep {sweep}: no learner has it in its grid; add --grid")
    if sweep is not None and options["search"] == "coarse":
        raise click.UsageError("--sweep: a coarse search leaves points of the grid out")
    if options["alpha"] is None:
        options["alpha"] = 0.5
    elif report is None and not _has_sum(options["metric"], form, sweep):
        raise click.UsageError("--alpha: it weighs the sum, and the table has none; leave it out")
    _check_choice(options, any(len(mine) > 1 for mine in points))
    job = _Job(data, models, grid, options)
    result = job.run(journal, Live(quiet or as_json))
    if isinstance(result, int):
        return result
    for text in job.left_out:
        click.echo(f"left out: {text}", err=True)
    table = result.table(form) if sweep is None else tables.sweep(result, sweep, form)
    if output in (None, "-"):
        if report != "-":  # the page goes there
            click.echo(table, nl=False)
    else:
        write_atomically(output, table.encode())
    if report is not None:
        from .report_file import typed

        page = reports.render(result, command=typed(), data={"name": data}, notes=job.left_out)
        if report == "-":
            click.echo(page, nl=False)
        else:
            write_atomically(report, page.encode())
    return 0


def _has_sum(metric: str, form: str, sweep: str | None) -> bool:
    """Say whether a table shows the weighted sum."""
    if metric == "sum" or sweep is not None:
        return metric == "sum"
    return metric == "cost" or form in ("csv", "json")


def _check_choice(options: dict[str, Any], choosing: bool) -> None:
    """Refuse what has no effect on the choice of parameters."""
    honest = choosing and options["select"] == "honest"
    by_itself = options["folds"] or options["test"] or options["order"] == "time"
    if options["inner"] is not None and not (honest and options["folds"]):
        raise click.UsageError(
            "--inner: it chooses parameters honestly inside --folds; leave it out"
        )
    if options["search"] == "coarse" and not (honest and by_itself):
        raise click.UsageError(
            "--search coarse: for grids, with --folds, --test or --order time and an honest choice"
        )
    folds = options["folds"]
    parted = honest and options["inner"] != 0
    random = options["order"] == "random" and (folds is None or folds.isdecimal() or parted)
    if options["seed"] is not None and not random:
        raise click.UsageError("--seed: nothing is random here; leave it out")


def _form(form: str | None, as_json: bool, output: str | None) -> str:
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --table {form}: leave one of the two out")
    ending = os.path.splitext(output or "")[1].lower()
    if as_json or form is not None:
        return "json" if as_json else str(form)
    if output in (None, "-"):
        return "text"
    if ending not in EXTENSIONS:
        raise click.UsageError(
            f"--output {output}: name it {', '.join(EXTENSIONS)}, or say what to write with --table"
        )
    return EXTENSIONS[ending]


def _learners(options: dict[str, Any]) -> tuple[dict[str, OnlineClassifier], Any]:
    """Take the learners and their grids out of the options."""
    entries = _entries(options.pop("learners"))
    settings = parse_settings(options.pop("settings"))
    made = {}
    for name in settings:
        if not any(name in entry.make().parameter_names() for entry in entries):
            raise click.UsageError(f"--set {name}: no learner has this parameter")
    for entry in entries:
        own = entry.make().parameter_names()
        made[entry.name] = entry.make(**{k: v for k, v in settings.items() if k in own})
    given = options.pop("grid")
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
        return [find(name) for name in DEFAULT_LEARNERS if name in learners()]
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
    """The data and what is to be done with it."""

    def __init__(
        self,
        data: str,
        models: dict[str, OnlineClassifier],
        grid: Any,
        options: dict[str, Any],
    ) -> None:
        self.left_out: list[str] = []
        self._models, self._grid = models, grid
        self._model = next(iter(models.values()))
        self._positive: str | None = options.pop("positive")
        self._done = self._total = 0
        test, folds = options.pop("test"), options.pop("folds")
        self._settings = _settings(options, test, folds)
        reading = dict(options)
        self._block, reader = self._read(data, options, None)
        if test is not None:
            held, _ = self._read(test, reading, reader)
            _widen(self._block, held)
            self._settings["held_out"] = (held.X, held.y, held.weight)
        if folds is not None:
            rows = len(self._block.lines)
            self._settings["folds"] = int(folds) if folds.isdecimal() else read_folds(folds, rows)

    def run(self, journal: str | None, live: Live) -> Comparison | int:
        """Return the comparison, or an exit code if it was interrupted."""

        def progress(done: int, total: int) -> None:
            self._done, self._total = done, total
            live.runs(done, total)

        stop_by_exception()
        block = self._block
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
                "nothing was kept; with --resume JOURNAL a comparison can be gone on with"
                if journal is None
                else "the same command goes on from there"
            )
            when = "before the first run ended"
            if self._total:
                when = f"after {self._done:,} of {self._total:,} runs"
            click.echo(f"interrupted {when}: {then}", err=True)
            return int(stop.args[0])
        finally:
            live.close()

    def _read(self, data: str, options: dict[str, Any], before: Any) -> tuple[Block, Any]:
        """Return the rows of a file; what comes after another file has its columns and classes."""
        known: dict[str, Any] = {"hash_bits": self._model.hash_bits, "labelled": True}
        if before is not None:
            known["names"] = getattr(self._block.X, "names", None)
            known["classes"] = (
                np.unique(self._block.y).tolist() if self._block.y is not None else ()
            )
        reader = reader_with(data, options, **known)
        if getattr(reader, "base", 0) is None and getattr(before, "base", None) is not None:
            reader.base = before.base
        block = gather(reader)
        if self._positive is not None:
            for model in self._models.values():
                model.positive = parse_label(self._positive, self._labels(block)[0].item())
        block = self._of_two_classes(block, reader.bad)
        self.left_out += left_out(reader)
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
                bad.add(DataError.of(error, block.file, int(block.lines[error.row])))
                kept = kept[kept != error.row]
        return block if len(kept) == len(y) else taken(block, kept)


def _settings(options: dict[str, Any], test: str | None, folds: str | None) -> dict[str, Any]:
    """Take what `compare` is told out of the options."""
    names = (
        *("permutations", "order", "metric", "alpha"),
        *("select", "inner", "search", "seed", "jobs"),
    )
    settings = {name: options.pop(name) for name in names}
    settings["fn"], settings["fp"] = options.pop("cost")
    if folds is not None and (settings["permutations"] or test or settings["order"] == "time"):
        raise click.UsageError("--folds: leave out --permutations, --test and --order")
    if settings["order"] == "time" and settings["permutations"]:
        raise click.UsageError("--order time: leave out --permutations")
    settings["seed"] = settings["seed"] or 0
    return settings


def _widen(*blocks: Block) -> None:
    """Let sparse rows of several files be equally wide."""
    sparse = [block.X for block in blocks if isinstance(block.X, Sparse) and not block.X.names]
    width = max((X.shape[1] for X in sparse), default=0)
    for X in sparse:
        X.shape = (X.shape[0], width)
