"""Results as text: a table per measure, and what became of the goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .cells import Cell, half
from .goals import GOALS, Verdict

MEASURES: dict[str, Callable[[Cell], Any]] = {
    "balanced accuracy": lambda cell: cell["balanced"],
    "AUC": lambda cell: cell["auc"],
    "average precision": lambda cell: cell["ap"],
    "log loss": lambda cell: cell["log loss"],
    "calibration error": lambda cell: cell["calibration"],
    "AUC, first tenth after the change": lambda cell: (cell["after"] or [None, None])[0],
    "AUC, second tenth after the change": lambda cell: (cell["after"] or [None, None])[1],
    "processor seconds": lambda cell: cell["seconds"],
}
PRICES = ("1:1", "10:1", "100:1", "own", "per event")


def measures(cells: Iterable[Cell]) -> str:
    """Return a table for each measure: streams down, contenders across."""
    cells = list(cells)
    found = [
        _table(title, cells, value)
        for title, value in (*MEASURES.items(), *((_cost_title(p), _cost(p)) for p in PRICES))
    ]
    return "\n".join(table for table in found if table)


def _cost_title(prices: str) -> str:
    return f"cost, best constant answer = 100, {prices}"


def _cost(prices: str) -> Callable[[Cell], float | None]:
    def value(cell: Cell) -> float | None:
        constant = cell["constant"].get(prices)
        return 100 * cell["cost"][prices] / constant if constant else None

    return value


def _table(title: str, cells: list[Cell], value: Callable[[Cell], Any]) -> str:
    names = list(dict.fromkeys(cell["contender"] for cell in cells))
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for cell in cells:
        figure = value(cell)
        if figure is not None:
            short = cell["rows judged"] < cell["rows"]
            text = f"{figure:.4g}" + (f" (first {cell['rows judged']:,})" if short else "")
            rows.setdefault((cell["stream"], cell["rows"]), {})[cell["contender"]] = text
    if not rows:
        return ""
    lines = [f"{title}\n", "| stream | rows | " + " | ".join(names) + " |"]
    lines.append("|---|---:|" + "---:|" * len(names))
    for (stream, size), row in rows.items():
        lines.append(f"| {stream} | {size:,} | " + " | ".join(row.get(n, "") for n in names) + " |")
    return "\n".join(lines) + "\n"


def goals(judged: dict[str, dict[str, Verdict]]) -> str:
    """Return each goal, on how many streams it is reached, and what is missing on the others."""
    lines = []
    for goal in GOALS:
        found = judged[goal.title]
        if not found:
            lines.append(f"not judged: {goal.title}")
            continue
        reached = sum(verdict.passed for verdict in found.values())
        word = "PASS" if reached >= goal.share * len(found) else "FAIL"
        need = "" if goal.share == 1 else f", {goal.share:.0%} needed"
        lines.append(
            f"{word} {reached} of {len(found)} ({reached / len(found):.0%}{need}): {goal.title}"
        )
        for name, verdict in found.items():
            mark = "pass" if verdict.passed else "FAIL"
            figures = f"{verdict.ours:12.4g}  limit {verdict.limit:10.4g}"
            lines.append(f"  {mark}  {half(name)}  {name:22} {figures}  {verdict.note}")
    return "\n".join(lines)
