"""Labels that come late in a stream of blocks, against a loop with a queue."""

from itertools import pairwise

import numpy as np
import pytest

import lopsided
from lopsided import Active
from lopsided.data.block import Block
from lopsided.evaluation.late import LateLabels, waiting_events, waiting_model, without_waiting
from lopsided.evaluation.stream import StreamRun

ROWS = 150
NAMES = ("COG-II", "AROW", "Recommended", "KOIL-FIFO++")


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=ROWS) > 0.8).astype(int)
    weight = rng.choice([0.0, 1.0, 2.5], size=ROWS, p=[0.1, 0.6, 0.3])
    time = np.arange(ROWS) + rng.normal(size=ROWS) * 3  # not in order
    label_time = time + rng.exponential(15, size=ROWS) - 1
    label_time[rng.random(ROWS) < 0.1] = np.nan
    return X, y, weight, time, label_time


def blocks(stream, cuts):
    X, y, weight, time, label_time = stream
    for first, last in pairwise(cuts):
        part = slice(first, last)
        lines = np.arange(first, last) + 1
        yield Block(
            X[part], y[part], weight[part], lines, "made", time[part], label_time=label_time[part]
        )


def queued(name, stream, delay, **parameters):
    """Return scores, decisions, model and what is left of a queue in which every label waits."""
    model = Active(lopsided.make(name, positive=1, **parameters), query="always")
    scores, alarms, queue, now, event = [], [], [], -np.inf, 0

    def tell(reached):
        for one in sorted(queue):
            if one[1] <= reached:
                model.tell(one[0], *one[2:])
                queue.remove(one)

    for x, label, weight, time, label_time in zip(*stream, strict=True):
        if weight == 0:
            scores.append(np.nan)
            alarms.append(False)
            continue
        now = max(now, time)
        tell(now if delay is None else event - 1)
        decision = model.ask(x)
        scores.append(decision.score)
        alarms.append(decision.predicted == 1)
        due = label_time if delay is None else event + delay
        if due == due:
            queue.append((event, due, label, weight))
        event += 1
    if delay is not None:
        tell(event - 1)
    return np.array(scores), np.array(alarms), model, queue


def run(model, parts, delay, late=None):
    late = LateLabels(delay) if late is None else late
    job = StreamRun(model, late=late)
    pieces = list(job.over(parts))
    return np.concatenate([p.scores for p in pieces]), np.concatenate([p.alarms for p in pieces])


@pytest.mark.parametrize("delay", [None, 0, 1, 7, 100])
@pytest.mark.parametrize("name", NAMES)
def test_decisions_and_bits_are_those_of_a_queue_however_the_stream_is_cut(name, delay, stream):
    expected, alarms, by_hand, queue = queued(name, stream, delay)
    for cuts in ([0, ROWS], [*range(20), 40, 41, 99, ROWS]):
        late = LateLabels(delay)
        model = waiting_model(lopsided.make(name, positive=1), 1000)
        scores, decided = run(model, blocks(stream, cuts), delay, late)
        np.testing.assert_array_equal(scores, expected)
        np.testing.assert_array_equal(decided, alarms)
        np.testing.assert_array_equal(model.score_many(stream[0]), by_hand.score_many(stream[0]))
        assert len(late) == len(queue)
        learned = without_waiting(model)
        np.testing.assert_array_equal(learned.score_many(stream[0]), by_hand.score_many(stream[0]))


@pytest.mark.parametrize("delay", [None, 20])
def test_a_run_that_is_resumed_loses_no_label(delay, stream):
    expected, _, by_hand, _ = queued("AROW", stream, delay)
    late, model, scores = LateLabels(delay), lopsided.make("AROW", positive=1), []
    asker = waiting_model(model, 1000)
    for first in range(0, ROWS, 10):
        part, _ = run(asker, blocks(stream, [first, first + 10]), delay, late)
        scores.append(part)
        kept, events = late.state(), waiting_events(asker)
        asker = waiting_model(without_waiting(asker), 1000, events)
        late = LateLabels(delay, state=kept)
    np.testing.assert_array_equal(np.concatenate(scores), expected)
    np.testing.assert_array_equal(asker.score_many(stream[0]), by_hand.score_many(stream[0]))


@pytest.mark.parametrize("delay", [None, 20])
@pytest.mark.parametrize("step", [1, 13, ROWS])
def test_how_many_wait_is_bounded_exactly(delay, step, stream):
    *_, time, label_time = stream
    stream = (*stream[:2], np.ones(ROWS), time, label_time)
    due = label_time if delay is None else np.arange(ROWS) + delay
    clock = np.maximum.accumulate(time) if delay is None else np.arange(ROWS) - 1
    most = max(
        sum(1 for j in range(i + 1) if due[j] == due[j] and (j == i or due[j] > clock[i]))
        for i in range(ROWS)
    )
    cuts = [*range(0, ROWS, step), ROWS]
    model = waiting_model(lopsided.COG(positive=1), most)
    run(model, blocks(stream, cuts), delay, LateLabels(delay, most=most))
    model = waiting_model(lopsided.COG(positive=1), most - 1)
    with pytest.raises(ValueError, match=f"more than {most - 1} events wait"):
        run(model, blocks(stream, cuts), delay, LateLabels(delay, most=most - 1))


def test_a_learner_that_asks_forgets_no_label_it_bought(stream):
    model = Active.made(learner="COG-II", query="always", positive=1, max_pending=5)
    with pytest.warns(match="forgotten"), pytest.raises(ValueError, match="more than 5 events"):
        run(model, blocks(stream, [0, ROWS]), 20)
