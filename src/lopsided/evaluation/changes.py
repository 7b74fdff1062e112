"""Changes in a stream: of the ranking, the labels, the probabilities and the inputs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .inputs import NEW, Inputs
from .series import SeriesWatch

_DELTA = 0.002  # of ADWIN: lower means fewer false alarms, and later ones
_SETTLED = 100  # positives met before probabilities are watched
_ONLY = {"AUC": False, NEW: True}  # whether only a rise, or only a fall, is a change
_SAME = 10_000  # events within which further cuts of the window belong to the same change


@dataclasses.dataclass
class Change:
    """Something that is not what it was.

    Attributes
    ----------
    event : int
        The event after which it was noticed, counted from 1.
    what : str
        "AUC"; "positives", their share; "mean probability", by the scores; or what changed of the
        inputs: "mean of amount", "share of missing amount", "share of features never met before".
        An AUC that rises is no change, the model learns, nor is a falling share of new features.
    before, after : float
        The value before, and since.
    """

    event: int
    what: str
    before: float
    after: float

    def __str__(self) -> str:
        name = "share of positives" if self.what == "positives" else self.what
        verb = "rose" if self.after > self.before else "fell"
        return f"{name} {verb} from {self.before:.3g} to {self.after:.3g} by event {self.event:,}"


class Watch:
    """Finds changes while a stream runs, in memory that does not grow with it.

    AUC and share of positives are watched with ADWIN, means of probabilities and inputs as in
    `series`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20_000) < 0.1
    >>> scores = rng.normal(size=20_000)
    >>> scores[:10_000] += 2 * positive[:10_000]
    >>> watch = Watch()
    >>> watch.add(scores, positive)
    >>> print(*watch.changes)
    AUC fell from 0.927 to 0.637 by event 10,247
    """

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._events = 0
        self._latest: dict[str, int] = {}  # the event at which each window was cut last
        self._ranking = _core.RankingDetector(_DELTA, 8, 1)
        self._share = _core.ChangeDetector(_DELTA, 16, 8)
        self._positives = 0
        self._inputs = Inputs()
        self._series = SeriesWatch()

    def add(
        self,
        scores: NDArray[np.float64],
        positive: NDArray[np.bool_],
        chances: NDArray[np.float64] | None = None,
        X: Any = None,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        """Take in scores and what was true, in the order of events.

        Where the probabilities before the labels are given, they are watched too, and so are the
        inputs: rows of a block.
        """
        if chances is not None:
            self._add_means(positive, chances, X, rows)
        for at, before, after in self._ranking.add_many(scores, positive):
            self._note("AUC", at, before, after)
        for at, before, after in self._share.add_many(positive.astype(np.float64)):
            self._note("positives", at, before, after)
        self._events += len(scores)
        self.changes.sort(key=lambda change: change.event)

    def _add_means(
        self,
        positive: NDArray[np.bool_],
        chances: NDArray[np.float64],
        X: Any,
        rows: NDArray[np.int64] | None,
    ) -> None:
        met = self._positives + np.cumsum(positive)
        self._positives = int(met[-1]) if len(met) else self._positives
        said = np.where(met < _SETTLED, np.nan, chances)
        inputs = np.zeros((len(said), 0)) if rows is None else self._inputs.values(X, rows)
        names = ["mean probability", *self._inputs.names]
        for at, what, before, after in self._series.add(names, np.column_stack([said, inputs])):
            self._note(what, at, before, after)

    def _note(self, what: str, at: int, before: float, after: float) -> None:
        event = self._events + at + 1
        known = [change for change in self.changes if change.what == what]
        follows = event - self._latest.get(what, -_SAME) < _SAME
        self._latest[what] = event
        if follows and known and (after > before) == (known[-1].after > known[-1].before):
            known[-1].after = after
        elif _ONLY.get(what, after > before) == (after > before):
            self.changes.append(Change(event, what, before, after))

    def state(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        recent, ranking = self._ranking.state()
        return {
            "events": self._events,
            "latest": self._latest,
            "changes": [dataclasses.asdict(change) for change in self.changes],
            "recent": recent.tolist(),
            "ranking": ranking.tolist(),
            "share": self._share.state().tolist(),
            "positives": self._positives,
            "inputs": self._inputs.state(),
            "series": self._series.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        recent, ranking, share = (
            np.array(state[name], dtype=np.float64) for name in ("recent", "ranking", "share")
        )
        self._ranking.restore(recent, ranking)
        self._share.restore(share)
        self._positives = state["positives"]
        self._inputs.restore(state["inputs"])
        self._series.restore(state["series"])
        self._events, self._latest = state["events"], dict(state["latest"])
        self.changes = [Change(**change) for change in state["changes"]]
