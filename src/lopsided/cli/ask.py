"""lopsided ask."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import click
import numpy as np

from .._json import plain
from ..algorithms.active import Active
from ..algorithms.budget import as_budget
from ..algorithms.decision import Decision
from ..algorithms.wrapper import resolved
from ..data.block import BadLines, Block
from ..data.gather import taken
from ..errors import BadRowError, DataError
from ..estimator.schema import Schema
from ..persist import load_run, save
from .active_options import (
    LearnerOptions,
    asking_options,
    time_option,
    with_time,
)
from .kept_events import KeptEvents
from .late_run import forget_waiting, late_of, late_option, what_waits
from .model_lock import asking_alone, lock_path, model_lock
from .options import (
    ReadingOptions,
    check_apart,
    check_writable,
    print_notes,
    reader_from,
    reading_options,
    safe_csv_option,
    settings_option,
)
from .output import left_out, write_bad_lines
from .result_file import cell, on_screen
from .signals import not_stopped, stop_by_exception
from .waiting import FIELDS, Waiting, question_column

_FOR_NEW = {
    "learner": "--learner",
    "settings": "--set",
    "positive": "--positive",
    "query": "--query",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class AskOptions(LearnerOptions, ReadingOptions):
    """What the command line says."""

    model: str
    events: str
    everything: bool
    as_json: bool
    safe_csv: bool
    resume: bool
    anew: bool
    keep_events: int | None = None
    forget_waiting: bool = False

    def __post_init__(self) -> None:
        beside = lock_path(self.model), f"{self.model}.asking"
        check_apart((self.events,), (self.model, *beside, self.bad_lines))
        check_writable(self.model)
        if self.resume and self.anew:
            raise click.UsageError("--resume and --anew: give one of them")


@click.command(
    epilog="""\b
Examples:
  lopsided ask model.lop monday.csv --learner OA3-diag --budget 200 --positive fraud > questions.csv
  lopsided ask model.lop tuesday.csv >> questions.csv
  lopsided ask trained.lop today.csv --budget 50/day --time when --id txn_id
  tail -f events.jsonl | lopsided ask model.lop - -f jsonl --json
"""
)
@click.argument("model")
@click.argument("events")
@click.option("--learner", "-l", help="For a new model: name of the learner. [Recommended]")
@settings_option("For a new model: a parameter. Repeatable.")
@click.option("--positive", help="For a new model: the positive label.")
@asking_options
@click.option("--all", "everything", is_flag=True, help="Write all events, not only questions.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON lines instead of CSV.")
@safe_csv_option
@click.option(
    "--keep-events",
    type=click.IntRange(0),
    metavar="NUMBER",
    help="Keep this many events that are not questions, for labels that come by themselves. [0]",
)
@click.option(
    "--forget-waiting",
    is_flag=True,
    help="Drop the events of `lopsided run` that wait for late labels.",
)
@click.option("--resume", is_flag=True, help="Resume an interrupted ask.")
@click.option("--anew", is_flag=True, help="Start over: treat the events as new.")
@time_option
@reading_options
def command(**options: Any) -> int:
    """Score EVENTS, which have no labels, and write those whose labels MODEL wants to buy.

    MODEL is created if it does not exist and --budget or --query is given; --budget gives an
    existing one another budget, and lets one begin to ask that never has. EVENTS is read as the
    data that the model learned from was. After each block of events the model is saved, then the
    questions are written, so that no label is paid for twice. `lopsided tell` takes the answers,
    `lopsided questions` lists what waits for one. Labels in EVENTS are ignored.
    """
    given = AskOptions(**options)
    with asking_alone(given.model, given.events):
        return _run(given)


def _run(options: AskOptions) -> int:
    path, events = options.model, options.events
    with model_lock(path):
        found, state = _model(options)
    line, last = _broken(options, state)
    if line and events == "-":
        click.echo(
            f"lines 1 to {line} were scored before and are skipped; --anew scores them again",
            err=True,
        )
    if options.keep_events and found.hash_bits is not None:
        raise click.UsageError("--keep-events: a model with hash_bits keeps no names of features")
    options = with_time(options, found)
    if line:  # its lines are read again, as they were
        found.schema_ = _started_with(state)
    schema = None if found.schema_ is None else found.schema_.record()
    reader = reader_from(events, options, found, labelled=False)
    writer = Writer(options)
    where: dict[str, Any] = {"events": events, "line": line, "schema": schema}
    where["columns"] = (state or {}).get("columns", [])
    waiting, events_kept = Waiting.of(state), KeptEvents.of(state)
    stop_by_exception()
    code = 0
    try:
        if last:
            writer.write(last, state.get("columns", ()))
        for block in _after(reader, line):
            with contextlib.ExitStack() as calm:
                with model_lock(path):
                    calm.enter_context(not_stopped())  # not while it waits for the lock
                    if os.path.exists(path):  # answers may have come in meanwhile
                        budget, (found, now) = found.budget, _load(path, options)
                        waiting, events_kept = Waiting.of(now), KeptEvents.of(now)
                        if as_budget(budget) != as_budget(found.budget):
                            found.set_params(budget=budget)
                    block, rows = _ask(found, block, reader.bad)
                    waiting.add(list(block.kept), rows)
                    if options.keep_events is not None:
                        events_kept.most = options.keep_events
                    if events_kept.most:
                        events_kept.add(block, _key(reader), [row[4] for row in rows])
                    where["line"] = int(block.lines[-1])
                    where["columns"] = list(block.kept)
                    last = rows if options.everything else [row for row in rows if row[4]]
                    found.schema_ = reader.schema() or found.schema_
                    kept = waiting.record(found)
                    where["kept"] = events_kept.record()
                    save(found, path, {**where, "whole": False, "last": last, "questions": kept})
                writer.write(last, block.kept)
    except KeyboardInterrupt as stop:
        code = int(stop.args[0])
        if events != "-" or not os.path.exists(path):
            return code
    with model_lock(path):  # a pipe that was left has nothing to resume
        found, now = _load(path, options)
        found.schema_ = reader.schema() or found.schema_
        kept = Waiting.of(now).record(found)
        where["kept"] = KeptEvents.of(now).record()
        save(found, path, {**where, "whole": True, "last": [], "questions": kept})
    print_notes(reader)
    write_bad_lines(reader, options.bad_lines)
    for text in left_out(reader):
        click.echo(f"left out: {text}", err=True)
    return code


def _broken(options: AskOptions, state: Any) -> tuple[int, list[Any]]:
    """Return the line to resume after, and questions that perhaps nobody has seen."""
    path, resume, anew = options.model, options.resume, options.anew
    if state is None or state["whole"]:
        if resume or anew:
            word = "--resume" if resume else "--anew"
            raise click.UsageError(f"{path}: no ask was interrupted: leave out {word}")
        return 0, []
    if not (resume or anew):
        raise click.UsageError(
            f"{path}: the last ask, about {state['events']}, was interrupted after line "
            f"{state['line']}: --resume continues it, --anew treats these events as new"
        )
    if resume and state["events"] != options.events:
        raise click.UsageError(f"--resume: the interrupted ask was about {state['events']}")
    return state["line"] if resume else 0, state["last"]


def _started_with(state: Any) -> Schema | None:
    """Return the schema that an interrupted ask began with."""
    record = state.get("schema")
    return None if record is None else Schema.of(record)


def _load(path: str, options: AskOptions) -> tuple[Active, Any]:
    """Return the model of a file, one that asks from now on if that is wanted, and its state."""
    wanted = options.asking()
    model, state = load_run(path)
    late = late_of(model, state, path)
    if late is not None and late["count"]:
        if not options.forget_waiting:
            raise click.UsageError(
                f"{path}: {what_waits(late)}: `lopsided run --load` continues with them, "
                "--forget-waiting drops them"
            )
        forget_waiting(model, late)
    if late is not None:
        click.echo(f"note: {late_option(late)} of this model ends: labels come by tell", err=True)
    if not isinstance(model, Active):
        if not wanted:
            raise click.UsageError(
                f"{path}: this model does not ask yet: --budget or --query lets it begin"
            )
        model = Active.around(model, **wanted)
        model.check_params()
    return model, state if state and "whole" in state else None


def _model(options: AskOptions) -> tuple[Active, Any]:
    """Return the model of a file, or a new one, and where its last ask stands."""
    path, wanted = options.model, options.asking()
    if not os.path.exists(path):
        if not wanted:
            raise click.UsageError(f"there is no model {path}: --budget or --query starts one")
        model = options.make()
        model.check_params()
        assert isinstance(model, Active)
        return model, None
    found, state = _load(path, options)
    if "budget" in wanted and wanted["budget"] != as_budget(found.budget):
        found.set_params(budget=wanted["budget"])
    given = [option for name, option in _FOR_NEW.items() if getattr(options, name)]
    if state is None and given == ["--query"] and not found.events_:  # it begins to ask
        return found, None
    if given and _described(options.make()) != _described(found):
        raise click.UsageError(f"{given[0]} is for a new model, but there is {path}")
    return found, state


def _described(model: Any) -> Any:
    """Return a model's parameters, to compare them."""
    parameters = {k: repr(v) for k, v in model.get_params().items() if k != "learner"}
    return type(model), type(resolved(getattr(model, "learner", model))), parameters


def _after(reader: Any, line: int) -> Iterator[Block]:
    """Yield the rows behind a line."""
    for block in reader:
        rows = np.flatnonzero(block.lines > line)
        if len(rows) == len(block.lines):
            yield block
        elif len(rows):
            yield taken(block, rows)


def _key(reader: Any) -> str:
    """Return the column of ids, by which labels of kept events come."""
    schema = reader.schema()
    if schema is None or schema.key is None:
        raise click.UsageError("--keep-events needs --id COLUMN: labels come by these ids")
    return str(schema.key)


def _ask(model: Active, block: Block, bad: BadLines) -> tuple[Block, list[list[Any]]]:
    """Return the events and what comes of them; those that cannot be are bad lines."""
    while len(block.lines):
        try:
            decisions = model.ask_many(block.X, time=block.time)
        except BadRowError as error:
            bad.add(DataError.of(error, block.file, int(block.lines[error.row])))
            block = taken(block, np.delete(np.arange(len(block.lines)), error.row))
            continue
        kept = zip(*block.kept.values(), strict=True) if block.kept else repeat(())
        rows = zip(decisions, block.lines.tolist(), kept, strict=False)
        return block, [_row(decision, line, cells) for decision, line, cells in rows]
    return block, []


def _row(decision: Decision, line: int, kept: Sequence[str]) -> list[Any]:
    predicted = plain(decision.predicted)
    return [
        decision.id, line, decision.score, predicted, decision.asked, decision.probability, *kept
    ]  # fmt: skip


class Writer:
    """Writes questions to standard output, each block at once."""

    def __init__(self, options: AskOptions) -> None:
        self._json, self._safe = options.as_json, options.safe_csv
        self._left_out = () if options.everything else ("asked",)
        self._begun = False

    def write(self, rows: Iterable[list[Any]], kept: Iterable[str] = ()) -> None:
        """Write rows, after the first time behind the names of the columns."""
        kept = list(kept)
        columns = [question_column(kept), *FIELDS[1:], *kept]
        used = [at for at, name in enumerate(columns) if name not in self._left_out]
        lines = [
            json.dumps({columns[at]: row[at] for at in used})
            if self._json
            else ",".join(_cell(row[at], self._safe) for at in used)
            for row in rows
        ]
        if not self._json and not self._begun:
            lines.insert(0, ",".join(cell(columns[at]) for at in used))
        self._begun = True
        sys.stdout.writelines(f"{line}\n" for line in on_screen(lines))
        sys.stdout.flush()


def _cell(value: Any, safe: bool) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else cell(value, safe=safe)
