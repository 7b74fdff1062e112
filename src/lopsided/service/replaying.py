"""Feeding a log to other models: what they would have cost."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Any

import msgspec
from msgspec import Struct, field

from .account import Account
from .recovery import read_config, read_label
from .storage import EVENTS, FolderError, Row, Storage
from .stream import Stream
from .types import Answer, Costs, Event, LabelRow, NewModel, read_answer, read_event


class Replayed(Struct):
    """What came of a log: as it was decided then, and by the models that were fed."""

    events: int = 0
    labels: int = 0
    decided: Account = field(default_factory=Account)
    other: Account = field(default_factory=Account)
    learner: str = ""


def feed(storage: Storage, stream: Stream, source: int | None = None) -> Replayed:
    """Let the models of a stream meet all events of a log and learn from all its labels.

    Parameters
    ----------
    storage : Storage
        Where the log is.
    stream : Stream
        What is fed; it may have other learners or prices than the one of the log.
    source : int, optional
        The number of the stream in the log, if it is another one.
    """
    out = Replayed()
    seqs, ids, scores, flags = array("q"), array("q"), array("d"), bytearray()
    for row in storage.rows(stream=stream.id if source is None else source):
        if row.kind in EVENTS:
            for answer in _meet(stream, row):
                seqs.append(answer.seq)
                ids.append(answer.id)
                scores.append(answer.score)
                flags.append(answer.flag)
        elif row.kind == "label":
            label = read_label(row.body)
            at = bisect_left(seqs, label.event)
            if not label.event or at == len(seqs) or seqs[at] != label.event:
                continue
            event = storage.row(label.event)
            assert event is not None
            assert event.out is not None
            met = read_event(event.body)
            answer = Answer(
                key=met.key, seq=label.event, id=ids[at], score=scores[at], flag=bool(flags[at]),
                asked=False, ask_probability=0.0, model=stream.state.champion,
            )  # fmt: skip
            stream.learn(label, met, answer)
            out.labels += label.before is None
            _count(out.decided, stream, label, met, read_answer(event.out).flag)
    out.events = len(seqs)
    return out


def _meet(stream: Stream, row: Row) -> list[Answer]:
    events = [event for event, _ in row.events()]
    times = [float(event.time) for event in events]  # type: ignore[arg-type]
    return stream.meet(events, times, row.seq - len(events) + 1)


def _count(account: Account, stream: Stream, label: LabelRow, event: Event, flag: bool) -> None:
    """Count what was decided then, at the prices of now."""
    costs, positive = event.costs or stream.config.costs, stream.config.positive
    if label.before is not None:
        account.add(flag, flag, label.before == positive, costs, -1.0)
    account.add(flag, flag, label.label == positive, costs)


def replay_log(
    storage: Storage,
    name: str | None,
    *,
    learner: str | None = None,
    parameters: dict[str, Any] | None = None,
    costs: Costs | None = None,
) -> Replayed:
    """Return what a learner would have cost that had decided on the events of a log.

    Parameters
    ----------
    storage : Storage
        Where the log is.
    name : str, optional
        The stream; not needed where there is one.
    learner, parameters, costs
        What is not given is as the stream has it.
    """
    streams = dict(storage.all("select name, id from stream"))
    if name is None and len(streams) == 1:
        (name,) = streams
    if name is None or name not in streams:
        raise FolderError(f"name one of the streams: {', '.join(sorted(streams)) or 'none'}")
    newest = storage.all(
        "select body from log where kind = 'config' and stream = ? order by seq desc limit 1",
        streams[name],
    )
    config = read_config(newest[0][0])
    if learner is not None and parameters is None:
        parameters = {}
    config = msgspec.structs.replace(
        config,
        learner=learner or config.learner,
        parameters=config.parameters if parameters is None else parameters,
        costs=costs or config.costs,
        budget=0,  # it learns from the labels that there are
    )
    stream = Stream(streams[name], name, config)
    spec = NewModel(name="other", learner=config.learner, parameters=config.parameters)
    stream.add(spec, b"", 0)
    found = feed(storage, stream)
    found.other, found.learner = stream.state.models[0].account, config.learner
    return found
