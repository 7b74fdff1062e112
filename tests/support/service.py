"""A service without a network: events and labels from made-up streams."""

from __future__ import annotations

import numpy as np

from lopsided.service.commands.admin import put_stream
from lopsided.service.recovery import recover
from lopsided.service.sequencer import Sequencer
from lopsided.service.storage import Storage
from lopsided.service.stream import digest
from lopsided.service.types import Costs, Event, StreamConfig

CONFIG = StreamConfig(
    positive="fraud",
    negative="fine",
    costs=Costs(miss=60, alarm=3),
    budget="20/100",
    learner="AROW-diag",
)


class NoWitness:
    """A witness in memory."""

    def __init__(self):
        self.seq = 0

    def write(self, seq, *, sync):
        self.seq = seq


class Desk:
    """A sequencer whose commands run one by one."""

    def __init__(self, storage=None, witness=None, *, config=CONFIG, stream="pay", **options):
        self.storage = storage or Storage(":memory:")
        self.witness = witness or NoWitness()
        self.sequencer = Sequencer(self.storage, self.witness, **options)
        self.now = 1_000_000.0
        if stream not in self.sequencer.streams:
            self.do(put_stream, stream, config)

    def run(self, *commands):
        return self.sequencer.complete(commands, self.now)

    def do(self, command, *arguments):
        ((value, refusal),) = self.run(lambda tx: command(tx, *arguments))
        if refusal is not None:
            raise refusal
        return value

    @property
    def stream(self):
        return self.sequencer.streams["pay"]


def the_same(desk):
    """Whether the log gives the streams that there are."""
    streams, _, _ = recover(desk.storage)
    return digest(streams["pay"].snapshot()) == digest(desk.stream.snapshot())


def events(n, seed=0, first=0):
    """Events and their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + 0.5 * X[:, 1] > 1.2
    made = [
        Event(
            key=f"e{first + i}",
            features={"a": float(r[0]), "b": float(r[1]), "c": float(r[2]), "shop": f"s{i % 3}"},
            time=1_000_000.0 + i,
        )
        for i, r in enumerate(X)
    ]
    return made, ["fraud" if label else "fine" for label in y]
