"""A client of `lopsided serve`: plain Python, with retries that are safe.

Every event has a key and every label an id, so a call that is repeated because its answer was lost
gets the first answer and nothing happens twice.

Examples
--------
>>> from lopsided.client import Client
>>> client = Client("http://127.0.0.1:8080", stream="payments")  # doctest: +SKIP
>>> client.event("tx-1", {"amount": 41.5, "country": "DE"})["flag"]  # doctest: +SKIP
False
>>> client.label("tx-1", "fine")["result"]  # doctest: +SKIP
'learned'
"""

from __future__ import annotations

import http.client
import json
import random
import ssl
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .errors import LopsidedError

_AGAIN = (408, 429, 502, 503, 504)  # the server may answer the same call later


class ServiceError(LopsidedError):
    """An answer that is an error.

    Attributes
    ----------
    status : int
        The HTTP status; 0 if there was no answer.
    """

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


class Client:
    """Calls a service; use one a thread.

    Parameters
    ----------
    url : str
        Where the service is.
    stream : str
        The stream that calls are about.
    token : str, optional
        What says who calls.
    retries : int
        How often a call is repeated when the server cannot be reached or has too much to do.
    timeout : float
        Seconds to wait for an answer.
    context : ssl.SSLContext, optional
        Which certificates to trust, for https.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        stream: str = "events",
        token: str | None = None,
        retries: int = 8,
        timeout: float = 30.0,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._context = context
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServiceError(0, f"{url!r} is not the address of a service")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._prefix, self._stream = parts.path.rstrip("/"), quote(stream, safe="")
        self._headers = {"content-type": "application/json"}
        if token is not None:
            self._headers["authorization"] = f"Bearer {token}"
        self._retries, self._timeout = retries, timeout
        self._connection: http.client.HTTPConnection | None = None

    # Events ---------------------------------------------------------------------------------------

    def event(self, key: str, features: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """Return the decision on an event; `more` are time, costs and show."""
        return self._call("POST", "events", {"key": key, "features": features, **more})

    def events(self, events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the decisions on several events, which are all taken or none."""
        found: list[dict[str, Any]] = self._call("POST", "events", {"events": list(events)})[
            "answers"
        ]
        return found

    def score(self, features: Mapping[str, Any], *, reasons: bool = False) -> dict[str, Any]:
        """Return the score of an event that is not stored."""
        options = {"reasons": "1"} if reasons else {}
        return self._call("POST", "score", {"features": features}, **options)

    def history(self, key: str) -> dict[str, Any]:
        """Return everything that is known of an event."""
        return self._call("GET", f"events/{quote(key, safe='')}")

    # Labels ---------------------------------------------------------------------------------------

    def label(self, key: str, label: Any, **more: Any) -> dict[str, Any]:
        """Bring the label of an event; `more` are weight, source, by and id."""
        return self.labels([{"key": key, "label": label, **more}])[0]

    def labels(self, labels: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Bring several labels; each has its own result."""
        named = [{"id": uuid.uuid4().hex, **label} for label in labels]
        found: list[dict[str, Any]] = self._call("POST", "labels", {"labels": named})["results"]
        return found

    def questions(self, n: int = 1, *, lease: float | None = None) -> list[dict[str, Any]]:
        """Lease questions."""
        options = {"n": str(n), **({} if lease is None else {"lease": str(lease)})}
        found: list[dict[str, Any]] = self._call("GET", "questions", **options)["questions"]
        return found

    def answer(self, question: Mapping[str, Any], label: Any = None, **more: Any) -> dict[str, Any]:
        """Answer a question with a label, or with verdict="skip", "unsure" or "escalate"."""
        body = {"key": question["key"], "lease": question["lease"], **more}
        return self._call("POST", "answers", body if label is None else {**body, "label": label})

    def undo(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Take an answer back that has not been learned yet."""
        key = quote(question["key"], safe="")
        return self._call("DELETE", f"answers/{key}", lease=question["lease"])

    # The stream -----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return counts, budget, estimates, calibration, drift and models."""
        return self._call("GET", "")

    def configure(self, **settings: Any) -> dict[str, Any]:
        """Make the stream, or change its settings."""
        return self._call("PUT", "", settings)

    def add_model(self, name: str, **spec: Any) -> dict[str, Any]:
        """Add a challenger: learner, parameters, costs, replay."""
        return self._call("POST", "models", {"name": name, **spec})

    def promote(self, name: str) -> dict[str, Any]:
        """Let another model decide."""
        return self._call("PUT", "champion", {"name": name})

    # Inside ---------------------------------------------------------------------------------------

    def _call(self, method: str, what: str, body: Any = None, **options: str) -> dict[str, Any]:
        path = f"{self._prefix}/v1/{self._stream}" + (f"/{what}" if what else "")
        if options:
            path += f"?{urlencode(options)}"
        data = None if body is None else json.dumps(body).encode()
        wait, failure = 0.05, ServiceError(0, "the service cannot be reached")
        for _ in range(self._retries + 1):
            try:
                status, found = self._once(method, path, data)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                failure = ServiceError(0, f"the service cannot be reached: {error}")
            else:
                if status < 400:
                    return found
                failure = ServiceError(status, str(found.get("error", found)))
                if status not in _AGAIN:
                    break
            time.sleep(wait * (0.5 + random.random()))
            wait = min(2.0, 2 * wait)
        raise failure

    def _once(self, method: str, path: str, data: bytes | None) -> tuple[int, dict[str, Any]]:
        if self._connection is None:
            if self._secure:
                self._connection = http.client.HTTPSConnection(
                    self._host, self._port, timeout=self._timeout, context=self._context
                )
            else:
                self._connection = http.client.HTTPConnection(
                    self._host, self._port, timeout=self._timeout
                )
        self._connection.request(method, path, data, self._headers)
        response = self._connection.getresponse()
        text = response.read()
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, {"error": text[:200].decode("utf-8", "replace")}

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
