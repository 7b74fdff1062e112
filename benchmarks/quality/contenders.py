"""Who is judged, with which settings: one table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from lopsided.catalog import CATALOG

from . import ours, peers
from .metrics import Run
from .streams import FEW, Matrix, Prices, Stream

SLOW = 10_000  # rows for peers that take a millisecond or more per event


@dataclasses.dataclass(frozen=True)
class Contender:
    """One way of learning from a stream.

    Attributes
    ----------
    name : str
        As in tables.
    settings : str
        All that was set.
    run : callable
        From a stream and the prices it may know, or None, to a Run.
    told : bool
        Whether it is run again for each of the prices; others decide by their probabilities.
    one_pass : bool
        Whether it sees each event once, in flat memory.
    linear : bool
        Whether its score is a weighted sum of the columns.
    ours : bool
        Whether it is ours.
    cap : int, optional
        Rows that it gets at most.
    few : bool
        Whether it takes only few numbered columns.
    """

    name: str
    settings: str
    run: Callable[[Stream, Prices | None], Run]
    told: bool = False
    one_pass: bool = True
    linear: bool = True
    ours: bool = False
    cap: int | None = None
    few: bool = False

    def takes(self, stream: Stream) -> bool:
        """Say whether it can be run on a stream."""
        if self.name == "oracle":
            return stream.truth is not None
        return not (self.few and isinstance(stream.rows, Matrix) and stream.rows.csr.shape[1] > FEW)


def _peer(name: str, settings: str, run: Callable[..., Run], **facts: Any) -> Contender:
    return Contender(name, settings, lambda stream, _: run(stream), **facts)


_ROWS = "numbers as running standard scores, categories and 0/1 columns plain; text of unit length"
_RAW = "numbers as they are"
_VW = "--loss_function logistic --link logistic -b 22"


def _oracle(stream: Stream) -> Run:
    return Run(stream.truth, stream.truth, None, 0.0)


def _hat() -> Any:
    from river.tree import HoeffdingAdaptiveTreeClassifier

    return HoeffdingAdaptiveTreeClassifier(seed=0)


def _arf() -> Any:
    from river.forest import ARFClassifier

    return ARFClassifier(seed=0)


PEERS = {
    contender.name: contender
    for contender in (
        _peer("oracle", "the true probabilities", _oracle, one_pass=False, linear=False),
        _peer("sgd", f"SGDClassifier(loss='log_loss'), batches up to 100; {_ROWS}", peers.sgd),
        _peer(
            "sgd-constant",
            f"the same with learning_rate='constant', eta0=0.01, alpha=1e-6; {_ROWS}",
            partial(peers.sgd, learning_rate="constant", eta0=0.01, alpha=1e-6),
        ),
        _peer("vw", f"vw {_VW}; {_RAW}", partial(peers.vowpal, options=_VW)),
        _peer(
            "vw-q",
            f"vw {_VW} -q :: (all pairs); {_RAW}",
            partial(peers.vowpal, options=f"{_VW} -q ::"),
            linear=False,
        ),
        _peer(
            "vw-coin", f"vw {_VW} --coin; {_RAW}", partial(peers.vowpal, options=f"{_VW} --coin")
        ),
        _peer("river-lr", f"LogisticRegression(); {_ROWS}", peers.river_logistic),
        _peer(
            "river-hat",
            f"HoeffdingAdaptiveTreeClassifier(seed=0); {_RAW}",
            partial(peers.river_tree, make=_hat),
            linear=False,
            cap=SLOW,
            few=True,
        ),
        _peer(
            "river-arf",
            f"ARFClassifier(seed=0); {_RAW}",
            partial(peers.river_tree, make=_arf),
            linear=False,
            cap=SLOW,
            few=True,
        ),
        _peer(
            "lightgbm",
            f"LGBMClassifier(), fitted anew to all labels so far every 5 % of the stream; {_RAW}",
            peers.lightgbm,
            one_pass=False,
            linear=False,
        ),
    )
}
FAST = ("Recommended", "oracle", "sgd", "sgd-constant", "vw", "vw-q", "vw-coin", "river-lr")
CAPS = sorted({c.cap for c in PEERS.values() if c.cap})


def find(name: str) -> Contender:
    """Return a contender: a peer, or a learner of the catalog, as in "AROW-diag" or "COG-II@csr".

    What follows @ is the form of the rows: csr or array; by default events, or CSR of a file.
    """
    if name in PEERS:
        return PEERS[name]
    learner, _, form = name.partition("@")
    if form not in ("", "csr", "array") or learner not in {entry.name for entry in CATALOG}:
        known = ", ".join([*PEERS, *(entry.name for entry in CATALOG)])
        raise SystemExit(f"no contender {name!r}; there are {known}, also with @csr and @array")
    return Contender(
        name=name,
        settings="as it comes, and told the prices by class_weight (per event: by weights)",
        run=partial(ours.run, learner=learner, form=form),
        told=True,
        ours=True,
    )
