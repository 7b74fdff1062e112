"""Downloading one file over HTTP into a .part file, resuming an earlier attempt."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, BinaryIO

from ...errors import FetchError

Progress = Callable[[int, "int | None"], None]
SCHEMES = ("http", "https")
_CHUNK = 1 << 16
_LONGEST_PAUSE = 60.0
_BUSY = (408, 425, 429)  # temporary errors, besides the 5xx


class _TemporaryError(Exception):  # worth a retry
    pass


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urllib.parse.urlsplit(newurl).scheme not in SCHEMES:
            raise FetchError(req.full_url, f"leads to {newurl}", "that is not a web address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()  # without the handlers of file:, ftp: and data:
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SafeRedirects(),
    ):
        opener.add_handler(handler)
    return opener


def note_path(part: Path) -> Path:
    """Return the path of the note that says which file a .part file belongs to."""
    return part.with_name(part.name + ".json")


class Transfer:
    """The download of one file into its .part file.

    Parameters
    ----------
    address : str
        The URL.
    part : Path
        The .part file.
    file : binary file
        The same, open for reading and writing, and locked.
    progress : callable or None
        Called with the bytes so far and the total.
    timeout : float
        Seconds without a response after which an attempt fails.
    """

    def __init__(
        self, address: str, part: Path, file: BinaryIO, progress: Progress | None, timeout: float
    ) -> None:
        self.address, self.file, self.timeout = address, file, timeout
        self.progress = progress or (lambda done, total: None)
        self.note = note_path(part)
        self.opener = _opener()

    def run(self, retries: int, pause: float) -> None:
        """Fetch the file, retrying after temporary errors."""
        for turn in range(retries + 1):
            try:
                self._try_once()
                return
            except _TemporaryError as fault:
                if turn == retries:
                    kept = self._size() > 0 and self.note.exists()
                    advice = "try again" + (": it will resume there" if kept else " later")
                    happened = f"{fault} (tries: {retries + 1})"
                    raise FetchError(self.address, happened, advice) from None
            time.sleep(min(pause * 2**turn, _LONGEST_PAUSE))

    def _try_once(self) -> None:
        known = self._known()
        headers = {"User-Agent": "lopsided", "Accept-Encoding": "identity"}
        if known:
            # If-Range: a server whose file has changed sends all of the new one
            headers |= {"Range": f"bytes={self._size()}-", "If-Range": known["validator"]}
        try:
            request = urllib.request.Request(self.address, headers=headers)
            answer = self.opener.open(request, timeout=self.timeout)
        except urllib.error.HTTPError as refusal:
            with refusal:
                self._refused(refusal)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._unreachable(error)
        else:
            with answer:
                self._receive(answer, *self._start(answer, known))

    def _refused(self, refusal: urllib.error.HTTPError) -> None:
        if refusal.code == 416:
            self._discard()
            raise _TemporaryError("the file has changed on the server")
        happened = f"the server answered {refusal.code} {refusal.reason}"
        if refusal.code >= 500 or refusal.code in _BUSY:
            raise _TemporaryError(happened)
        raise FetchError(
            self.address,
            happened,
            "look for the file elsewhere and put it into a folder named by LOPSIDED_DATA",
        )

    def _unreachable(self, error: Exception) -> None:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise FetchError(self.address, str(reason), "the server cannot be trusted") from None
        if isinstance(error, ValueError | http.client.InvalidURL):
            raise FetchError(self.address, str(error), "correct the address") from None
        raise _TemporaryError(f"no answer ({_words(reason)})") from None

    def _start(
        self, answer: http.client.HTTPResponse, known: dict[str, Any]
    ) -> tuple[int, int | None]:
        """Return the offset and the size of the response."""
        if answer.status == 206 and known:
            match = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
            same = _validator(answer) in (None, known["validator"])
            if match and same and int(match[1]) == self._size():
                return self._size(), int(match[2])
            self._discard()
            raise _TemporaryError("the file has changed on the server")
        if answer.status != 200:
            happened = f"an answer that was not asked for, {answer.status} {answer.reason}"
            raise FetchError(self.address, happened, "report it")
        self._discard()
        length = answer.headers.get("Content-Length", "")
        validator = _validator(answer)
        if validator is not None:
            self.note.write_text(json.dumps({"address": self.address, "validator": validator}))
        return 0, int(length) if length.isdecimal() else None

    def _receive(self, answer: http.client.HTTPResponse, done: int, total: int | None) -> None:
        self.file.seek(done)
        self.progress(done, total)
        of = f" of {total:,}" if total is not None else ""
        while total is None or done < total:  # a server may leave the connection open
            try:
                chunk = answer.read1(_CHUNK if total is None else min(_CHUNK, total - done))
            except (OSError, http.client.HTTPException) as error:
                self.file.flush()
                raise _TemporaryError(f"cut after {done:,}{of} bytes ({_words(error)})") from None
            if not chunk:
                break
            self.file.write(chunk)
            done += len(chunk)
            self.progress(done, total)
        self.file.flush()
        if total is not None and done < total:
            raise _TemporaryError(f"cut after {done:,}{of} bytes")
        if done == 0:
            raise FetchError(self.address, "the file is empty", "report it")

    def _known(self) -> dict[str, Any]:
        """Return the note on the bytes we have; without it they cannot be resumed."""
        try:
            note = json.loads(self.note.read_text())
            usable = note["address"] == self.address and isinstance(note["validator"], str)
        except (OSError, ValueError, LookupError, TypeError):
            usable = False
        if usable and self._size() > 0:
            return dict(note)
        self._discard()
        return {}

    def _discard(self) -> None:
        # remove the note first: bytes without a note are never resumed
        self.note.unlink(missing_ok=True)
        self.file.seek(0)
        self.file.truncate(0)

    def _size(self) -> int:
        return self.file.seek(0, 2)


def _validator(answer: http.client.HTTPResponse) -> str | None:
    """Return what identifies this version of the file."""
    tag: str | None = answer.headers.get("ETag")
    if tag and not tag.startswith("W/"):
        return tag
    date: str | None = answer.headers.get("Last-Modified")
    return date


def _words(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    return str(error) or type(error).__name__
