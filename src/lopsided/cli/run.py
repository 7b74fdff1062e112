"""lopsided run."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import click

from ..algorithms.active import Active
from ..data.block import Block
from ..errors import InterruptedReadError
from ..evaluation.stream import Slice, StreamRun
from ..persist import load_run, save
from .active_options import asking, asking_options, check_time, made, time_option
from .options import (
    check_apart,
    check_writable,
    config_option,
    cost_option,
    parse_label,
    parse_settings,
    quiet_option,
    reader_from,
    reading_options,
    settings_option,
)
from .output import Live, bad_lines, heading, left_out, measures, print_json, print_result
from .report_file import RunReport
from .result_file import ResultFile, cell

DEFAULT_LEARNER = "Recommended"
_CURVE = ("rows", "events", "sensitivity", "specificity", "sum", "cost", "labels", "updates", "auc")
# Labels that need no word when they are taken for the positive one.
_PLAINLY_POSITIVE = ("yes", "y", "true", "t", "positive", "pos")


class Stop:
    """Remembers a signal until the run is at a row boundary."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.code = 0
        self._then = then
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            signal.signal(number, self._handler(code))

    def _handler(self, code: int) -> Any:
        def remember(_signal: int, _frame: FrameType | None) -> None:
            if self.code:  # asked twice: at once
                os._exit(code)
            self.code = code
            self._then()

        return remember


@click.command(
    epilog="""\b
Examples:
  lopsided run events.csv --label fraud --positive yes --save model.lop
  lopsided run a9a.libsvm.xz --learner ACOG-II --set learning_rate=10
  lopsided run events.csv --label fraud --budget 5%
  zcat day1.svm.gz | lopsided run - --load model.lop --save model.lop --json
"""
)
@click.argument("data")
@click.option("--learner", "-l", help=f"Name of the learner. [{DEFAULT_LEARNER}]")
@settings_option("A parameter of the learner. Repeatable.")
@click.option("--positive", help="The positive label. [the larger of the two]")
@asking_options
@time_option
@click.option("--load", "load_path", help="Go on with a saved model.")
@click.option("--save", "save_path", help="Save the model when the run ends.")
@click.option("--predictions", help="Write score and prediction of every row to this file.")
@click.option("--curve", help="Write the measures over the stream to this CSV file.")
@click.option("--report", "report_path", help="Write a report with figures to this HTML file.")
@click.option(
    "--every",
    type=click.IntRange(1),
    help="Rows between points of the curve. [1000]",
)
@click.option(
    "--checkpoint",
    type=click.IntRange(1),
    metavar="EVERY",
    help="Save model and run every so many rows, to FILE.checkpoint of --save FILE.",
)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint of an interrupted run.")
@click.option("--limit", type=click.IntRange(1), help="Stop after so many rows.")
@cost_option('Prices in the report; to learn with them: --set class_weight="{1: 9, 0: 1}".')
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@quiet_option
@config_option
@reading_options
def command(
    data: str, cost: tuple[float, float], as_json: bool, quiet: bool, **options: Any
) -> int:
    """Learn from DATA in one pass, predicting every row before learning from it.

    DATA is a file (LIBSVM, CSV, Parquet, JSON lines or NPZ, plain or compressed), the name of a
    data set, or - for standard input.
    """
    job = Job(data, cost, options)
    stop = Stop(job.stop_waiting)
    live = Live(quiet or as_json)
    try:
        for _ in job.work():
            live.update(job.run.counts, *cost, job.done())
            if stop.code:
                break
    finally:
        live.close()
    job.finish(interrupted=bool(stop.code))
    with contextlib.redirect_stdout(sys.stderr) if job.busy_stdout else contextlib.nullcontext():
        job.report(as_json, interrupted=bool(stop.code))
    return stop.code


class Job:
    """One run with its inputs and outputs."""

    def __init__(self, data: str, cost: tuple[float, float], options: dict[str, Any]) -> None:
        self.data, self.cost = data, cost
        self.save_path: str | None = options.pop("save_path")
        self.limit: int | None = options.pop("limit")
        self._predictions: str | None = options.pop("predictions")
        self._curve: str | None = options.pop("curve")
        every: int | None = options.pop("every")
        if every is not None and self._curve is None:
            raise click.UsageError("--every is for --curve: leave it out, or name a file")
        self._every = 1000 if every is None else every
        self._checkpoint: int | None = options.pop("checkpoint")
        resume: bool = options.pop("resume")
        report_path: str | None = options.pop("report_path")
        outputs = (self.save_path, self._predictions, self._curve, report_path)
        check_apart((data,), outputs)
        check_apart((options["load_path"],), outputs[1:])
        for path in outputs:
            check_writable(path)
        if (self._checkpoint or resume) and self.save_path is None:
            raise click.UsageError("--checkpoint and --resume need --save FILE")
        self._asked = _asked({**options, "every": self._every, "cost": cost}, outputs[1:])
        state = self._model_and_state(options, resume)
        if state is not None and self.limit is not None and self.limit < state["rows"]:
            raise click.UsageError(f"--limit: the checkpoint is after {state['rows']:,} rows")
        check_time(self.model, options["time"])
        self.reader = reader_from(data, options, self.model)
        self._written = state or {}
        self._page = RunReport(report_path, self._written.get("points")) if report_path else None
        self.run = StreamRun(self.model, bad=self.reader.bad, stops=self._stops(), state=state)
        self.saved = False
        self.busy_stdout = "-" in outputs[1:]  # results go there; the report gives way

    def _model_and_state(self, options: dict[str, Any], resume: bool) -> Any:
        learner, load_path = options.pop("learner"), options.pop("load_path")
        settings = parse_settings(options.pop("settings"))
        self._positive: str | None = options.pop("positive")
        self.name = learner or DEFAULT_LEARNER
        self._new = load_path is None and not resume
        wanted = asking(options)
        self._mark = f"{self.save_path}.checkpoint"
        if resume:
            if not Path(self._mark).exists():
                raise click.UsageError(f"--resume: there is no checkpoint {self._mark}")
            self.model, state = load_run(self._mark)
            self._positive = None
            if state is None:
                raise click.UsageError(f"--resume: {self._mark} is a model, not a checkpoint")
            if "auc" not in state:
                raise click.UsageError(
                    f"--resume: {self._mark} is of an earlier version: start anew without --resume"
                )
            self.name = state["name"]
            for key, value in state["asked"].items():
                if self._asked[key] != value:
                    raise click.UsageError(
                        f"--resume: the interrupted run had {key} {value}, not {self._asked[key]}: "
                        "give the same options, or start anew without --resume"
                    )
            return state
        if self._positive is not None:
            settings["positive"] = parse_label(self._positive)
        if load_path is None:
            self.model = made(self.name, wanted, settings)
            self.model.check_params()
            return None
        if learner is not None:
            raise click.UsageError("--learner and --load: the saved model has its learner")
        self.model, _ = load_run(load_path)
        self.name = type(self.model).__name__
        if self._positive is not None:
            known = self.model.labels.codes
            settings["positive"] = parse_label(self._positive, next(iter(known), None))
            self._positive = None
        if wanted and not isinstance(self.model, Active):
            raise click.UsageError(f"{load_path}: this model learns from every label it is given")
        self.model.set_params(**wanted, **settings)
        return None

    def work(self) -> Iterator[None]:
        """Learn from slice after slice, writing what was asked for."""
        files: dict[str, ResultFile] = {}
        whole = False
        try:
            for piece in self.run.over(self._blocks(), limit=self.limit):
                files = files or self._open()
                if "predictions" in files:
                    self._write_predictions(files["predictions"], piece)
                if "curve" in files and self.run.rows % self._every == 0:
                    self._write_point(files["curve"])
                if self._page:
                    self._page.points.add(self.run.rows, self.run.counts)
                    self.run.stops = self._stops()
                if self._checkpoint and self.run.rows % self._checkpoint == 0:
                    self._save_checkpoint(files)
                yield
            if self._written:  # the interrupted run had only to put its results in their places
                files = files or self._open()
            if "curve" in files and self.run.rows % self._every:
                self._write_point(files["curve"])
            whole = True
        except (GeneratorExit, InterruptedReadError):
            whole = True
        finally:
            for file in files.values():
                file.close(whole=whole, keep=bool(self._checkpoint))

    def _blocks(self) -> Iterator[Block]:
        """Yield the blocks; of a new model --positive is read as the labels of the first are."""
        for block in self.reader:
            if self._positive is not None and block.y is not None:
                self.model.positive = parse_label(self._positive, block.y[0].item())
                self._positive = None
            yield block

    def _stops(self) -> tuple[int, ...]:
        """Return the numbers of rows at whose multiples something is to be written or kept."""
        points = self._page.points.every if self._page else None
        return tuple(
            n for n in (self._every if self._curve else None, self._checkpoint, points) if n
        )

    def stop_waiting(self) -> None:
        """Wait for no more data, if the reader is waiting for a pipe."""
        stream = getattr(self.reader, "stream", None)
        if stream is not None:
            stream.abandon()

    def done(self) -> float | None:
        """Return the share of the file that was read, if that can be known."""
        stream = getattr(self.reader, "stream", None)
        if stream is None or not stream.size:
            return None
        return min(1.0, float(stream.position / stream.size))

    def finish(self, interrupted: bool) -> None:
        """Save model and report; a checkpoint goes when it is no longer needed."""
        if self.save_path is not None and self.model.__sklearn_is_fitted__():
            save(self.model, self.save_path)
            self.saved = True
        if self._page:
            notes = [f"interrupted after {self.run.rows:,} rows"] if interrupted else []
            notes += [f"left out: {text}" for text in left_out(self.reader, most=5)]
            if self.run.auc.value == self.run.auc.value:
                notes.append(f"AUC {self.run.auc.value:.2%} over the whole run")
            self._page.write(self.name, self.model, self.data, self.run.counts, self.cost, notes)
        if self.saved and not interrupted and os.path.exists(self._mark):
            os.unlink(self._mark)

    def report(self, as_json: bool, interrupted: bool) -> None:
        """Print what came of it."""
        counts, seconds = self.run.counts, self.run.seconds
        if as_json:
            print_json(
                {
                    "learner": self.name,
                    "parameters": self.model.get_params(),
                    "data": self.data,
                    "positive": self.model.labels.positive,
                    **measures(counts, *self.cost),
                    "auc": self.run.auc.value,
                    "auc_error": self.run.auc.error,
                    "budget_left": self._left(),
                    "seconds": seconds,
                    "bad_lines": bad_lines(self.reader),
                    "dropped": getattr(self.reader, "dropped", 0),
                    "interrupted": interrupted,
                    "saved": self.save_path if self.saved else None,
                    "report": self._page.path if self._page else None,
                }
            )
            return
        for text in left_out(self.reader, most=5):
            click.echo(f"left out: {text}", err=True)
        positive = self.model.labels.positive
        guessed = self._new and self.model.positive is None and isinstance(positive, str)
        if guessed and positive.lower() not in _PLAINLY_POSITIVE:
            click.echo(
                f'"{positive}" is taken for the positive label, as the last in order: --positive '
                "chooses",
                err=True,
            )
        state = "interrupted after" if interrupted else "over"
        speed = f", {counts.events / seconds:,.0f} rows/s in the core" if seconds > 0 else ""
        heading(f"{self.name} {state} {counts.events:,} events of {self.data}{speed}")
        print_result(counts, *self.cost, auc=self.run.auc, left=self._left())
        if self.saved:
            click.echo(f"saved to {self.save_path}")
        if self._page and self._page.path != "-":
            click.echo(f"report in {self._page.path}")

    def _left(self) -> float | None:
        """Return how many labels may still be bought, None without a budget."""
        if not isinstance(self.model, Active) or self.model.budget is None:
            return None
        return self.model.budget_left_ if self.model.__sklearn_is_fitted__() else None

    def _open(self) -> dict[str, ResultFile]:
        """Open the results; those of a resumed run are cut back to the checkpoint."""
        headers = {"predictions": "line,score,predicted", "curve": ",".join(_CURVE)}
        paths = {"predictions": self._predictions, "curve": self._curve}
        return {
            key: ResultFile(path, headers[key], self._written.get(key))
            for key, path in paths.items()
            if path is not None
        }

    def _write_predictions(self, file: ResultFile, piece: Slice) -> None:
        labels = map(cell, self.model.labels.decode(piece.scores >= 0).tolist())
        lines = piece.block.lines[piece.first : piece.first + len(piece.scores)].tolist()
        rows = zip(lines, piece.scores.tolist(), labels, strict=True)
        file.write(
            f"{line},{score!r},{label}" if score == score else f"{line},,"
            for line, score, label in rows
        )

    def _write_point(self, file: ResultFile) -> None:
        counts = self.run.counts
        point = (
            self.run.rows,
            counts.events,
            counts.sensitivity,
            counts.specificity,
            counts.sum(),
            counts.cost(*self.cost),
            counts.queries,
            counts.updates,
            self.run.auc.value,
        )
        file.write([",".join("" if v != v else repr(v) for v in point)])

    def _save_checkpoint(self, files: dict[str, ResultFile]) -> None:
        state = {**self.run.state(), "name": self.name, "asked": self._asked}
        if self._page:
            state["points"] = self._page.points.state()
        save(self.model, self._mark, {**state, **{k: f.sync() for k, f in files.items()}})


def _asked(options: dict[str, Any], results: tuple[str | None, ...]) -> dict[str, str]:
    """Return what a resumed run must have in common with the interrupted one, as text."""
    asked = {k: v for k, v in options.items() if k not in ("form", "skip_bad")}
    asked["learner"] = asked["learner"] or DEFAULT_LEARNER
    asked["predictions"], asked["curve"], asked["report"] = results
    return {k.removesuffix("_path"): repr(v) for k, v in asked.items()}
