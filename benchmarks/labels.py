"""What labels buy: python -m benchmarks.labels [SET ...] [--quick] [--out DIR].

`python -m benchmarks.labels recommended` is about Recommended instead: see labels_recommended.

The experiments of Zhang et al., "Online adaptive asymmetric active learning with limited budgets",
figures 1 to 7 and tables 2 and 3, for all nine learners, on data sets that are looked for where
`lopsided data list` looks; and how many labels each learner needs for 95 % of the balanced accuracy
that it reaches with every label. "first come" and "at random" are the learner of OA3-diag that asks
until nothing is left, and that asks at random, all along the stream.

Streams are shuffled. Parameters are chosen on other orders than those reported, for each budget
anew, from the grid of the catalog (the 1331 points of the paper would take a day): the first third
of another order with a third of the labels, or whole orders of a short stream. Rows have unit
length, and before that standard scores where they are dense. Sums are with class counts unknown,
but for tables 2 and 3, which know them as in the paper. DIR gets labels.json and the figures.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path

import numpy as np

from lopsided._atomic import write_atomically
from lopsided.catalog import find
from lopsided.data.sets import downloads as cache
from lopsided.papers.label_sweeps import (
    METHODS,
    Aim,
    budget_sweep,
    chosen,
    label_point,
    labels_needed,
)

from . import labels_recommended
from .quality import load

SETS = ("german", "w8a", "creditcard")
WIDE = "internetads_dami"
SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
LONG = 100_000  # rows, from which on there are fewer budgets
FIXED = 0.1  # of the stream, for the courses and the effects of parameters
GOAL = 0.95
TENS = tuple(10.0**k for k in range(-5, 6))
PLAIN = ("first come", "at random")
LOOKS = {
    "SSOA3": {"linestyle": ":"},  # over SOA3
    "first come": {"linestyle": "--", "color": "black"},
    "at random": {"linestyle": "--", "color": "0.6"},
}


@dataclasses.dataclass
class Stream:
    """A data set with the orders to choose on and to report."""

    name: str
    X: object
    y: np.ndarray
    choose_on: list
    orders: list
    settings: dict
    known: dict = dataclasses.field(default_factory=dict)

    @property
    def few(self):
        """Orders for experiments with many points."""
        return self.orders[: 20 if len(self.y) < 5_000 else 3]

    def chosen(self, name, budget, aim):
        """The parameters of a learner, chosen once."""
        key = name, budget, repr(aim)
        if key not in self.known:
            self.known[key] = chosen(name, self.X, self.y, self.choose_on, budget=budget, aim=aim)
        return self.known[key]

    def aim(self, **params):
        return Aim(settings=self.settings, **params)

    def budget(self, share):
        return round(share * len(self.y))

    def budgets(self):
        shares = SHARES[:: 2 if len(self.y) >= LONG else 1]
        return [self.budget(s) for s in shares if self.budget(s) >= 20]


def read(name, quick):
    """The stream of a name; None if it is not on this machine."""
    found = cache.find(name)
    if found is None or found.kind != "prepared":
        return None
    X, y = load(found.paths, found.dataset.features)
    y = np.where(y > 0, 1, -1)
    dense = X.shape[1] <= 60
    rng = np.random.default_rng(0)
    if quick and len(y) > 20_000:
        rows = rng.permutation(len(y))[:20_000]
        X, y = X[rows], y[rows]
    short = len(y) < 5_000
    count = 2 if quick else 20 if short else 5
    others = [rng.permutation(len(y)) for _ in range(3 if short and dense else 1)]
    return Stream(
        name,
        X.toarray() if dense else X,
        y,
        others if short else [o[: len(y) // 3] for o in others],
        [rng.permutation(len(y)) for _ in range(count)],
        {"scaling": "standard+unit" if dense else "unit"},
    )


def table(title, head, rows):
    print(f"\n{title}\n\n| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def of(points, name):
    return [p for p in points if p.learner == name]


def budgets(stream, metric):
    """Figures 1 to 4: every budget, and every label."""
    sizes = stream.budgets() if metric == "sum" else stream.budgets()[-5::2]
    aim = stream.aim(metric=metric)
    points = budget_sweep(
        METHODS,
        stream.X,
        stream.y,
        [*sizes, None],
        orders=stream.orders,
        choose_on=stream.choose_on,
        aim=aim,
    )
    for how in PLAIN:
        points += [plain(stream, how, size, aim) for size in sizes]
        points += [dataclasses.replace(of(points, "OA3-diag")[-1], learner=how)]

    def cell(p):
        return f"{100 * p.sum:.1f} ± {100 * p.sum_std:.1f}" if metric == "sum" else f"{p.cost:,.0f}"

    what = "balanced accuracy in %" if metric == "sum" else "cost, 0.9 a miss and 0.1 an alarm"
    head = ["learner", *(f"{b:,} labels" for b in sizes), "every label"]
    table(
        f"{stream.name}: {what} against the budget",
        head,
        [[name, *map(cell, of(points, name))] for name in (*METHODS, *PLAIN)],
    )
    return points


def plain(stream, how, budget, aim):
    """The learner of OA3-diag with labels that nobody chose."""
    rule = {"query": ["always"]}
    if how == "at random":
        rule = {"query": ["random"], "probability": [budget / len(stream.y)]}
    grid = {"learning_rate": find("OA3-diag").grid["learning_rate"], **rule}
    grid |= {"delta_pos": [None], "delta_neg": [None]}
    data = stream.X, stream.y
    params = chosen("OA3-diag", *data, stream.choose_on, budget=budget, aim=aim, grid=grid)
    point = label_point("OA3-diag", *data, stream.orders, budget=budget, parameters=params, aim=aim)
    return dataclasses.replace(point, learner=how)


def needed(stream, points):
    """How many labels are worth 95 % of all."""
    rows = []
    for name in (*METHODS, *PLAIN):
        own = of(points, name)
        full = next(p.sum for p in own if p.budget is None)
        labels = labels_needed(own, GOAL * full)
        least = min(p.labels for p in own)
        if labels is None:
            told = "not reached"
        else:
            told = f"{'up to ' if labels <= least else ''}{labels:,.0f}"
            told += f" ({labels / len(stream.y):.1%})"
        rows.append([name, f"{100 * full:.1f}", f"{100 * GOAL * full:.1f}", told])
    title = f"{stream.name}: labels for 95 % of what every label gives"
    table(title, ["learner", f"all {len(stream.y):,} labels", "goal", "labels needed"], rows)


def fixed(stream, title):
    """Tables 2 and 3: half of the labels, class counts known."""
    found = {"sum": [], "cost": []}
    for metric, points in found.items():
        aim = stream.aim(metric=metric, known_counts=True)
        points += budget_sweep(
            METHODS,
            stream.X,
            stream.y,
            [stream.budget(0.5)],
            orders=stream.orders,
            choose_on=stream.choose_on,
            aim=aim,
        )
    rows = [
        [
            a.learner,
            f"{100 * a.sum:.2f} ± {100 * a.sum_std:.2f}",
            f"{100 * a.sensitivity:.1f} / {100 * a.specificity:.1f}",
            f"{b.cost:,.1f} ± {b.cost_std:.1f}",
            f"{100 * b.sensitivity:.1f} / {100 * b.specificity:.1f}",
            f"{a.seconds:.3f}",
        ]
        for a, b in zip(found["sum"], found["cost"], strict=True)
    ]
    head = ["learner", "sum", "sens. / spec.", "cost", "sens. / spec.", "seconds"]
    table(f"{stream.name}: {title}, {stream.budget(0.5):,} labels", head, rows)
    return found


def query_map(stream):
    """Figure 5: OA3 against delta_pos and delta_neg."""
    budget, aim = stream.budget(FIXED), stream.aim()
    params = stream.chosen("OA3", budget, aim)
    points = [
        label_point(
            "OA3",
            stream.X,
            stream.y,
            stream.few,
            budget=budget,
            parameters={**params, "delta_pos": up, "delta_neg": down},
            aim=aim,
        )
        for up in TENS
        for down in TENS
    ]
    sums = np.array([p.sum for p in points]).reshape(len(TENS), len(TENS))
    table(
        f"{stream.name}: balanced accuracy of OA3 in %, {budget:,} labels, learning rate "
        f"{params['learning_rate']:g}; rows delta_pos, columns delta_neg",
        ["", *(f"{v:g}" for v in TENS)],
        [
            [f"**{v:g}**", *(f"{100 * s:.1f}" for s in row)]
            for v, row in zip(TENS, sums, strict=True)
        ],
    )
    return points


def varied(stream, title, values, make, names=METHODS):
    """Figures 6 and 7: all else as chosen."""
    budget = stream.budget(FIXED)
    found = {}
    for name in names:
        params = stream.chosen(name, budget, stream.aim())
        found[name] = []
        for value in values:
            own, aim = make(params, value)
            found[name].append(
                label_point(
                    name,
                    stream.X,
                    stream.y,
                    stream.few,
                    budget=budget,
                    parameters=own,
                    aim=aim,
                )
            )
    table(
        f"{stream.name}: {title}, {budget:,} labels",
        ["learner", *(f"{v:g}" for v in values)],
        [[name, *(f"{100 * p.sum:.1f}" for p in points)] for name, points in found.items()],
    )
    return [p for points in found.values() for p in points]


def weights(stream):
    values = [k / 10 for k in range(1, 10)]
    return varied(
        stream,
        "sum in % against alpha_n, the weight of specificity",
        values,
        lambda params, value: (params, stream.aim(alpha=1 - value)),
    )


def rates(stream):
    names = [m for m in METHODS if "learning_rate" in find(m).grid]
    return varied(
        stream,
        "balanced accuracy in % against the learning rate",
        TENS[1:-1],
        lambda params, value: ({**params, "learning_rate": value}, stream.aim()),
        names,
    )


def draw(out, name, results):
    """The figures of a data set."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(19, 8.5))
    for learner in (*METHODS, *PLAIN):
        style = {"label": learner, "marker": ".", "linewidth": 1, **LOOKS.get(learner, {})}
        for axis, metric in zip(axes[:, 0], ("sum", "cost"), strict=True):
            points = [p for p in of(results[metric], learner) if p.budget is not None]
            axis.plot([p.labels for p in points], [getattr(p, metric) for p in points], **style)
            axis.set(xscale="log", xlabel="labels bought", ylabel=metric)
            middle = min(points, key=lambda p: abs(p.budget - results["fixed budget"]))
            course = axes[("sum", "cost").index(metric), 1]
            xs = [c["events"] for c in middle.curve]
            course.plot(xs, [c[metric] for c in middle.curve], **style)
            course.set(xlabel=f"events, budget of {middle.budget:,}", ylabel=metric)
        own = of(results["weights"], learner)
        axes[1, 2].plot([k / 10 for k in range(1, 10)][: len(own)], [p.sum for p in own], **style)
        axes[1, 2].set(xlabel="alpha_n", ylabel="sum")
        own = of(results["rates"], learner)
        axes[1, 3].plot(TENS[1:-1][: len(own)], [p.sum for p in own], **style)
        axes[1, 3].set(xscale="log", xlabel="learning rate", ylabel="sum")
    sums = np.array([p.sum for p in results["map"]]).reshape(len(TENS), len(TENS))
    image = axes[0, 2].imshow(sums, origin="lower", cmap="viridis")
    ticks = range(len(TENS)), [f"{v:g}" for v in TENS]
    axes[0, 2].set_xticks(*ticks, rotation=60)
    axes[0, 2].set_yticks(*ticks)
    axes[0, 2].set(xlabel="delta_neg", ylabel="delta_pos", title="OA3")
    figure.colorbar(image, ax=axes[0, 2])
    axes[0, 3].axis("off")
    axes[0, 3].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")
    figure.suptitle(name)
    figure.tight_layout()
    figure.savefig(out / f"{name}.svg")
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help=f"of {', '.join((*SETS, WIDE))}")
    parser.add_argument("--quick", action="store_true", help="20,000 rows and two orders at most")
    parser.add_argument("--out", type=Path, help="a directory for labels.json and figures")
    given = parser.parse_args()
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    found, start = {}, time.perf_counter()
    for name in given.sets or (*SETS, WIDE):
        stream = read(name, given.quick)
        if stream is None:
            print(f"\n{name}: not on this machine")
            continue
        if name == WIDE:
            results = fixed(stream, "table 3")
        else:
            results = {metric: budgets(stream, metric) for metric in ("sum", "cost")}
            needed(stream, results["sum"])
            table2 = fixed(stream, "table 2")
            results |= {f"table 2, {k}": v for k, v in table2.items()}
            results |= {"map": query_map(stream), "weights": weights(stream)}
            results["rates"] = rates(stream)
            if given.out:
                draw(given.out, name, {**results, "fixed budget": stream.budget(FIXED)})
        print(f"\n{name}: done after {time.perf_counter() - start:.0f} s", flush=True)
        found[name] = {
            key: [dataclasses.asdict(p) for p in points] for key, points in results.items()
        }
        if given.out:
            write_atomically(given.out / "labels.json", json.dumps(found, indent=1).encode())


if __name__ == "__main__":
    if sys.argv[1:2] == ["recommended"]:
        labels_recommended.main(sys.argv[2:])
    else:
        main()
