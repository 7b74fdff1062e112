"""The sequencer inside an event loop: requests wait here, commits run in a thread."""

from __future__ import annotations

import asyncio
import functools
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from .commands.questions import settle
from .commands.upkeep import upkeep
from .log import Journal
from .sequencer import Command, Outcome, Sequencer, Transaction
from .types import Refusal

_GROUP = 1024  # commands that are committed together
_ENOUGH = 32  # events that are worth a call of the models while a group is committed
_WITNESS_EVERY = 1.0  # seconds between two syncs of the witness
_PROBE_EVERY = 1.0
_UPKEEP_EVERY = 10.0
_UPKEEP_PAUSE = 0.02  # while there is more: 50,000 events a second can be forgotten


Done = Callable[[Outcome], None]
Waiting = tuple[Command, Done, bool]


def _resolve(future: asyncio.Future[Any], outcome: Outcome) -> None:
    if future.done():  # its client has gone
        return
    if outcome.refusal is None:
        future.set_result(outcome.value)
    else:
        future.set_exception(outcome.refusal)


class Driver:
    """Lets commands wait, runs them in groups, and answers when the disk has them.

    There is no timer: a group is what has come in while the one before was committed. Events are
    applied to the models meanwhile, if there are enough.
    """

    def __init__(
        self,
        sequencer: Sequencer,
        journal: Journal,
        *,
        queue: int = 4096,
        clock: Callable[[], float] = time.time,
        leave: Callable[[int], None] = os._exit,
    ) -> None:
        self._exit = leave
        self.sequencer, self.journal, self.clock = sequencer, journal, clock
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Waiting] = deque()
        self._size = 0  # how many events wait
        self._applied: list[Done] = []  # who waits for the group that is not being committed yet
        self._limit = queue
        self._busy = self._soon = self._stopping = False
        self._synced = self._probed = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.commit_seconds = 0.0
        self._work: SimpleQueue[tuple[Transaction, list[Done]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._commits, name="commits", daemon=True)
        self._thread.start()
        self.settle()
        self._upkeep = self._loop.call_later(_UPKEEP_EVERY, self._keep_up)

    def __len__(self) -> int:
        return len(self._waiting)

    def submit(self, command: Command, *, reads: bool = False) -> asyncio.Future[Any]:
        """Let a command wait for its turn; one that only reads runs when the disk is full, too."""
        future: asyncio.Future[Any] = self._loop.create_future()
        self.post(command, functools.partial(_resolve, future), reads=reads)
        return future

    def post(self, command: Command, done: Done, *, reads: bool = False) -> None:
        """Do as `submit` does, and call `done` with the outcome."""
        if self._stopping:
            raise Refusal(503, "the server is stopping", **{"retry-after": "5"})
        if len(self._waiting) >= self._limit:
            raise Refusal(429, "too many requests are waiting", **{"retry-after": "1"})
        self._waiting.append((command, done, reads))
        self._size += getattr(command, "size", 0)
        if not self._busy:
            if len(self._waiting) == 1:
                self._loop.call_soon(self._turn)
        elif self._size >= _ENOUGH and not self._soon:
            self._soon = True
            self._loop.call_soon(self._turn_ahead)

    def _taken(self, most: int) -> list[Command]:
        """Take commands that wait; who wants their outcomes is noted."""
        taken = [self._waiting.popleft() for _ in range(most)]
        self._applied += [done for _, done, _ in taken]
        commands = [command for command, _, _ in taken]
        self._size -= sum(getattr(command, "size", 0) for command in commands)
        return commands

    def _turn_ahead(self) -> None:
        """Apply events that have come in while a group is committed, so that they come next."""
        self._soon = False
        if not self._busy:
            return self._turn()
        n = 0
        can = self.sequencer.can_run_ahead
        while n < min(len(self._waiting), _GROUP - len(self._applied)) and can(self._waiting[n][0]):
            n += 1
        if n:
            self.sequencer.run_ahead(self._taken(n), self.clock())
        return None

    def _turn(self) -> None:
        """Run what has come in; commit it in the thread, or answer if nothing was written."""
        if self._busy or not (self._waiting or self._applied):
            return None
        if self.sequencer.read_only is not None:
            self._refuse_writes()
        taken = self._taken(min(len(self._waiting), _GROUP))
        try:
            outcomes, written = self.sequencer.run(taken, self.clock())
        except Exception as error:
            return self._die(error)
        self._note_fault()
        applied, self._applied = self._applied, []
        if written:
            self._busy = True
            self._work.put((self.sequencer.close_group(), applied))
        else:
            self._answer(outcomes, applied)
            if self._waiting:
                self._loop.call_soon(self._turn)
        return None

    def _answer(self, outcomes: list[Outcome], applied: list[Done]) -> None:
        for outcome, done in zip(outcomes, applied, strict=True):
            try:
                done(outcome)
            except Exception as error:  # noqa: PERF203  # others still wait
                self.journal.fault(error)

    def _note_fault(self) -> None:
        if self.sequencer.fault is not None:
            self.journal.fault(self.sequencer.fault)
            self.sequencer.fault = None

    def _die(self, error: BaseException) -> None:
        """End the process: the models cannot be built from the disk, so nothing may be answered."""
        self.journal.fault(error)
        self.journal.say(f"cannot continue: {error}")
        self._exit(1)

    def _refuse_writes(self) -> None:
        """Look whether the disk takes something again; refuse writes if not."""
        now = time.monotonic()
        if now - self._probed > _PROBE_EVERY:
            self._probed = now
            if self.sequencer.probe():
                self.journal.say("the disk can be written again")
                return
        refusal = self.sequencer.read_only
        assert refusal is not None
        kept, self._size = [one for one in self._waiting if one[2]], 0
        gone = [done for _, done, reads in self._waiting if not reads]
        self._waiting = deque(kept)
        self._answer([Outcome(None, refusal)] * len(gone), gone)

    def _commits(self) -> None:
        """Commit groups, in the thread."""
        while (work := self._work.get()) is not None:
            group, applied = work
            started = time.monotonic()
            error: Exception | None = None
            try:
                sync = started - self._synced > _WITNESS_EVERY
                group.commit(self.sequencer.witness, sync=sync)
                if sync:
                    self._synced = started
            except Exception as failure:  # whatever it is, somebody waits
                error = failure
            self.commit_seconds += time.monotonic() - started
            self._loop.call_soon_threadsafe(self._committed, group.outcomes, applied, error)

    def _committed(
        self, outcomes: list[Outcome], applied: list[Done], error: Exception | None
    ) -> None:
        self._busy = False
        self.sequencer.committing = None
        if error is not None:
            applied, self._applied = applied + self._applied, []
            try:
                refusal = self.sequencer.fail(error)
            except Exception as failure:
                return self._die(failure)
            if self.sequencer.read_only is not None:
                self.journal.say(f"read-only: {error}")
            self._note_fault()
            outcomes = [Outcome(None, refusal)] * len(applied)
        self._turn()  # first, so that the disk has something to do
        return self._answer(outcomes, applied)

    # Answers that can no longer be undone ---------------------------------------------------------

    def settle(self) -> None:
        """Learn from answers whose time has come, now and whenever one is due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stopping:
            return
        try:
            self.submit(settle).add_done_callback(self._settled)
        except Refusal:
            self._timer = self._loop.call_later(1.0, self.settle)

    def _settled(self, future: asyncio.Future[Any]) -> None:
        if future.cancelled() or self._stopping:
            return
        due = None if future.exception() else future.result()
        delay = 60.0 if due is None else min(60.0, max(0.05, due - self.clock()))
        self._timer = self._loop.call_later(delay, self.settle)

    def settle_in(self, delay: float) -> None:
        """Make sure that answers are handled after `delay` seconds."""
        when = self._loop.time() + delay + 0.01
        if self._timer is None or self._timer.when() > when:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(when, self.settle)

    def _keep_up(self) -> None:
        """Do what is done from time to time, the rest of it soon."""

        def again(future: asyncio.Future[Any]) -> None:
            busy = not future.cancelled() and future.exception() is None and future.result() > 0
            delay = _UPKEEP_PAUSE if busy else _UPKEEP_EVERY
            self._upkeep = self._loop.call_later(delay, self._keep_up)

        try:
            self.submit(upkeep).add_done_callback(again)
        except Refusal:
            self._upkeep = self._loop.call_later(_UPKEEP_EVERY, self._keep_up)

    # The end --------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Answer what waits, then write a snapshot."""
        self._stopping = True
        self._upkeep.cancel()
        if self._timer is not None:
            self._timer.cancel()
        while self._waiting or self._applied or self._busy:
            await asyncio.sleep(0.01)
        self._work.put(None)
        self._thread.join()
        try:
            self.sequencer.snapshot(self.clock())
        except (sqlite3.Error, OSError) as error:
            self.journal.say(f"no snapshot: {error}")
