"""Who may do what: tokens with roles, kept as salted hashes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import NamedTuple

from .http import Request
from .storage import Storage
from .types import Refusal

ROLES = ("score", "label", "admin")
_LOCAL = (b"localhost", b"127.0.0.1", b"[::1]")


class Token(NamedTuple):
    """What is kept of a token."""

    name: str
    salt: bytes
    hash: bytes
    role: str
    expires: float | None


def new_token(storage: Storage, name: str, role: str, now: float, days: float | None = None) -> str:
    """Make a token inside a transaction; only its hash is kept, so it is shown once."""
    if role not in ROLES:
        raise Refusal(422, f"a role is one of {', '.join(ROLES)}")
    number, secret, salt = secrets.token_hex(6), secrets.token_urlsafe(32), secrets.token_bytes(16)
    expires = None if days is None else now + 86400 * days
    storage.do(
        "insert into token values (?, ?, ?, ?, ?, ?, ?)",
        number, name, salt, _hash(salt, secret), role, now, expires,
    )  # fmt: skip
    return f"lop_{number}_{secret}"


def _hash(salt: bytes, secret: str) -> bytes:
    # The secret is 256 random bits: a slow hash would protect nothing more.
    return hashlib.sha256(salt + secret.encode()).digest()


class Guard:
    """Checks the token of each request.

    Parameters
    ----------
    storage : Storage
        Where the tokens are.
    rate : float
        Requests a second that each token may make; 0 for no limit.
    """

    def __init__(self, storage: Storage, rate: float = 0.0) -> None:
        self.rate = rate
        self._used: dict[str, tuple[float, float]] = {}
        self.reload(storage)

    def reload(self, storage: Storage) -> None:
        """Read the tokens anew."""
        rows = storage.all("select id, name, salt, hash, role, expires from token")
        self.tokens = {row[0]: Token(*row[1:]) for row in rows}

    @property
    def is_open(self) -> bool:
        """Whether headers that were let in once always are."""
        return not (self.tokens or self.rate)

    def check(self, request: Request, role: str, cookie: str | None = None) -> str:
        """Return who asks, if they may do what needs a role and do not ask too often."""
        who = self.admit(request, role, cookie)
        self._limit(who)
        return who

    def admit(self, request: Request, role: str, cookie: str | None = None) -> str:
        """Return who asks, if they may do what needs a role."""
        if not self.tokens:
            self._check_local(request)
            request.role = "admin"
            return "local"
        kind, _, given = request.headers.get(b"authorization", b"").partition(b" ")
        text = given.decode("latin-1").strip() if kind.lower() == b"bearer" else cookie or ""
        token = self.known(text)
        if token is None:
            raise Refusal(401, "a valid token is needed", **{"www-authenticate": "Bearer"})
        if role and token.role != "admin" and token.role != role and role != "any":
            raise Refusal(403, f"this needs the role {role}; yours is {token.role}")
        request.role = token.role
        return token.name

    def known(self, text: str) -> Token | None:
        """Return the token of a text, None if there is no such one or it has expired."""
        _, _, rest = text.partition("_")
        number, _, secret = rest.partition("_")
        token = self.tokens.get(number)
        salt, kept = (bytes(16), bytes(32)) if token is None else (token.salt, token.hash)
        same = hmac.compare_digest(_hash(salt, secret), kept)  # also for tokens that do not exist
        if token is None or not same:
            return None
        return None if token.expires is not None and time.time() >= token.expires else token

    def _check_local(self, request: Request) -> None:
        """Refuse pages of other sites, also those that reach this one by a name of their own."""
        host = request.headers.get(b"host", b"")
        name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
        if name and name not in _LOCAL:
            raise Refusal(403, "without tokens only this machine is served")
        # Browsers say where a request comes from: most in one header, the others in Origin.
        site, origin = request.headers.get(b"sec-fetch-site"), request.headers.get(b"origin")
        if site is None and origin is not None:
            site = b"same-origin" if origin.partition(b"://")[2] == host else b"cross-site"
        if site not in (None, b"same-origin", b"none"):
            raise Refusal(403, "without tokens pages of other sites are not served")

    def _limit(self, name: str) -> None:
        if not self.rate:
            return
        now = time.monotonic()
        left, before = self._used.get(name, (self.rate, now))
        left = min(self.rate, left + (now - before) * self.rate)
        if left < 1:
            raise Refusal(429, "too many requests", **{"retry-after": "1"})
        self._used[name] = (left - 1, now)
