"""A load on a server: connections that each wait for an answer before they ask again."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path


def cpu_seconds(group: int) -> float:
    """Return the processor time that the processes of a group have used."""
    total = 0
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has gone
            if os.getpgid(int(place.name)) == group:
                clocks = [file.read_text() for file in place.glob("task/*/schedstat")]
                total += sum(int(clock.split()[0]) for clock in clocks)
    return total / 1e9


def answered(
    port: int, path: str, body: Callable[[], bytes], connections: int, seconds: float
) -> int:
    """Post bodies for so many seconds; return how many were answered by a status of 200."""
    with selectors.DefaultSelector() as ready:
        for _ in range(connections):
            client = socket.create_connection(("127.0.0.1", port))
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ready.register(client, selectors.EVENT_READ, bytearray())
            client.sendall(_request(path, body()))
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            for key, _ in ready.select(1.0):
                client, got = key.fileobj, key.data
                assert isinstance(client, socket.socket)
                got += client.recv(1 << 18)
                if _whole(got):
                    if not got.startswith(b"HTTP/1.1 200"):
                        raise RuntimeError(bytes(got[:200]))
                    got.clear()
                    count += 1
                    client.sendall(_request(path, body()))
        for key in list(ready.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
    return count


def streamed(port: int, path: str, lines: bytes) -> float:
    """Post lines over one connection, reading answers meanwhile; return the seconds it took."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(300)
        started = time.perf_counter()
        request = f"{head}Content-Length: {len(lines)}\r\n\r\n".encode() + lines
        sender = threading.Thread(target=client.sendall, args=(request,))
        sender.start()
        last = b""
        while not last.endswith(b"0\r\n\r\n"):
            last = last[-5:] + client.recv(1 << 18)
        sender.join()
        return time.perf_counter() - started


def echoed(port: int, lines: bytes, n: int) -> float:
    """Send lines to a daemon that answers each by a line; return the seconds it took."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(300)
        started = time.perf_counter()
        sender = threading.Thread(target=client.sendall, args=(lines,))
        sender.start()
        while n > 0:
            got = client.recv(1 << 18)
            if not got:
                raise RuntimeError("the daemon has gone")
            n -= got.count(b"\n")
        sender.join()
        return time.perf_counter() - started


def _request(path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _whole(got: bytearray) -> bool:
    """Say whether an answer has come to its end."""
    end = got.find(b"\r\n\r\n")
    if end < 0:
        return False
    at = got.lower().find(b"content-length: ", 0, end) + 16
    return len(got) >= end + 4 + int(got[at : got.find(b"\r\n", at)])
