"""Events and labels from files and from Kafka: each once, whatever is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from click.testing import CliRunner
from mock_kafka import everything, mock_cluster, produce
from server_process import ServerProcess

import lopsided
from lopsided.cli.serve import command
from lopsided.service.commands.admin import put_stream
from lopsided.service.commands.feed import Message, consume, places, sent, waiting
from lopsided.service.kafka import Kafka, KafkaSettings, OptionError, PlaceError
from lopsided.service.recovery import recover
from lopsided.service.storage import Folder, Storage
from lopsided.service.stream import digest
from service import CONFIG, Desk, events

EVENTS, LABELS = events(60)


def messages(topic="t", part=0, first=0):
    """Return an event and then its label, again and again, and some that are bad."""
    values = []
    for event, label in zip(EVENTS, LABELS, strict=True):
        values.append(msgspec.json.encode(event))
        values.append(msgspec.json.encode({"key": event.key, "label": label}))
    values[7:7] = [b"no json", b"[1]", b'{"key":"n","features":{"a":1e999}}', b'{"label":"odd"}']
    return [Message(topic, part, first + i, None, value) for i, value in enumerate(values)]


def test_messages_are_taken_once_in_order_and_places_are_noted():
    desk, given = Desk(), messages()
    desk.do(consume, "pay", given[:50])
    assert desk.do(consume, "pay", given[30:]) == {("t", 0): len(given)}
    assert desk.do(consume, "pay", given) == {("t", 0): len(given)}
    assert desk.do(places, "pay") == {("t", 0): len(given)}
    assert (desk.stream.state.events, desk.stream.state.labels) == (60, 60)
    assert [event.key for event, _ in desk.storage.events()] == [e.key for e in EVENTS]
    rows = desk.do(waiting, 1000)
    kinds = [kind for _, kind, _, _ in rows]
    assert (kinds.count("decision"), kinds.count("refused")) == (60, 4)
    assert kinds.count("question") == desk.stream.state.asked > 0
    refused = [json.loads(value) for _, kind, _, value in rows if kind == "refused"]
    assert [one["offset"] for one in refused] == [7, 8, 9, 10]
    assert all(one["why"] for one in refused)
    desk.do(sent, rows[9][0])
    assert desk.do(waiting, 1000) == rows[10:]


def test_an_event_without_a_key_has_that_of_its_message_or_place():
    desk = Desk()
    body = b'{"features":{"a":1.0}}'
    desk.do(consume, "pay", [Message("t", 3, 5, None, body), Message("t", 3, 6, "mine", body)])
    assert [event.key for event, _ in desk.storage.events()] == ["t/3/5", "mine"]


def test_questions_that_are_sent_do_not_name_hidden_features():
    desk = Desk(config=msgspec.structs.replace(CONFIG, hidden=["shop"], query="always"))
    desk.do(consume, "pay", messages())
    asked = [value for _, kind, _, value in desk.do(waiting, 1000) if kind == "question"]
    assert any(json.loads(value).get("reasons") for value in asked)
    assert not any(b"shop" in value for value in asked)


def test_every_stream_has_its_own_place_in_a_topic():
    desk, given = Desk(), messages()
    desk.do(put_stream, "other", CONFIG)
    desk.do(consume, "pay", given)
    assert desk.do(places, "other") == {}
    desk.do(consume, "other", given[:20])
    assert desk.sequencer.streams["other"].state.events > 0
    assert desk.do(places, "other") == {("t", 0): 20}
    assert desk.do(places, "pay") == {("t", 0): len(given)}


def test_places_that_were_noted_without_a_stream_are_those_of_the_first_that_reads():
    desk = Desk()
    desk.storage.do("create table source(topic text, part integer, next integer not null)")
    desk.storage.do("insert into source values ('t', 0, 7)")
    assert desk.do(places, "pay") == {("t", 0): 7}
    desk.do(consume, "pay", messages())
    assert desk.do(places, "pay") == {("t", 0): len(messages())}
    desk.do(put_stream, "other", CONFIG)
    assert desk.do(places, "other") == {}


def take(folder, file, *more, text=None):
    root = str(Path(lopsided.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-m", "lopsided", "serve", str(folder), "--stream", "pay", "--positive",
         "fraud", "--negative", "fine", "--budget", "20/100", "--from", str(file), *more],
        input=text, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    return done.stdout.splitlines()


def test_a_file_of_lines_may_be_taken_again_and_from_standard_input(tmp_path):
    lines = [message.value for message in messages()]
    file = tmp_path / "lines"
    file.write_bytes(b"\n".join(lines[:40]) + b"\n\n")
    first = take(tmp_path / "folder", file)
    assert len(first) == 40
    assert json.loads(first[0])["key"] == "e0"
    assert json.loads(first[1])["result"] == "learned"
    assert "error" in json.loads(first[7])
    file.write_bytes(b"\n".join(lines))
    again = take(tmp_path / "folder", file)
    assert len(again) == len(lines)
    assert [line for line in again[:40] if b"score" in line] == [
        line for line in first if b"score" in line
    ]
    assert json.loads(again[1])["result"] == "repeated"
    other = take(tmp_path / "other", "-", text=b"\n".join(lines))
    assert [scored(line) for line in other] == [scored(line) for line in again]


def scored(line):
    """Return what was decided, without the number of the row."""
    found = json.loads(line)
    return found.get("key"), found.get("score"), found.get("flag"), found.get("asked")


@pytest.fixture
def brokers():
    pytest.importorskip("confluent_kafka")
    with mock_cluster() as address:
        yield address


def test_messages_of_kafka_are_taken_once_although_servers_are_killed(tmp_path, brokers):
    batch, labels = events(1500)
    options = (
        "--from-kafka", brokers, "--topic", "events", "--topic", "labels", "--decisions", "out",
        "--ask-topic", "ask", "--refused", "bad",
    )  # fmt: skip
    sent = [("x", b"no json"), *((e.key, msgspec.json.encode(e)) for e in batch)]
    known = ((e.key, json.dumps({"key": e.key, "label": y}))
             for e, y in zip(batch, labels, strict=True))  # fmt: skip
    produce(brokers, "labels", known)
    folder = tmp_path / "folder"
    for kill in range(4):
        with ServerProcess(folder, *options) as server:
            produce(brokers, "events", sent[300 * kill : 300 * (kill + 1)])
            until(server, 300 * kill + 1)
            server.kill()
    produce(brokers, "events", sent[1200:])
    with ServerProcess(folder, *options) as server:
        until(server, 1500, "labels", lambda found: not outbox(folder))
        assert server.stop() == 0
    held = Folder(folder)
    found = {answer.key: msgspec.json.encode(answer) for _, answer in held.storage.events()}
    assert sorted(found) == sorted(e.key for e in batch)
    streams, _, _ = recover(held.storage)
    state = streams["pay"].state
    assert (state.events, state.labels, state.corrections) == (1500, 1500, 0)
    before = digest(streams["pay"].snapshot())
    held.storage.do("delete from snapshot")
    assert digest(recover(held.storage)[0]["pay"].snapshot()) == before
    held.close()
    out = everything(brokers, "out")
    assert {key for key, _ in out} == set(found)
    assert all(found[key] == value for key, value in out)
    assert {key for key, _ in everything(brokers, "ask")} == {
        key for key, value in found.items() if json.loads(value)["asked"]
    }
    assert json.loads(everything(brokers, "bad")[0][1])["value"] == "no json"


def test_a_topic_that_was_created_again_stops_the_server(tmp_path):
    pytest.importorskip("confluent_kafka")
    rows = [(e.key, msgspec.json.encode(e)) for e in EVENTS]
    for n in (60, 5):
        with mock_cluster() as brokers:
            produce(brokers, "events", [(key, value) for key, value in rows[:n] for _ in range(4)])
            options = ("--from-kafka", brokers, "--topic", "events")
            with ServerProcess(tmp_path / "folder", *options) as server:
                if n == 60:
                    until(server, n)
                    assert server.stop() == 0
                    continue
                said = server.process.stderr.read()
                assert server.process.wait() == 1
    assert "but it ends at" in said
    assert "delete from place where topic = 'events'" in said


class Consumer:
    """A consumer with one partition of the topic `events`."""

    def __init__(self, *came, first=0, end=9):
        self.came, self.marks, self.assigned = came, (first, end), []

    def list_topics(self, topic, timeout):
        known = SimpleNamespace(partitions=[0], error=None)
        no = SimpleNamespace(partitions=[], error=SimpleNamespace(str=lambda: "no such topic"))
        return SimpleNamespace(topics={topic: known if topic == "events" else no})

    def get_watermark_offsets(self, at, timeout):
        return self.marks

    def incremental_assign(self, parts):
        self.assigned += [(part.topic, part.offset) for part in parts]

    def consume(self, most, timeout):
        return self.came


def polled(consumer, known):
    """Return what was written to the journal when a consumer was polled three times."""
    pytest.importorskip("confluent_kafka")
    settings = KafkaSettings(brokers="localhost:1", topics=["events", "no"], stream="pay")
    kafka, said = Kafka(settings), []
    kafka._consumer, kafka._tell = consumer, said.append
    for _ in range(3):
        kafka._looked = float("-inf")
        kafka._poll(known)
    return said


def test_what_kafka_says_is_written_to_the_journal_once():
    bad = SimpleNamespace(error=lambda: SimpleNamespace(str=lambda: "broken"))
    consumer = Consumer(bad, first=5)
    said = polled(consumer, {("events", 0): 3})
    assert [text.removeprefix("Kafka: ") for text in said] == [
        "topic events, partition 0: messages 3 to 4 were deleted before they were read",
        "topic no: no such topic",
        "broken",
    ]
    assert consumer.assigned == [("events", 3)]


@pytest.mark.parametrize("name", ["no.such.option", "session.timeout.ms", "error_cb"])
def test_an_option_that_librdkafka_does_not_take_is_a_usage_error(tmp_path, name):
    pytest.importorskip("confluent_kafka")
    settings = KafkaSettings(brokers="localhost:1", topics=["t"], stream="s", options={name: "x"})
    with pytest.raises(OptionError, match=name):
        Kafka(settings)
    given = ["--stream", "s", "--from-kafka", "localhost:1", "--topic", "t"]
    found = CliRunner().invoke(command, [str(tmp_path), *given, "--kafka-option", f"{name}=x"])
    assert found.exit_code == 2
    assert name in found.output


def test_offsets_that_begin_anew_are_not_skipped():
    message = SimpleNamespace(
        error=lambda: None, topic=lambda: "events", partition=lambda: 0, offset=lambda: 0
    )
    with pytest.raises(PlaceError, match="read up to offset 3, but message 0 came next"):
        polled(Consumer(message), {("events", 0): 3})
    with pytest.raises(PlaceError, match="read up to offset 3, but it ends at 2"):
        polled(Consumer(end=2), {("events", 0): 3})


def outbox(folder):
    storage = Storage.reading(folder / "lopsided.db")
    try:
        return storage.all("select count(*) from outbox")[0][0]
    finally:
        storage.close()


def until(server, n, what="events", also=lambda found: True):
    """Wait until a server has taken so much."""
    client = server.client()
    for _ in range(1200):
        found = client.state()
        if found[what] >= n and also(found):
            return
        time.sleep(0.05)
    raise AssertionError(found)
