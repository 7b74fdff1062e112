"""The content of a report on a comparison."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ..comparison.measures import measure
from ..metrics import Counts
from .content import Content, Curve, LearnerReport, Line, Sweep, Table, clean

_WORDS = {"sum": "balanced accuracy", "auc": "AUC", "f1": "F1", "mcc": "MCC"}

_PASSES = {
    "folds": " This is the pass over the training rows; the table is for the held-out folds.",
    "held out": " This is the pass over the training rows; the table is for the held-out rows.",
    "time": " The table leaves out the first third.",
}
_T_TEST = "t\N{NON-BREAKING HYPHEN}test"


def from_comparison(result: Any, *, title: str, unit: str) -> Content:
    """Return the content for a `lopsided.Comparison`."""
    learners = [_learner(result, row) for row in result.rows]
    return Content(
        title=clean(title),
        sentence=_sentence(result),
        table=_table(result),
        learners=learners,
        fn=result.fn,
        fp=result.fp,
        unit=unit,
        metric=_words(result),
        percent=_share(result.metric),
        weight=result.alpha,
        passes=_PASSES.get(result.about.get("kind", ""), ""),
        sweeps=_sweeps(result),
    )


def html(result: Any) -> str:
    """Return the table of learners for a notebook."""
    found = _table(result)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in found.header)
    lines = []
    for at, row in enumerate(found.rows):
        mark = ' style="font-weight:bold"' if at == found.best else ""
        lines.append(f"<tr{mark}>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>")
    body = "".join(lines)
    return (
        f"<p>{escape(_sentence(result))}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table><p><small>{escape(found.note)}</small></p>"
    )


def facts(result: Any) -> list[tuple[str, str]]:
    """Return the settings, in words."""
    balance = "known beforehand" if result.about["known_counts"] else "estimated on the way"
    return [
        ("runs", clean(result.about["splits"])),
        ("selection", clean(result.selection)),
        ("class counts", balance),
        *([("seed", clean(result.about["seed"]))] if result.about.get("kind") != "time" else []),
    ]


def _words(result: Any) -> str:
    if result.metric == "sum" and result.alpha != 0.5:
        return f"{result.alpha:g} sensitivity + {1 - result.alpha:g} specificity"
    return clean(_WORDS.get(result.metric, result.metric.replace("_", " ")))


def _learner(result: Any, row: Any) -> LearnerReport:
    counts = [run.counts for run in result.runs if run.learner == row.name]
    mean = {
        f.name: float(np.mean([getattr(c, f.name) for c in counts]))
        for f in dataclasses.fields(Counts)
    }
    for name in ("events", "queries", "updates"):
        mean[name] = round(mean[name])
    curve = result.curves.get(row.name, {})
    return LearnerReport(
        clean(row.name),
        Counts(**mean),  # type: ignore[arg-type]
        Curve(**{f.name: tuple(curve.get(f.name, ())) for f in dataclasses.fields(Curve)}),
        {
            name: row.std[name]
            for name in ("sensitivity", "specificity")
            if not math.isnan(row.std[name])
        },
    )


def _sentence(result: Any) -> str:
    best = next(row for row in result.rows if row.best)
    figure = _figure(result.metric, best.mean["metric"], best.std["metric"])
    unit = "\N{NO-BREAK SPACE}%" if _share(result.metric) else ""
    word = "best" if result.larger_is_better else "lowest"
    text = f"{clean(best.name)} had the {word} {_words(result)}, {figure}{unit}"
    others = [row for row in result.rows if not row.best]
    if not others or math.isnan(best.std["metric"]):
        return f"{text}."
    close = [clean(row.name) for row in others if not row.worse]
    if not close:
        return f"{text}; the others were worse (paired {_T_TEST}, 95\N{NO-BREAK SPACE}%)."
    named = ", ".join(close[:-1]) + (" and " if close[:-1] else "") + close[-1]
    verb = "was" if len(close) == 1 else "were"
    return (
        f"{text}; {named} {verb} not significantly worse (paired {_T_TEST}, 95\N{NO-BREAK SPACE}%)."
    )


def _table(result: Any) -> Table:
    shown = [result.metric, *(m for m in ("sensitivity", "specificity") if m != result.metric)]
    shown.append("sum" if result.metric == "cost" else "cost")
    tested = len(result.rows) > 1 and not math.isnan(result.rows[0].std["metric"])
    tests = [f"{_T_TEST} p", "Wilcoxon p", "w/t/l"] if tested else []
    names = {**_WORDS, "sum": "balanced" if result.alpha == 0.5 else "sum"}
    heads = [names.get(m, m.replace("_", " ")) + (" %" if _share(m) else "") for m in shown]
    header = ["learner", *heads, *tests, "steps", "seconds", "parameters"]
    rows = []
    for row in result.rows:
        cells = [clean(row.name)]
        for name in shown:
            key = "metric" if name == result.metric else name
            cells.append(_figure(name, row.mean[key], row.std[key]))
        if tested:
            cells += [_chance(row.t_test), _chance(row.wilcoxon)]
            cells.append(f"{row.wins}/{row.ties}/{row.losses}")
        cells += [f"{row.mean['updates']:,.0f}", f"{row.mean['seconds']:.4f}"]
        rows.append([*cells, _settings(row.parameters) + (" (varies)" if row.varies else "")])
    note = f"Cost at {result.fn:g} per missed positive and {result.fp:g} per false alarm."
    if tested:
        note = (
            f"Means ± standard deviation over the runs. {note} The p-values are those of paired, "
            "two-sided tests against the best learner; w/t/l are wins, ties and losses against the "
            "others by the t-test at 95\N{NO-BREAK SPACE}%."
        )
    best = next(at for at, row in enumerate(result.rows) if row.best)
    return Table(header, rows, best if len(rows) > 1 else None, note=note)


def _figure(metric: str, mean: float, std: float) -> str:
    """Return a mean with its deviation, rounded as in text tables."""
    if math.isnan(mean):
        return "–"
    scale = 100 if _share(metric) else 1
    spread = "" if math.isnan(std) else f"\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{scale * std:,.3f}"
    return f"{scale * mean:,.3f}{spread}"


def _share(metric: str) -> bool:
    return measure(metric).percent


def _chance(p: float) -> str:
    if math.isnan(p):
        return "–"
    return "<\N{NO-BREAK SPACE}0.001" if p < 0.001 else f"{p:.3f}"


def _settings(parameters: Mapping[str, Any]) -> str:
    return clean(
        ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in parameters.items()
        )
    )


def _sweeps(result: Any) -> list[Sweep]:
    """Return the metric by every numeric parameter that was tried at several values."""
    names = dict.fromkeys(name for run in result.sweep for name in run.parameters)
    found = [Sweep(clean(name), _lines(result, name), _others(result, name)) for name in names]
    return [sweep for sweep in found if sweep.lines]


def _others(result: Any, name: str) -> bool:
    return any(name in run.parameters and len(run.parameters) > 1 for run in result.sweep)


def _lines(result: Any, parameter: str) -> dict[str, Line]:
    lines: dict[str, Line] = {}
    for row in result.rows:
        points: dict[float, dict[int, list[float]]] = {}
        for run in result.sweep:
            value = run.parameters.get(parameter)
            if run.learner != row.name or isinstance(value, bool):
                continue
            if isinstance(value, (int, float)) and math.isfinite(value):
                points.setdefault(value, {}).setdefault(run.point, []).append(run.value)
        if len(points) < 2:
            continue
        values = sorted(points)
        best = [_best(list(points[v].values()), result.larger_is_better) for v in values]
        means = [float(np.mean(b)) for b in best]
        spreads = [float(np.std(b, ddof=1)) if len(b) > 1 else 0.0 for b in best]
        lines[clean(row.name)] = (values, means, spreads)
    return lines


def _best(groups: Sequence[Sequence[float]], larger: bool) -> Sequence[float]:
    """Return the runs with the best values of the other parameters."""
    return max(groups, key=lambda g: float(np.mean(g)) * (1 if larger else -1))
