"""Fetching data sets over HTTP: resumable, verified and atomic.

A file is downloaded to NAME.part next to its target, with the server's validator (ETag or date) in
NAME.part.json, so that an interrupted download resumes if the file is still the same. The .part
file is locked during the download: a second fetch of the same file waits for the first.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..._atomic import sync_folder
from ...errors import FetchError, InputError
from .downloads import Folders, Found, cache_folder, checksum_of, find, is_inside, select
from .http import SCHEMES, Progress, Transfer, note_path
from .registry import Dataset, Source, lookup


def fetch(
    name: str,
    folders: Folders = (),
    *,
    parts: Iterable[str] | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
    timeout: float = 30.0,
    retries: int = 4,
    pause: float = 1.0,
) -> Found:
    """Return the files of a data set, downloading them if they are not on this machine.

    Parameters
    ----------
    name : str
        A name or alias of the registry.
    folders : path or iterable of paths
        Folders to search before LOPSIDED_DATA and the cache; nothing is written there.
    parts : iterable of str, optional
        Only these parts ("train", "test").
    progress : callable, optional
        Called with the name of the file, the bytes so far and the total (None: unknown).
    timeout : float
        Seconds without a response after which an attempt fails.
    retries : int
        Further attempts after a temporary failure.
    pause : float
        Seconds before the first retry; doubled each time.

    Raises
    ------
    FetchError
        If a file has no known address or cannot be fetched. The cache is unchanged, except for a
        .part file that the next fetch resumes.
    """
    dataset, wanted = lookup(name), None if parts is None else list(parts)
    found = find(name, folders, parts=wanted)
    if found is not None:
        return found
    for source in _addressed(dataset, wanted):
        target = place(cache_folder(), source.name)
        if target.is_file():
            continue
        inner = None
        if progress is not None:
            inner = lambda done, total, file=source.name: progress(file, done, total)  # noqa: E731
        download(
            source.address or "",
            target,
            checksum=source.checksum,
            progress=inner,
            timeout=timeout,
            retries=retries,
            pause=pause,
        )
    found = find(name, parts=wanted)
    if found is None:
        raise FetchError(name, "fetched files are gone", f"look at {cache_folder()}")
    return found


def _addressed(dataset: Dataset, parts: list[str] | None) -> list[Source]:
    """Return the files to fetch, or raise if they cannot be fetched."""
    if dataset.generator:
        how = f"call lopsided.data.generators.{dataset.generator}"
        raise FetchError(dataset.name, "this set is made, not fetched", how)
    files = [file for file in select(dataset.sources, parts) if isinstance(file, Source)]
    if not files or any(file.address is None for file in files):
        names = ", ".join(file.name for file in files or dataset.prepared)
        where = f"get it from {dataset.page}" if dataset.page else "if you have it"
        how = f"{where} and put {names} into a folder named by LOPSIDED_DATA"
        raise FetchError(dataset.name, "no address is known for this set or part", how)
    return files


def place(folder: Path, name: str) -> Path:
    """Return the path of a name in a folder; reject names that lead out of it.

    Examples
    --------
    >>> place(Path("/tmp/sets"), "koil/sonar").name
    'sonar'
    >>> place(Path("/tmp/sets"), "../a9a")
    Traceback (most recent call last):
    ...
    lopsided.errors.InputError: '../a9a' leads out of the folder /tmp/sets
    """
    path = folder / name
    if not name or path == folder or not is_inside(path, folder):
        raise InputError(f"{name!r} leads out of the folder {folder}")
    return path


def download(
    address: str,
    target: Path,
    *,
    checksum: str | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
    retries: int = 4,
    pause: float = 1.0,
) -> Path:
    """Fetch one file atomically; an existing file is left unchanged.

    Parameters
    ----------
    address : str
        An http or https address.
    target : Path
        The path of the file.
    checksum : str, optional
        "sha256:…" or "md5:…" that the file must have.
    progress, timeout, retries, pause
        As in :func:`fetch`; progress is called with the bytes so far and the total.

    Returns
    -------
    Path
        The target.
    """
    if urllib.parse.urlsplit(address).scheme not in SCHEMES:
        raise FetchError(address, "not an http or https address", "correct the address")
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(part, target) as file:
            if file is not None:
                Transfer(address, part, file, progress, timeout).run(retries, pause)
                _check(address, part, file, checksum)
                os.replace(part, target)
                note_path(part).unlink(missing_ok=True)
                sync_folder(target.parent)
    except OSError as error:
        advice = "make room or choose another folder with LOPSIDED_CACHE"
        raise FetchError(
            address, f"cannot write {target}: {error.strerror or error}", advice
        ) from error
    return target


@contextlib.contextmanager
def _locked(part: Path, target: Path) -> Iterator[BinaryIO | None]:
    """Open and lock the .part file; None if another process has finished the target."""
    while not target.exists():
        with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            here = os.fstat(file.fileno())
            try:
                same = os.path.samestat(here, part.stat())
            except FileNotFoundError:
                same = False
            if not same:  # the process we waited for has renamed or removed it
                continue
            try:
                yield file
            finally:
                _tidy(part, file)
            return
    yield None


def _tidy(part: Path, file: BinaryIO) -> None:
    """Remove an empty .part file; a finished one has been renamed."""
    file.flush()
    if os.fstat(file.fileno()).st_size == 0:
        part.unlink(missing_ok=True)
        note_path(part).unlink(missing_ok=True)


def _check(address: str, part: Path, file: BinaryIO, wanted: str | None) -> None:
    """Flush the file to disk and verify its checksum; truncate it if that is wrong."""
    file.flush()
    os.fsync(file.fileno())
    if wanted is None:
        return
    is_ = checksum_of(part, wanted)
    if is_ != wanted:
        file.truncate(0)
        advice = "try again; if that does not help, the file at this address has changed"
        raise FetchError(address, f"its checksum is {is_}, not {wanted}", advice)
