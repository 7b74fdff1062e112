"""What the papers claim about their experiments, tested on results."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .results import Line, Result

_CLOSE = 0.005  # AUC: half a point is no difference worth a claim


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim on one data set: whether it holds, and by how much, in words."""

    set: str
    holds: bool
    by: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper.

    Attributes
    ----------
    paper, where, text : str
        Which paper, where in it, and what it says.
    experiments : tuple of str
        The experiments that can decide it.
    test : callable
        Takes a result; returns whether it holds and by how much, or None if it does not speak
        about the claim.
    """

    paper: str
    where: str
    text: str
    experiments: tuple[str, ...]
    test: Callable[[Result], tuple[bool, str] | None]

    def findings(self, results: Iterable[Result]) -> list[Finding]:
        """Return what the results say about it, one finding per result."""
        found = []
        for result in results:
            if result.experiment in self.experiments and result.data:
                told = self.test(result)
                if told is not None:
                    found.append(Finding(set=self._named(result), holds=told[0], by=told[1]))
        return found

    def _named(self, result: Result) -> str:
        """Return the data set, with table, metric and what it stands in for."""
        words = []
        if len(self.experiments) > 1:
            words.append(" ".join(result.experiment.split("-")[1:]))
        if result.metric == "cost":
            words.append("cost")
        if result.substitute:
            words.append(f"in place of {result.set}")
        return result.data + (f" ({', '.join(words)})" if words else "")


# Tables ------------------------------------------------------------------------------------------


def _measured(result: Result) -> dict[str, float]:
    """Return our value of the metric by learner."""
    return {
        cell.learner: cell.mean
        for cell in result.cells
        if cell.figure.split()[0] == result.metric and not math.isnan(cell.mean)
    }


def _leads(own: str, others: Sequence[str] = ()) -> Callable[[Result], tuple[bool, str] | None]:
    """Return a test that the best learner with `own` in its name beats all others, or `others`."""

    def test(result: Result) -> tuple[bool, str] | None:
        values = _measured(result)
        mine = {k: v for k, v in values.items() if k.startswith(own)}
        rest = {k: v for k, v in values.items() if k not in mine and (not others or k in others)}
        if not mine or not rest:
            return None
        sign = -1.0 if result.metric == "cost" else 1.0
        first = max(mine, key=lambda k: sign * mine[k])
        second = max(rest, key=lambda k: sign * rest[k])
        ahead = sign * (mine[first] - rest[second])
        return ahead > 0, f"{first} {mine[first]:.4g}, {second} {rest[second]:.4g}"

    return test


def _pairs(*pairs: tuple[str, str]) -> Callable[[Result], tuple[bool, str] | None]:
    """Return a test that the first of each pair of learners beats the second."""

    def test(result: Result) -> tuple[bool, str] | None:
        values = _measured(result)
        if not all(name in values for pair in pairs for name in pair):
            return None
        sign = -1.0 if result.metric == "cost" else 1.0
        ahead = [sign * (values[a] - values[b]) for a, b in pairs]
        told = ", ".join(f"{a} {d:+.3g}" for (a, _), d in zip(pairs, ahead, strict=True))
        return min(ahead) > 0, told

    return test


# Figures -----------------------------------------------------------------------------------------


def _lines(result: Result) -> dict[str, Line]:
    return {line.name: line for line in result.lines}


def _at(line: Line, x: float) -> float:
    """Return a line at x, between its points."""
    return float(np.interp(x, line.x, line.y))


def _compensated(result: Result) -> tuple[bool, str] | None:
    if any("never fill" in note for note in result.notes):
        return None
    lines = _lines(result)
    gains = {p: lines[f"KOIL-{p}++"].y[-1] - lines[f"KOIL-{p}"].y[-1] for p in ("RS", "FIFO")}
    return min(gains.values()) > 0, ", ".join(f"{p}++ {100 * g:+.1f}" for p, g in gains.items())


def _as_unlimited(result: Result) -> tuple[bool, str] | None:
    if any("never fill" in note for note in result.notes):
        return None
    lines = _lines(result)
    gaps = {p: lines[f"KOIL-{p}++"].y[-1] - lines["KOIL-inf"].y[-1] for p in ("RS", "FIFO")}
    return min(gaps.values()) > -_CLOSE, ", ".join(f"{p}++ {100 * g:+.1f}" for p, g in gaps.items())


def _tenth(result: Result) -> tuple[bool, str]:
    told, holds = [], True
    for line in result.lines:
        behind = max(line.y) - line.y[line.x.index(10)]
        holds &= behind <= _CLOSE
        best = line.x[int(np.argmax(line.y))]
        told.append(f"{line.name} best at {best}, {100 * behind:.1f} above 10")
    return holds, "; ".join(told)


def _saturates(result: Result) -> tuple[bool, str]:
    told, holds = [], True
    for line in result.lines:
        holds &= line.y[0] < line.y[-1] and line.y[-1] - line.y[2] < line.y[2] - line.y[0]
        told.append(f"{line.name} {', '.join(f'{100 * y:.1f}' for y in line.y)}")
    return holds, "; ".join(told)


_DUAL, _TRUNCATED = ("Ada-RDA", "FSOL", "SSOL"), ("STG", "FOBOS", "Ada-FOBOS")


def _keeps_error(result: Result) -> tuple[bool, str]:
    lines = _lines(result)
    start = max(line.x[0] for line in lines.values())
    level = start + 0.8 * (1 - start)
    rises = {k: _at(lines[k], level) - _at(lines[k], start) for k in (*_TRUNCATED, *_DUAL)}
    holds = max(rises[k] for k in _DUAL) < min(rises[k] for k in _TRUNCATED)
    told = ", ".join(f"{k} {100 * v:+.1f}" for k, v in rises.items())
    return holds, f"from {100 * start:.0f} % to {100 * level:.0f} %: {told}"


def _jumps(result: Result) -> tuple[bool, str]:
    lines = _lines(result)
    told, holds = [], True
    for name in _DUAL:
        a, b, c = (_at(lines[name], x) for x in (0.8, 0.9, 0.97))
        holds &= c - b > 3 * abs(b - a)
        told.append(f"{name} {100 * a:.1f}, {100 * b:.1f}, {100 * c:.1f}")
    return holds, "; ".join(told) + " at 80, 90, 97 %"


def _ssol_best(result: Result) -> tuple[bool, str]:
    lines = _lines(result)
    errors = {k: _at(lines[k], 0.9) for k in (*_TRUNCATED, *_DUAL)}
    best = min(errors, key=lambda k: errors[k])
    return (
        best == "SSOL",
        f"at 90 % {best} {100 * errors[best]:.1f}, SSOL {100 * errors['SSOL']:.1f}",
    )


def _sensitive_best(result: Result) -> tuple[bool, str]:
    tops = {line.name: max(line.y) for line in result.lines}
    first, second, *_ = sorted(tops, key=lambda k: tops[k], reverse=True)
    told = ", ".join(f"{k} {100 * tops[k]:.1f}" for k in dict.fromkeys((first, second, "CS-SSOL")))
    return first == "CS-SSOL", f"best point of each: {told}"


CLAIMS = (
    Claim(
        paper="CSOGD",
        where="Section V",
        text="CSOGD is better than all cost-insensitive and cost-sensitive baselines",
        experiments=("csogd-table-2",),
        test=_leads("CSOGD"),
    ),
    Claim(
        paper="ACOG",
        where="Tables 2, 3, 8",
        text="ACOG is better than all other learners",
        experiments=("acog-table-2", "acog-table-3", "acog-table-8"),
        test=_leads("ACOG"),
    ),
    Claim(
        paper="ACOG",
        where="Tables 2, 3, 8",
        text="ACOG is better than COG with the same loss",
        experiments=("acog-table-2", "acog-table-3", "acog-table-8"),
        test=_pairs(("ACOG-I", "COG-I"), ("ACOG-II", "COG-II")),
    ),
    Claim(
        paper="ACOG",
        where="Tables 2, 3, 8",
        text="second-order AROW is better than the first-order learners",
        experiments=("acog-table-2", "acog-table-3", "acog-table-8"),
        test=_leads("AROW", ("Perceptron", "ROMMA", "PA-I", "PAUM", "CPA", "COG-I", "COG-II")),
    ),
    Claim(
        paper="OA3",
        where="Tables 2, 3",
        text="OA3 is better than the other learners that ask",
        experiments=("oa3-table-2", "oa3-table-3"),
        test=_leads("OA3"),
    ),
    Claim(
        paper="KOIL",
        where="Table 1",
        text="KOIL has a higher AUC than the baselines",
        experiments=("koil-table-1",),
        test=_leads("KOIL"),
    ),
    Claim(
        paper="KOIL",
        where="Figure 1",
        text="the policies with ++ are better than those without once the buffers are full",
        experiments=("koil-figure-1",),
        test=_compensated,
    ),
    Claim(
        paper="KOIL",
        where="Figure 1",
        text="the policies with ++ are as good as unlimited buffers",
        experiments=("koil-figure-1",),
        test=_as_unlimited,
    ),
    Claim(
        paper="KOIL",
        where="Figure 2",
        text="larger buffers help up to a point",
        experiments=("koil-figure-2",),
        test=_saturates,
    ),
    Claim(
        paper="KOIL",
        where="Figure 3",
        text="a tenth of the buffer is a good number of neighbours (within 0.5 of the best)",
        experiments=("koil-figure-3",),
        test=_tenth,
    ),
    Claim(
        paper="SOL",
        where="Figures 1, 2",
        text="dual averaging keeps its error as sparsity grows, truncation does not",
        experiments=("sol-figure-1", "sol-figure-2"),
        test=_keeps_error,
    ),
    Claim(
        paper="SOL",
        where="Figure 1",
        text="on the synthetic set the error of dual averaging jumps past 90 %",
        experiments=("sol-figure-1",),
        test=_jumps,
    ),
    Claim(
        paper="SOL",
        where="Figures 1, 2",
        text="SSOL has the lowest error at high sparsity",
        experiments=("sol-figure-1", "sol-figure-2"),
        test=_ssol_best,
    ),
    Claim(
        paper="SOL",
        where="Figures 4, 5",
        text="CS-SSOL is best at 1:99",
        experiments=("sol-figure-4", "sol-figure-5"),
        test=_sensitive_best,
    ),
)


def rows(results: Sequence[Result]) -> list[list[str]]:
    """Return the table of claims: claim, where, holds, does not hold, by how much."""
    found = []
    for claim in CLAIMS:
        findings = claim.findings(results)
        if not findings:
            found.append([claim.text, f"{claim.paper}, {claim.where}", "not tested", "", ""])
            continue
        told = (
            ", ".join(dict.fromkeys(f.set for f in findings if f.holds is held)) or "–"
            for held in (True, False)
        )
        by = "; ".join(f"{f.set}: {f.by}" for f in findings)
        found.append([claim.text, f"{claim.paper}, {claim.where}", *told, by])
    return found


HEADER = ("claim", "where", "holds on", "does not hold on", "by how much")
