"""lopsided run."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ..algorithms.active import Active
from ..data.block import Block
from ..data.readers.tabular.arrow import SchemaAfter
from ..errors import InterruptedReadError, ModelFileError
from ..estimator.base import OnlineClassifier
from ..estimator.schema import Schema
from ..evaluation.periods import DAY, PeriodLog
from ..evaluation.stream import Recent, StreamRun
from ..persist import load_run, save
from .active_options import (
    DEFAULT_LEARNER,
    asking_options,
    time_option,
    with_time,
)
from .expense import expense_note
from .late_run import LateRun, late_of, late_options
from .model_lock import model_lock
from .options import (
    cost_column_option,
    deciding_cost_option,
    parse_label,
    parse_settings,
    print_notes,
    quiet_option,
    reader_from,
    reading_options,
    safe_csv_option,
    settings_option,
)
from .output import (
    Bill,
    Live,
    left_out,
    write_bad_lines,
)
from .period_table import period_option
from .result_file import discard
from .run_files import RunFiles
from .run_options import RunOptions
from .run_report import print_run
from .signals import StopRequest

_KEPT_CHANGES = 100  # in a model


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
@late_options
@click.option("--load", "load_path", help="Start from a saved model.")
@click.option("--save", "save_path", help="Save the model when the run ends.")
@click.option("--predictions", help="Write score and prediction of every row to this file.")
@click.option("--curve", help="Write the metrics over the stream to this CSV file.")
@click.option("--report", "report_path", help="Write a report with figures to this HTML file.")
@click.option(
    "--every",
    type=click.IntRange(1),
    help="Rows between points of the curve. [1000]",
)
@period_option
@click.option(
    "--checkpoint",
    type=click.IntRange(1),
    metavar="EVERY",
    help="Save model and progress every EVERY rows, to FILE.checkpoint of --save FILE.",
)
@click.option("--resume", is_flag=True, help="Resume an interrupted run from its checkpoint.")
@click.option("--limit", type=click.IntRange(1), help="Stop after this many rows.")
@deciding_cost_option
@cost_column_option
@click.option("--capacity", help="Alarms to raise at most: 50/day or 20/1000.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@safe_csv_option
@quiet_option
@reading_options
def command(**options: Any) -> int:
    """Learn from DATA in one pass, predicting every row before learning from it.

    DATA is a file (LIBSVM, CSV, Parquet, JSON lines or NPZ, plain or compressed), the name of a
    data set, or - for standard input.
    """
    given = RunOptions(**options)
    with model_lock(given.save_path):  # whoever changes the model meanwhile would lose the change
        return _run(Job(given))


def _run(job: Job) -> int:
    stop = StopRequest(job.stop_waiting)
    live = Live(job.options.quiet or job.options.as_json)
    try:
        for _ in job.work():
            live.update(job.run.counts, job.bill, job.done())
            if stop.code:
                break
    finally:
        live.close()
    job.finish(interrupted=bool(stop.code))
    results_to_stdout = "-" in job.options.results  # then the report goes elsewhere
    with contextlib.redirect_stdout(sys.stderr) if results_to_stdout else contextlib.nullcontext():
        print_run(job, interrupted=bool(stop.code))
    return stop.code


class Job:
    """One run with its inputs and outputs."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.name = options.learner or DEFAULT_LEARNER
        self._mark = options.checkpoint_path
        self._has_marked = options.resume
        self._asked: dict[str, Any] | None = None  # where the last ask of the model stands
        self._waits: dict[str, Any] | None = None  # labels that an earlier run left waiting
        state = None
        if options.resume:
            self.model, state = self._resumed()
        elif options.load_path is not None:
            self.model = self._loaded(options.load_path)
        else:
            self.model = options.make()
            self.model.check_params()
        if options.costs is not None and not options.resume:
            self.model.costs = options.costs
        if options.capacity is not None and not options.resume:
            self.model.capacity = options.capacity
            self.model.check_params()
        self.bill = Bill.of(self.model.costs)
        self.late = LateRun.of(options, self._waits)
        given = options
        if self.late is not None:
            self.model = self.late.model(self.model)
            given = self.late.reading(options)
        given = with_time(
            given,
            self.model,
            needed=options.period == DAY,
            useful=options.report_path is not None or given is not options,
        )
        with contextlib.nullcontext() if self.late is None else self.late.opening():
            self.reader = reader_from(options.data, given, self.model)
        self._written = state or {}
        self.waited = self._written.get("waited", self.waiting)  # when the run began
        self.page = None
        if options.report_path is not None:
            from .report_file import RunReport  # slow to import

            self.page = RunReport(
                options.report_path, self._written.get("points"), self._written.get("alarms")
            )
        self.run = StreamRun(
            self.model,
            bad=self.reader.bad,
            stops=self._stops(),
            state=state,
            late=None if self.late is None else self.late.labels,
        )
        size = options.period_size
        if size is not None and self.run.periods is None:
            self.run.periods = PeriodLog(size)
        if self._has_points and self.run.recent is None:
            self.run.recent = Recent()
        self._files = RunFiles(options, self.model, self.run, self.bill, self._written)
        self.saved = False
        self._after: deque[tuple[int, SchemaAfter]] = deque()  # of blocks, by their first rows
        # What a model brings along. That of a checkpoint has learned from this very stream.
        self._before = self.model.changes_
        self._earlier = self._written.get("earlier", self._met())

    def _resumed(self) -> tuple[OnlineClassifier, dict[str, Any]]:
        """Return model and state of the checkpoint of a run with the same options."""
        if not Path(self._mark).exists():
            raise click.UsageError(f"--resume: there is no checkpoint {self._mark}")
        model, state = load_run(self._mark)
        if state is None:
            raise click.UsageError(f"--resume: {self._mark} is a model, not a checkpoint")
        now = self.options.fingerprint
        for name, value in state["asked"].items():
            if now[name] != value:
                raise click.UsageError(
                    f"--resume: the interrupted run had {name} {value}, not {now[name]}: "
                    "give the same options, or start over without --resume"
                )
        limit = self.options.limit
        if limit is not None and limit < state["rows"]:
            raise click.UsageError(f"--limit: the checkpoint is after {state['rows']:,} rows")
        self.name, self._waits = state["name"], late_of(model, state, self._mark)
        return model, state

    def _loaded(self, path: str) -> OnlineClassifier:
        """Return a saved model, with the parameters that are given."""
        wanted, settings = self.options.asking(), parse_settings(self.options.settings)
        model, state = load_run(path)
        self._waits = late_of(model, state, path)
        if state and "whole" in state:
            self._asked = {k: v for k, v in state.items() if k != "late"}
        self.name = type(model).__name__
        if self.options.positive is not None:
            known = next(iter(model.labels.codes), None)
            settings["positive"] = parse_label(self.options.positive, known)
        if wanted and not isinstance(model, Active):
            raise click.UsageError(f"{path}: this model learns from every label it is given")
        return model.set_params(**wanted, **settings)

    def work(self) -> Iterator[None]:
        """Learn from slice after slice, writing what was asked for."""
        whole = False
        try:
            for piece in self.run.over(self._blocks(), limit=self.options.limit):
                self._files.write(piece)
                if self.page:
                    self.page.points.add(self.run.rows, self.run.counts)
                    self.page.alarms.add(piece)
                    self.run.stops = self._stops()
                if self.options.checkpoint and self.run.rows % self.options.checkpoint == 0:
                    self._save_checkpoint()
                yield
            if self._written:  # the interrupted run had only to put its results in their places
                self._files.open()
            if self.run.periods:
                self.run.periods.close()
            self._files.end()
            whole = True
        except (GeneratorExit, InterruptedReadError):
            whole = True
        finally:
            self._files.close(whole=whole, keep=bool(self.options.checkpoint))

    def _blocks(self) -> Iterator[Block]:
        """Yield the blocks; where labels are texts, so is the positive one of a new model."""
        positive = self.options.positive if self.is_new else None
        read = 0
        for block in self.reader if self.late is None else self.late.blocks(self.reader):
            if read == 0 and (note := expense_note(self.model, block.X)):
                click.echo(f"note: {note}", err=True)
            after = getattr(self.reader, "schema_after", None)
            if after is not None:
                while len(self._after) > 1 and self._after[1][0] <= self.run.rows:
                    self._after.popleft()
                self._after.append((read, after))
            read += len(block.lines)
            if self.late is not None:
                block = self.late.timed(block, self.reader.bad)
            if positive is not None and block.y is not None:
                self.model.positive = parse_label(positive, block.y[0].item())
                positive = None
            yield block

    @property
    def is_new(self) -> bool:
        """Whether the model begins with this run."""
        return self.options.load_path is None and not self.options.resume

    def _stops(self) -> tuple[int, ...]:
        """Return the numbers of rows at whose multiples something is written or kept."""
        points = self.page.points.every if self.page else None
        return tuple(
            n
            for n in (
                self.options.points_every if self._has_points else None,
                self.options.checkpoint,
                points,
            )
            if n
        )

    @property
    def _has_points(self) -> bool:
        """Whether the curve has points, not periods."""
        return self.options.curve is not None and self.options.period is None

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
        if self.run.periods:
            self.run.periods.close()
        print_notes(self.reader)
        write_bad_lines(self.reader, self.options.bad_lines)
        # Not before: an interrupted run is resumed with the schema it was started with.
        self.model.schema_ = self._schema() or self.model.schema_
        waits = None
        if self.late is not None:
            waits = self.late.record(self.model)  # the rule too, where nothing waits
            self.model = self.late.plain(self.model)
        self.model.changes_ = (*self._before, *self._found())[-_KEPT_CHANGES:]
        if self.options.save_path is not None and self.model.__sklearn_is_fitted__():
            state = {**(self._asked or {}), "late": waits} if waits else self._asked
            save(self.model, self.options.save_path, state)
            self.saved = True
        if self.page:
            notes = [f"interrupted after {self.run.rows:,} rows"] if interrupted else []
            notes += [f"left out: {text}" for text in left_out(self.reader, most=5)]
            if self.run.auc.value == self.run.auc.value:
                notes.append(f"AUC {self.run.auc.value:.2%} over the whole run")
            if self.bill.own:
                notes.append(f"cost {self.bill.cost(self.run.counts):,.6g} {self.bill}")
            self.page.write(self.name, self.model, self.options.data, self.run, self.bill, notes)
        if self.saved and not interrupted and os.path.exists(self._mark):
            self._discard_earlier()
            os.unlink(self._mark)

    @property
    def waiting(self) -> int:
        """How many events wait for their labels."""
        return 0 if self.late is None else len(self.late.labels)

    def _met(self) -> int:
        """Return how many events the model has learned from."""
        return self.model.fitted.core.rounds if self.model.__sklearn_is_fitted__() else 0

    def _found(self) -> list[tuple[int, str, float, float]]:
        """Return the changes that were found, counted from the first event of the model."""
        first = self._earlier
        return [(first + c.event, c.what, c.before, c.after) for c in self.run.watch.changes]

    def _schema(self) -> Schema | None:
        """Return how the data were read, as of the rows that were learned."""
        schema: Schema | None = self.reader.schema()
        if self.late is not None:
            schema = self.late.schema(schema)
        rows = self.run.rows
        for first, after in self._after:
            if schema is not None and first <= rows:
                schema = dataclasses.replace(schema, **after(rows - first))
        return schema

    def _discard_earlier(self) -> None:
        """Remove the unfinished results of an earlier run, whose checkpoint is not resumed."""
        if self._has_marked or not os.path.exists(self._mark):
            return
        with contextlib.suppress(OSError, ModelFileError):
            _, state = load_run(self._mark)
            for key, path in self._files.paths().items():
                discard(path, (state or {}).get(key))

    def _save_checkpoint(self) -> None:
        self._discard_earlier()
        self._has_marked = True
        state = {**self.run.state(), "name": self.name, "asked": self.options.fingerprint}
        state |= {"earlier": self._earlier, "waited": self.waited}
        if self.page:
            state["points"] = self.page.points.state()
            state["alarms"] = self.page.alarms.state()
        model = self.model
        if self.late is not None:
            state["late"] = self.late.record(model)
            model = self.late.plain(model)
        save(model, self._mark, {**state, **self._files.sync()})
