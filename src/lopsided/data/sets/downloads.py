"""Finding data sets on this machine: in given folders, LOPSIDED_DATA and the cache."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from .registry import Dataset, Prepared, Source, lookup

Folders = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
_COMPRESSED = (".bz2", ".gz", ".xz", ".zst")
_CHUNK = 1 << 20


@dataclasses.dataclass(frozen=True)
class Found:
    """The files of a data set on this machine.

    Attributes
    ----------
    dataset : Dataset
        The data set.
    kind : str
        "published": the files as published, `dataset.positive` says which class is positive;
        "prepared": LIBSVM text with the labels +1 and -1;
        "base": the files of the full set from which this one must still be sampled.
    paths : tuple of Path
        One for each part.
    parts : tuple of str
        The part of each: "all", "train", "test", …
    checksums : tuple of str or None
        The expected checksum of each: "sha256:…", "md5:…", or None if unknown.
    notes : tuple of str
        How the files differ from the published ones.
    """

    dataset: Dataset
    kind: str
    paths: tuple[Path, ...]
    parts: tuple[str, ...]
    checksums: tuple[str | None, ...]
    notes: tuple[str, ...] = ()

    def check(self) -> dict[Path, bool | None]:
        """Compare each file with its checksum; None if no checksum is known."""
        return {
            path: None if wanted is None else checksum_of(path, wanted) == wanted
            for path, wanted in zip(self.paths, self.checksums, strict=True)
        }


def cache_folder() -> Path:
    """Return the folder of fetched files: LOPSIDED_CACHE, else the user's cache folder.

    Examples
    --------
    >>> from unittest import mock
    >>> with mock.patch.dict("os.environ", LOPSIDED_CACHE="/tmp/sets"):
    ...     print(cache_folder())
    /tmp/sets
    """
    own = os.environ.get("LOPSIDED_CACHE")
    if own:
        return Path(own).expanduser()
    home = os.environ.get("XDG_CACHE_HOME")
    if home and Path(home).is_absolute():
        return Path(home) / "lopsided"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "lopsided"
    return Path.home() / ".cache" / "lopsided"


def search_folders(folders: Folders = ()) -> list[Path]:
    """Return the folders to search, in order: given ones, LOPSIDED_DATA, the cache.

    LOPSIDED_DATA may name several folders, separated as in PATH. All but the cache must exist.
    """
    given = [folders] if isinstance(folders, str | os.PathLike) else list(folders)
    own = [folder for folder in os.environ.get("LOPSIDED_DATA", "").split(os.pathsep) if folder]
    named = [Path(folder).expanduser() for folder in (*given, *own)]
    for folder in named:
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder}: there is no such folder")
    return [*named, cache_folder()]


def find(
    name: str,
    folders: Folders = (),
    *,
    parts: Iterable[str] | None = None,
) -> Found | None:
    """Find a data set on this machine, without the network.

    Parameters
    ----------
    name : str
        A name or alias of the registry.
    folders : path or iterable of paths
        Folders to search before LOPSIDED_DATA and the cache.
    parts : iterable of str, optional
        Only these parts ("train", "test"). Default: all parts of the set.

    Returns
    -------
    Found or None
        The files, all from one folder; None if no folder has them all. Files may be compressed as
        .bz2, .gz, .xz or .zst, independent of the published ones. Published files take precedence
        over copies with the labels +1 and -1 (NAME.libsvm, NAME.t.libsvm, or the names in the
        folder's MANIFEST.csv).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "german.numer.gz").write_bytes(b"")
    ...     found = find("German", [folder])
    >>> found.kind, found.paths[0].name
    ('published', 'german.numer.gz')
    """
    dataset = lookup(name)
    wanted = None if parts is None else list(parts)
    for folder in search_folders(folders):
        if folder.is_dir():
            found = _find_in(folder, dataset, wanted)
            if found is not None:
                return found
    return None


def _find_in(folder: Path, dataset: Dataset, wanted: list[str] | None) -> Found | None:
    kinds: tuple[tuple[str, tuple[Source | Prepared, ...]], ...] = (
        ("published", dataset.files),
        ("prepared", dataset.prepared),
        ("base", dataset.sources if dataset.derived_from else ()),
    )
    manifest = _Manifest(folder)
    for kind, files in kinds:
        chosen = select(files, wanted)
        places = [_place(folder, file, manifest) for file in chosen]
        if places and all(path is not None for path, _ in places):
            notes = [file.note for file in chosen if isinstance(file, Prepared) and file.note]
            return Found(
                dataset=dataset,
                kind=kind,
                paths=tuple(path for path, _ in places if path is not None),
                parts=tuple(file.part for file in chosen),
                checksums=tuple(checksum for _, checksum in places),
                notes=tuple(dict.fromkeys(notes)),
            )
    return None


def select(files: Iterable[Source | Prepared], parts: list[str] | None) -> list[Source | Prepared]:
    """Return the files that make up some parts (None: all); empty if a part is missing."""
    chosen = [file for file in files if parts is None or file.part in parts]
    complete = parts is None or {file.part for file in chosen} == set(parts)
    return chosen if complete else []


def _place(
    folder: Path, file: Source | Prepared, manifest: _Manifest
) -> tuple[Path | None, str | None]:
    """Return the path of a file in a folder and its expected checksum."""
    for candidate in _spellings(file.name):
        path = _existing(folder, candidate)
        if path is not None:
            return path, _expected(file, path, manifest)
    if isinstance(file, Prepared):
        path = manifest.path(file.name.removesuffix(".libsvm"))
        if path is not None:
            return path, manifest.checksum(path)
    return None, None


def _expected(file: Source | Prepared, path: Path, manifest: _Manifest) -> str | None:
    if isinstance(file, Source):
        # a checksum belongs to the published file, not to one compressed differently
        return file.checksum if path.name == Path(file.name).name else manifest.checksum(path)
    known = file.file_sha256 if path.suffix == ".xz" else None
    return manifest.checksum(path) or (f"sha256:{known}" if known else None)


def _spellings(name: str) -> Iterator[str]:
    yield name
    bare = name
    for ending in _COMPRESSED:
        bare = bare.removesuffix(ending)
    if bare != name:
        yield bare
    yield from (bare + ending for ending in _COMPRESSED if bare + ending != name)


def _existing(folder: Path, name: str) -> Path | None:
    path = folder / name
    if path.is_file():
        return path
    try:
        beside = sorted(path.parent.iterdir())
    except OSError:
        return None
    same = [p for p in beside if p.name.casefold() == path.name.casefold() and p.is_file()]
    return same[0] if same else None


class _Manifest:
    """The MANIFEST.csv of a folder, if any: name, file and sha256 of each file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows: list[dict[str, str]] = []
        try:
            with (folder / "MANIFEST.csv").open(newline="", encoding="utf-8") as lines:
                named = (row for row in csv.DictReader(lines) if row.get("file"))
                rows = [row for row in named if "\0" not in row["file"]]  # no name of a file
        except (OSError, ValueError, csv.Error):  # ValueError: it is not text
            return
        # A short row has None in its last cells.
        self._rows = [{k: v or "" for k, v in row.items() if isinstance(v, str)} for row in rows]

    def path(self, name: str) -> Path | None:
        """Return the file with a name in the manifest, if it is in the folder."""
        for row in self._rows:
            if row.get("name", "").casefold() == name.casefold():
                path = self._folder / row["file"]
                if is_inside(path, self._folder) and path.is_file():
                    return path
        return None

    def checksum(self, path: Path) -> str | None:
        """Return the checksum of a file in the manifest."""
        for row in self._rows:
            if self._folder / row["file"] == path and row.get("sha256"):
                return "sha256:" + row["sha256"]
        return None


def is_inside(path: Path, folder: Path) -> bool:
    """Say whether a path stays in a folder after following links."""
    return path.resolve().is_relative_to(folder.resolve())


def checksum_of(path: Path, like: str = "sha256:") -> str:
    """Return the checksum of a file, of the same kind as a given one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     checksum_of(Path(empty.name), "md5:")
    'md5:d41d8cd98f00b204e9800998ecf8427e'
    """
    kind = like.partition(":")[0]
    digest = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return f"{kind}:{digest.hexdigest()}"
