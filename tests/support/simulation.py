"""The whole service with a disk, a clock and a network that fail, all from one seed.

Run as a program for many seeds: python tests/support/simulation.py 0 10000
"""

from __future__ import annotations

import random
import sqlite3
import sys
from collections import Counter

import msgspec

from lopsided.service.commands import admin, questions
from lopsided.service.commands.events import AddEvents
from lopsided.service.commands.labels import add_labels
from lopsided.service.recovery import recover
from lopsided.service.sequencer import Sequencer
from lopsided.service.storage import PACKED, Storage
from lopsided.service.stream import digest
from lopsided.service.types import Label, NewModel, Promotion, Refusal, Verdict
from service import CONFIG, events

BUDGET, PERIOD = 20, 100


class CrashError(BaseException):
    """The process is gone."""


class Disk:
    """What outlives the process: the last committed state, and the witness."""

    def __init__(self, rng):
        self.rng = rng
        self.image = sqlite3.connect(":memory:")
        self.witness = 0
        self.full = False

    def keep(self, db):
        new = sqlite3.connect(":memory:")
        db.backup(new)
        self.image.close()
        self.image = new


class SimulatedStorage(Storage):
    """SQLite in memory; a commit may fail, or the power with it."""

    def __init__(self, disk):
        self._disk = disk
        super().__init__(":memory:")

    def _connect(self, path):
        db = sqlite3.connect(path, isolation_level=None)
        self._disk.image.backup(db)
        return db

    def begin(self):
        if self._disk.full and self._disk.rng.random() < 0.5:
            raise sqlite3.OperationalError("database or disk is full")
        super().begin()

    def commit(self):
        rng = self._disk.rng
        if self._disk.full:
            raise sqlite3.OperationalError("database or disk is full")
        if rng.random() < 0.02:
            raise CrashError
        super().commit()
        self._disk.keep(self.db)
        if rng.random() < 0.02:
            raise CrashError


class SimulatedWitness:
    """A file that is written after each commit and may lag behind at a power cut."""

    def __init__(self, disk):
        self._disk = disk
        self.seq = disk.witness

    def write(self, seq, *, sync):
        self.seq = seq
        if sync or self._disk.rng.random() < 0.7:
            self._disk.witness = seq


class World:
    """Clients that repeat what was not answered, and what they were told."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.disk = Disk(rng)
        self.now = 1_000_000.0
        self.pool, self.truth = events(150, seed=seed % 7)
        self.next = 0
        self.decided = {}  # key: the answer that a client was given
        self.labelled = {}  # (key, label): seq
        self.leases = {}  # key: (lease, until)
        self.answered = {}  # key: label
        self.waiting = []  # commands whose answers were lost
        self.names = 0
        self.crashes = self.fulls = 0
        self.sequencer = None
        self.start()

    def start(self):
        while True:
            try:
                storage = SimulatedStorage(self.disk)
                every = self.rng.choice((7, 23, 10_000))
                self.sequencer = Sequencer(
                    storage, SimulatedWitness(self.disk), snapshot_every=every
                )
                if "pay" not in self.sequencer.streams:
                    self._group([(None, lambda tx: admin.put_stream(tx, "pay", CONFIG))])
                break
            except CrashError:
                self.crashes += 1
        if "pay" in self.sequencer.streams:
            self.check()

    # What clients do --------------------------------------------------------------------------

    def step(self):
        rng = self.rng
        if rng.random() < 0.03:
            self.now += rng.choice((-7200.0, -5.0, 400.0, 90_000.0))
        self.now += rng.random() * 3
        if rng.random() < 0.02:
            self.disk.full = True
            self.fulls += 1
        elif rng.random() < 0.2:
            self.disk.full = False
        again = [w for w in self.waiting if rng.random() < 0.5]
        self.waiting = [w for w in self.waiting if w not in again]
        wanted = again + [self.want() for _ in range(rng.randint(1, 6))]
        try:
            if self.sequencer.read_only is not None and not self.sequencer.probe():
                self.waiting += wanted
                return
            self._group(wanted)
        except CrashError:
            self.crashes += 1
            self.waiting += wanted
            self.start()

    def want(self):
        rng = self.rng
        kind = rng.choice("eeeeelllqaaurtmp")
        if kind in "e" and self.next < len(self.pool):
            n = rng.choice((1, 1, 1, 5, 20))
            batch = self.pool[self.next : self.next + n]
            self.next += n
            return "event", [msgspec.structs.replace(e) for e in batch]
        if kind == "l":
            at = rng.randrange(min(len(self.pool), self.next + 5))
            label = self.truth[at] if rng.random() < 0.9 else rng.choice(("fraud", "fine"))
            self.names += 1
            return "label", Label(key=f"e{at}", label=label, id=f"id{self.names}")
        if kind == "q":
            return "lease", rng.randint(1, 3)
        if kind == "a" and self.leases:
            key = rng.choice(sorted(self.leases))
            lease, label = self.leases[key][0], rng.choice(("fraud", "fine", None))
            if label is None:  # it may go to another from now on
                self.leases[key] = lease, float("-inf")
            return "answer", (key, lease, label)
        if kind == "u" and self.answered:
            key = rng.choice(sorted(self.answered))
            del self.answered[key]
            return "undo", (key, self.leases.get(key, ("none",))[0])
        if kind == "m" and rng.random() < 0.2:
            return "model", rng.choice(("one", "two"))
        if kind == "p" and rng.random() < 0.3:
            return "promote", rng.choice(("first", "one", "two"))
        return "settle", None

    def _group(self, wanted):
        """Run and commit a group; some events are applied while it is being committed."""
        ahead = []
        if self.rng.random() < 0.5:
            at = self.rng.randint(1, len(wanted))
            wanted, later = wanted[:at], wanted[at:]
            ahead = [w for w in later if w[0] == "event"]
            self.waiting += [w for w in later if w[0] != "event"]
            ahead += [w for w in wanted if w[0] == "event" and self.rng.random() < 0.3]  # again
        outcomes, written = self.sequencer.run([self._command(*w) for w in wanted], self.now)
        assert self.sequencer.fault is None, self.sequencer.fault
        if not written:
            self.waiting += ahead
        elif not self._committed(ahead, wanted):
            return
        self._tell(wanted, outcomes)
        if self.sequencer.group is not None:
            early = self.early
            outcomes, written = self.sequencer.run([], self.now)
            if not written or self._committed([], early):
                self._tell(early, outcomes)

    def _committed(self, ahead, wanted):
        """Commit the group, and apply what can be for the next one meanwhile."""
        group, self.early = self.sequencer.close_group(), []
        for what in ahead:
            command = self._command(*what)
            if self.sequencer.can_run_ahead(command):
                self.sequencer.run_ahead([command], self.now)
                self.early.append(what)
            else:
                self.waiting.append(what)
        try:
            group.commit(self.sequencer.witness, sync=self.rng.random() < 0.1)
        except sqlite3.Error as error:
            self.sequencer.fail(error)
            self.waiting += [w for w in wanted + self.early if w[0] is not None]
            self.check()
            return False
        self.sequencer.committing = None
        return True

    def _tell(self, wanted, outcomes):
        for what, (value, refusal) in zip(wanted, outcomes, strict=True):
            if what[0] is None:
                continue
            if what[0] == "undo":  # done or not, a repeated one may undo a later answer
                self.answered.pop(what[1][0], None)
            if self.rng.random() < 0.1:  # the answer is lost on the way
                self.waiting.append(what)
            elif refusal is None:
                self._told(*what, value)
            elif refusal.status >= 500:
                self.waiting.append(what)

    def _command(self, kind, what):
        if kind is None:
            return what
        if kind == "event":
            return AddEvents("pay", [msgspec.structs.replace(e) for e in what])
        if kind == "label":
            return lambda tx: add_labels(tx, "pay", [what])
        if kind == "lease":
            return lambda tx: questions.lease_questions(tx, "pay", what, 60.0, "me")
        if kind == "answer":
            key, lease, label = what
            verdict = Verdict(key, lease, label, None if label else "skip")
            return lambda tx: questions.answer_question(tx, "pay", verdict)
        if kind == "undo":
            return lambda tx: questions.undo_answer(tx, "pay", *what)
        if kind == "model":
            return lambda tx: admin.add_model(tx, "pay", NewModel(name=what, learner="PA-I"))
        if kind == "promote":
            return lambda tx: admin.promote(tx, "pay", Promotion(what))
        return questions.settle

    def _told(self, kind, what, value):
        """Remember what a client was told, and compare with what it was told before."""
        if kind == "event":
            for event, answer in zip(what, value, strict=True):
                assert self.decided.setdefault(event.key, answer) == answer, "another answer"
        elif kind == "label" and value[0].seq is not None:
            self.labelled[what.key, what.label] = value[0].seq
        elif kind == "lease":
            for question in value:
                before = self.leases.get(question.key)
                free = before is None or before[1] <= self.now or before[1] > self.now + 86400
                assert free, "leased twice"
                self.leases[question.key] = question.lease, question.until
                self.answered.pop(question.key, None)
        elif kind == "answer" and value.result in ("held", "repeated") and what[2]:
            self.answered[what[0]] = what[2]
            self.leases[what[0]] = what[1], float("-inf")
        elif kind == "answer" and value.result == "skipped":
            self.leases.pop(what[0], None)
        elif kind == "undo" and value.result == "undone":
            self.leases[what[0]] = what[1], value.until

    # What must hold ---------------------------------------------------------------------------

    def check(self):
        storage = self.sequencer.storage
        found = [answer for _, answer in storage.events()]
        keys = [answer.key for answer in found]
        assert len(keys) == len(set(keys)), "an event twice"
        outs = {answer.key: msgspec.json.encode(answer) for answer in found}
        for key, answer in self.decided.items():
            assert outs.get(key) == answer, f"acknowledged and lost: {key}"
        seqs = []
        for row in storage.rows():
            seqs += range(row.seq - (len(row.pack()) if row.kind == PACKED else 1) + 1, row.seq + 1)
        assert seqs == list(range(1, len(seqs) + 1)), "a hole in the log"
        for (key, label), seq in self.labelled.items():
            kept = storage.row(seq)
            assert kept is not None, f"a label is lost: {key}"
            assert kept.key == key
            assert msgspec.json.decode(kept.body)["label"] == label
        blocks = Counter()
        for out in outs.values():
            answer = msgspec.json.decode(out)
            blocks[answer["id"] // PERIOD] += answer["asked"]
        assert max(blocks.values(), default=0) <= BUDGET, f"overspent: {blocks}"
        known = storage.all("select key, state from question")
        states = dict(known)
        for key in self.answered:
            assert states[key] in ("held", "closed"), f"an answer is lost: {key} {states[key]}"

    def check_bits(self):
        """The models in memory are those of the disk, from snapshots and from nothing."""
        live = {n: digest(s.snapshot()) for n, s in self.sequencer.streams.items()}
        storage = SimulatedStorage(self.disk)
        for _ in range(2):
            streams, _, _ = recover(storage)
            known = {answer.key: msgspec.json.encode(answer) for _, answer in storage.events()}
            assert storage.answers(1, list(known)) == known, "a key leads elsewhere"
            assert {n: digest(s.snapshot()) for n, s in streams.items()} == live
            storage.do("delete from snapshot")

    def end(self):
        """Let everything come to rest: repeat what was lost, and settle."""
        self.disk.full = False
        for _ in range(200):
            wanted, settled = [], False
            try:
                if self.sequencer.probe():
                    wanted, self.waiting = self.waiting, []
                    self.now += 100
                    self._group([*wanted, ("settle", None)])
                    settled = not self.sequencer.read_only
            except CrashError:
                self.crashes += 1
                self.waiting += wanted
                self.start()
            if settled and not self.waiting and not wanted:  # what was repeated has, too
                break
        self.check()
        self.check_bits()
        held = self.sequencer.storage.all("select count(*) from question where state = 'held'")
        assert held == [(0,)] or self.waiting
        return self


def simulate(seed, steps=60):
    """Run one seed."""
    world = World(seed)
    for step in range(steps):
        world.step()
        if step % 20 == 19:
            world.check_bits()
    return world.end()


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    crashes = fulls = told = 0
    for seed in range(first, last):
        try:
            world = simulate(seed)
        except (AssertionError, Refusal, ValueError) as error:
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            raise
        crashes, fulls, told = (
            crashes + world.crashes,
            fulls + world.fulls,
            told + len(world.decided),
        )
    print(
        f"{last - first} seeds, {crashes} crashes, {fulls} full disks, {told} events told: all well"
    )
