"""A Kafka cluster of librdkafka's own, in a process of its own, that outlives those that use it."""

from __future__ import annotations

import contextlib
import subprocess
import sys

_CLUSTER = """
import sys
from confluent_kafka import Producer
cluster = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": ""})
(broker,) = cluster.list_topics(timeout=20).brokers.values()
print(f"{broker.host}:{broker.port}", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def mock_cluster():
    """Start a cluster; yield its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", _CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def produce(brokers, topic, rows):
    """Send (key, value) pairs."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": brokers})
    for key, value in rows:
        producer.produce(topic, value, key)
    assert producer.flush(30) == 0


def everything(brokers, topic):
    """Return all (key, value) pairs of a topic."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "test"})
    parts = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    ends = {p: consumer.get_watermark_offsets(TopicPartition(topic, p))[1] for p in parts}
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in parts])
    found = []
    while len(found) < sum(ends.values()):
        found += [(m.key().decode(), m.value()) for m in consumer.consume(1000, 0.2)]
    consumer.close()
    return found
