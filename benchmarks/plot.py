"""How many times better than the peer of its group each contender is, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .harness import Result
from .table import short


def ratios(results: Sequence[Result], file: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    compared = [r for r in results if r.group.baseline in r.turns]
    if not compared:
        raise SystemExit("nothing to draw: no peer was measured")
    heights = [len(r.group.contenders) for r in compared]
    figure = Figure(figsize=(9, 0.3 * sum(heights) + 0.7 * len(compared)), layout="constrained")
    panels = figure.subplots(len(compared), 1, squeeze=False, sharex=True, height_ratios=heights)
    for panel, result in zip(panels[:, 0], compared, strict=True):
        names = [c.name for c in result.group.contenders]
        values = [result.ratio(name) or 1.0 for name in names]
        colours = ["#1b6ca8" if c.ours else "#b0b0b0" for c in result.group.contenders]
        bars = panel.barh(names, [v - 1 for v in values], left=1, color=colours)
        approximate = ["" if result.trusted(name) else "≈ " for name in names]
        shown = [f"{a}{short(v)} ×" for a, v in zip(approximate, values, strict=True)]
        panel.bar_label(bars, shown, padding=3, fontsize=8)
        panel.invert_yaxis()
        panel.set_xscale("log")
        panel.axvline(1, color="black", linewidth=0.8)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        panel.set_title(result.group.title, fontsize=9, loc="left")
        panel.tick_params(labelsize=8)
        panel.spines[["top", "right"]].set_visible(False)
    every = [r.ratio(c.name) or 1.0 for r in compared for c in r.group.contenders]
    panels[0, 0].set_xlim(min(every) / 4, max(every) * 5)  # room for the labels
    panels[-1, 0].set_xlabel("times as good as the peer at 1 (log scale)", fontsize=8)
    figure.savefig(file, dpi=130)
