"""A consuming server killed, with a real broker: real_kafka.py BROKERS N [OPTION=VALUE]."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from confluent_kafka import Producer
from server_process import ServerProcess

from lopsided.service.storage import Folder
from service import events

KILLS = 2


def main(brokers, n, *options):
    """Send events and labels, kill the server in between, count what it has in the end."""
    given = dict(option.split("=", 1) for option in options)
    common = {k: v for k, v in given.items() if k != "enable.idempotence"}
    producer = Producer({"bootstrap.servers": brokers, **common})

    def produce(topic, rows):
        for key, value in rows:
            producer.produce(topic, value, key)
            producer.poll(0)
        assert producer.flush(60) == 0

    batch, labels = events(n)
    told = zip(batch, labels, strict=True)
    produce("labels", ((e.key, json.dumps({"key": e.key, "label": y})) for e, y in told))
    more = [word for option in options for word in ("--kafka-option", option)]
    step = n // (KILLS + 1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        for turn in range(KILLS + 1):
            last = n if turn == KILLS else step * (turn + 1)
            with ServerProcess(
                folder, "--from-kafka", brokers, "--topic", "events", "--topic", "labels",
                "--decisions", "decisions", *more,
            ) as server:  # fmt: skip
                client = server.client()
                sent = batch[step * turn : last]
                produce("events", ((e.key, msgspec.json.encode(e)) for e in sent))
                wanted = (n, n) if turn == KILLS else (step * turn + 1, 0)
                while True:
                    state = client.state()
                    if (state["events"], state["labels"]) >= wanted and state["labels"] >= wanted[
                        1
                    ]:
                        break
                    time.sleep(0.05)
                server.stop() if turn == KILLS else server.kill()
        held = Folder(folder)
        keys = [event.key for event, _ in held.storage.events()]
        held.close()
    assert sorted(keys) == sorted(event.key for event in batch), "lost or twice"
    print(f"{n:,} events and as many labels, {KILLS} kills: each once")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
