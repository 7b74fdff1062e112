"""What `Recommended`, told nothing but prices, must reach on each stream, and on how many."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from .cells import Cell, family_of
from .contenders import PEERS

BEFORE = Path(__file__).with_name("before.json")  # the figures that it must not fall behind
FORMER = "WeightedMajority"  # what was recommended before
CURVED = (  # classes that no line separates
    *("mammography", "shuttle", "covtype", "covtype_c4", "koil/segment", "koil/vowel"),
    *("koil/svmguide1_sub", "koil/fourclass", "koil/poker"),
)


class Verdict(NamedTuple):
    """Of one goal on one stream."""

    passed: bool
    ours: float
    limit: float  # what it had to reach
    note: str = ""


@dataclasses.dataclass
class View:
    """What was measured on one stream.

    Attributes
    ----------
    name : str
        The stream.
    ours : dict
        The cell of the contender to be judged.
    others : dict of dict
        The cells of the others, by name.
    before : dict
        What ours had before, if it was measured: balanced accuracy.
    """

    name: str
    ours: Cell
    others: dict[str, Cell]
    before: dict[str, float]

    def peers(self, *, one_pass: bool = True, linear: bool = True) -> dict[str, Cell]:
        """Return the cells of peers that had all rows."""
        return {
            name: cell
            for name, cell in self.others.items()
            if name in PEERS
            and name != "oracle"
            and (PEERS[name].one_pass or not one_pass)
            and (linear or not PEERS[name].linear)
            and cell["rows judged"] == cell["rows"]
        }

    def best(self, value: Callable[[Cell], float | None], *, low: bool, **which: bool) -> Any:
        """Return the best figure among peers, and whose it is; None where nobody has one."""
        pairs = [(value(cell), name) for name, cell in self.peers(**which).items()]
        pairs = [(figure, name) for figure, name in pairs if figure is not None]
        return (min(pairs) if low else max(pairs)) if pairs else None


Judge = Callable[[View], Verdict | None]


@dataclasses.dataclass(frozen=True)
class Goal:
    """What must be reached, and on which share of the streams that it concerns."""

    title: str
    judge: Judge
    share: float = 1.0


def _saved(prices: str) -> Judge:
    def judge(view: View) -> Verdict | None:
        family, oracle = family_of(view.name), view.others.get("oracle")
        if family is None or oracle is None or prices not in view.ours["cost"]:
            return None
        constant = view.ours["constant"][prices]
        saved = constant - view.ours["cost"][prices]
        possible = constant - oracle["cost"][prices]
        limit = 0.5 if family.still else 0.45
        note = f"{saved:,.0f} of {possible:,.0f} over {constant:,.0f}"
        if possible <= 0:
            return None
        return Verdict(saved >= limit * possible, saved / possible, limit, note)

    return judge


def _cheap(prices: str) -> Judge:
    def judge(view: View) -> Verdict | None:
        best = view.best(lambda cell: cell["cost"].get(prices), low=True)
        if best is None or prices not in view.ours["cost"]:
            return None
        limit = 1.03 * best[0]
        return Verdict(
            view.ours["cost"][prices] <= limit, view.ours["cost"][prices], limit, best[1]
        )

    return judge


def _constant(view: View) -> Verdict:
    ratios = {
        name: view.ours["cost"][name] / constant
        for name, constant in view.ours["constant"].items()
        if constant > 0
    }
    worst = max(ratios, key=lambda name: ratios[name])
    return Verdict(ratios[worst] <= 1.02, ratios[worst], 1.02, f"at {worst}")


def _high(name: str, slack: float) -> Judge:
    def judge(view: View) -> Verdict | None:
        best = view.best(lambda cell: cell[name], low=False)
        if best is None or view.ours[name] is None:
            return None
        return Verdict(
            view.ours[name] >= best[0] - slack, view.ours[name], best[0] - slack, best[1]
        )

    return judge


def _intact(view: View) -> Verdict | None:
    told = {name: figure for name, figure in view.ours["told auc"].items() if figure is not None}
    if not told or view.ours["auc"] is None:
        return None
    worst = min(told, key=lambda name: told[name])
    limit = view.ours["auc"] - 0.01
    return Verdict(told[worst] >= limit, told[worst], limit, f"told {worst}")


def _after(which: int) -> Judge:
    def judge(view: View) -> Verdict | None:
        if not view.ours["after"]:
            return None
        best = view.best(lambda cell: cell["after"][which], low=False)
        if best is None:
            return None
        ours, limit = view.ours["after"][which], best[0] - 0.03
        return Verdict(ours >= limit, ours, limit, best[1])

    return judge


def _log_loss(view: View) -> Verdict | None:
    best = view.best(lambda cell: cell["log loss"], low=True)
    if best is None:
        return None
    ours, limit = view.ours["log loss"], 1.02 * best[0]
    if ours is None:
        return Verdict(False, float("nan"), limit, "no probabilities")
    return Verdict(ours <= limit, ours, limit, best[1])


def _calibrated(view: View) -> Verdict | None:
    if view.ours["positives"] < 500:
        return None
    ours = view.ours["calibration"]
    if ours is None:
        return Verdict(False, float("nan"), 0.01, "no probabilities")
    chance = view.ours.get("calibration by chance")
    note = f"{chance:.4f} if labels were drawn by its probabilities" if chance else ""
    return Verdict(ours < 0.01, ours, 0.01, note)


def _curved(view: View) -> Verdict | None:
    best = view.best(lambda cell: cell["balanced"], low=False, one_pass=False, linear=False)
    if view.name not in CURVED or best is None or not view.before:
        return None
    before = view.before["balanced"]
    limit = before + max(0.0, (best[0] - before) / 2)
    note = f"before {before:.3f}, {best[1]} {best[0]:.3f}"
    return Verdict(view.ours["balanced"] >= limit, view.ours["balanced"], limit, note)


def _kept_balanced(view: View) -> Verdict | None:
    if not view.before:
        return None
    limit = view.before["balanced"] - 0.005
    return Verdict(view.ours["balanced"] >= limit, view.ours["balanced"], limit)


def _slower(view: View) -> Verdict | None:
    former = view.others.get(FORMER)
    if former is None or not former["seconds"] or view.ours["seconds"] is None:
        return None
    ratio = view.ours["seconds"] / former["seconds"]
    return Verdict(ratio <= 3, ratio, 3, f"times the seconds of {FORMER}")


def _faster(view: View) -> Verdict | None:
    river = view.others.get("river-lr")
    if river is None or not view.ours["seconds"]:
        return None
    ratio = river["seconds"] / view.ours["seconds"]
    return Verdict(ratio >= 5, ratio, 5, "times as fast as river's logistic regression")


GOALS = (
    Goal(
        "saves half of what the oracle saves (.45 with a change), a miss 60, an alarm 3",
        _saved("own"),
    ),
    Goal("the same where a miss costs the amount of the event", _saved("per event")),
    Goal("cost at 10:1 within 3 % of the best one-pass peer", _cheap("10:1"), 0.9),
    Goal("cost at 100:1 within 3 % of the best one-pass peer", _cheap("100:1"), 0.9),
    Goal("cost per event within 3 % of the best one-pass peer", _cheap("per event"), 0.9),
    Goal("never above the best constant answer by more than 2 %, at any prices", _constant),
    Goal("AUC within .01 of the best one-pass peer", _high("auc", 0.01), 0.9),
    Goal("average precision within .01 of the best one-pass peer", _high("ap", 0.01), 0.9),
    Goal("AUC told any prices within .01 of that told nothing", _intact),
    Goal("AUC within .03 of the best peer, first tenth after a change", _after(0)),
    Goal("AUC within .03 of the best peer, second tenth after a change", _after(1)),
    Goal("log loss at most 2 % above the best peer", _log_loss),
    Goal("calibration error under .01 where there are 500 positives", _calibrated),
    Goal("balanced accuracy as before, within half a point", _kept_balanced),
    Goal("half of the gap to the best nonlinear peer closed, curved classes", _curved),
    Goal("at most 3 times the seconds of the former Recommended", _slower),
    Goal("at least 5 times as fast as river's logistic regression", _faster),
)


def _read() -> dict[str, dict[str, float]]:
    return json.loads(BEFORE.read_text()) if BEFORE.exists() else {}


def accept(cells: Iterable[Cell], ours: str) -> None:
    """Keep what ours did as the figures of before."""
    found = _read()
    for cell in cells:
        if cell["contender"] == ours:
            figures = {"balanced": round(cell["balanced"], 4), "seconds": round(cell["seconds"], 3)}
            found[f"{cell['stream']} {cell['rows']}"] = figures
    BEFORE.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")


def views(cells: Iterable[Cell], ours: str) -> list[View]:
    """Return what was measured, stream by stream, where ours was."""
    streams: dict[tuple[str, int], dict[str, Cell]] = {}
    for cell in cells:
        streams.setdefault((cell["stream"], cell["rows"]), {})[cell["contender"]] = cell
    before = _read()
    return [
        View(name, row.pop(ours), row, before.get(f"{name} {rows}", {}))
        for (name, rows), row in streams.items()
        if ours in row
    ]


def verdicts(seen: list[View]) -> dict[str, dict[str, Verdict]]:
    """Return what became of each goal on each stream that it concerns."""
    judged = {goal.title: {v.name: goal.judge(v) for v in seen} for goal in GOALS}
    return {
        title: {name: verdict for name, verdict in found.items() if verdict is not None}
        for title, found in judged.items()
    }
