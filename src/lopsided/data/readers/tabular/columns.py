"""The role of each column of a table."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from ....errors import DataError, Parameter
from ....estimator.expected import MISSING
from ....estimator.schema import Schema

CUSTOMARY_LABELS = ("label", "class", "target", "y")

Which = str | int  # a column by its name or its position
_SHOWN = 30


@dataclasses.dataclass(frozen=True, kw_only=True)
class Roles:
    """What is said about columns, by their names or positions."""

    label: Which | None = None
    weight: Which | None = None
    time: Which | None = None
    key: Which | None = None
    drop: Sequence[Which] = ()
    keep: Sequence[Which] = ()
    clock: Which | None = None
    since: Sequence[Which] = ()


@dataclasses.dataclass
class Columns:
    """The columns of a table, by position: those with a role, and the features in order."""

    file: str
    names: list[str]
    label: int | None
    weight: int | None
    time: int | None
    features: list[int]
    dropped: list[int]
    kept: list[int]
    key: int | None = None
    clock: int | None = None
    since: list[int] = dataclasses.field(default_factory=list)
    derived: int = 0  # names at the end that stand for no column of the table

    @property
    def width(self) -> int:
        """How many columns the table has."""
        return len(self.names) - self.derived

    def derive(self, names: Sequence[str]) -> list[int]:
        """Add features that are computed; return their positions."""
        for name in names:
            if name in self.names:
                raise DataError(self.file, column=name, expected="a time feature has this name too")
        self.names = [*self.names, *names]
        self.derived += len(names)
        places = list(range(len(self.names) - len(names), len(self.names)))
        self.features = [*self.features, *places]
        return places

    @classmethod
    def choose(
        cls,
        file: str,
        names: list[str],
        roles: Roles,
        *,
        labelled: bool,
        known: Sequence[str],
        schema: Schema | None = None,
    ) -> Columns:
        """Assign a role to every column.

        Without labels, the label and weight columns may be absent; if present they are not
        features. `known` are the features of the model: a column among them is a feature too.
        Columns that the model's schema knows without learning from them may be absent.
        """
        weight, time = roles.weight, roles.time
        aside = frozenset() if schema is None else schema.aside
        gone = aside.union(() if schema is None else schema.keep).difference(names)
        drop, keep = ([w for w in some if w not in gone] for some in (roles.drop, roles.keep))
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise DataError(file, expected=f"two columns are called {_listed(sorted(twice))}")
        dropped = {position(which, names, file, "drop") for which in drop}
        place = _label_position(file, names, roles.label, labelled, dropped, known)
        weighs = None
        if weight is not None and (labelled or weight in names or not isinstance(weight, str)):
            weighs = position(weight, names, file, "weight")
        when = None if time is None else position(time, names, file, "time")
        key = None
        if roles.key is not None and roles.key not in gone:
            key = position(roles.key, names, file, "key")
        clock = None if roles.clock is None else position(roles.clock, names, file, "time_features")
        since = [position(which, names, file, "since") for which in roles.since]
        parts = dict.fromkeys(dropped, "dropped")
        for part, at in (
            ("the label", place),
            ("the weight", weighs),
            ("the time", when),
            ("the id", key),
            ("the time of features", clock if clock != when else None),
        ):
            if at is not None and at in parts:
                both = f"is both {parts[at]} and {part}"
                raise DataError(file, column=names[at], expected=both)
            if at is not None:
                parts[at] = part
        other = {*parts, *(at for at, name in enumerate(names) if name in aside)}
        features = [at for at in range(len(names)) if at not in other]
        if not features:
            raise DataError(file, expected=f"no columns are left as features of {_listed(names)}")
        kept = [] if key is None else [key]
        kept += [at for which in keep if (at := position(which, names, file, "keep")) not in kept]
        return cls(
            file, names, place, weighs, when, features, sorted(dropped), kept, key, clock, since
        )

    def check_known(
        self, known: Sequence[str], categorical: set[int], mixed: Iterable[str] = ()
    ) -> None:
        """Raise if a feature of the model cannot come from this table."""
        here = {self.names[at] for at in self.features if at not in categorical}.union(mixed)
        texts = {self.names[at] for at in self.features if at in categorical}
        for name in known:
            if name.endswith(f"={MISSING}") and name[: -len(MISSING) - 1] in here:
                continue
            if name not in here and not (texts and texts & heads([name])):
                hint, remedy = near(name, sorted(here)), []
                for column in here:
                    if name.startswith(f"{column}="):
                        remedy = [("give ", Parameter("categorical", column), ", as before")]
                raise DataError(
                    self.file,
                    expected=f'the model knows the column "{name}", but here is none'
                    + ("" if remedy else hint),
                    remedy=remedy,
                )

    def check_apart(self, categorical: set[int]) -> None:
        """Raise if a one-hot feature could have the name of another column."""
        texts = {self.names[at] for at in categorical}
        for other in (self.names[j] for j in self.features):
            for name in sorted(texts & heads([other])):
                raise DataError(
                    self.file,
                    column=name,
                    expected=f'one-hot features of it could be called "{other}", as another '
                    "column is; rename or drop one",
                )


def heads(names: Iterable[str]) -> set[str]:
    """Return the columns whose one-hot features could have these names: what is before a "="."""
    return {name[: match.start()] for name in names for match in re.finditer("=", name)}


def position(which: Which, names: list[str], file: str, option: str) -> int:
    """Return the position of a column; digits that are not a name are a position."""
    if isinstance(which, str):
        if which in names:
            return names.index(which)
        if not re.fullmatch(r"-?\d+", which):
            raise DataError(
                file,
                expected=f'there is no column "{which}"{near(which, names)}; '
                f"the columns are {_listed(names)}",
                parameter=option,
            )
    at = int(which)
    if not -len(names) <= at < len(names):
        raise DataError(
            file,
            expected=f"there is no column {at}; they are 0 to {len(names) - 1}: {_listed(names)}",
            parameter=option,
        )
    return at % len(names)


def _label_position(
    file: str,
    names: list[str],
    label: Which | None,
    labelled: bool,
    dropped: set[int],
    known: Sequence[str],
) -> int | None:
    if label is not None:
        if not labelled and isinstance(label, str) and label not in names:
            return None
        return position(label, names, file, "label")
    found = [
        at
        for at, name in enumerate(names)
        if name.lower() in CUSTOMARY_LABELS and at not in dropped and name not in known
    ]
    if len(found) == 1:
        return found[0]
    if not labelled:
        return None
    why = "no column is" if not found else "more than one column is"
    raise DataError(
        file,
        expected=f"which column is the label? {why} called {', '.join(CUSTOMARY_LABELS[:-1])} or "
        f"{CUSTOMARY_LABELS[-1]}",
        remedy=[("name it with ", Parameter("label"), f": the columns are {_listed(names)}")],
    )


def near(name: str, names: Sequence[str]) -> str:
    """Suggest a similar name, as the tail of an error message."""
    found = get_close_matches(name, names, 1, 0.6)
    return f'; did you mean "{found[0]}"?' if found else ""


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
