"""What decisions came to by minute, hour and day, counted from the log when somebody looks.

No model depends on it, so it costs nothing while events come in, and it is never part of a
snapshot. What was counted is kept in the folder now and then: after a restart only the rows behind
it are counted. Where it is missing the log gives the same figures again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from msgspec import Struct, field

from .periods import Period, calibration, estimated, inputs, shifts
from .recovery import read_config, read_label
from .schema import CHANGES
from .sequencer import Transaction
from .storage import EVENTS, Row, Storage
from .types import Answer, Costs, Event, StreamConfig, read_answer, read_event

_ROWS = 500  # counted at a time, so that no request waits long
_NAMES = 60  # features whose means are counted
_DAY = 86400
WINDOWS = {"hour": (60, 60), "day": (3600, 24), "month": (_DAY, 30)}  # a period, how many
# Seconds that periods are shown for: a window, and what came before it to compare with.
_SHOWN = {60: 7200, 3600: 14 * _DAY, _DAY: 61 * _DAY}
_LOOKS_BACK = 62 * _DAY  # seconds of the log that are counted
_FORMAT = 1  # of what is kept
_OFTEN = 20_000  # rows after which it is kept


class Ledger(Struct):
    """The periods of one stream."""

    seq: int = 0
    kept: int = 0  # the row up to which it is in the folder
    _costs: Costs | None = None  # the prices at that row
    _names: set[str] = field(default_factory=set)
    _periods: dict[int, dict[int, Period]] = field(
        default_factory=lambda: {size: {} for size in _SHOWN}
    )

    @property
    def due(self) -> bool:
        """Whether so much was counted that it should be kept."""
        return self.seq - self.kept >= _OFTEN

    def count(self, storage: Storage, stream: int, config: StreamConfig, until: int) -> bool:
        """Count some more rows of the log; say whether those up to `until` are all counted."""
        newest = storage.row(until)
        now = 0.0 if newest is None else newest.time
        if self._costs is None:
            self.seq = storage.last_before(now - _LOOKS_BACK) if newest else 0
            self._costs = _costs_at(storage, stream, self.seq) or config.costs
        rows = storage.all(
            "select * from log where seq > ? and seq <= ? order by seq limit ?",
            self.seq, until, _ROWS,
        )  # fmt: skip
        met = 0
        for row in map(Row._make, rows):
            if row.stream == stream:
                met += self._take(storage, row, config, now)
            self.seq = row.seq
            if met >= _ROWS:  # a row may have many events
                break
        else:
            self.seq = max(self.seq, until if len(rows) < _ROWS else 0)
        self._forget(now)
        return self.seq >= until

    def _take(self, storage: Storage, row: Row, config: StreamConfig, now: float) -> int:
        """Count a row; return how many events it has."""
        if row.kind in EVENTS:
            events = row.events()
            for event, answer in events:
                self._meet(event, answer, now)
            return len(events)
        if row.kind == "label":
            self._learn(storage, row, config, now)
        elif row.kind == "config":
            self._costs = read_config(row.body).costs
        return 0

    def _at(self, time: float, now: float) -> Iterable[Period]:
        """Yield the periods of a time that can still be shown when the log has come to `now`."""
        for size, periods in self._periods.items():
            if now - time < _SHOWN[size]:
                number = int(time // size)
                period = periods.get(number)
                if period is None:
                    period = periods[number] = Period()
                yield period

    def _meet(self, event: Event, answer: Answer, now: float) -> None:
        names, known = self._names, []
        for name, x in inputs(event.features):
            if name not in names:
                if len(names) >= _NAMES:
                    continue
                names.add(name)
            known.append((name, x))
        for period in self._at(float(event.time), now):  # type: ignore[arg-type]
            period.meet(event, answer, known)

    def _learn(self, storage: Storage, row: Row, config: StreamConfig, now: float) -> None:
        label = read_label(row.body)
        met = storage.row(label.event) if label.event else None
        if met is None or met.out is None:
            return
        event, answer = read_event(met.body), read_answer(met.out)
        costs = event.costs or self._costs or config.costs
        for period in self._at(float(event.time), now):  # type: ignore[arg-type]
            if label.before is not None:
                period.learn(answer, label.before == config.positive, costs, -1.0)
            else:
                period.labels += 1
            period.learn(answer, label.label == config.positive, costs, 1.0)

    def _forget(self, now: float) -> None:
        for size, shown in _SHOWN.items():
            periods = self._periods[size]
            if len(periods) > 2 * shown / size:
                oldest = _oldest(now, size)
                self._periods[size] = {n: p for n, p in periods.items() if n >= oldest}

    # What is shown --------------------------------------------------------------------------------

    def window(
        self, name: str, now: float, costs: Costs, hidden: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return the periods of the last hour, day or month, and figures over all of them."""
        size, count = WINDOWS[name]
        last = int(now // size)
        periods = self._periods[size]
        shown = [periods.get(n, Period()) for n in range(last - count + 1, last + 1)]
        total = Period()
        for period in shown:
            total.add(period)
        before = self._before((last - count + 1) * size, now)
        models = sorted(total.models)
        return {
            "window": name,
            "seq": self.seq,
            "time": [n * size for n in range(last - count + 1, last + 1)],
            **{
                kind: [getattr(period, kind) for period in shown]
                for kind in ("events", "flagged", "asked", "labels", "nobody", "everybody")
            },
            "score": [p.scores / p.events if p.events else None for p in shown],
            "usual_score": before.scores / before.events if before.events else None,
            "probability": [p.probabilities / p.judged if p.judged else None for p in shown],
            "usual_probability": before.probabilities / before.judged if before.judged else None,
            "cost": {m: [p.models[m].cost if m in p.models else 0.0 for p in shown]
                     for m in models},
            "models": {m: total.models[m] for m in models},
            "estimate": estimated(total, costs),
            "calibration": calibration(total),
            "inputs": shifts(total, before, hidden),
        }  # fmt: skip

    def _before(self, start: float, now: float) -> Period:
        """Return what is usual: the sums of what came before a time, as finely as there are any."""
        out = Period()
        for size, periods in self._periods.items():
            oldest, first = _oldest(now, size), start // size
            older = [n for n in periods if oldest <= n < first]
            if older:
                for n in sorted(older):
                    out.add(periods[n])
                break
        return out


def _oldest(now: float, size: int) -> int:
    """Return the oldest period of a size of which nothing is missing however it was counted."""
    return int((now - _SHOWN[size]) // size) + 1


def _costs_at(storage: Storage, stream: int, seq: int) -> Costs | None:
    """Return the prices that a stream had at a row."""
    rows = storage.all(
        f"select body from log where {CHANGES} and stream = ? and kind = 'config' and seq <= ? "
        "order by seq desc limit 1", stream, seq,
    )  # fmt: skip
    return read_config(rows[0][0]).costs if rows else None


# Commands -----------------------------------------------------------------------------------------


def count_ledger(tx: Transaction, name: str, ledger: Ledger, until: int) -> bool:
    """Count some rows of a stream; say whether all are counted."""
    stream = tx.stream(name)
    return ledger.count(tx.storage, stream.id, stream.config, until)


def load_ledger(tx: Transaction, name: str, until: int) -> Ledger:
    """Return what was counted up to a row before the server was started, or nothing yet."""
    rows = tx.storage.all("select value from meta where key = ?", _key(tx, name))
    try:
        format_, ledger = _read(rows[0][0]) if rows else (_FORMAT, Ledger())
    except msgspec.DecodeError:
        return Ledger()
    return ledger if format_ == _FORMAT and ledger.seq <= until else Ledger()


def keep_ledger(tx: Transaction, name: str, ledger: Ledger) -> None:
    """Keep what was counted in the folder."""
    tx.touch()
    ledger.kept = ledger.seq
    value = msgspec.msgpack.encode((_FORMAT, ledger))
    tx.storage.do("insert or replace into meta values (?, ?)", _key(tx, name), value)


_read = msgspec.msgpack.Decoder(tuple[int, Ledger]).decode


def _key(tx: Transaction, name: str) -> str:
    return f"desk {tx.stream(name).id}"
