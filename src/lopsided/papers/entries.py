"""The tables and figures of the papers. The facts are in the .toml files beside this one."""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from ..estimator.parameters import nearest

PAPERS = ("csogd", "acog", "oa3", "koil", "sol")


@dataclasses.dataclass(frozen=True)
class Printed:
    """A number as printed: a mean, perhaps with a standard deviation.

    Examples
    --------
    >>> Printed.read("53.760±1.655")
    Printed(mean=53.76, std=1.655, decimals=3)
    """

    mean: float
    std: float | None = None
    decimals: int = 0

    @classmethod
    def read(cls, text: str) -> Printed:
        """Return the number that stands in a text."""
        mean, _, std = text.partition("±")
        decimals = len(mean.partition(".")[2])
        return cls(float(mean), float(std) if std else None, decimals)

    def __str__(self) -> str:
        return shown(self.mean, self.std, self.decimals)


def shown(mean: float, std: float | None, decimals: int) -> str:
    """Return a mean with its deviation in so many decimals."""
    text = f"{mean:.{decimals}f}"
    return text if std is None else f"{text}±{std:.{decimals}f}"


@dataclasses.dataclass(frozen=True)
class Column:
    """What a column of a table holds: a measure of `compare`, and in what unit it is printed."""

    name: str
    unit: str = ""

    @property
    def scale(self) -> float:
        """What a measure is multiplied with to be printed."""
        return {"": 1.0, "%": 100.0, "100": 0.01}[self.unit]

    def __str__(self) -> str:
        unit = {"": "", "%": " %", "100": " (100)"}[self.unit]
        return f"{self.name}{unit}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """One data set and metric of a table or figure.

    Attributes
    ----------
    set : str
        The data set, by its name in the registry.
    metric : str
        What is reported, and what parameters are chosen by.
    learners : tuple of str
        As the paper calls them.
    columns : tuple of Column
        What is printed of each.
    printed : mapping
        The figures of each learner, one a column.
    stated : mapping
        Parameters of a learner that the printed figures are known to belong to.
    rows : str
        "all", or the part of the set that was used.
    """

    set: str
    metric: str
    learners: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    printed: Mapping[str, tuple[Printed, ...]] = dataclasses.field(default_factory=dict)
    stated: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    rows: str = "all"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or figure of a paper.

    Attributes
    ----------
    name, paper, title : str
        What it is called here, the paper, and what it shows.
    kind : str
        "table", "figure", or "sets" for a table of data sets.
    parts : tuple of Part
        What it consists of.
    learners : mapping
        What each printed name is here: "is" a learner of the catalog, with these parameters.
        "grid" is instead of that of the catalog, "costs" what it is told of: "sum" or "cost".
    runs : int
        Permutations, or folds in all.
    folds : int or str or None
        Held-out folds: so many, or "published" ones; None where passes are reported.
    scaling : str
        "unit": rows of length one; "standard+unit": standard scores before that; or "none".
    fn, fp : float
        Prices of a missed positive and of a false alarm.
    choice : str
        How the paper chose parameters: "stated" in it, the "best" of a grid, by "inner" folds, or
        "tuned" on the training rows.
    budget : mapping
        Labels that may be bought, by data set.
    zero_rows : str
        "mistakes" if rows of zeros count as mistakes and are never learned from.
    against : str
        What a figure is drawn against.
    values : tuple
        Of what it is drawn against.
    lines : mapping
        A second parameter with its values, one line each.
    others : str
        What the other parameters of a figure are: at their "best" for each value, or "default".
    l1 : mapping
        Where sparsity is swept: 0, the ends and the number of shrinks by learner.
    where : str
        For data sets: the table as the registry calls it.
    extra : mapping
        For data sets: what is printed beside the sizes.
    wins_ties_losses : mapping
        Of the paper's own learners against each other one, as printed.
    """

    name: str
    paper: str
    title: str
    kind: str = "table"
    parts: tuple[Part, ...] = ()
    learners: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    runs: int = 20
    folds: int | str | None = None
    scaling: str = "none"
    fn: float = 0.9
    fp: float = 0.1
    choice: str = "best"
    budget: Mapping[str, float] = dataclasses.field(default_factory=dict)
    zero_rows: str = ""
    against: str = ""
    values: tuple[Any, ...] = ()
    lines: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    others: str = "best"
    l1: Mapping[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    where: str = ""
    extra: Mapping[str, tuple[Printed, ...]] = dataclasses.field(default_factory=dict)
    wins_ties_losses: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def sets(self) -> tuple[str, ...]:
        """The data sets it needs."""
        return tuple(dict.fromkeys(part.set for part in self.parts))


def _table(text: str) -> dict[str, tuple[Printed, ...]]:
    rows = (line.split() for line in text.strip().splitlines())
    return {name: tuple(map(Printed.read, cells)) for name, *cells in rows}


def _column(text: str) -> Column:
    return Column(*text.split())


def _part(facts: dict[str, Any]) -> Part:
    printed = _table(facts.pop("figures"))
    columns = tuple(map(_column, facts.pop("columns")))
    return Part(**facts, learners=tuple(printed), columns=columns, printed=printed)


def _as_in_table(name: str, metric: str, tables: Sequence[Experiment]) -> dict[str, Any]:
    """Return what a table of the same paper says of a set: rows and parameters."""
    for part in (part for table in tables for part in table.parts):
        if (part.set, part.metric) == (name, metric):
            return {"stated": part.stated, "rows": part.rows}
    return {}


def _parts(
    facts: dict[str, Any], paper: str, where: str, tables: Sequence[Experiment]
) -> Iterator[Part]:
    yield from map(_part, facts.pop("part", ()))
    sets, learners = facts.pop("sets", ()), tuple(facts.pop("learners", ()))
    metric = facts.pop("metric", "")
    if where:
        from ..data.sets import registry

        sets = [
            d.name
            for d in registry.datasets()
            for use in d.uses
            if (use.paper, use.where) == (paper, where)
        ]
    for name in sets:
        yield Part(set=name, metric=metric, learners=learners, **_as_in_table(name, metric, tables))


def _experiment(
    facts: dict[str, Any], common: dict[str, Any], before: Sequence[Experiment]
) -> Experiment:
    tables = [e for e in before if e.paper == common["paper"] and e.kind == "table"]
    parts = tuple(_parts(facts, common["paper"], facts.get("where", ""), tables))
    if "figures" in facts:
        facts["extra"] = _table(facts.pop("figures"))
        del facts["columns"]
    for name in ("lines", "l1"):
        own = facts.pop(name, common.get(name, {}))
        facts[name] = {key: tuple(values) for key, values in own.items()}
    if "values" in facts:
        facts["values"] = tuple(facts["values"])
    return Experiment(**{**common, **facts, "parts": parts})


@functools.cache
def experiments() -> tuple[Experiment, ...]:
    """Return all tables and figures, paper after paper."""
    found: list[Experiment] = []
    for paper in PAPERS:
        text = resources.files(__package__).joinpath(f"{paper}.toml").read_text("utf-8")
        common = tomllib.loads(text)
        for facts in common.pop("experiment"):
            found.append(_experiment(facts, common, found))
    return tuple(found)


def find(name: str) -> Experiment:
    """Return a table or figure by its name.

    Examples
    --------
    >>> find("acog-table-2").parts[0].printed["Perceptron"][0]
    Printed(mean=71.343, std=0.215, decimals=3)
    """
    wanted = re.sub(r"[\s_]+", "-", name.strip().casefold())
    for experiment in experiments():
        if experiment.name == wanted:
            return experiment
    known = [experiment.name for experiment in experiments()]
    raise ValueError(f"there is no table or figure {name!r}: {nearest(wanted, known)}")
