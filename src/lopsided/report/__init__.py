"""Reports: a single HTML file without scripts or external resources."""

from __future__ import annotations

import dataclasses
import datetime
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._atomic import write_atomically
from ..errors import InputError
from . import compared
from .canvas import require
from .content import Content, Table, clean, from_runs
from .course import Course, course_of
from .figures import Figures, figures
from .page import page

__all__ = ["Course", "Figures", "Table", "plots", "render", "require", "write"]


def write(result: Any, path: str | os.PathLike[str], **about: Any) -> None:
    """Write a report to a file, atomically.

    Parameters
    ----------
    result, **about
        As for `render`.
    path : str or path
        The file.
    """
    write_atomically(path, render(result, **about).encode())


def render(
    result: Any,
    *,
    title: str | None = None,
    command: str | Sequence[str] = (),
    cost: tuple[float, float] | None = None,
    unit: str = "",
    data: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
    notes: Sequence[str] = (),
    reasons: Table | None = None,
    date: datetime.date | None = None,
) -> str:
    """Return a report as HTML.

    Parameters
    ----------
    result : Comparison, Progress, Course, sequence of Counts, or mapping of names to the last three
        A comparison, a run, or several runs. Counts are cumulative along a run; the last are those
        of the complete run.
    title : str, optional
        The heading.
    command : str or sequence of str
        The command line; words are quoted for the shell.
    cost : pair of floats, optional
        The cost of a missed positive and of a false alarm. Default: 0.9 and 0.1; a comparison has
        its own.
    unit : str
        The unit of costs, for example "€".
    data : mapping, optional
        Facts about the data: name, rows, features and so on.
    parameters : mapping, optional
        The parameters of each learner.
    seed : int, optional
        The random seed.
    notes : sequence of str
        Remarks on the result, such as what was left out.
    reasons : Table, optional
        The features that counted most.
    date : date, optional
        Default: today.

    Examples
    --------
    >>> import lopsided
    >>> from lopsided import report
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> run = lopsided.progressive(lopsided.COG(), X, y)
    >>> html = report.render({"COG-II": run}, data={"name": "three events"})
    >>> "<title>COG-II on three events</title>" in html
    True
    """
    data = dict(data or {})
    content = content_of(result, data, title=title, cost=cost, unit=unit, reasons=reasons)
    if hasattr(result, "sweep"):
        if seed is not None:
            raise InputError("seed: a comparison has its seed; leave it out")
        known = {name: result.about[name] for name in ("rows", "features", "positives")}
        data = {**{k: v for k, v in known.items() if v is not None}, **data}
        how = compared.facts(result)
    else:
        whole = content.learners[0].counts
        data = {"events": whole.events, "positives": whole.positives, **data}
        how = [("seed", str(seed))] if seed is not None else []
    facts = [("data", _described(data)), *how]
    facts += [(clean(name), _listed(known)) for name, known in (parameters or {}).items()]
    facts += [("note", clean(note)) for note in notes]
    facts += [("versions", _versions()), ("date", str(date or datetime.date.today()))]
    typed = command if isinstance(command, str) else shlex.join(map(str, command))
    content = dataclasses.replace(content, facts=facts, command=clean(typed))
    return page(content, figures(content))


def content_of(
    result: Any,
    data: Mapping[str, Any],
    *,
    title: str | None = None,
    cost: tuple[float, float] | None = None,
    unit: str = "",
    reasons: Table | None = None,
) -> Content:
    """Return what there is to say and to draw about a result; arguments as for `render`."""
    if hasattr(result, "sweep"):
        if cost is not None:
            raise InputError("cost: a comparison has its prices; leave it out")
        names = [row.name for row in result.rows]
        return compared.from_comparison(result, title=title or _title(names, data), unit=unit)
    prices = cost or (0.9, 0.1)
    runs = {name: course_of(run, prices) for name, run in _named(result).items()}
    title = title or _title(list(runs), data)
    return from_runs(runs, title=title, cost=prices, unit=unit, reasons=reasons)


def plots(result: Any, **about: Any) -> Figures:
    """Return the figures of a report, which a notebook shows.

    Parameters
    ----------
    result
        As for `render`.
    **about
        `cost` and `unit`, as for `render`.
    """
    return Figures(figures(content_of(result, {}, **about)))


def _title(names: Sequence[str], data: Mapping[str, Any]) -> str:
    title = ", ".join(names) if len(names) < 4 else f"{len(names)} learners"
    return f"{title} on {data['name']}" if "name" in data else title


def _named(result: Any) -> Mapping[str, Any]:
    if isinstance(result, Mapping):
        if not result:
            raise InputError("there is no run to report on")
        return result
    return {"this learner": result}


def _described(data: Mapping[str, Any]) -> str:
    parts = [clean(data["name"])] if "name" in data else []
    parts += [f"{_value(v)} {clean(k)}" for k, v in data.items() if k != "name"]
    return ", ".join(parts)


def _listed(known: Mapping[str, Any]) -> str:
    return ", ".join(f"{clean(k)}={_value(v)}" for k, v in known.items()) or "defaults"


def _value(value: Any) -> str:
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return f"{value:,.10g}"
    return clean(value)


def _versions() -> str:
    from .. import __version__

    return (
        f"lopsided {__version__}, numpy {np.__version__}, Python {platform.python_version()}, "
        f"{platform.platform()}"
    )
