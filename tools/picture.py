"""Draw the picture of the README: what the demo's stream costs, by learner.

python tools/picture.py [docs/cost.png]
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from lopsided import make, progressive
from lopsided.cli.demo import ALARM, EVENTS, LEARNERS, MISS
from lopsided.data.generators import fraud

COLOURS = ("#9aa5b1", "#52606d", "#d9480f")


def main() -> None:
    """Run the learners of the demo and draw the cost so far."""
    stream = fraud(EVENTS, seed=0, block_rows=EVENTS)
    block = next(iter(stream))
    figure, axes = plt.subplots(figsize=(7.2, 3.2), dpi=160)
    for (name, what, told), colour in zip(LEARNERS, COLOURS, strict=True):
        run = progressive(make(name, **told), block.X, block.y, resume=True, points=100)
        events = [point.events / 1000 for point in run.curve]
        costs = [point.cost(MISS, ALARM) / 1000 for point in run.curve]
        axes.plot(events, costs, color=colour, linewidth=2)
        axes.annotate(
            f"{name}, {what}",
            (events[-1], costs[-1]),
            (6, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            fontsize=8,
        )
    best = stream.best(MISS, ALARM).cost / 1000
    axes.plot([0, EVENTS / 1000], [0, best], color="#2b8a3e", linewidth=1, linestyle="--")
    axes.annotate(
        "the best any rule can expect",
        (EVENTS / 1000, best),
        (6, -3),
        textcoords="offset points",
        color="#2b8a3e",
        va="top",
        fontsize=8,
    )
    axes.set(
        xlabel="payments, thousands", ylabel="cost so far, thousand €", xlim=(0, EVENTS / 1000)
    )
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout(rect=(0, 0, 1, 1))
    figure.subplots_adjust(right=0.68)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "docs/cost.png")


if __name__ == "__main__":
    main()
