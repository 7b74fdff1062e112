"""Whether the data sets that are here are those of the papers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..data.sets import registry
from ..errors import LopsidedError
from . import sets
from .entries import Experiment
from .prepare import PaperData


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataCheck:
    """What is known about one data set of the papers.

    Attributes
    ----------
    set : str
        Its name.
    here : bool
        Whether it is on this machine, or can be generated.
    rows, features, positives : int or None
        As counted; None if it is not here.
    differences : tuple of str
        Where a printed size, or that of the published files, is another.
    runs : tuple of str
        The experiments that would run with it.
    notes : tuple of str
        Known differences of the copy, or how to get the set.
    """

    set: str
    here: bool
    rows: int | None = None
    features: int | None = None
    positives: int | None = None
    differences: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """The verdict in one or two words."""
        if not self.here:
            return "absent"
        return "differs" if self.differences or self.notes else "as in the papers"


def check_data(experiments: Sequence[Experiment], folders: Sequence[str] = ()) -> list[DataCheck]:
    """Count rows, features and classes of the data sets of some experiments.

    Parameters
    ----------
    experiments : sequence of Experiment
        Whose data sets are checked.
    folders : sequence of str
        Where to look before LOPSIDED_DATA and the downloads.
    """
    names = dict.fromkeys((part.set, part.rows) for e in experiments for part in e.parts)
    found = []
    for name, rows in names:
        if (name, "all") in names and rows != "all":
            continue
        runs = tuple(e.name for e in experiments if name in e.sets)
        found.append(_checked(name, rows, runs, folders))
    return found


def _checked(name: str, rows: str, runs: tuple[str, ...], folders: Sequence[str]) -> DataCheck:
    if not sets.is_here(name, folders, rows):
        return DataCheck(set=name, here=False, notes=(sets.how_to_get(name, folders),))
    try:
        papers = {use.paper for use in registry.lookup(name).uses}
        stream = sets.load(name, folders, rows=rows, held_out=papers == {"SOL"})
    except (LopsidedError, OSError) as error:
        return DataCheck(set=name, here=True, differences=(f"cannot be read: {error}",))
    total, features, positives = _counts(stream)
    return DataCheck(
        set=name,
        here=True,
        rows=total,
        features=features,
        positives=positives,
        differences=tuple(_differences(name, rows, stream)),
        runs=runs,
        notes=tuple(stream.notes) if stream.other else (),
    )


def _counts(stream: PaperData) -> tuple[int, int, int]:
    rows, features = stream.X.shape
    positives = stream.positives
    if stream.test is not None:
        rows += stream.test[0].shape[0]
        positives += int((stream.test[1] > 0).sum())
    return rows, features, positives


def _differences(name: str, rows: str, stream: PaperData) -> list[str]:
    """Compare with the published files, then with what each paper prints."""
    total, features, positives = _counts(stream)
    d = registry.lookup(name)
    told = []
    published = {"rows": d.rows if rows == "all" else None, "features": d.features}
    published["positives"] = d.positives if rows == "all" else None
    ours = {"rows": total, "features": features, "positives": positives}
    told += [
        f"{ours[key]:,} {key}, the published files have {size:,}"
        for key, size in published.items()
        if size is not None and size != ours[key]
    ]
    for use in d.uses:
        where = f"{use.paper}, {use.where}"
        if use.rows is not None and rows == "all":
            printed = use.rows + (use.test_rows or 0)
            if printed != total:
                told.append(f"{total:,} rows, {where} prints {printed:,}")
        if use.features is not None and use.features != features:
            told.append(f"{features:,} features, {where} prints {use.features:,}")
        ratio = (total - positives) / max(1, positives)
        if use.ratio and abs(ratio - use.ratio) > _half_digit(use.ratio):
            told.append(f"{ratio:.6g} negatives per positive, {where} prints {use.ratio:g}")
    return told


def _half_digit(printed: float) -> float:
    """Return how far a number may be from its printed rounding, which may have been done twice.

    KOIL prints 328.546 for shuttle, whose ratio is 328.54545: by way of 328.5455.
    """
    decimals = len(f"{printed:.12g}".partition(".")[2])
    return 0.55 * 10.0**-decimals + 1e-9
