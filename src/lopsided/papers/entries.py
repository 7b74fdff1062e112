"""The tables and figures of the papers. The facts are in the .toml files next to this one."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from .._toml import tomllib
from ..errors import UnknownNameError
from ..estimator.parameters import nearest

PAPERS = ("csogd", "acog", "oa3", "koil", "sol")


@dataclasses.dataclass(frozen=True)
class Printed:
    """A printed number: a mean, optionally with a standard deviation.

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
        """Parse a printed number."""
        mean, _, std = text.partition("±")
        decimals = len(mean.partition(".")[2])
        return cls(float(mean), float(std) if std else None, decimals)

    def __str__(self) -> str:
        return shown(self.mean, self.std, self.decimals)


def shown(mean: float, std: float | None, decimals: int) -> str:
    """Return a mean with its deviation, rounded to `decimals`."""
    text = f"{mean:.{decimals}f}"
    return text if std is None else f"{text}±{std:.{decimals}f}"


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table: a measure of `compare` and the unit it is printed in."""

    name: str
    unit: str = ""

    @property
    def scale(self) -> float:
        """The factor between a measure and its printed value."""
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
        What is reported and what parameters are chosen by.
    learners : tuple of str
        The learners, by their names in the paper.
    columns : tuple of Column
        The printed measures.
    printed : mapping
        The printed numbers of each learner, one per column.
    stated : mapping
        Parameters of a learner that the printed numbers are known to come from.
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
        Its name here, the paper, and what it shows.
    kind : str
        "table", "figure", or "sets" for a table of data sets.
    parts : tuple of Part
        Its data sets and metrics.
    learners : mapping
        What each printed name means here: "is" is a learner of the catalog, "grid" replaces its
        grid, "costs" is what it is made cost-sensitive for, "sum" or "cost"; the rest are
        parameters.
    runs : int
        Number of permutations, or of folds in all repeats.
    folds : int or str or None
        Number of held-out folds, or "published" ones; None where passes are reported.
    scaling : str
        "unit": rows of length one; "standard+unit": standard scores before that; or "none".
    fn, fp : float
        Costs of a missed positive and of a false alarm.
    draws : int
        Number of draws of the folds. What is compared is the mean over the folds of a draw; a paper
        prints that of one draw.
    stated : mapping
        Parameters that the paper states, by learner, where the others are chosen.
    choice : str
        How the paper chose parameters: "stated" in the paper, the "best" of a grid, by "inner"
        folds, or "tuned" on the training rows.
    budget : mapping
        Number of labels that may be queried, by data set.
    zero_rows : str
        "mistakes" if all-zero rows count as mistakes and are never learned from.
    against : str
        The x axis of a figure.
    values : tuple
        The values on the x axis.
    lines : mapping
        A second parameter with its values, one line for each.
    others : str
        The other parameters of a figure: at their "best" for each value, "tuned" once on training
        rows, or "default".
    tuned_by : str
        The learner whose parameters all have, if `others` is "tuned"; "" if each has its own.
    l1 : mapping
        For sparsity sweeps, by learner: the smallest and the largest l1 and their number, in units
        of the root mean square of the nonzero values.
    where : str
        For tables of data sets: the name of the table in the registry.
    extra : mapping
        For tables of data sets: what is printed besides the sizes.
    wins_ties_losses : mapping
        Printed wins, ties and losses of the paper's own learners against each other learner.
    """

    name: str
    paper: str
    title: str
    kind: str = "table"
    parts: tuple[Part, ...] = ()
    learners: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    runs: int = 20
    folds: int | str | None = None
    draws: int = 1
    stated: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
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
    tuned_by: str = ""
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
    """Return rows and parameters of a data set as in a table of the same paper."""
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
    """Return all tables and figures, by paper."""
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
    raise UnknownNameError("table or figure", name, nearest(wanted, known))
