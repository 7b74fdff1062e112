"""The sequencer inside an event loop: requests wait here, commits run in a thread."""

from __future__ import annotations

import asyncio
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
from .sequencer import Command, Outcome, Sequencer
from .types import Refusal

_GROUP = 1024  # commands that are committed together
_WITNESS_EVERY = 1.0  # seconds between two syncs of the witness
_PROBE_EVERY = 1.0
_UPKEEP_EVERY = 10.0


class Driver:
    """Lets commands wait, runs them in groups, and answers when the disk has them.

    There is no timer: a group is what has come in while the one before was committed.
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
        self._waiting: deque[tuple[Command, asyncio.Future[Any], bool]] = deque()
        self._limit = queue
        self._busy = self._stopping = False
        self._synced = self._probed = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.commit_seconds = 0.0
        self._work: SimpleQueue[tuple[list[Outcome], list[asyncio.Future[Any]]] | None]
        self._work = SimpleQueue()
        self._thread = threading.Thread(target=self._commits, name="commits", daemon=True)
        self._thread.start()
        self.settle()
        self._upkeep = self._loop.call_later(_UPKEEP_EVERY, self._keep_up)

    def __len__(self) -> int:
        return len(self._waiting)

    def submit(self, command: Command, *, reads: bool = False) -> asyncio.Future[Any]:
        """Let a command wait for its turn; one that only reads runs when the disk is full, too."""
        if self._stopping:
            raise Refusal(503, "the server is stopping", **{"retry-after": "5"})
        if len(self._waiting) >= self._limit:
            raise Refusal(429, "too many requests are waiting", **{"retry-after": "1"})
        future = self._loop.create_future()
        self._waiting.append((command, future, reads))
        if not self._busy and len(self._waiting) == 1:
            self._loop.call_soon(self._turn)
        return future

    def _turn(self) -> None:
        """Run what has come in; commit it in the thread, or answer if nothing was written."""
        if self._busy or not self._waiting:
            return None
        if self.sequencer.read_only is not None:
            self._refuse_writes()
        size = min(len(self._waiting), _GROUP)
        taken = [self._waiting.popleft() for _ in range(size)]
        if not taken:
            return None
        commands = [command for command, _, _ in taken]
        try:
            outcomes, written = self.sequencer.run(commands, self.clock())
        except Exception as error:
            return self._die(error)
        futures = [future for _, future, _ in taken]
        if self.sequencer.fault is not None:
            self.journal.fault(self.sequencer.fault)
            self.sequencer.fault = None
        if written:
            self._busy = True
            self._work.put((outcomes, futures))
        else:
            self._done(outcomes, futures)
        return None

    def _die(self, error: BaseException) -> None:
        """End the process: the models cannot be built from the disk, so nothing may be answered."""
        self.journal.fault(error)
        self.journal.say(f"cannot go on: {error}")
        self._exit(1)

    def _refuse_writes(self) -> None:
        """Look whether the disk takes something again; refuse what is to be written if not."""
        now = time.monotonic()
        if now - self._probed > _PROBE_EVERY:
            self._probed = now
            if self.sequencer.probe():
                self.journal.say("the disk can be written again")
                return
        refusal = self.sequencer.read_only
        assert refusal is not None
        for command, future, reads in list(self._waiting):
            if not reads:
                self._waiting.remove((command, future, reads))
                if not future.done():
                    future.set_exception(refusal)

    def _commits(self) -> None:
        """Commit groups, in the thread."""
        while (work := self._work.get()) is not None:
            outcomes, futures = work
            started = time.monotonic()
            error = None
            try:
                sync = started - self._synced > _WITNESS_EVERY
                self.sequencer.commit(sync=sync)
                if sync:
                    self._synced = started
            except (sqlite3.Error, OSError) as failure:
                error = failure
            self.commit_seconds += time.monotonic() - started
            self._loop.call_soon_threadsafe(self._committed, outcomes, futures, error)

    def _committed(
        self,
        outcomes: list[Outcome],
        futures: list[asyncio.Future[Any]],
        error: sqlite3.Error | OSError | None,
    ) -> None:
        self._busy = False
        if error is not None:
            try:
                refusal = self.sequencer.fail(error)
            except Exception as failure:
                return self._die(failure)
            self.journal.say(f"read-only: {error}")
            outcomes = [Outcome(None, refusal)] * len(futures)
        return self._done(outcomes, futures)

    def _done(self, outcomes: list[Outcome], futures: list[asyncio.Future[Any]]) -> None:
        for outcome, future in zip(outcomes, futures, strict=True):
            if future.done():  # its client has gone
                continue
            if outcome.refusal is None:
                future.set_result(outcome.value)
            else:
                future.set_exception(outcome.refusal)
        if self._waiting:
            self._turn()

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
        """Make sure that answers are looked at after so many seconds."""
        when = self._loop.time() + delay + 0.01
        if self._timer is None or self._timer.when() > when:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(when, self.settle)

    def _keep_up(self) -> None:
        """Do what is done from time to time, the rest of it soon."""

        def again(future: asyncio.Future[Any]) -> None:
            busy = not future.cancelled() and future.exception() is None and future.result() > 0
            delay = 0.1 if busy else _UPKEEP_EVERY
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
        while self._waiting or self._busy:
            await asyncio.sleep(0.01)
        self._work.put(None)
        self._thread.join()
        try:
            self.sequencer.snapshot(self.clock())
        except (sqlite3.Error, OSError) as error:
            self.journal.say(f"no snapshot: {error}")
