"""How a model's tables are read: kept with the model, so that nobody has to say it twice."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import DataError, InputTypeError, Parameter, ParameterError, Text
from .times import clock_names

_TEXTS = ("drop", "keep", "since", "numbers", "flags", "categories", "optional")
_NAMES = ("label", "weight", "time", "time_features", "key", "missing", "unknown", "delimiter")
UNKNOWN = ("error", "ignore", "learn")
_SHOWN = 10  # columns in a message


@dataclasses.dataclass(frozen=True, kw_only=True)
class Schema:
    """The columns of the tables that a model learned from, and how they were read.

    Attributes
    ----------
    label, weight, time, key : str or None
        The columns with these roles, which are not features; `key` is that of the ids.
    time_features : str or None
        The column of times whose hour and weekday are features.
    since : tuple of str
        Columns of keys: the time since the last row of the same key is a feature.
    last : dict
        When keys were last met, in seconds since 1970, by column and key.
    drop : tuple of str
        Columns left out.
    keep : tuple of str
        Columns copied to the results.
    numbers, categories : tuple of str
        The features: columns of numbers and of texts.
    flags : tuple of str
        Those of the numbers that were true or false.
    optional : tuple of str
        Features that some events did not have.
    missing : str
        What an empty cell is, as for `CsvReader`.
    unknown : {"error", "ignore", "learn"} or None
        What a column or member is that the features do not name. Default: it is learned from, with
        a warning; where nothing is learned, a column of a table is an error, and a member of an
        event is ignored, with a warning. "learn" also lets a feature of a model without a table be
        a number in one event and a text in another.
    empty : tuple of str or None
        The spellings of an empty cell; None: the usual ones.
    delimiter : str or None
        The delimiter of CSV, where it was given.
    header : bool
        Whether CSV has the names of its columns in the first row.
    means : dict
        Sum and number of the cells of a column of numbers, where some are empty: these count as
        their mean.
    """

    label: str | None = None
    weight: str | None = None
    time: str | None = None
    key: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    missing: str = "error"
    unknown: str | None = None
    empty: tuple[str, ...] | None = None
    delimiter: str | None = None
    header: bool = True
    means: dict[str, tuple[float, int]] = dataclasses.field(default_factory=dict)
    time_features: str | None = None
    since: tuple[str, ...] = ()
    last: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Schema:
        """Return that of a model file; raise for anything else."""
        record = {name: tuple(v) if isinstance(v, list) else v for name, v in record.items()}
        pairs = record["means"].items()
        record["means"] = {k: (float(total), int(count)) for k, (total, count) in pairs}
        last = record.get("last", {}).items()
        record["last"] = {
            str(name): {str(key): float(time) for key, time in met.items()} for name, met in last
        }
        found = cls(**record)
        texts = [value for name in _TEXTS for value in getattr(found, name)]
        texts += [*(found.empty or ()), *found.means]
        texts += [value for name in _NAMES if (value := getattr(found, name)) is not None]
        if not all(isinstance(text, str) for text in texts) or found.header not in (True, False):
            raise InputTypeError("its schema is no schema")
        return found

    def __post_init__(self) -> None:
        """Raise unless the rule for unknown columns is one."""
        if self.unknown is not None and self.unknown not in UNKNOWN:
            raise ParameterError(
                "unknown", f"is one of {', '.join(map(repr, UNKNOWN))}, not {self.unknown!r}"
            )

    @classmethod
    def of_frame(cls, columns: Sequence[str], flags: Sequence[str]) -> Schema:
        """Return that of a data frame of numbers."""
        return cls(numbers=tuple(columns), flags=tuple(flags))

    def record(self) -> dict[str, Any]:
        """Return plain values for a model file."""
        return dataclasses.asdict(self)

    @property
    def features(self) -> frozenset[str]:
        """The columns that are features; empty if they are not known."""
        return frozenset((*self.numbers, *self.categories))

    @property
    def aside(self) -> frozenset[str]:
        """The columns that are not features, and need not be there."""
        roles = (self.label, self.weight, self.time, self.time_features, self.key)
        return frozenset((*self.drop, *(name for name in roles if name is not None)))

    def extended(self, event: Mapping[str, Any]) -> Schema:
        """Return the schema with the members of an event that are new, which others may lack."""
        new = [name for name in event if name not in self.features]
        texts = [name for name in new if isinstance(event[name], str)]
        numbers = [name for name in new if name not in texts]
        return dataclasses.replace(
            self,
            numbers=(*self.numbers, *numbers),
            flags=(*self.flags, *(name for name in numbers if isinstance(event[name], bool))),
            categories=(*self.categories, *texts),
            optional=(*self.optional, *new),
        )

    @property
    def _read_categories(self) -> tuple[str, ...]:
        """The categories that are columns, not computed from times."""
        made = () if self.time_features is None else clock_names(self.time_features)
        return tuple(name for name in self.categories if name not in made)

    def options(self, given: dict[str, Any], path: str, known: frozenset[str]) -> dict[str, Any]:
        """Return the options of a reader: those given, and this schema's for the rest.

        Parameters
        ----------
        given : dict
            The options that are given; columns to drop or to keep and categories add to these.
        path : str
            What is read; a .tsv file has its own delimiter.
        known : frozenset of str
            The options that the reader has.
        """
        mine: dict[str, Any] = {
            name: value
            for name in ("label", "weight", "key", "missing", "empty", "time_features", "since")
            if (value := getattr(self, name)) not in (None, ())
        }
        if not self.header:
            mine["header"] = False
        if self.delimiter is not None and not is_tsv(path):
            mine["delimiter"] = self.delimiter
        chosen = {name: value for name, value in mine.items() if name in known} | given
        now = {chosen.get(role) for role in ("label", "weight", "time", "time_features", "key")}
        for name, more in (
            ("drop", self.drop),
            ("keep", self.keep),
            ("categorical", self._read_categories),
        ):
            if name in known and more:
                before = given.get(name, ())
                before = (before,) if isinstance(before, str) else tuple(before)
                other = before if name == "keep" else (*before, *now)
                chosen[name] = (*before, *(m for m in more if m not in other))
        return chosen

    def compare(
        self,
        file: str,
        columns: Sequence[str],
        categories: Sequence[str],
        flags: Sequence[str] = (),
        *,
        learning: bool,
    ) -> list[Text]:
        """Check the features of a table; raise where a model of this schema cannot take them.

        Returns
        -------
        list of texts
            What differs without harm.
        """
        if not self.features:
            return []
        named = dict.fromkeys((*self.numbers, *self.categories))
        wanted = [name for name in named if name not in self.optional]
        absent = [name for name in wanted if name not in columns]
        turned = [n for n in categories if n in self.numbers and n not in self.categories]
        flagged = [name for name in flags if name in self.numbers and name not in self.flags]
        unknown = [name for name in columns if name not in self.features]
        faults, remedy = [], []
        if absent:
            faults.append(f"no column {_listed(absent)}")
        if turned:
            faults.append(f"{_listed(turned)} as categories, which were numbers")
        if flagged:
            faults.append(f"{_listed(flagged)} as true and false, which were numbers")
        if unknown and (self.unknown == "error" or not learning):
            faults.append(f"{_listed(unknown)}, which the model does not know")
            remedy = [(Parameter("drop", unknown[0]), " leaves a column out")]
        if faults:
            raise DataError(
                file,
                expected=f"not the columns that the model learned from: {'; '.join(faults)}",
                remedy=remedy,
            )
        if not unknown or self.unknown == "learn":
            return []
        return [
            (
                f"{_listed(unknown)}: new to the model, which learns from now on; ",
                Parameter("drop"),
                " leaves columns out",
            )
        ]


def is_tsv(path: str) -> bool:
    """Say whether the extension of a file, compressed or not, stands for tabs."""
    return re.fullmatch(r".*\.tsv(\.(gz|bz2|xz|zst))?", path, re.IGNORECASE) is not None


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
