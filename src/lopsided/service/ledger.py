"""What decisions came to by minute, hour and day, counted from the log when somebody looks.

No model depends on it, so it costs nothing while events come in, and it is never part of a
snapshot.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable
from typing import Any

from msgspec import Struct, field

from ..algorithms.estimate import estimate_from
from .account import Account
from .recovery import read_label
from .sequencer import Transaction
from .storage import EVENTS, Row, Storage
from .types import Answer, Costs, Event, StreamConfig, read_answer, read_event

_ROWS = 500  # counted at a time, so that no request waits long
_NAMES = 60  # features whose means are kept
WINDOWS = {"hour": (60, 60), "day": (3600, 24), "month": (86400, 30)}  # a period, how many
_KEPT = {60: 7200, 3600: 14 * 86400, 86400: 800 * 86400}  # seconds that periods are kept for
_LOOKS_BACK = 62 * 86400  # seconds of the log that are counted: a month and the one before
_EDGES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)  # of probabilities
_FEW = 4.5  # labels that say too little about a share
_PLAIN = (
    "events", "flagged", "asked", "labels", "scores", "judged", "probabilities", "nobody",
    "everybody",
)  # fmt: skip
_SUMS = ("positives", "negatives", "false_negatives", "false_positives")


class Period(Struct):
    """Sums over the events of some time."""

    events: int = 0
    flagged: int = 0
    asked: int = 0
    labels: int = 0
    scores: float = 0.0
    judged: int = 0  # events with a probability
    probabilities: float = 0.0
    nobody: float = 0.0
    everybody: float = 0.0
    models: dict[str, Account] = field(default_factory=dict)
    bought: dict[str, float] = field(default_factory=dict)  # sums of 1 / probability
    bins: list[list[float]] = field(default_factory=lambda: [[0.0] * 4 for _ in _EDGES])
    inputs: dict[str, tuple[float, float, float]] = field(default_factory=dict)

    def meet(self, event: Event, answer: Answer, names: set[str]) -> None:
        """Count a decision."""
        self.events += 1
        self.flagged += answer.flag
        self.asked += answer.asked
        self.scores += math.tanh(answer.score)
        if answer.probability is not None:
            self.judged += 1
            self.probabilities += answer.probability
        for given, value in event.features.items():
            name, x = (f"{given}={value}", 1.0) if isinstance(value, str) else (given, float(value))
            if name in names:
                n, total, squares = self.inputs.get(name, (0.0, 0.0, 0.0))
                self.inputs[name] = (n + 1, total + x, squares + x * x)

    def learn(self, answer: Answer, positive: bool, costs: Costs, times: float) -> None:
        """Count a label of an event, or with times=-1 take it back."""
        self.nobody += times * costs.miss * positive
        self.everybody += times * costs.alarm * (not positive)
        for name, flag in {**(answer.shadow or {}), answer.model: answer.flag}.items():
            account = self.models.setdefault(name, Account())
            account.add(flag, answer.flag, positive, costs, times)
        if not answer.asked or not answer.ask_probability:
            return
        weight = 1 / answer.ask_probability
        kinds = ["positives" if positive else "negatives"]
        if positive != answer.flag:
            kinds.append("false_negatives" if positive else "false_positives")
        for kind in kinds:
            self.bought[kind] = self.bought.get(kind, 0.0) + times * weight
            spread = f"{kind}.spread"
            self.bought[spread] = self.bought.get(spread, 0.0) + times * weight * weight
        if answer.probability is not None:
            at = bisect_right(_EDGES, answer.probability) - 1
            sums = (weight, weight * answer.probability, weight * positive, weight * weight)
            self.bins[at] = [a + times * b for a, b in zip(self.bins[at], sums, strict=True)]

    def add(self, other: Period) -> None:
        """Add the sums of another period."""
        for name in _PLAIN:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, account in other.models.items():
            _add(self.models.setdefault(name, Account()), account)
        for name, value in other.bought.items():
            self.bought[name] = self.bought.get(name, 0.0) + value
        for mine, theirs in zip(self.bins, other.bins, strict=True):
            mine[:] = [a + b for a, b in zip(mine, theirs, strict=True)]
        for name, sums in other.inputs.items():
            n, total, squares = self.inputs.get(name, (0.0, 0.0, 0.0))
            self.inputs[name] = (n + sums[0], total + sums[1], squares + sums[2])


def _add(account: Account, other: Account) -> None:
    for name in Account.__struct_fields__:
        setattr(account, name, getattr(account, name) + getattr(other, name))


class Ledger:
    """The periods of one stream."""

    def __init__(self) -> None:
        self.seq = 0
        self._names: set[str] = set()
        self._periods: dict[int, dict[int, Period]] = {size: {} for size in _KEPT}

    def count(self, storage: Storage, stream: int, config: StreamConfig, until: int) -> bool:
        """Count some more rows of the log; say whether those up to `until` are all counted."""
        if until < self.seq:  # rows were rolled back
            self.__init__()  # type: ignore[misc]
        if not self.seq:
            self.seq = self._beginning(storage, until)
        rows = storage.all(
            "select * from log where seq > ? and seq <= ? order by seq limit ?",
            self.seq, until, _ROWS,
        )  # fmt: skip
        met = 0
        for row in map(Row._make, rows):
            if row.stream == stream and row.kind in EVENTS:
                for event, answer in row.events():
                    self._meet(event, answer, row.time)
                    met += 1
            elif row.stream == stream and row.kind == "label":
                self._learn(storage, row, config)
            self.seq = row.seq
            if met >= _ROWS:  # a row may have many events
                break
        else:
            self.seq = max(self.seq, until if len(rows) < _ROWS else 0)
        if rows:
            self._forget(rows[-1][3])
        return self.seq >= until

    @staticmethod
    def _beginning(storage: Storage, until: int) -> int:
        """Return the row behind which counting begins."""
        newest = storage.row(until)
        return 0 if newest is None else storage.last_before(newest.time - _LOOKS_BACK)

    def _at(self, time: float, now: float) -> Iterable[Period]:
        for size, periods in self._periods.items():
            if now - time < _KEPT[size]:
                yield periods.setdefault(int(time // size), Period())

    def _meet(self, event: Event, answer: Answer, now: float) -> None:
        for name, value in event.features.items():
            if len(self._names) >= _NAMES:
                break
            self._names.add(f"{name}={value}" if isinstance(value, str) else name)
        for period in self._at(float(event.time), now):  # type: ignore[arg-type]
            period.meet(event, answer, self._names)

    def _learn(self, storage: Storage, row: Row, config: StreamConfig) -> None:
        label = read_label(row.body)
        met = storage.row(label.event) if label.event else None
        if met is None or met.out is None:
            return
        event, answer = read_event(met.body), read_answer(met.out)
        costs = event.costs or config.costs
        for period in self._at(float(event.time), met.time):  # type: ignore[arg-type]
            if label.before is not None:
                period.learn(answer, label.before == config.positive, costs, -1.0)
            else:
                period.labels += 1
            period.learn(answer, label.label == config.positive, costs, 1.0)

    def _forget(self, now: float) -> None:
        for size, kept in _KEPT.items():
            periods = self._periods[size]
            if len(periods) > 2 * kept / size:
                oldest = (now - kept) // size
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
        total, before = Period(), Period()
        for period in shown:
            total.add(period)
        for size_before in (60, 3600, 86400):  # the usual: what is known from before the window
            first = (last - count + 1) * size // size_before
            older = [p for n, p in self._periods[size_before].items() if n < first]
            if older:
                for period in older:
                    before.add(period)
                break
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
            "estimate": _estimate(total, costs),
            "calibration": _calibration(total),
            "inputs": _shifts(total, before, hidden),
        }  # fmt: skip


def _share(part: float, whole: float, squares: float) -> tuple[float, float, float]:
    """Return a share among weighted labels, its standard error, and how many labels it is from.

    The error is that of as many labels of equal weight, and not 0 where all are alike.
    """
    if whole <= 0 or squares <= 0:
        return math.nan, math.nan, 0.0
    labels, share = whole * whole / squares, min(1.0, max(0.0, part / whole))
    likely = (share * labels + 1) / (labels + 2)
    return share, math.sqrt(likely * (1 - likely) / labels), labels


def _estimate(total: Period, costs: Costs) -> dict[str, float | None]:
    """Return how good decisions were, from the labels asked for, with standard errors."""
    kinds = [*_SUMS, *(f"{kind}.spread" for kind in _SUMS)]
    sums = {kind: total.bought.get(kind, 0.0) for kind in kinds}
    found = estimate_from({**sums, "open": float(total.events)}, costs.miss, costs.alarm)
    p, n, fn, fp = (sums[kind] for kind in _SUMS)
    pp, nn, fnfn, fpfp = (sums[f"{kind}.spread"] for kind in _SUMS)
    out = {"cost": found.normalised_cost, "cost_error": found.normalised_cost_error}
    for name, share in (
        ("sensitivity", _share(p - fn, p, pp)),
        ("specificity", _share(n - fp, n, nn)),
        ("precision", _share(p - fn, p - fn + fp, pp - fnfn + fpfp)),
    ):
        out[name], out[f"{name}_error"], _ = share
    return {name: value if math.isfinite(value) else None for name, value in out.items()}


def _calibration(total: Period) -> list[dict[str, float]]:
    """Return predicted and observed shares of positives, by predicted probability."""
    out = []
    for weight, predicted, positives, squares in total.bins:
        share, error, labels = _share(positives, weight, squares)
        if labels >= _FEW:
            out.append({"predicted": predicted / weight, "observed": share, "error": error,
                        "labels": labels})  # fmt: skip
    return out


def _shifts(
    now: Period, before: Period, hidden: Collection[str]
) -> list[tuple[str, float, float, float]]:
    """Return features with the mean now, the usual mean and their distance in deviations.

    Values that are missing count as 0, as they do for linear models.
    """
    found = []
    for name in {*now.inputs, *before.inputs}:
        (_, a, aa), (_, b, bb) = (p.inputs.get(name, (0.0, 0.0, 0.0)) for p in (now, before))
        if now.events < 2 or before.events < 2 or name.partition("=")[0] in hidden:
            continue
        new, usual, n = a / now.events, b / before.events, now.events + before.events
        spread = math.sqrt(max(0.0, (aa + bb) / n - ((a + b) / n) ** 2))
        if spread > 1e-12 * (abs(new) + abs(usual)):
            found.append((name, new, usual, (new - usual) / spread))
    return sorted(found, key=lambda shift: -abs(shift[3]))[:10]


def count_ledger(tx: Transaction, name: str, ledger: Ledger, until: int) -> bool:
    """Count some rows of a stream; say whether all are counted."""
    stream = tx.stream(name)
    return ledger.count(tx.storage, stream.id, stream.config, until)
