"""Fetching over HTTP, against a server on this machine that can misbehave."""

import hashlib
import http.server
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from lopsided.data.sets import fetch as fetch_module
from lopsided.data.sets import registry
from lopsided.data.sets.fetch import download, fetch, place
from lopsided.errors import FetchError

BODY = bytes(range(256)) * 2000  # 512,000 bytes: several reads
OTHER = BODY[::-1]
SHA = "sha256:" + hashlib.sha256(BODY).hexdigest()
QUICK = {"pause": 0.01, "timeout": 5.0}


class Server(http.server.ThreadingHTTPServer):
    """Serves one file; `script` holds what to do wrong, one word for each request to come."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.etag, self.ranges = BODY, '"one"', True
        self.script, self.requests = [], []
        self.released = threading.Event()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/a9a"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        server.requests.append(dict(self.headers))
        asked = server.script.pop(0) if server.script else "serve"
        if asked.isdecimal():
            self.send_error(int(asked))
        elif asked.startswith("to "):
            self.send_response(302)
            self.send_header("Location", asked[3:])
            self.end_headers()
        elif asked == "silence":
            server.released.wait(20)
        else:
            self.serve(asked)

    def serve(self, asked):
        server, first = self.server, 0
        wanted = self.headers.get("Range")
        obeyed = asked == "ignore If-Range" or self.headers.get("If-Range") == server.etag
        if wanted and server.ranges and obeyed:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
            self.send_response(206)
            size = len(server.body)
            self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
        else:
            self.send_response(200)
        if server.etag:
            self.send_header("ETag", server.etag)
        rest = server.body[first:]
        if asked != "no length":
            self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if asked == "cut":
            rest = rest[: len(rest) // 2]
        if asked == "stall":
            self.wfile.write(rest[: len(rest) // 2])
            self.wfile.flush()
            server.released.wait(20)
        else:
            self.wfile.write(rest)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


def left(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_whole_file_is_placed_and_nothing_else(server, tmp_path):
    seen = []
    target = tmp_path / "sub" / "a9a"
    download(server.address, target, checksum=SHA, progress=lambda *p: seen.append(p), **QUICK)
    assert target.read_bytes() == BODY
    assert left(target.parent) == ["a9a"]
    assert seen[0] == (0, len(BODY))
    assert seen[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_file_that_is_there_is_not_fetched_again(server, tmp_path):
    (tmp_path / "a9a").write_bytes(b"mine")
    download(server.address, tmp_path / "a9a", **QUICK)
    assert (tmp_path / "a9a").read_bytes() == b"mine"
    assert server.requests == []


def test_a_cut_connection_goes_on_where_it_stopped(server, tmp_path):
    server.script = ["cut"]
    download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    assert (tmp_path / "a9a").read_bytes() == BODY
    assert server.requests[1]["Range"] == f"bytes={len(BODY) // 2}-"
    assert server.requests[1]["If-Range"] == '"one"'
    assert left(tmp_path) == ["a9a"]


def test_a_cut_download_is_kept_and_resumed_by_the_next_call(server, tmp_path):
    server.script = ["cut"]
    with pytest.raises(FetchError, match=r"cut after 256,000 of 512,000 bytes.*resume there"):
        download(server.address, tmp_path / "a9a", retries=0, **QUICK)
    assert left(tmp_path) == ["a9a.part", "a9a.part.json"]
    seen = []
    download(server.address, tmp_path / "a9a", progress=lambda *p: seen.append(p), **QUICK)
    assert (tmp_path / "a9a").read_bytes() == BODY
    assert seen[0] == (len(BODY) // 2, len(BODY))
    assert left(tmp_path) == ["a9a"]


def test_a_server_without_ranges_starts_anew(server, tmp_path):
    server.script, server.ranges = ["cut"], False
    download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    assert (tmp_path / "a9a").read_bytes() == BODY


def test_a_server_without_validators_starts_anew(server, tmp_path):
    server.script, server.etag = ["cut"], None
    download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    assert (tmp_path / "a9a").read_bytes() == BODY
    assert "Range" not in server.requests[1]


@pytest.mark.parametrize("manners", ["serve", "ignore If-Range"])
def test_a_file_changed_between_attempts_is_not_mixed(server, tmp_path, manners):
    server.script = ["cut"]
    with pytest.raises(FetchError):
        download(server.address, tmp_path / "a9a", retries=0, **QUICK)
    server.body, server.etag, server.script = OTHER, '"two"', [manners]
    download(server.address, tmp_path / "a9a", **QUICK)
    assert (tmp_path / "a9a").read_bytes() == OTHER


def test_a_shorter_file_than_we_have_starts_anew(server, tmp_path):
    server.script = ["cut"]
    with pytest.raises(FetchError):
        download(server.address, tmp_path / "a9a", retries=0, **QUICK)
    server.body, server.script = BODY[:100], ["416"]
    download(server.address, tmp_path / "a9a", **QUICK)
    assert (tmp_path / "a9a").read_bytes() == BODY[:100]


def test_a_part_of_another_address_is_not_used(server, tmp_path):
    server.script = ["cut"]
    with pytest.raises(FetchError):
        download(server.address, tmp_path / "a9a", retries=0, **QUICK)
    download(server.address + "?new", tmp_path / "a9a", checksum=SHA, **QUICK)
    assert "Range" not in server.requests[1]


def test_a_damaged_note_starts_anew(server, tmp_path):
    (tmp_path / "a9a.part").write_bytes(b"?" * 10)
    (tmp_path / "a9a.part.json").write_text('{"address": ')
    download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    assert left(tmp_path) == ["a9a"]


def test_a_wrong_checksum_leaves_nothing(server, tmp_path):
    server.body = OTHER
    with pytest.raises(FetchError, match=r"checksum is sha256:.*, not sha256:") as caught:
        download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    assert str(caught.value).startswith(server.address)
    assert left(tmp_path) == []


def test_md5_is_a_checksum_too(server, tmp_path):
    md5 = "md5:" + hashlib.md5(BODY).hexdigest()
    download(server.address, tmp_path / "a9a", checksum=md5, **QUICK)
    assert left(tmp_path) == ["a9a"]


@pytest.mark.parametrize("code", ["404", "403", "410"])
def test_a_refusal_is_final_and_leaves_nothing(server, tmp_path, code):
    server.script = [code]
    with pytest.raises(FetchError, match=rf"answered {code} .*LOPSIDED_DATA"):
        download(server.address, tmp_path / "a9a", **QUICK)
    assert len(server.requests) == 1
    assert left(tmp_path) == []


def test_server_errors_pass(server, tmp_path):
    server.script = ["500", "503", "429"]
    download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    assert len(server.requests) == 4


def test_server_errors_that_stay_are_an_error(server, tmp_path):
    server.script = ["500"] * 3
    with pytest.raises(FetchError, match=r"500 .*\(tries: 3\)"):
        download(server.address, tmp_path / "a9a", retries=2, **QUICK)
    assert left(tmp_path) == []


def test_no_answer_times_out(server, tmp_path):
    server.script = ["silence"]
    with pytest.raises(FetchError, match="timed out"):
        download(server.address, tmp_path / "a9a", retries=0, timeout=0.2)
    assert left(tmp_path) == []


def test_a_stalled_answer_times_out_and_is_resumed(server, tmp_path):
    server.script = ["stall"]
    download(server.address, tmp_path / "a9a", checksum=SHA, timeout=0.3, pause=0.01)
    assert server.requests[1]["Range"] == f"bytes={len(BODY) // 2}-"


def test_nobody_there(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(FetchError, match="refused"):
        download(f"http://127.0.0.1:{port}/a9a", tmp_path / "a9a", retries=1, pause=0.01)
    assert left(tmp_path) == []


def test_an_answer_of_unknown_length(server, tmp_path):
    server.script, seen = ["no length"], []
    download(server.address, tmp_path / "a9a", progress=lambda *p: seen.append(p), **QUICK)
    assert (tmp_path / "a9a").read_bytes() == BODY
    assert seen[-1] == (len(BODY), None)


def test_an_empty_file_is_an_error(server, tmp_path):
    server.body = b""
    with pytest.raises(FetchError, match="empty"):
        download(server.address, tmp_path / "a9a", **QUICK)
    assert left(tmp_path) == []


def test_redirects_are_followed_within_the_web_only(server, tmp_path):
    server.script = [f"to {server.address}?again"]
    download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    for bad in ("file:///etc/passwd", "ftp://127.0.0.1/a9a"):
        server.script = [f"to {bad}"]
        with pytest.raises(FetchError, match=r"leads to|not allowed"):
            download(server.address, tmp_path / "b", **QUICK)
    assert left(tmp_path) == ["a9a"]


@pytest.mark.parametrize("address", ["file:///etc/passwd", "a9a", "ftp://host/a9a"])
def test_other_addresses_are_refused(tmp_path, address):
    with pytest.raises(FetchError, match="not an http or https address"):
        download(address, tmp_path / "a9a")


def test_names_that_lead_out_of_the_cache_are_refused(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "link").symlink_to(tmp_path)
    for name in ("../a9a", "/etc/a9a", "link/a9a", "", "."):
        with pytest.raises(ValueError, match="leads out"):
            place(tmp_path / "cache", name)


def test_a_part_file_that_is_a_link_is_not_followed(server, tmp_path):
    (tmp_path / "a9a.part").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FetchError, match="cannot write"):
        download(server.address, tmp_path / "a9a", **QUICK)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_cannot_be_made_is_an_error_before_the_work(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchError, match="cannot write"):
        download(server.address, tmp_path / "file" / "a9a", **QUICK)
    assert server.requests == []


def test_fetches_at_the_same_time_do_not_harm_each_other(server, tmp_path):
    faults = []

    def one():
        try:
            download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
        except Exception as error:
            faults.append(error)

    server.script = ["cut", "503"]
    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert left(tmp_path) == ["a9a"]
    assert len(server.requests) == 3  # one of them did the work


def test_killed_in_the_middle_it_is_resumed(server, tmp_path):
    server.script = ["stall"]
    code = textwrap.dedent(f"""
        from pathlib import Path
        from lopsided.data.sets.fetch import download
        download({server.address!r}, Path({str(tmp_path)!r}) / "a9a")
    """)
    child = subprocess.Popen([sys.executable, "-c", code])
    part = tmp_path / "a9a.part"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (part.exists() and part.stat().st_size > 1000):
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert left(tmp_path) == ["a9a.part", "a9a.part.json"]
    size = part.stat().st_size
    assert 1000 < size < len(BODY)
    download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    assert server.requests[1]["Range"] == f"bytes={size}-"
    assert left(tmp_path) == ["a9a"]


def test_an_interrupt_keeps_what_came(server, tmp_path):
    def stop(done, total):
        if done > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(server.address, tmp_path / "a9a", progress=stop, **QUICK)
    assert left(tmp_path) == ["a9a.part", "a9a.part.json"]
    download(server.address, tmp_path / "a9a", checksum=SHA, **QUICK)
    assert "Range" in server.requests[1]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LOPSIDED_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LOPSIDED_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def two_parts(server, monkeypatch):
    """A data set of two files on the server."""
    files = tuple(
        registry.Source(name, part, server.address + name, SHA)
        for name, part in (("toy.bz2", "train"), ("sub/toy.t", "test"))
    )
    toy = registry.Dataset("toy", "a toy", "libsvm", registry.Positive(), files=files)
    monkeypatch.setattr(fetch_module, "lookup", lambda name: toy)
    monkeypatch.setattr("lopsided.data.sets.downloads.lookup", lambda name: toy)
    return toy


def test_fetch_brings_all_parts_once(server, cache, two_parts):
    seen = {}
    found = fetch("toy", progress=lambda file, done, total: seen.update({file: (done, total)}))
    assert found.kind == "published"
    assert [p.relative_to(cache).as_posix() for p in found.paths] == ["toy.bz2", "sub/toy.t"]
    assert set(found.check().values()) == {True}
    assert seen == {"toy.bz2": (len(BODY),) * 2, "sub/toy.t": (len(BODY),) * 2}
    fetch("toy")
    assert len(server.requests) == 2


def test_fetch_of_one_part(server, cache, two_parts):
    found = fetch("toy", parts=["test"])
    assert found.parts == ("test",)
    assert len(server.requests) == 1


def test_fetch_uses_a_folder_without_the_network(server, cache, two_parts, tmp_path):
    folder = tmp_path / "mine"
    (folder / "sub").mkdir(parents=True)
    for name in ("toy.xz", "sub/toy.t"):
        (folder / name).write_text("")
    assert fetch("toy", [folder]).paths == (folder / "toy.xz", folder / "sub" / "toy.t")
    assert server.requests == []
    assert not cache.exists()


def test_fetch_says_what_to_do_without_an_address(cache):
    with pytest.raises(FetchError, match=r"kddcup08: no address.*kdd-cup-2008.*kddcup08.libsvm"):
        fetch("KDDCUP08")
    with pytest.raises(FetchError, match=r"made, not fetched.*generators\.sparse_paper"):
        fetch("sol-synthetic")
    assert not cache.exists()
