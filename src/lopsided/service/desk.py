"""The page where people answer: its files, and logging in."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from .http import Request, Response, decoded
from .types import Refusal

if TYPE_CHECKING:
    from .app import App

COOKIE = "lopsided"
_FOLDER = Path(__file__).parent / "page"
_KINDS = {".html": b"text/html; charset=utf-8", ".js": b"text/javascript", ".css": b"text/css"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_FILES = {
    path.name: (path.read_bytes(), _KINDS[path.suffix])
    for path in sorted(_FOLDER.iterdir())
    if path.suffix in _KINDS
}


class Login(msgspec.Struct, forbid_unknown_fields=True):
    """A token that is to become a cookie."""

    token: str


_LOGIN = msgspec.json.Decoder(Login)


def cookie(request: Request) -> str | None:
    """Return the token in the cookie of a request of the page.

    Pages of other sites cannot send the header, so what they let a browser send is not heard.
    """
    if b"x-lopsided" not in request.headers:
        return None
    try:
        found = SimpleCookie(request.headers.get(b"cookie", b"").decode("latin-1")).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def add_routes(app: App) -> None:
    """Add the page and logging in and out."""

    def shown(name: str) -> Response:
        if name not in _FILES:
            raise Refusal(404, "there is no such page")
        body, kind = _FILES[name]
        headers = {"content-security-policy": _POLICY, "referrer-policy": "no-referrer"}
        return Response(body, kind=kind, headers=headers)

    async def index(request: Request) -> Response:
        """Show the page where people answer questions."""
        return shown("index.html")

    async def file(request: Request) -> Response:
        """Return a file of the page."""
        return shown(request.arguments[0])

    async def login(request: Request) -> Response:
        """Keep a token in a cookie that scripts cannot read and other sites cannot send."""
        given = decoded(_LOGIN, await request.body())
        if app.guard.known(given.token) is None:
            raise Refusal(401, "this token is not valid")
        return _set(given.token, 12 * 3600, request.secure)

    async def logout(request: Request) -> Response:
        """Forget the cookie."""
        return _set("", 0, request.secure)

    app.routes.add("GET", "/", "", index)
    app.routes.add("GET", "/page/{name}", "", file)
    app.routes.add("POST", "/login", "", login)
    app.routes.add("POST", "/logout", "", logout)


def _set(token: str, seconds: int, secure: bool) -> Response:
    value = f"{COOKIE}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict"
    return Response(b"{}", headers={"set-cookie": value + ("; Secure" if secure else "")})
