"""How claims of the papers are decided: tests of a result that say whether it bears a claim out.

A test takes a result and returns whether the claim holds and by how much, or None if the result
does not speak about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .results import Line, Result
from .text import digits

Verdict = tuple[bool, str]
Test = Callable[[Result], Verdict | None]

_CLOSE = 0.005  # half a point is no difference worth a claim


# Tables ------------------------------------------------------------------------------------------


def _measured(result: Result, figure: str) -> dict[str, float]:
    """Return our value of a figure by learner."""
    return {
        cell.learner: cell.mean
        for cell in result.cells
        if cell.figure.split()[0] == figure and not math.isnan(cell.mean)
    }


def _sign(figure: str) -> float:
    """Return -1 if less is better."""
    return -1.0 if figure in ("cost", "seconds") else 1.0


def leads(own: str | tuple[str, ...], others: Sequence[str] = (), figure: str = "") -> Test:
    """Return a test that the best learner whose name starts with `own` beats all others.

    Or all of `others`; in the metric, or in another figure of the table.
    """

    def test(result: Result) -> Verdict | None:
        what = figure or result.metric
        values = _measured(result, what)
        mine = {k: v for k, v in values.items() if k.startswith(own)}
        rest = {k: v for k, v in values.items() if k not in mine and (not others or k in others)}
        if not mine or not rest:
            return None
        first = max(mine, key=lambda k: _sign(what) * mine[k])
        second = max(rest, key=lambda k: _sign(what) * rest[k])
        ahead = _sign(what) * (mine[first] - rest[second])
        return ahead > 0, f"{first} {digits(mine[first])}, {second} {digits(rest[second])}"

    return test


def pairs(*given: tuple[str, str], within: float = 0.0) -> Test:
    """Return a test that the first of each pair of learners beats the second.

    With `within` it may be worse by up to that share of the second.
    """

    def test(result: Result) -> Verdict | None:
        values = _measured(result, result.metric)
        if not all(name in values for pair in given for name in pair):
            return None
        ahead = [_sign(result.metric) * (values[a] - values[b]) for a, b in given]
        told = ", ".join(f"{a} {d:+.3g}" for (a, _), d in zip(given, ahead, strict=True))
        room = [within * values[b] for _, b in given]
        return all(d > -r for d, r in zip(ahead, room, strict=True)), told

    return test


def faster(*given: tuple[str, str]) -> Test:
    """Return a test that the first of each pair of learners takes less time than the second."""

    def test(result: Result) -> Verdict | None:
        seconds = _measured(result, "seconds")
        if not all(name in seconds for pair in given for name in pair):
            return None
        times = [seconds[b] / seconds[a] for a, b in given]
        shown = [f"{t:.0f}" if t > 10 else f"{t:.1f}" for t in times]
        told = ", ".join(f"{a} {t} times" for (a, _), t in zip(given, shown, strict=True))
        return min(times) > 1, told

    return test


def significant(*others: str) -> Test:
    """Return a test that the paper's learners win against all others by paired t-tests."""

    def test(result: Result) -> Verdict | None:
        if not set(others) <= result.verdicts.keys():
            return None
        words = [result.verdicts[name] for name in others]
        told = ", ".join(f"{name} {word}" for name, word in zip(others, words, strict=True))
        return set(words) == {"win"}, told

    return test


# Figures -----------------------------------------------------------------------------------------


def _lines(result: Result) -> dict[str, Line]:
    return {line.name: line for line in result.lines}


def everywhere(*own: str) -> Test:
    """Return a test that at every point the best line of `own` is above all others."""

    def test(result: Result) -> Verdict | None:
        lines = _lines(result)
        mine = [np.array(lines[k].y) for k in lines if k in own]
        rest = [np.array(lines[k].y) for k in lines if k not in own]
        if not mine or not rest:
            return None
        sign = _sign(result.metric)
        ahead = np.max(sign * np.array(mine), axis=0) - np.max(sign * np.array(rest), axis=0)
        x = lines[own[0]].x[int(np.argmin(ahead))]
        least = _told(float(ahead.min()), result.metric)
        told = f"{int((ahead > 0).sum())} of {len(ahead)} points, least ahead at {x} by {least}"
        return bool((ahead > 0).all()), told

    return test


def between(better: str, worse: str, within: float = 0.0) -> Test:
    """Return a test that every line is higher at one of its points than at another.

    With `within` it may be lower by up to that much.
    """

    def test(result: Result) -> Verdict | None:
        ahead = {
            line.name: line.y[line.x.index(better)] - line.y[line.x.index(worse)]
            for line in result.lines
        }
        told = ", ".join(f"{k} {_told(v, result.metric)}" for k, v in ahead.items())
        return min(ahead.values()) > -within, told

    return test


def _told(difference: float, metric: str) -> str:
    return f"{difference:+.3g}" if metric == "cost" else f"{100 * difference:+.2f}"


def robust_to_rates(result: Result) -> Verdict:
    """Test that loss II has a higher mean over the learning rates than loss I."""
    means = {line.name: float(np.mean(line.y)) for line in result.lines}
    told = ", ".join(f"{k} {100 * v:.1f}" for k, v in means.items())
    forms = ("", "-diag")
    return all(means[f"ACOG-II{f}"] > means[f"ACOG-I{f}"] for f in forms), told


def asks_positives(result: Result) -> Verdict:
    """Test that the best point of the map has the larger bias for positive predictions."""
    best = max(result.lines, key=lambda line: max(line.y))
    negative = float(best.name.split("=")[-1])
    positive = float(best.x[int(np.argmax(best.y))])
    told = f"best at delta_pos {positive:g}, delta_neg {negative:g}: {100 * max(best.y):.1f}"
    return positive >= negative, told


def first_come(result: Result) -> Verdict:
    """Test that asking whenever possible is within 2 points of the best, asking never is not."""
    by = {float(line.name.split("=")[-1]): line for line in result.lines}
    best = max(max(line.y) for line in result.lines)
    large, small = by[max(by)].y[-1], by[min(by)].y[0]
    told = f"best {100 * best:.1f}, both large {100 * large:.1f}, both small {100 * small:.1f}"
    return best - large <= 0.02 < best - small, told


def beats_insensitive(result: Result) -> Verdict | None:
    """Test that the cost-sensitive forms of FSOL and SSOL are better at their best point."""
    tops = {line.name: max(line.y) for line in result.lines}
    if not {"FSOL", "CS-FSOL", "SSOL", "CS-SSOL"} <= tops.keys():
        return None
    gains = {k: tops[f"CS-{k}"] - tops[k] for k in ("FSOL", "SSOL")}
    return min(gains.values()) > 0, ", ".join(f"CS-{k} {100 * g:+.1f}" for k, g in gains.items())


def compensated(result: Result) -> Verdict | None:
    """Test that policies with ++ end above those without, where buffers fill."""
    if any("never fill" in note for note in result.notes):
        return None
    lines = _lines(result)
    gains = {p: lines[f"KOIL-{p}++"].y[-1] - lines[f"KOIL-{p}"].y[-1] for p in ("RS", "FIFO")}
    return min(gains.values()) > 0, ", ".join(f"{p}++ {100 * g:+.1f}" for p, g in gains.items())


def as_unlimited(result: Result) -> Verdict | None:
    """Test that policies with ++ end no lower than unlimited buffers, where buffers fill."""
    if any("never fill" in note for note in result.notes):
        return None
    lines = _lines(result)
    gaps = {p: lines[f"KOIL-{p}++"].y[-1] - lines["KOIL-inf"].y[-1] for p in ("RS", "FIFO")}
    return min(gaps.values()) > -_CLOSE, ", ".join(f"{p}++ {100 * g:+.1f}" for p, g in gaps.items())


def tenth(result: Result) -> Verdict:
    """Test that ten neighbours of a hundred are within half a point of the best number."""
    told, holds = [], True
    for line in result.lines:
        behind = max(line.y) - line.y[line.x.index(10)]
        holds &= behind <= _CLOSE
        best = line.x[int(np.argmax(line.y))]
        told.append(f"{line.name} best at {best}, {100 * behind:.1f} above 10")
    return holds, "; ".join(told)


def saturates(result: Result) -> Verdict:
    """Test that lines rise, and less in their second half than in the first."""
    told, holds = [], True
    for line in result.lines:
        holds &= line.y[0] < line.y[-1] and line.y[-1] - line.y[2] < line.y[2] - line.y[0]
        told.append(f"{line.name} {', '.join(f'{100 * y:.1f}' for y in line.y)}")
    return holds, "; ".join(told)


_DUAL, _TRUNCATED = ("Ada-RDA", "FSOL", "SSOL"), ("STG", "FOBOS", "Ada-FOBOS")


def keeps_error(result: Result) -> Verdict | None:
    """Test that the error of dual averaging rises less than that of truncation."""
    lines = _lines(result)
    start = max(line.x[0] for line in lines.values())
    level = start + 0.8 * (1 - start)
    rises = {k: lines[k].at(level) - lines[k].at(start) for k in (*_TRUNCATED, *_DUAL)}
    if any(map(math.isnan, rises.values())):  # a line ends before that
        return None
    holds = max(rises[k] for k in _DUAL) < min(rises[k] for k in _TRUNCATED)
    told = ", ".join(f"{k} {100 * v:+.1f}" for k, v in rises.items())
    return holds, f"from {_share(start)} to {_share(level)}: {told}"


def jumps(result: Result) -> Verdict | None:
    """Test that errors rise more than three times as much past 90 % as before."""
    lines = _lines(result)
    told, holds = [], True
    for name in _DUAL:
        a, b, c = (lines[name].at(x) for x in (0.8, 0.9, 0.97))
        if math.isnan(a + b + c):  # it ends before that
            return None
        holds &= c - b > 3 * abs(b - a)
        told.append(f"{name} {100 * a:.1f}, {100 * b:.1f}, {100 * c:.1f}")
    return holds, "; ".join(told) + " at 80, 90, 97 %"


def ssol_best(result: Result) -> Verdict | None:
    """Test that SSOL has the lowest error where 90 % of the weights are zero, or more."""
    lines = _lines(result)
    start = max(line.x[0] for line in lines.values())
    level = 0.9 if start <= 0.9 else (start + 1) / 2
    found = {k: lines[k].at(level) for k in (*_TRUNCATED, *_DUAL)}
    errors = {k: v for k, v in found.items() if not math.isnan(v)}  # others are never that sparse
    if "SSOL" not in errors:
        return None
    best = min(errors, key=lambda k: errors[k])
    told = f"{best} {100 * errors[best]:.1f}, SSOL {100 * errors['SSOL']:.1f}"
    return best == "SSOL", f"at {_share(level)} {told}"


def _share(level: float) -> str:
    return f"{100 * level:.0f} %" if level < 0.99 else f"{100 * level:.3f} %"


def sensitive_best(result: Result) -> Verdict:
    """Test that the best point of CS-SSOL is above those of all others."""
    tops = {line.name: max(line.y) for line in result.lines}
    first, second, *_ = sorted(tops, key=lambda k: tops[k], reverse=True)
    told = ", ".join(f"{k} {100 * tops[k]:.1f}" for k in dict.fromkeys((first, second, "CS-SSOL")))
    return first == "CS-SSOL", f"best point of each: {told}"
