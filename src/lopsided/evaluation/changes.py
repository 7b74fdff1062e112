"""Changes in a stream: scores that rank worse than they did, another share of positive labels."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core

_DELTA = 0.002  # of ADWIN: lower means fewer false alarms, and later ones
_SAME = 10_000  # events within which further cuts of the window belong to the same change


@dataclasses.dataclass
class Change:
    """Something that is not what it was.

    Attributes
    ----------
    event : int
        The event after which it was noticed, counted from 1.
    what : {"AUC", "positives"}
        The AUC, or the share of positive labels. An AUC that rises is no change: the model learns.
    before, after : float
        The value before, and since.
    """

    event: int
    what: str
    before: float
    after: float

    def __str__(self) -> str:
        name = self.what if self.what == "AUC" else f"share of {self.what}"
        verb = "rose" if self.after > self.before else "fell"
        return f"{name} {verb} from {self.before:.3g} to {self.after:.3g} by event {self.event:,}"


class Watch:
    """Finds changes while a stream runs, with ADWIN, in constant memory.

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

    def add(self, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> None:
        """Take in scores and what was true, in the order of events."""
        for at, before, after in self._ranking.add_many(scores, positive):
            self._note("AUC", at, before, after)
        for at, before, after in self._share.add_many(positive.astype(np.float64)):
            self._note("positives", at, before, after)
        self._events += len(scores)
        self.changes.sort(key=lambda change: change.event)

    def _note(self, what: str, at: int, before: float, after: float) -> None:
        event = self._events + at + 1
        known = [change for change in self.changes if change.what == what]
        follows = event - self._latest.get(what, -_SAME) < _SAME
        self._latest[what] = event
        if follows and known and (after > before) == (known[-1].after > known[-1].before):
            known[-1].after = after
        elif what != "AUC" or after < before:
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
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        recent, ranking, share = (
            np.array(state[name], dtype=np.float64) for name in ("recent", "ranking", "share")
        )
        self._ranking.restore(recent, ranking)
        self._share.restore(share)
        self._events, self._latest = state["events"], dict(state["latest"])
        self.changes = [Change(**change) for change in state["changes"]]
