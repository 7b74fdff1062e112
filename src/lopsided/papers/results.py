"""The result of an experiment: cells next to the printed ones, or lines of a figure."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from .._json import plain
from .entries import Printed, shown

AGREES = 3.0  # combined standard errors

SAME, AGREEING, DIFFERENT = "same digits", "agrees", "differs"
NO_DATA, OTHER_DATA = "data not available", "other data"
WORDS = (SAME, AGREEING, DIFFERENT, OTHER_DATA, NO_DATA)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """One printed number and ours.

    Attributes
    ----------
    learner, figure : str
        Row and column.
    published : str
        As printed.
    ours : str
        Our value if it is not a number.
    mean, std : float
        Our value with the paper's choice of parameters, in the printed unit; NaN if there is none.
        For times the minimum.
    off : float
        The difference in combined standard errors; NaN for times.
    word : str
        The verdict: "same digits", "agrees" (within three standard errors), "differs", "other data"
        if the data is known to differ from the paper's, "data not available", or how much faster
        the pass was.
    honest_mean, honest_std : float
        With parameters chosen on data that is not reported; NaN if the paper's choice is honest or
        there is nothing to choose.
    nearest_mean, nearest_off : float
        At the grid point whose figures are closest to the printed ones.
    nearest_word : str
        The verdict on that.
    decimals : int
        Decimals of the printed number.
    """

    learner: str
    figure: str
    published: str
    ours: str = ""
    mean: float = math.nan
    std: float = math.nan
    off: float = math.nan
    word: str = NO_DATA
    honest_mean: float = math.nan
    honest_std: float = math.nan
    nearest_mean: float = math.nan
    nearest_off: float = math.nan
    nearest_word: str = ""
    decimals: int = 3

    def text(self, what: str = "") -> str:
        """Return our value, or the "honest" or "nearest" one, as it would be printed."""
        if self.ours and not what:
            return self.ours
        mean = getattr(self, f"{what}_mean" if what else "mean")
        std = getattr(self, f"{what}_std" if what else "std", math.nan)
        if math.isnan(mean):
            return "–"
        spread = "±" in self.published and not math.isnan(std)
        return shown(mean, std if spread else None, self.decimals)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a figure: x, y and standard deviations.

    It may turn back: models are not always sparser the more they are shrunk.
    """

    name: str
    x: tuple[Any, ...]
    y: tuple[float, ...]
    std: tuple[float, ...]

    def at(self, x: float, *, larger_is_better: bool = False) -> float:
        """Return the best y at x, between the points; NaN where the line does not come.

        Examples
        --------
        >>> Line(name="", x=(0, 2, 1), y=(0, 2, 5), std=(0, 0, 0)).at(1.5)
        1.5
        """
        found = []
        for k in range(len(self.x)):
            a, b = self.x[max(k - 1, 0)], self.x[k]
            if min(a, b) <= x <= max(a, b):
                share = (x - a) / (b - a) if a != b else 1.0
                before = self.y[max(k - 1, 0)]
                found.append(before + share * (self.y[k] - before))
        return float((max if larger_is_better else min)(found, default=math.nan))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """One data set and metric of an experiment.

    Attributes
    ----------
    experiment, paper, title, set, metric : str
        What was reproduced.
    data : str
        The data set that was read, which may be a substitute; "" if there was none.
    other_data : bool
        Whether it is known to differ from the data of the paper.
    notes : tuple of str
        Differences from the paper's data, decisions made here, how to get missing data.
    scaling : str
        How rows were scaled, in words.
    runs : str
        The permutations or folds, in words.
    choice : str
        How parameters were chosen, in words.
    parameters, honest, nearest : mapping
        Parameters of each learner: chosen as in the paper, chosen on data that is not reported, and
        those whose figures are closest to the printed ones.
    cells : tuple of Cell
        The cells of a table.
    verdicts : mapping
        Where the paper counts wins, ties and losses of its own learners: the outcome against each
        other learner.
    against : str
        The x axis of a figure.
    lines : tuple of Line
        The lines of a figure.
    seconds : float
        Processor time of all its runs, whenever they were made.
    """

    experiment: str
    paper: str
    title: str
    set: str
    metric: str
    data: str = ""
    other_data: bool = False
    notes: tuple[str, ...] = ()
    scaling: str = ""
    runs: str = ""
    choice: str = ""
    parameters: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    honest: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    nearest: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    cells: tuple[Cell, ...] = ()
    verdicts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    against: str = ""
    lines: tuple[Line, ...] = ()
    seconds: float = 0.0

    @property
    def substitute(self) -> bool:
        """Whether a substitute was used for the data set of the paper."""
        return bool(self.data) and self.data != self.set

    @property
    def heading(self) -> str:
        """What was reproduced, in one line."""
        on = f"{self.data} (IN PLACE OF {self.set})" if self.substitute else self.set
        return f"{self.experiment} on {on}" + (f", {self.metric}" if self.metric else "")

    def words(self) -> dict[str, int]:
        """Return the number of cells with each verdict."""
        found = Counter(cell.word for cell in self.cells)
        return {word: found[word] for word in WORDS if found[word]}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        shown = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        shown["cells"] = [dataclasses.asdict(cell) for cell in self.cells]
        shown["lines"] = [dataclasses.asdict(line) for line in self.lines]
        found: dict[str, Any] = plain({**shown, "substitute": self.substitute})
        return found

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Result:
        """Return what `to_dict` was made of."""
        own = {f.name: values[f.name] for f in dataclasses.fields(cls)}
        own["notes"] = tuple(own["notes"])
        own["cells"] = tuple(Cell(**_numbers(Cell, cell)) for cell in own["cells"])
        own["lines"] = tuple(
            Line(
                name=line["name"],
                x=tuple(line["x"]),
                y=tuple(math.nan if y is None else y for y in line["y"]),
                std=tuple(math.nan if y is None else y for y in line["std"]),
            )
            for line in own["lines"]
        )
        return cls(**own)


def _numbers(cls: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a dataclass with NaN for the None of JSON."""
    floats = {f.name for f in dataclasses.fields(cls) if f.type == "float"}
    return {k: math.nan if k in floats and v is None else v for k, v in values.items()}


def off_by(printed: Printed, runs: int, mean: float, std: float, own_runs: int) -> float:
    """Return a difference in combined standard errors, from the pooled deviation.

    If one of the two deviations is unknown the other is used for both.

    Examples
    --------
    >>> round(off_by(Printed(70.0, 2.0, 1), 20, 71.0, 2.0, 20), 2)
    1.58
    """
    ours, theirs = (own_runs - 1) * std**2, (runs - 1) * (printed.std or 0.0) ** 2
    if printed.std is None:
        variance = std**2
    elif math.isnan(std):
        variance = printed.std**2
    else:
        variance = (ours + theirs) / (own_runs + runs - 2)
    error = math.sqrt(variance * (1 / own_runs + 1 / runs))
    difference = mean - printed.mean
    if abs(difference) <= half_digit(printed):
        difference = 0.0 if not error else difference
    if error or not difference:
        return difference / (error or 1.0)
    return math.copysign(math.inf, difference)


def half_digit(printed: Printed) -> float:
    """Return the largest difference between a number and its printed rounding.

    The allowance is for means exactly half-way between two printable numbers.
    """
    return 0.5 * 10.0**-printed.decimals + 1e-9


def word_for(printed: Printed, off: float, mean: float, std: float) -> str:
    """Return the verdict on a cell.

    Examples
    --------
    >>> word_for(Printed.read("53.760±1.655"), 0.0, 53.7604, 1.6549)
    'same digits'
    >>> word_for(Printed.read("53.760±1.655"), 2.0, 54.8, 1.7)
    'agrees'
    """
    half = half_digit(printed)
    spread = printed.std is None or abs(std - printed.std) <= half
    if abs(mean - printed.mean) <= half and spread:
        return SAME
    return AGREEING if abs(off) <= AGREES else DIFFERENT


def faster(printed: float, ours: float) -> str:
    """Compare a time with a printed one, in words."""
    if not printed or not ours:
        return ""
    ratio = printed / ours
    return f"{ratio:.3g} times faster" if ratio >= 1 else f"{1 / ratio:.3g} times slower"
