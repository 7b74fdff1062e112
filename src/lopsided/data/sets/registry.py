"""Data sets by name: use in the papers, published files, positive class.

The facts are in registry.json next to this file; here they get their types.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from ...errors import UnknownDatasetError
from ...estimator.parameters import nearest

_UNVERIFIED = "unverified"


@dataclasses.dataclass(frozen=True)
class Use:
    """Where a paper uses a data set, and the sizes it prints (None if it prints none).

    Attributes
    ----------
    paper : str
        The short name of the paper, a key of :func:`papers`.
    where : str
        The table or section.
    rows, test_rows, features : int or None
        As printed; `test_rows` only if a test part is counted separately.
    ratio : float or None
        Negatives per positive, as printed.
    """

    paper: str
    where: str
    rows: int | None = None
    test_rows: int | None = None
    features: int | None = None
    ratio: float | None = None


@dataclasses.dataclass(frozen=True)
class Source:
    """One published file.

    Attributes
    ----------
    name : str
        Its name in a cache folder: a path relative to the folder.
    part : str
        "all", "train", "test" or another name.
    address : str or None
        Its URL; None if unknown.
    checksum : str or None
        "sha256:…" or "md5:…"; None if unknown.
    checksum_from : str or None
        Who published the checksum.
    bytes : int or None
        Its size, if known.
    rows : int or None
        Number of rows, if known.
    verified : str or None
        The date on which the address was last verified; None if never.
    """

    name: str
    part: str = "all"
    address: str | None = None
    checksum: str | None = None
    checksum_from: str | None = None
    bytes: int | None = None
    rows: int | None = None
    verified: str | None = None


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A copy as LIBSVM text with the labels +1 and -1, as a user may have it in a folder.

    Attributes
    ----------
    name : str
        Its name without the extension of a compression.
    part : str
        "all", "train" or "test".
    file_sha256 : str or None
        Checksum of the known copy, a .xz file; None if there is none.
    rows : int or None
        Number of rows, if known.
    note : str or None
        How it differs from the published file.
    """

    name: str
    part: str = "all"
    file_sha256: str | None = None
    rows: int | None = None
    note: str | None = None


@dataclasses.dataclass(frozen=True)
class Positive:
    """Which class is positive in the published files.

    Attributes
    ----------
    rule : str
        "label": the rows with one of `labels`; "rarer": the class with fewer rows; "topic": the
        documents with one of the topics in `labels`; "unknown": not documented.
    labels : tuple of str
        The labels, as in the files.
    meaning : str
        The positive class in words.
    """

    rule: str = "label"
    labels: tuple[str, ...] = ()
    meaning: str = ""


@dataclasses.dataclass(frozen=True)
class Dataset:
    """One data set. See :func:`lookup`."""

    name: str
    about: str
    format: str
    positive: Positive
    rows: int | None = None
    features: int | None = None
    positives: int | None = None
    aliases: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()
    files: tuple[Source, ...] = ()
    prepared: tuple[Prepared, ...] = ()
    page: str | None = None
    substitute_for: str | None = None
    derived_from: str | None = None
    generator: str | None = None
    citation: str | None = None
    notes: str = ""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The published files; those of the full set if this one is sampled from it."""
        return self.files or (lookup(self.derived_from).files if self.derived_from else ())

    @property
    def papers(self) -> tuple[str, ...]:
        """The short names of the papers that use it."""
        return tuple(dict.fromkeys(use.paper for use in self.uses))

    @property
    def ratio(self) -> float | None:
        """Negatives per positive: from the counts if known, else as printed."""
        if self.rows and self.positives:
            return (self.rows - self.positives) / self.positives
        return next((use.ratio for use in self.uses if use.ratio is not None), None)

    @property
    def substitutes(self) -> tuple[str, ...]:
        """The names of the sets that can be used as substitutes."""
        return tuple(d.name for d in datasets() if d.substitute_for == self.name)

    def describe(self) -> list[tuple[str, str]]:
        """Return the facts as pairs of a heading and a text, for printing.

        Examples
        --------
        >>> dict(lookup("a9a").describe())["size"]
        '48,842 rows, 123 features, 11,687 positives (1:3.18)'
        """
        return list(_description(self))


def _description(d: Dataset) -> Iterator[tuple[str, str]]:
    yield "name", ", ".join((d.name, *d.aliases))
    yield "about", d.about
    yield "size", _size(d)
    for use in d.uses:
        yield "used by", _printed(use)
    if not d.uses:
        yield "used by", "none of the five papers"
    yield "positive", d.positive.meaning or "not known"
    if d.substitute_for:
        yield "substitute", f"stands in for {d.substitute_for}; results are not those of a paper"
    if d.substitutes:
        yield "substitutes", ", ".join(d.substitutes)
    for source in d.sources:
        yield "file", f"{source.name} ({source.part}), {source.address or 'no address known'}"
        yield "", f"{source.checksum or 'no checksum known'}; address {_state(source)}"
    for copy in d.prepared:
        yield "or a copy", f"{copy.name} ({copy.part})" + (f": {copy.note}" if copy.note else "")
    for heading, text in (("page", d.page), ("citation", d.citation), ("notes", d.notes)):
        if text:
            yield heading, text


def _state(source: Source) -> str:
    return f"verified {source.verified}" if source.verified else _UNVERIFIED


def _size(d: Dataset) -> str:
    def count(number: int | None, of: str) -> str:
        return f"{number:,} {of}" if number is not None else f"{of} not known"

    text = ", ".join(
        (count(d.rows, "rows"), count(d.features, "features"), count(d.positives, "positives"))
    )
    return text + (f" (1:{d.ratio:.3g})" if d.ratio is not None else "")


def _printed(use: Use) -> str:
    sizes = [f"{use.rows:,} rows" if use.rows else "", f"1:{use.ratio:g}" if use.ratio else ""]
    sizes[1:1] = [f"{use.test_rows:,} to test"] if use.test_rows else []
    sizes[-1:-1] = [f"{use.features:,} features"] if use.features else []
    return ", ".join(part for part in (f"{use.paper} {use.where}", *sizes) if part)


def _dataset(facts: dict[str, Any]) -> Dataset:
    positive = facts["positive"]
    return Dataset(
        **{
            **facts,
            "positive": Positive(**{**positive, "labels": tuple(positive.get("labels", ()))}),
            "aliases": tuple(facts.get("aliases", ())),
            "uses": tuple(Use(**use) for use in facts.get("uses", ())),
            "files": tuple(Source(**file) for file in facts.get("files", ())),
            "prepared": tuple(Prepared(**copy) for copy in facts.get("prepared", ())),
        }
    )


@functools.cache
def _facts() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("registry.json").read_text("utf-8")
    facts: dict[str, Any] = json.loads(text)
    return facts


@functools.cache
def datasets() -> tuple[Dataset, ...]:
    """Return all data sets, those of the papers first."""
    return tuple(_dataset(facts) for facts in _facts()["datasets"])


def papers() -> dict[str, str]:
    """Return the papers: short name and citation.

    Examples
    --------
    >>> list(papers())
    ['CSOGD', 'ACOG', 'SOL', 'OA3', 'KOIL']
    """
    return dict(_facts()["papers"])


@functools.cache
def _by_name() -> dict[str, Dataset]:
    known = {alias.casefold(): d for d in datasets() for alias in d.aliases}
    return known | {d.name.casefold(): d for d in datasets()}


def names() -> list[str]:
    """Return the names of all data sets."""
    return [d.name for d in datasets()]


def lookup(name: str) -> Dataset:
    """Return the data set of a name or alias, ignoring case.

    Examples
    --------
    >>> lookup("Adult").name, lookup("w8a").papers, lookup("kddcup08").positives
    ('a9a', ('CSOGD', 'OA3'), 623)
    >>> lookup("a9b")
    Traceback (most recent call last):
    ...
    lopsided.errors.UnknownDatasetError: there is no data set 'a9b': did you mean 'a9a'?
    """
    found = _by_name().get(name.casefold())
    if found is None:
        raise UnknownDatasetError(name, nearest(name, names()))
    return found
