"""Running the service: a folder, an address, until somebody says stop."""

from __future__ import annotations

import gc
import ipaddress
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ..errors import LopsidedError
from ..estimator.base import OnlineClassifier
from ..persist import load
from .app import App
from .auth import Guard, new_token
from .commands.admin import put_stream
from .driver import Driver
from .log import Journal
from .sequencer import Sequencer
from .storage import Folder
from .stream import FIXED
from .types import Refusal, StreamConfig


class Settings(msgspec.Struct, kw_only=True):
    """How a server runs."""

    folder: str
    host: str = "127.0.0.1"
    port: int = 8080
    stream: str | None = None
    config: StreamConfig | None = None
    given: tuple[str, ...] = ()  # which of its settings somebody asked for
    model: str | None = None
    snapshot_every: int = 50_000
    accept_loss: bool = False
    rate: float = 0.0
    body: int = 1 << 20
    queue: int = 4096
    connections: int = 1024
    requests: bool = False
    certificate: str | None = None
    key: str | None = None


class ServeError(LopsidedError):
    """A server that cannot start."""


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Service:
    """A folder that is open, with its sequencer; if it is `reached` by others there are tokens."""

    def __init__(self, settings: Settings, *, reached: bool = False) -> None:
        os.umask(0o077)
        self.settings = settings
        self.folder = Folder(settings.folder)
        try:
            self.sequencer = Sequencer(
                self.folder.storage,
                self.folder.witness,
                snapshot_every=settings.snapshot_every,
                accept_loss=settings.accept_loss,
                path=self.folder.path,
            )
            if reached:
                self._check_tokens()
            if settings.stream is not None:
                self._make_stream(settings.stream)
        except BaseException:
            self.folder.close()
            raise

    def _check_tokens(self) -> None:
        if not self.folder.storage.all("select 1 from token limit 1"):
            host, folder = self.settings.host, self.settings.folder
            raise ServeError(
                f"{host} can be reached from other machines: make a token first, with "
                f"lopsided serve {folder} --new-token NAME --role admin"
            )

    def _make_stream(self, name: str) -> None:
        if name in self.sequencer.streams:
            self._compare(name, self.sequencer.streams[name].config)
            return
        blob, model = b"", self.settings.model
        if model is not None:
            load(model, OnlineClassifier)  # complains with the name of the file
            blob = Path(model).read_bytes()
        config = self.settings.config or StreamConfig()
        self.do(lambda tx: put_stream(tx, name, config, blob))

    def _compare(self, name: str, known: StreamConfig) -> None:
        """Say which settings that were asked for a stream does not have."""
        wanted = self.settings.config or known
        for field in self.settings.given:
            now, asked = getattr(known, field), getattr(wanted, field)
            if now == asked:
                continue
            what = f"{field} of the stream {name} is {_shown(now)}, not {_shown(asked)}"
            if field in FIXED:
                raise ServeError(f"{what}: leave that out, or name another stream")
            print(f"{what}; PUT /v1/{name} would change it", file=sys.stderr, flush=True)

    def do(self, command: Callable[[Any], Any]) -> Any:
        """Run one command now."""
        ((value, refusal),) = self.sequencer.complete([command], time.time(), sync=True)
        if refusal is not None:
            raise ServeError(refusal.error)
        return value

    def make_token(self, name: str, role: str) -> str:
        """Make a token."""

        def make(tx: Any) -> str:
            tx.touch()
            return new_token(tx.storage, name, role, tx.now)

        try:
            return str(self.do(make))
        except Refusal as error:
            raise ServeError(error.error) from None

    def app(self) -> App:
        """Return the application."""
        journal = Journal(requests=self.settings.requests)
        guard = Guard(self.folder.storage, self.settings.rate)
        queue = self.settings.queue
        return App(
            lambda: Driver(self.sequencer, journal, queue=queue),
            guard,
            journal,
            body=self.settings.body,
        )


def serve(settings: Settings, started: Callable[[str, App], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are answered before that.

    Parameters
    ----------
    settings : Settings
    started : callable, optional
        Called with the address and the application once connections are accepted.
    """
    try:
        import uvicorn
    except ImportError:
        raise ServeError("the service needs uvicorn: pip install 'lopsided[serve]'") from None
    service = Service(settings, reached=not is_loopback(settings.host))
    try:
        app = service.app()
        listener = _listening(settings.host, settings.port)
        config = uvicorn.Config(
            app,
            access_log=False,
            log_level="critical",
            lifespan="on",
            limit_concurrency=settings.connections,
            timeout_graceful_shutdown=20,
            timeout_keep_alive=75,
            server_header=False,
            date_header=False,
            proxy_headers=False,  # the one that matters is read where it does
            ws="none",
            http=_protocol(),
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.key,
        )
        scheme = "https" if settings.certificate else "http"
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"{scheme}://{host}:{listener.getsockname()[1]}"
        if started is None:
            print(f"serving {settings.folder} on {address}", file=sys.stderr, flush=True)
        else:
            started(address, app)
        sys.setswitchinterval(0.0002)  # commits run in a thread, which must not wait long
        gc.collect()
        gc.freeze()  # what is there now stays: looking at it again and again costs time
        gc.set_threshold(20_000, 20, 50)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a client that has gone ends nothing
        for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn passes them on at the end
            signal.signal(number, lambda *_: None)
        server = uvicorn.Server(config)
        app.stopping = lambda: server.should_exit  # those who listen would keep it from stopping
        server.run(sockets=[listener])
    finally:
        service.folder.close()


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _protocol() -> Any:
    """Return how HTTP is spoken: by uvicorn alone where httptools is missing."""
    try:
        from .protocol import Protocol
    except ImportError:
        return "auto"
    return Protocol


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that accepts connections."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise ServeError(f"{host} port {port} cannot be used: {error}") from None
    listener.listen(2048)
    return listener
