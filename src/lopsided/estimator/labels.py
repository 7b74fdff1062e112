"""The user's two labels and the signs they stand for inside."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import LabelError, LopsidedError, Parameter, ParameterError
from .batch import unmasked
from .sklearn_compat import warn_column_vector

_POSITIVE = Parameter("positive")
_NAME_POSITIVE = (
    ("name it with ", _POSITIVE),
    ("give ", Parameter("classes"), " at the first call"),
)
# A lone label whose part is plain: 1 against 0 or -1, True against False.
_POSITIVE_BY_CUSTOM = 1
_NEGATIVE_BY_CUSTOM = (0, -1)
_NUMBERED = (
    "; some tools of scikit-learn number the labels: leave positive out, or give y as 0 and 1"
)


# The entries that are looked at, in this order: all of them, those of an array or a range.
Visit = NDArray[np.int64] | slice | None


def as_labels(y: Any, rows: int) -> NDArray[Any]:
    """Return y as a 1-D array of `rows` labels."""
    if y is None:
        raise LabelError("this classifier requires y to be passed, but the target y is None")
    array = unmasked(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        warn_column_vector()
        array = array.ravel()
    if array.ndim != 1:
        raise LabelError(f"y should be a 1d array, got an array of shape {array.shape} instead")
    if len(array) != rows:
        raise LabelError(f"X has {rows} rows but y has {len(array)} labels")
    if array.dtype.kind == "c":
        raise LabelError("Complex data not supported as labels")
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            row = int(np.argmin(np.isfinite(array)))
            raise LabelError(f"Input y contains NaN or inf: row {row} has the label {array[row]}")
        whole = array == np.trunc(array)
        if not whole.all():
            row = int(np.argmin(whole))
            raise LabelError(
                f"Unknown label type: continuous; row {row} has the label {array[row]}, "
                "but a classifier needs two classes"
            )
    if array.dtype.kind == "O":
        _check_objects(array)
    elif array.dtype.kind in "US" and not hasattr(y, "dtype"):
        # NumPy turns numbers, NaN and members of an Enum into text when they stand beside text.
        texts = (str, bytes, np.str_, np.bytes_)
        row, odd = next(((row, v) for row, v in enumerate(y) if type(v) not in texts), (0, ""))
        if odd != odd:
            raise _missing(row)
        if type(odd) is not str:
            raise LabelError(
                f"row {row}: labels are of more than one kind: text and {odd!r}; use one kind"
            )
    return array


def _check_objects(labels: NDArray[Any]) -> None:
    for row, label in enumerate(labels):
        try:
            hash(label)
            missing = label is None or bool(label != label)
        except TypeError:  # the NA of pandas has no truth
            if not isinstance(label, Hashable) or isinstance(label, (list, dict, set)):
                raise LabelError(f"row {row} has {label!r}, which cannot be a label") from None
            missing = True
        if missing:
            raise _missing(row)


def _missing(row: int) -> LabelError:
    return LabelError(f"Input y contains NaN or None in row {row}; every event needs a label")


def _distinct(y: NDArray[Any]) -> list[Any]:
    """Return the labels that occur, sorted; more than three are cut."""
    if _is_plain(y):
        first, second, third = _core.two_values(y)
        return sorted({first, second, *y[third : third + 1].tolist()})
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
        among = (y == low) | (y == high)
        rest = [] if among.all() else [y[np.argmin(among)]]
        return sorted({v.item() for v in (low, high, *rest)})
    found: dict[Any, None] = {}
    for label in y.tolist():
        if label not in found:
            found[label] = None
            if len(found) > 2:
                break
    try:
        return sorted(found)
    except TypeError:
        raise LabelError(
            f"labels {list(found)!r} are of kinds that cannot be compared; use one kind of label"
        ) from None


def _is_plain(y: NDArray[Any]) -> bool:
    """Say whether the core reads such labels itself."""
    return y.dtype in (np.int32, np.int64, np.float64) and y.dtype.isnative and y.flags.c_contiguous


def _row(visit: Visit, at: int) -> int:
    """Return which entry the visit meets at a place."""
    if visit is None:
        return at
    return int(visit.start) + at if isinstance(visit, slice) else int(visit[at])


def _placed(codes: NDArray[np.int8], y: NDArray[Any], visit: Visit) -> NDArray[np.int8]:
    """Return the codes of the visited labels at their places, 0 elsewhere."""
    if visit is None:
        return codes
    placed = np.zeros(len(y), np.int8)
    placed[visit] = codes
    return placed


def _cast(label: Any, dtype: np.dtype[Any]) -> Any:
    try:
        cast = dtype.type(label).item()
    except (OverflowError, TypeError, ValueError):
        return label
    return cast if cast == label else label


class Labels:
    """Which label is positive and which negative; either may not be known yet.

    `dtype` is that of the first labels seen: predictions have it too.
    """

    def __init__(
        self,
        positive: Any = None,
        negative: Any = None,
        by_custom: bool = False,
        dtype: str | None = None,
    ) -> None:
        self.positive = positive
        self.negative = negative
        self.by_custom = by_custom
        self.dtype = dtype
        self.named_by = ""  # the parameter that named both, until they are met
        pairs = ((negative, -1), (positive, 1))
        self.codes: dict[Hashable, int] = {k: v for k, v in pairs if k is not None}
        self.decoded: list[Any] | None = None  # the labels of both predictions, once they are used

    @classmethod
    def start(cls, positive: Any, classes: Any, class_weight: Any) -> Labels:
        """Return what the parameters and `classes` say of the labels."""
        if not isinstance(positive, Hashable) or positive != positive:
            raise ParameterError("positive", "is invalid: it must be a label", value=positive)
        name = "classes"
        if classes is None and isinstance(class_weight, Mapping):
            classes, name = list(class_weight), "class_weight"
        if classes is None:
            return cls(positive)
        if np.ndim(classes) != 1 or len(classes) == 0:
            raise ParameterError("classes", "is invalid: name the two labels", value=classes)
        try:
            found = _distinct(as_labels(classes, len(classes)))
        except LopsidedError as error:
            raise error.within(name) from None
        labels = cls(positive)._with(found, whole=True)
        labels.named_by = name if len(found) == 2 else ""
        return labels

    @property
    def pair(self) -> NDArray[Any]:
        """The labels known so far, the negative one first."""
        known = [k for k in (self.negative, self.positive) if k in self.codes]
        try:
            return np.array(known, dtype=self.dtype)
        except OverflowError:
            return np.array(known)

    @property
    def turned(self) -> bool:
        """Whether the positive label is the first in order."""
        return len(self.codes) == 2 and self.positive < self.negative

    @property
    def classes(self) -> NDArray[Any]:
        """The labels known so far, in order."""
        return self.pair[::-1] if self.turned else self.pair

    def read(self, y: NDArray[Any], visit: Visit = None) -> tuple[Labels, NDArray[np.int8]]:
        """Return the labels as they are known after y, and -1 or 1 for each of y.

        With `visit` only those entries are looked at; the others get 0.
        """
        seen = y if visit is None else y[visit]
        labels = self
        if len(seen) and (self.negative is None or self.positive is None):
            found = _distinct(seen)
            if self.positive is not None and len(found) == 2 and self.positive not in found:
                raise ParameterError(
                    "positive",
                    f"is not among the labels {found!r}"
                    + (_NUMBERED if isinstance(self.positive, str) and found == [0, 1] else ""),
                    value=self.positive,
                )
            if len(self.codes.keys() | found) > 2:
                strange = _strange(seen, list(self.codes))
                at = int(np.argmax(strange))
                error = _multiclass(seen[at], _row(visit, at), self.codes)
                error.strange = _rows(visit, strange)
                raise error
            labels = self._with(found)
        if labels.dtype is None and len(seen):
            labels = labels._typed(seen.dtype)
        if _is_plain(seen) and labels._fits(seen.dtype):
            signs: Any = _core.signs(seen, labels.negative, labels.positive)
            if signs is not None:
                return labels, _placed(signs, y, visit)
        is_positive: NDArray[Any] = seen == labels.positive
        is_known = is_positive | (seen == labels.negative)
        if not np.all(is_known):
            at = int(np.argmin(is_known))
            error = _multiclass(seen[at], _row(visit, at), labels.codes, self.named_by)
            error.strange = _rows(visit, ~is_known)
            raise error
        codes = 2 * np.asarray(is_positive, dtype=bool).view(np.int8) - np.int8(1)
        return labels, _placed(codes, y, visit)

    def _fits(self, dtype: np.dtype[Any]) -> bool:
        kinds = (int,) if dtype.kind == "i" else (int, float)
        limit = 2**31 if dtype == np.int32 else 2**63
        pair = (self.negative, self.positive)
        return all(isinstance(k, kinds) and abs(k) < limit for k in pair)

    def decode(self, positive: NDArray[np.bool_]) -> NDArray[Any]:
        """Return labels for predictions; a label that is not known yet is never predicted."""
        pair = self.pair
        if len(pair) == 0:
            raise LabelError(
                "no label is known yet", remedy=[("give ", _POSITIVE), "tell the first label"]
            )
        if len(pair) == 1:
            return np.repeat(pair, len(positive))
        decoded: NDArray[Any] = pair[positive.astype(np.intp)]
        return decoded

    def decode_both(self) -> list[Any]:
        """Return the labels of a negative and a positive prediction, as `decode` does."""
        both: list[Any] = self.decode(np.array([False, True])).tolist()
        self.decoded = both
        return both

    def _typed(self, dtype: np.dtype[Any]) -> Labels:
        """Return the labels as y has them: 1 for the True or the 1.0 of a parameter."""
        if dtype.kind in "USO":
            kind = "O" if dtype.kind == "O" else None
            return Labels(self.positive, self.negative, self.by_custom, kind)
        positive, negative = (_cast(k, dtype) for k in (self.positive, self.negative))
        return Labels(positive, negative, self.by_custom, dtype.newbyteorder("=").str)

    def _with(self, found: list[Any], whole: bool = False) -> Labels:
        new = [k for k in found if k not in self.codes]
        if whole and self.positive is not None and self.positive not in found:
            raise ParameterError(
                "positive",
                f"is not among the classes {found!r}; name one of them",
                value=self.positive,
            )
        if len(self.codes) + len(new) > 2:
            raise _multiclass(new[-1], None, self.codes)
        if not new:
            return self
        for known in self.codes:
            if isinstance(known, str) != isinstance(new[0], str):
                raise LabelError(
                    f"labels are of more than one kind: {known!r} and {new[0]!r}; use one kind"
                )
        if len(new) == 2:
            return Labels(new[1], new[0])
        if self.positive is not None:
            if self.by_custom and new[0] not in _NEGATIVE_BY_CUSTOM:
                raise LabelError(
                    f"labels {self.positive!r} and {new[0]!r}: which is positive is ambiguous",
                    remedy=_NAME_POSITIVE,
                )
            return Labels(self.positive, new[0], dtype=self.dtype)
        label = new[0]
        if label == _POSITIVE_BY_CUSTOM:
            return Labels(label, by_custom=True)
        if label in _NEGATIVE_BY_CUSTOM:
            return Labels(type(label)(_POSITIVE_BY_CUSTOM), label)
        raise LabelError(
            f"y has only the class {label!r}: which class is positive is ambiguous",
            remedy=_NAME_POSITIVE,
        )


def _strange(y: NDArray[Any], known: list[Any]) -> NDArray[np.bool_]:
    """Say which labels are beyond the first two."""
    strange = np.ones(len(y), bool)
    for label in known:
        strange &= y != label
    for _ in range(2 - len(known)):
        strange &= y != y[np.argmax(strange)]
    return strange


def each_strange(error: LabelError, y: NDArray[Any]) -> list[LabelError]:
    """Return an error for every row with a label too many; there is one row at least."""
    assert error.row is not None
    rows = error.strange or [error.row]
    return [_multiclass(y[row], row, error.known, error.named_by) for row in rows]


def _rows(visit: Visit, where: NDArray[np.bool_]) -> list[int]:
    found = np.flatnonzero(where)
    if isinstance(visit, slice):
        found = found + (visit.start or 0)
    elif visit is not None:
        found = np.asarray(visit)[found]
    rows: list[int] = found.tolist()
    return rows


def _multiclass(
    label: Any, row: int | None, known: Iterable[Any], named_by: str = ""
) -> LabelError:
    if isinstance(label, np.generic):
        label = label.item()
    beside = f", but in {named_by} there are" if named_by else " beside"
    others = f"{beside} {', '.join(map(repr, known))}" if known else ""
    error = LabelError(
        f"found the label {label!r}{others}. Only binary classification is supported. The type of "
        "the target is multiclass: lopsided.OneVsRest learns each class against the rest",
        row,
    )
    error.known, error.named_by = list(known), named_by
    return error
