"""What was measured, as text, Markdown and JSON."""

from __future__ import annotations

import json as _json
import platform
import statistics
from collections.abc import Iterable

from .harness import Result

# What one unit of the measurements is called, and how many of them are in a second (or a byte).
UNITS = {"ns/row": 1e9, "µs/update": 1e6, "µs/event": 1e6, "ms": 1e3, "MB": 1e-6}


def heading(versions: dict[str, str | None]) -> str:
    present = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    absent = ", ".join(name for name, version in versions.items() if not version)
    lines = [f"Python {platform.python_version()}, {_processor()}, one thread", present]
    if absent:
        lines.append(f"absent, so not compared: {absent}")
    return "\n".join(lines) + "\n"


def text(result: Result) -> str:
    group = result.group
    width = max(len(c.name) for c in group.contenders)
    against = f"× {group.baseline}" if group.baseline in result.turns else ""
    lines = [group.title, f"  {group.unit:>{width}}     best   median   {against}"]
    for c in group.contenders:
        best, median = (_number(result, v) for v in (result.best(c.name), result.median(c.name)))
        line = f"  {c.name:>{width}} {best:>8} {median:>8}"
        ratio = result.ratio(c.name)
        if ratio is not None and c.name != group.baseline:
            line += f"   {_ratio(result, c.name)}"
            if c.goal:
                line += f"   goal {c.goal:g}: {result.verdict(c.name, c.goal)}"
        lines.append(line)
    lines.append(f"  {_disturbance(result)}{group.note and '; ' + group.note}")
    return "\n".join(lines) + "\n"


def markdown(results: Iterable[Result]) -> str:
    lines = ["| work | | best | ratio |", "|---|---|---:|---:|"]
    for result in results:
        group = result.group
        title = group.title
        for c in group.contenders:
            shown = "" if result.ratio(c.name) is None else f"{_ratio(result, c.name)} ×"
            name = c.name.replace("|", "\\|")
            name = f"**{name}**" if c.ours else name
            best = f"{_number(result, result.best(c.name))} {group.unit}"
            lines.append(f"| {title} | {name} | {best} | {shown} |")
            title = ""
    lines.append("")
    lines.append(
        f"Best of several rounds in one run, one thread, {_processor()}. A ratio of 2 × is twice "
        "as fast, or half the memory, as the peer with 1 ×; ≈ where other programs disturbed the "
        "measurement. Run it yourself: `python -m benchmarks`."
    )
    return "\n".join(lines)


def json(versions: dict[str, str | None], results: Iterable[Result]) -> str:
    groups = [
        {
            "title": r.group.title,
            "unit": r.group.unit,
            "baseline": r.group.baseline,
            "note": r.group.note,
            "contenders": [
                {
                    "name": c.name,
                    "ours": c.ours,
                    "goal": c.goal,
                    "best": r.best(c.name) * UNITS[r.group.unit],
                    "median": r.median(c.name) * UNITS[r.group.unit],
                    "ratio": r.ratio(c.name),
                    "trusted": r.group.baseline in r.turns and r.trusted(c.name),
                    "values": [t.value * UNITS[r.group.unit] for t in r.turns[c.name]],
                    "disturbance": [t.disturbance for t in r.turns[c.name]],
                }
                for c in r.group.contenders
            ],
        }
        for r in results
    ]
    machine = {"python": platform.python_version(), "processor": _processor()}
    return _json.dumps({"machine": machine, "versions": versions, "groups": groups}, indent=1)


def _disturbance(result: Result) -> str:
    every = [turn for turns in result.turns.values() for turn in turns]
    calm = sum(turn.calm for turn in every)
    middle = statistics.median(turn.disturbance for turn in every)
    said = f"{calm} of {len(every)} turns undisturbed (median disturbance {middle:.0%})"
    weak = [name for name, turns in result.turns.items() if not any(turn.calm for turn in turns)]
    if weak:
        said += f"; none for {', '.join(weak)}: repeat this in a quieter minute"
    return said


def _ratio(result: Result, name: str) -> str:
    ratio = result.ratio(name)
    assert ratio is not None
    return ("" if result.trusted(name) else "≈ ") + short(ratio)


def _number(result: Result, value: float) -> str:
    return short(value * UNITS[result.group.unit])


def short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(": ", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
