"""lopsided run."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Any

import click

from ..catalog import make
from ..persist import load_run, save
from ..stream import Slice, StreamRun
from .options import (
    check_writable,
    parse_label,
    parse_settings,
    read_config,
    reader_from,
    reading_options,
)
from .output import Live, measures, print_json, print_result

DEFAULT_LEARNER = "COG-II"
_CURVE = ("rows", "events", "sensitivity", "specificity", "sum", "cost", "labels", "updates")


class Stop:
    """Remembers a signal until the run is at a row boundary."""

    def __init__(self) -> None:
        self.code = 0
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            signal.signal(number, self._handler(code))

    def _handler(self, code: int) -> Any:
        def remember(_signal: int, _frame: FrameType | None) -> None:
            if self.code:  # asked twice: at once
                os._exit(code)
            self.code = code

        return remember


@click.command(
    epilog="""\b
Examples:
  lopsided run events.csv --label fraud --positive yes --save model.lop
  lopsided run a9a.libsvm.xz --learner ACOG-II --set learning_rate=10
  zcat day1.svm.gz | lopsided run - --load model.lop --save model.lop --json
"""
)
@click.argument("data")
@click.option("--learner", "-l", help=f"Name of the learner. [{DEFAULT_LEARNER}]")
@click.option(
    "--set",
    "-s",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the learner. Repeatable.",
)
@click.option("--positive", help="The positive label. [the larger of the two]")
@click.option("--load", "load_path", help="Go on with a saved model.")
@click.option("--save", "save_path", help="Save the model when the run ends.")
@click.option("--predictions", help="Write score and prediction of every row to this file.")
@click.option("--curve", help="Write the measures over the stream to this CSV file.")
@click.option(
    "--every",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Rows between points of the curve.",
)
@click.option(
    "--checkpoint",
    type=click.IntRange(1),
    metavar="EVERY",
    help="Save model and run every so many rows, to FILE.checkpoint of --save FILE.",
)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint of an interrupted run.")
@click.option("--limit", type=click.IntRange(1), help="Stop after so many rows.")
@click.option(
    "--cost",
    nargs=2,
    type=click.FloatRange(0),
    default=(0.9, 0.1),
    show_default=True,
    metavar="MISS ALARM",
    help="What a missed positive and a false alarm cost.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@click.option(
    "--config",
    callback=read_config,
    expose_value=False,
    is_eager=True,
    help="TOML file with options of this command.",
)
@reading_options
def command(
    data: str, cost: tuple[float, float], as_json: bool, quiet: bool, **options: Any
) -> int:
    """Learn from DATA in one pass, predicting every row before learning from it.

    DATA is a file (LIBSVM, CSV, Parquet, JSON lines or NPZ, plain or compressed), the name of a
    data set, or - for standard input.
    """
    job = Job(data, cost, options)
    stop = Stop()
    live = Live(quiet or as_json)
    try:
        for _ in job.work():
            live.update(job.run.counts, *cost, job.done())
            if stop.code:
                break
    finally:
        live.close()
    job.finish(interrupted=bool(stop.code))
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
        self._every: int = options.pop("every")
        self._checkpoint: int | None = options.pop("checkpoint")
        resume: bool = options.pop("resume")
        for path in (self.save_path, self._predictions, self._curve):
            check_writable(path)
        if (self._checkpoint or resume) and self.save_path is None:
            raise click.UsageError("--checkpoint and --resume need --save FILE")
        state = self._model_and_state(options, resume)
        self.reader = reader_from(data, options, self.model)
        stops = tuple(n for n in (self._curve and self._every, self._checkpoint) if n)
        self.run = StreamRun(self.model, bad=self.reader.bad, stops=stops, state=state)
        self._files = contextlib.ExitStack()
        self._written = state or {}

    def _model_and_state(self, options: dict[str, Any], resume: bool) -> Any:
        learner, load_path = options.pop("learner"), options.pop("load_path")
        settings = parse_settings(options.pop("settings"))
        positive = parse_label(options.pop("positive"))
        self.name = learner or DEFAULT_LEARNER
        if positive is not None:
            settings["positive"] = positive
        self._mark = f"{self.save_path}.checkpoint"
        if resume:
            if not Path(self._mark).exists():
                raise click.UsageError(f"--resume: there is no checkpoint {self._mark}")
            self.model, state = load_run(self._mark)
            self.name = type(self.model).__name__
            return state
        if load_path is None:
            self.model = make(self.name, **settings)
            self.model._check()
            return None
        if learner is not None:
            raise click.UsageError("--learner and --load: the saved model has its learner")
        self.model, _ = load_run(load_path)
        self.name = type(self.model).__name__
        self.model.set_params(**settings)
        return None

    def work(self) -> Iterator[None]:
        """Learn from slice after slice, writing what was asked for."""
        with self._files:
            predictions = self._open(self._predictions, "predictions")
            curve = self._open(self._curve, "curve")
            if curve is not None and curve.tell() == 0:
                curve.write(",".join(_CURVE) + "\n")
            for piece in self.run.over(self.reader, limit=self.limit):
                if predictions is not None:
                    self._write_predictions(predictions, piece)
                if curve is not None and self.run.rows % self._every == 0:
                    self._write_point(curve)
                if self._checkpoint and self.run.rows % self._checkpoint == 0:
                    self._save_checkpoint(predictions, curve)
                yield
            if curve is not None and self.run.rows % self._every:
                self._write_point(curve)

    def done(self) -> float | None:
        """Return the share of the file that was read, if that can be known."""
        stream = getattr(self.reader, "stream", None)
        if stream is None or not stream.size:
            return None
        return min(1.0, float(stream.position / stream.size))

    def finish(self, interrupted: bool) -> None:
        """Save the model; a checkpoint goes when it is no longer needed."""
        if self.save_path is None or not self.model.__sklearn_is_fitted__():
            return
        save(self.model, self.save_path)
        if not interrupted and os.path.exists(self._mark):
            os.unlink(self._mark)

    def report(self, as_json: bool, interrupted: bool) -> None:
        """Print what came of it."""
        counts, seconds = self.run.counts, self.run.seconds
        bad = [str(error) for error in self.run.bad.found]
        if as_json:
            print_json(
                {
                    "learner": self.name,
                    "parameters": self.model.get_params(),
                    "data": self.data,
                    **measures(counts, *self.cost),
                    "seconds": seconds,
                    "bad_lines": bad,
                    "interrupted": interrupted,
                    "saved": self.save_path,
                }
            )
            return
        state = "interrupted after" if interrupted else "over"
        speed = f", {counts.events / seconds:,.0f} rows/s in the core" if seconds > 0 else ""
        click.secho(
            f"{self.name} {state} {counts.events:,} events of {self.data}{speed}", bold=True
        )
        print_result(counts, *self.cost)
        for text in bad[:5]:
            click.echo(f"left out: {text}", err=True)
        if len(bad) > 5:
            click.echo(f"left out: {len(bad) - 5} more bad lines", err=True)
        if self.save_path:
            click.echo(f"saved to {self.save_path}")

    def _open(self, path: str | None, key: str) -> IO[str] | None:
        """Open an output; one of a resumed run is cut back to the checkpoint."""
        if path is None:
            return None
        if path == "-":
            return sys.stdout
        kept = self._written.get(key)
        file: IO[str] = open(path, "r+" if kept else "w", encoding="utf-8")  # noqa: SIM115
        self._files.enter_context(file)
        if kept:
            file.seek(kept)
            file.truncate()
        return file

    def _write_predictions(self, file: IO[str], piece: Slice) -> None:
        labels = self.model._labels.decode(piece.scores >= 0).tolist()
        lines = piece.block.lines[piece.first : piece.first + len(piece.scores)].tolist()
        if self.run.rows == len(piece.scores):
            file.write("line,score,predicted\n")
        for line, score, label in zip(lines, piece.scores.tolist(), labels, strict=True):
            file.write(f"{line},{score!r},{label}\n" if score == score else f"{line},,\n")

    def _write_point(self, file: IO[str]) -> None:
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
        )
        file.write(",".join("" if v != v else repr(v) for v in point) + "\n")

    def _save_checkpoint(self, predictions: IO[str] | None, curve: IO[str] | None) -> None:
        state = self.run.state()
        for key, file in (("predictions", predictions), ("curve", curve)):
            if file is not None and file is not sys.stdout:
                file.flush()
                os.fsync(file.fileno())
                state[key] = file.tell()
        save(self.model, self._mark, state)
