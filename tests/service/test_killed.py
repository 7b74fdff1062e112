"""Real servers: killed, stopped, started twice, on full disks and with damaged logs."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import sqlite3
import ssl
import subprocess
import threading

import pytest
from killing import killed
from server_process import ServerProcess

from lopsided.client import ServiceError
from lopsided.service.commands.events import add_events
from lopsided.service.commands.labels import add_labels
from lopsided.service.recovery import CutLogError, ReplayError, recover
from lopsided.service.sequencer import Sequencer
from lopsided.service.storage import Folder, FolderError, Storage, Witness
from lopsided.service.stream import digest
from lopsided.service.types import Label, Refusal
from service import Desk, events


@pytest.mark.parametrize("part", range(4))
@pytest.mark.promise("service")
def test_fifty_kills_under_load_lose_nothing(tmp_path, part):
    counts = killed(tmp_path / "folder", 50, seed=part)
    assert counts["acknowledged"] > 0
    assert counts["repeated"] > 0


def test_a_server_that_is_asked_to_stop_answers_first(tmp_path):
    with ServerProcess(tmp_path / "folder") as server:
        found = {}

        def call(name):
            client = server.client(retries=0)
            try:
                for i in range(10_000):
                    key = f"{name}-{i}"
                    found[key] = client.event(key, {"a": float(i)})
            except ServiceError:
                pass

        threads = [threading.Thread(target=call, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        while len(found) < 100:
            pass
        assert server.stop() == 0
        for thread in threads:
            thread.join()
    folder = Folder(tmp_path / "folder")
    kept = dict(folder.storage.all("select key, out from log where kind = 'event'"))
    assert {key: json.loads(kept[key]) for key in found} == found
    newest = folder.storage.all("select max(seq) from snapshot")[0][0]
    assert newest == folder.storage.seq  # a snapshot at the end, so that the next start is quick
    folder.close()


def test_clients_that_go_away_end_nothing(tmp_path):
    with ServerProcess(tmp_path / "folder") as server:
        port = int(server.url.rpartition(":")[2])
        body = json.dumps({"events": [{"key": f"k{i}", "features": {"a": 1}} for i in range(500)]})
        head = f"POST /v1/pay/events HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}"
        request = f"{head}\r\ncontent-type: application/json\r\n\r\n{body}".encode()
        for i in range(60):
            with socket.create_connection(("127.0.0.1", port)) as gone:
                gone.sendall(request if i % 2 else request[: 50 * i])
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client = server.client()
        client.events(json.loads(body)["events"])
        assert client.state()["events"] == 500
        assert server.process.poll() is None


def test_two_servers_on_one_folder(tmp_path):
    with ServerProcess(tmp_path / "folder"):
        second = ServerProcess(tmp_path / "folder", wait=False)
        assert second.process.wait(timeout=60) == 1
        assert "in use by another server" in second.process.stderr.read()
        second.process.stderr.close()


def test_outside_of_this_machine_a_token_is_needed(tmp_path):
    server = ServerProcess(tmp_path / "folder", "--host", "0.0.0.0", wait=False)
    assert server.process.wait(timeout=60) == 1
    assert "make a token first" in server.process.stderr.read()
    server.process.stderr.close()
    made = subprocess.run(
        [*server.process.args, "--new-token", "desk", "--role", "score"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    with ServerProcess(tmp_path / "folder", "--host", "0.0.0.0") as server:
        with pytest.raises(ServiceError) as error:
            server.client(retries=0).event("e", {"a": 1})
        assert error.value.status == 401
        client = server.client(token=made.stdout.strip())
        assert client.event("e", {"a": 1})["key"] == "e"
        with pytest.raises(ServiceError, match="role label"):
            client.label("e", "fine")


def test_the_client_repeats_what_was_not_answered(tmp_path):
    with ServerProcess(tmp_path / "folder") as server:
        client = server.client(retries=60)
        first = client.event("e1", {"a": 1.0})
        port = server.url.rpartition(":")[2]
        server.kill()
        done = []
        thread = threading.Thread(target=lambda: done.append(client.event("e1", {"a": 1.0})))
        thread.start()
        with ServerProcess(tmp_path / "folder", "--port", port):
            thread.join(60)
            assert done == [first]
            assert client.label("e1", "fraud")["result"] == "learned"
            assert client.label("e1", "fraud")["result"] == "repeated"
            assert client.state()["labels"] == 1


def test_https_by_files(tmp_path):
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem",
            "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=IP:127.0.0.1"]  # fmt: skip
    try:
        subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no certificate can be made here")
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    with ServerProcess(tmp_path / "folder", "--tls", *files) as server:
        assert server.url.startswith("https://")
        trusting = ssl.create_default_context(cafile=files[0])
        assert server.client(context=trusting).event("e", {"a": 1})["key"] == "e"
        with pytest.raises(ServiceError, match="cannot be reached"):
            server.client(retries=0).event("e", {"a": 1})


def test_a_backup_that_was_made_while_serving_is_a_whole_folder(tmp_path):
    desk = Desk(Storage(tmp_path / "db"), snapshot_every=30)
    batch, labels = events(60)
    for event, label in zip(batch, labels, strict=True):
        desk.do(add_events, "pay", [event])
        desk.do(add_labels, "pay", [Label(event.key, label)])
    other = sqlite3.connect(tmp_path / "db")
    other.execute("vacuum into ?", (str(tmp_path / "backup.db"),))
    other.close()
    desk.do(add_events, "pay", events(1, first=900)[0])
    (tmp_path / "folder").mkdir()
    shutil.move(tmp_path / "backup.db", tmp_path / "folder" / "lopsided.db")
    folder = Folder(tmp_path / "folder")
    restored = Sequencer(folder.storage, folder.witness)
    assert restored.streams["pay"].state.events == 60
    assert digest(restored.streams["pay"].snapshot()) != digest(desk.stream.snapshot())
    folder.close()


# Disks ------------------------------------------------------------------------------------------


def test_a_full_disk_refuses_labels_scores_events_and_recovers(tmp_path):
    desk = Desk(Storage(tmp_path / "db"))
    batch, labels = events(300)
    for event, label in zip(batch[:50], labels[:50], strict=True):
        desk.do(add_events, "pay", [event])
        desk.do(add_labels, "pay", [Label(event.key, label)])
    pages = desk.storage.all("pragma page_count")[0][0]
    desk.storage.do(f"pragma max_page_count = {pages + 4}")
    refused = None
    for event in batch[50:]:
        before, seq = digest(desk.stream.snapshot()), desk.storage.seq
        try:
            desk.do(add_events, "pay", [event])
        except Refusal as error:
            refused = error
            break
    assert refused is not None
    assert refused.status == 507
    assert desk.sequencer.read_only is not None
    assert (digest(desk.stream.snapshot()), desk.storage.seq) == (before, seq)
    assert desk.stream.score(batch[60].features).score is not None
    assert not desk.sequencer.probe()
    desk.storage.do("pragma max_page_count = 1000000")
    assert desk.sequencer.probe()
    desk.do(add_events, "pay", [event])
    streams, _, _ = recover(desk.storage)
    assert digest(streams["pay"].snapshot()) == digest(desk.stream.snapshot())


@pytest.fixture
def small_disk(tmp_path):
    """A file system of few megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_server_on_a_full_disk(small_disk):
    with ServerProcess(small_disk / "folder") as server:
        client = server.client(retries=0)
        for i in range(20):
            client.event(f"t{i}", {"a": float(i % 5)})
            client.label(f"t{i}", "fraud" if i % 5 > 2 else "fine")
        answers = []
        for i in range(40):
            batch = [{"key": f"b{i}-{j}", "features": {"a": 1.5}} for j in range(500)]
            answers = client.events(batch)
            if not answers[0].get("stored", True):
                break
        assert answers[0]["stored"] is False
        assert isinstance(answers[0]["score"], float)
        with pytest.raises(ServiceError) as error:
            client.label("t1", "fraud")
        assert error.value.status == 507
        assert "full" in client.state()["read_only"]
        assert client.score({"a": 1.0})["flag"] in (True, False)
        seq = client.state()["seq"]
        server.kill()
    storage = Storage(small_disk / "folder" / "lopsided.db")
    assert storage.seq == seq
    recover(storage)
    storage.close()


def test_a_log_that_was_cut_is_noticed_by_the_witness(tmp_path):
    folder = Folder(tmp_path)
    desk = Desk(folder.storage, folder.witness)
    batch, _ = events(10)
    desk.do(add_events, "pay", batch)
    folder.storage.do("delete from log where seq > 8")
    folder.close()
    folder = Folder(tmp_path)
    with pytest.raises(CutLogError, match="4 rows are missing"):
        Sequencer(folder.storage, folder.witness)
    Sequencer(folder.storage, folder.witness, accept_loss=True)
    assert folder.witness.seq == 8
    with pytest.raises(FolderError, match="in use"):
        Folder(tmp_path)
    folder.close()


def test_damaged_files_give_a_prefix_or_a_refusal(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    storage, witness = Storage(folder / "lopsided.db"), Witness(folder / "witness")
    storage.do("pragma wal_autocheckpoint = 0")
    desk = Desk(storage, witness)
    batch, labels = events(60)
    digests = {}
    for event, label in zip(batch, labels, strict=True):
        desk.do(add_events, "pay", [event])
        digests[storage.seq] = digest(desk.stream.snapshot())
        desk.do(add_labels, "pay", [Label(event.key, label)])
        digests[storage.seq] = digest(desk.stream.snapshot())
    rng, noticed, last = random.Random(0), 0, storage.seq
    for trial in range(25):
        copy = tmp_path / f"copy{trial}"
        copy.mkdir()
        for name in ("lopsided.db", "lopsided.db-wal", "witness"):
            shutil.copy(folder / name, copy / name)
        wal = copy / "lopsided.db-wal"
        size = wal.stat().st_size
        at = rng.randrange(size // 3, size)
        if rng.random() < 0.5:
            os.truncate(wal, at)
        else:
            with open(wal, "r+b") as file:
                file.seek(at)
                file.write(rng.randbytes(50))
        try:
            damaged = Storage(copy / "lopsided.db")
            streams, _, _ = recover(damaged)
        except (ReplayError, sqlite3.DatabaseError):
            noticed += 1
            continue
        if "pay" in streams and damaged.seq in digests:
            assert digest(streams["pay"].snapshot()) == digests[damaged.seq]
        kept = Witness(copy / "witness")
        assert kept.seq == last
        noticed += damaged.seq < kept.seq
        damaged.close()
        kept.close()
    assert noticed >= 20  # damage behind the last commit is none
    storage.close()
    witness.close()
