"""The calls over HTTP, without sockets: what each answers, and what is refused."""

from __future__ import annotations

import asyncio
import json
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire import run

from lopsided.service.protocol import Joining


def event(key="e1", **features):
    return {"key": key, "features": features or {"a": 1.5, "shop": "s1"}}


async def taught(wire, n=30):
    """Feed events with labels."""
    for i in range(n):
        bad = i % 3 == 0
        await wire.call("POST", "/v1/pay/events", event(f"t{i}", a=2.0 if bad else -1.0 - i))
        label = {"key": f"t{i}", "label": "fraud" if bad else "fine"}
        status, found = await wire.call("POST", "/v1/pay/labels", label)
        assert (status, found["results"][0]["result"]) == (200, "learned")


def test_events_labels_scores_and_state():
    async def scenario(wire):
        await taught(wire)
        status, one = await wire.call("POST", "/v1/pay/events", event())
        assert status == 200
        assert one["key"] == "e1"
        assert (await wire.call("POST", "/v1/pay/events", event())) == (200, one)
        status, many = await wire.call(
            "POST", "/v1/pay/events", {"events": [event("e2", a=3.0), event(), event("e3", b=1)]}
        )
        assert [a["key"] for a in many["answers"]] == ["e2", "e1", "e3"]
        assert many["answers"][1] == one
        status, score = await wire.call("POST", "/v1/pay/score", {"features": {"a": 3.0}})
        assert (status, score["flag"]) == (200, True)
        status, scores = await wire.call(
            "POST",
            "/v1/pay/score",
            {"events": [{"features": {"a": -9}, "key": "x", "costs": {"miss": 1, "alarm": 1}}]},
        )
        assert (scores["scores"][0]["flag"], scores["scores"][0]["key"]) == (False, "x")
        status, state = await wire.call("GET", "/v1/pay")
        assert (state["events"], state["labels"], state["champion"]) == (33, 30, "first")
        assert state["models"][0]["positives"] == 10
        status, found = await wire.call("GET", "/v1/pay/events/t3")
        assert found["history"][0]["label"] == "fraud"

    run(scenario)


def test_lines_in_lines_out():
    async def scenario(wire):
        texts = [json.dumps(event(f"l{i}", a=float(i))).encode() for i in range(5)]
        texts[2] = b"no json"
        texts[3] = b'{"key":"nan","features":{"a":[1]}}'
        whole = b"\n".join(texts)
        status, text = await wire.call(
            "POST",
            "/v1/pay/events",
            headers={b"content-type": b"application/x-ndjson"},
            chunks=[whole[:30], whole[30:80], whole[80:]],
        )
        lines = [json.loads(line) for line in text.splitlines()]
        assert status == 200
        assert [line.get("key") for line in lines] == ["l0", "l1", None, None, "l4"]
        assert "error" in lines[2]
        assert "error" in lines[3]

    run(scenario)


def test_a_bad_event_among_lines_leaves_the_others_in_order():
    async def scenario(wire):
        await taught(wire, 5)
        texts = [json.dumps(event(f"l{i}", a=float(i))) for i in range(300)]
        texts[150] = '{"key":"bad","features":{"a":1e999}}'
        whole = "\n".join(texts).encode()
        _, text = await wire.call(
            "POST",
            "/v1/pay/events",
            headers={b"content-type": b"application/x-ndjson"},
            chunks=[whole[i : i + 1000] for i in range(0, len(whole), 1000)],
        )
        lines = [json.loads(line) for line in text.splitlines()]
        assert "error" in lines.pop(150)
        assert [line["key"] for line in lines] == [f"l{i}" for i in range(300) if i != 150]
        numbers = [line["seq"] for line in lines]
        assert numbers == list(range(numbers[0], numbers[0] + 299))

    run(scenario)


def test_each_line_is_one_event():
    async def scenario(wire):
        a, b, c = (json.dumps(event(key)).encode() for key in "abc")
        text = b"\n".join([a, b"", b + c, b"  ", c[:9], c[9:], c + b"\r", b])
        headers = {b"content-type": b"application/x-ndjson"}
        _, found = await wire.call("POST", "/v1/pay/events", text, headers=headers)
        found = [json.loads(line) for line in found.splitlines()]
        assert [line.get("key", "error") for line in found] == [
            "a", "error", "error", "error", "c", "b",
        ]  # fmt: skip

    run(scenario)


def test_a_client_may_wait_for_the_answer_to_each_line():
    async def scenario(wire):
        lines = [json.dumps(event(f"l{i}", a=float(i))).encode() + b"\n" for i in range(4)]
        answered = asyncio.Semaphore(1)
        keys = []

        async def receive():
            await answered.acquire()
            return {"type": "http.request", "body": lines.pop(0), "more_body": bool(lines)}

        async def send(message):
            if message.get("body"):
                keys.append(json.loads(message["body"])["key"])
                answered.release()

        scope = {
            "type": "http", "method": "POST", "path": "/v1/pay/events", "query_string": b"",
            "headers": [(b"content-type", b"application/x-ndjson"), (b"host", b"127.0.0.1:8080")],
        }  # fmt: skip
        await asyncio.wait_for(wire.app(scope, receive, send), 20)
        assert keys == ["l0", "l1", "l2", "l3"]

    run(scenario)


def test_the_head_and_body_of_an_answer_are_written_together():
    class Transport:
        wrote = ()

        def write(self, data):
            self.wrote = (*self.wrote, data)

        def close(self):
            self.wrote = (*self.wrote, "closed")

        def is_closing(self):
            return False

    async def scenario():
        plain = Transport()
        joining = Joining(plain, asyncio.get_running_loop())
        joining.write(b"head ")
        joining.write(b"body")
        await asyncio.sleep(0)
        assert plain.wrote == (b"head body",)
        joining.write(b"last")
        joining.close()
        await asyncio.sleep(0)
        assert plain.wrote == (b"head body", b"last", "closed")
        assert not joining.is_closing()

    asyncio.run(scenario())


def test_questions_are_leased_answered_undone_and_learned():
    async def scenario(wire):
        for i in range(6):
            await wire.call("POST", "/v1/pay/events", event(f"q{i}", a=float(i)))
        _, found = await wire.call("GET", "/v1/pay/questions?n=2&lease=60")
        mine = found["questions"]
        assert len(mine) == 2
        _, others = await wire.call("GET", "/v1/pay/questions?n=100")
        assert not {q["key"] for q in mine} & {q["key"] for q in others["questions"]}
        first = mine[0]
        answer = {"key": first["key"], "lease": first["lease"], "label": "fraud"}
        status, held = await wire.call("POST", "/v1/pay/answers", answer)
        assert (status, held["result"]) == (200, "held")
        _, again = await wire.call("POST", "/v1/pay/answers", answer)
        assert again["result"] == "repeated"
        before = wire.digest()
        undo = f"/v1/pay/answers/{first['key']}?lease={first['lease']}"
        _, undone = await wire.call("DELETE", undo)
        assert undone["result"] == "undone"
        _, held = await wire.call("POST", "/v1/pay/answers", {**answer, "label": "fine"})
        assert wire.digest() == before  # nothing is learned before it can no longer be undone
        wire.now += 10
        wire.app.driver.settle()
        _, state = await wire.call("GET", "/v1/pay")
        assert (state["labels"], state["questions"]["held"]) == (1, 0)
        status, _ = await wire.call("DELETE", undo)
        assert status == 409
        _, known = await wire.call("GET", f"/v1/pay/events/{first['key']}")
        assert [row["kind"] for row in known["history"]] == ["answer", "undo", "answer", "label"]
        assert known["history"][-1]["source"] == "review"
        wire.now += 60  # the other lease has run out
        _, open_ = await wire.call("GET", "/v1/pay/questions?n=100")
        assert mine[1]["key"] in {q["key"] for q in open_["questions"]}
        late = {"key": mine[1]["key"], "lease": mine[1]["lease"], "label": "fine"}
        status, _ = await wire.call("POST", "/v1/pay/answers", late)
        assert status == 409

    run(scenario)


def test_a_clock_that_is_set_back_keeps_no_question_for_ever():
    async def scenario(wire):
        await wire.call("POST", "/v1/pay/events", event("q"))
        _, found = await wire.call("GET", "/v1/pay/questions")
        assert len(found["questions"]) == 1
        wire.now -= 10 * 86400
        _, found = await wire.call("GET", "/v1/pay/questions")
        assert len(found["questions"]) == 1

    run(scenario)


REFUSED = [
    ("POST", "/v1/pay/events", b"", 400),
    ("POST", "/v1/pay/events", b"{", 400),
    ("POST", "/v1/pay/events", b"\xff\xfe", 400),
    ("POST", "/v1/pay/events", b"[" * 100_001, 413),
    ("POST", "/v1/pay/events", b"[" * 50_000, 422),
    ("POST", "/v1/pay/events", b'{"key":"k","features":' + b"[" * 9_000, 422),
    ("POST", "/v1/pay/events", b"[]", 422),
    ("POST", "/v1/pay/events", b"null", 422),
    ("POST", "/v1/pay/events", {}, 422),
    ("POST", "/v1/pay/events", {"events": []}, 422),
    ("POST", "/v1/pay/events", {"events": [event()] * 1001}, 422),
    ("POST", "/v1/pay/events", {"key": "", "features": {}}, 422),
    ("POST", "/v1/pay/events", {"key": "k" * 201, "features": {}}, 422),
    ("POST", "/v1/pay/events", {"key": 1, "features": {}}, 422),
    ("POST", "/v1/pay/events", {"key": "k", "features": []}, 422),
    ("POST", "/v1/pay/events", {"key": "k", "features": {"a": None}}, 422),
    ("POST", "/v1/pay/events", {"key": "k", "features": {"a": [1]}}, 422),
    ("POST", "/v1/pay/events", {"key": "k", "features": {"a": {"b": 1}}}, 422),
    ("POST", "/v1/pay/events", b'{"key":"k","features":{"a":NaN}}', 400),
    ("POST", "/v1/pay/events", b'{"key":"k","features":{"a":1e999}}', 422),
    ("POST", "/v1/pay/events", {"key": "k", "features": {"a": 1}, "more": 1}, 422),
    ("POST", "/v1/pay/events", {"key": "k", "features": {"a": 1}, "time": "soon"}, 422),
    ("POST", "/v1/pay/events", {"key": "k", "features": {"a": 1}, "costs": {"miss": -1}}, 422),
    ("POST", "/v1/no/events", event(), 404),
    ("GET", "/v1/pay/events", None, 405),
    ("POST", "/nowhere", {}, 404),
    ("GET", "/v1/pay/questions?n=0", None, 422),
    ("GET", "/v1/pay/questions?n=x", None, 422),
    ("GET", "/v1/pay/questions?lease=1e9", None, 422),
    ("POST", "/v1/pay/labels", {"labels": []}, 422),
    ("POST", "/v1/pay/labels", {"key": "k"}, 422),
    ("POST", "/v1/pay/labels", {"key": "k", "label": [1]}, 422),
    ("POST", "/v1/pay/labels", {"key": "k", "label": "fine", "weight": -1}, 422),
    ("POST", "/v1/pay/answers", {"key": "k", "lease": "x", "label": "fine"}, 404),
    ("POST", "/v1/pay/answers", {"key": "k", "lease": "x"}, 422),
    ("POST", "/v1/pay/answers", {"key": "k", "lease": "x", "verdict": "maybe"}, 422),
    ("DELETE", "/v1/pay/answers/k?lease=x", None, 404),
    ("PUT", "/v1/pay", {"budget": "much"}, 422),
    ("PUT", "/v1/pay", {"positive": "other"}, 422),
    ("PUT", "/v1/pay", [], 422),
    ("PUT", "/v1/..%2f", {}, 422),
    ("POST", "/v1/pay/models", {"name": "../x"}, 422),
    ("POST", "/v1/pay/models", {"name": "c", "learner": "nobody"}, 422),
    ("POST", "/v1/pay/models", {"name": "first"}, 409),
    ("PUT", "/v1/pay/champion", {"name": "nobody"}, 404),
    ("DELETE", "/v1/pay/models/first", None, 409),
    ("GET", "/v1/pay/models/no/file", None, 404),
    ("GET", "/v1/pay/events/none", None, 404),
    ("POST", "/v2/models/pay/infer", {"inputs": []}, 422),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), REFUSED)
def test_a_bad_request_is_refused_and_changes_nothing(method, path, body, status):
    async def scenario(wire):
        await wire.call("POST", "/v1/pay/events", event("before"))
        before, seq = wire.digest(), wire.storage.seq
        found, text = await wire.call(method, path, body)
        assert (found, list(text)) == (status, ["error"])
        assert "Traceback" not in text["error"]
        assert (wire.digest(), wire.storage.seq) == (before, seq)

    run(scenario)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["key", "features", "events", "a", "time"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(bodies=st.lists(json_values.map(json.dumps).map(str.encode) | st.binary(max_size=60)))
def test_no_body_breaks_the_service(bodies):
    async def scenario(wire):
        for body in bodies:
            for path in ("events", "labels", "score", "answers", "models"):
                status, _ = await wire.call("POST", f"/v1/pay/{path}", body)
                assert status in (200, 400, 404, 409, 413, 422)
        status, _ = await wire.call("POST", "/v1/pay/events", event("after"))
        assert status == 200

    run(scenario)


def test_nothing_is_said_before_something_is_learned():
    async def scenario(wire):
        status, _ = await wire.call("POST", "/v1/pay/score", {"features": {"a": 1}})
        assert status == 409
        _, answer = await wire.call("POST", "/v1/pay/events", event())
        assert answer["flag"] is False

    run(scenario)


def test_only_json_is_read_so_that_no_page_of_another_site_can_post():
    async def scenario(wire):
        plain = {b"content-type": b"text/plain"}
        status, _ = await wire.call("POST", "/v1/pay/events", event(), headers=plain)
        assert status == 415
        status, _ = await wire.call("GET", "/v1/pay", headers={b"host": b"evil.example:8080"})
        assert status == 403

    run(scenario)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 200),
        ({b"sec-fetch-site": b"same-origin", b"origin": b"http://127.0.0.1:8080"}, 200),
        ({b"sec-fetch-site": b"none"}, 200),
        ({b"origin": b"http://127.0.0.1:8080"}, 200),
        ({b"sec-fetch-site": b"cross-site"}, 403),
        ({b"sec-fetch-site": b"same-site"}, 403),
        ({b"origin": b"https://evil.example"}, 403),
        ({b"origin": b"http://127.0.0.1:3000"}, 403),
        ({b"origin": b"null"}, 403),
    ],
)
def test_without_tokens_only_the_own_page_reaches_anything(headers, expected):
    async def scenario(wire):
        for method, path in (
            ("POST", "/v1/pay/snapshots"),
            ("GET", "/v1/pay/questions?lease=900"),
            ("GET", "/v1/pay/live"),
        ):
            assert (await wire.call(method, path, headers=headers))[0] == expected

    run(scenario)


def test_settings_that_are_changed_at_the_same_time_are_all_changed():
    async def scenario(wire):
        changes = [{"keep_days": 30}, {"hold": 7}, {"lease": 60}]
        await asyncio.gather(*(wire.call("PUT", "/v1/pay", change) for change in changes))
        config = wire.sequencer.streams["pay"].config
        assert (config.keep_days, config.hold, config.lease) == (30, 7, 60)
        assert (await wire.call("PUT", "/v1/pay", []))[0] == 422

    run(scenario)


def test_a_body_that_does_not_come_is_not_waited_for():
    async def scenario(wire):
        async def never():
            await asyncio.sleep(60)

        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/v1/pay/events", "query_string": b"",
                 "headers": [(b"content-type", b"application/json")]}  # fmt: skip
        await asyncio.wait_for(wire.app(scope, never, send), 20)
        assert sent[0]["status"] == 408

    run(scenario, patience=0.1)


def test_features_can_be_hidden_from_people():
    async def scenario(wire):
        await wire.call("PUT", "/v1/pay", {"hidden": ["name"], "query": "always"})
        await taught(wire, 6)
        await wire.call("POST", "/v1/pay/events", event("h", a=1.0, name="Ann"))
        _, found = await wire.call("GET", "/v1/pay/questions?n=9")
        assert [q["key"] for q in found["questions"]] == ["h"]
        assert "Ann" not in json.dumps(found)
        assert found["questions"][0]["features"] == {"a": 1.0}

    run(scenario)


def test_names_of_features_do_not_grow_without_end():
    async def scenario(wire):
        await wire.call("PUT", "/v1/pay", {"max_features": 12})
        status = [
            (await wire.call("POST", "/v1/pay/events", event(f"n{i}", **{f"f{i}": 1.0})))[0]
            for i in range(20)
        ]
        assert status == [200] * 12 + [422] * 8
        status, _ = await wire.call("POST", "/v1/pay/events", event("old", f3=1.0, f4=2.0))
        assert status == 200

    run(scenario)


def test_every_route_needs_its_role():
    async def scenario(wire):
        for method, path, role, _ in wire.app.routes.listed:
            path = path.replace("{stream}", "pay").replace("{", "").replace("}", "")
            status, _ = await wire.call(method, path, b"{")
            assert (status == 401) == bool(role), path
            status, _ = await wire.call(method, path, b"{", role="lop_00_wrong")
            assert (status == 401) == bool(role), path
            for mine in ("score", "label", "admin"):
                status, _ = await wire.call(method, path, b"{", role=mine)
                allowed = role in ("", "any", mine) or mine == "admin"
                assert (status == 403) == (not allowed), (mine, path)

    run(scenario, tokens=("score", "label", "admin"))


def test_tokens_are_made_dropped_and_kept_as_hashes():
    async def scenario(wire):
        body = {"name": "desk", "role": "label"}
        _, made = await wire.call("POST", "/tokens", body, role="admin")
        kept = wire.storage.all("select * from token")
        assert made["token"].rpartition("_")[2].encode() not in repr(kept).encode()
        status, _ = await wire.call("GET", "/v1/pay/questions", role=made["token"])
        assert status == 200
        await wire.call("DELETE", "/tokens/desk", role="admin")
        status, _ = await wire.call("GET", "/v1/pay/questions", role=made["token"])
        assert status == 401

    run(scenario, tokens=("admin",))


def test_rates_and_queues_are_limited():
    async def limited(wire):
        found = [(await wire.call("GET", "/v1"))[0] for _ in range(8)]
        assert found.count(200) == 5
        assert found.count(429) == 3
        assert wire.headers[b"retry-after"] == b"1"

    run(limited, rate=5)

    async def crowded(wire):
        calls = (wire.call("POST", "/v1/pay/events", event(f"e{i}")) for i in range(20))
        found = [status for status, _ in await asyncio.gather(*calls)]
        assert found.count(200) == 3
        assert found.count(429) == 17

    run(crowded, queue=3)


def test_many_requests_are_committed_together():
    async def scenario(wire):
        before = wire.sequencer.groups
        calls = (wire.call("POST", "/v1/pay/events", event(f"e{i}")) for i in range(100))
        found = await asyncio.gather(*calls)
        assert {status for status, _ in found} == {200}
        assert sorted(a["id"] for _, a in found) == list(range(100))
        assert wire.sequencer.groups - before <= 3

    run(scenario)


def test_a_server_that_cannot_recover_ends_rather_than_answer():
    async def scenario(wire):
        await taught(wire, 5)
        left = []
        wire.app.driver._exit = left.append

        def broken():
            raise sqlite3.OperationalError("disk I/O error")

        commit, wire.storage.commit = wire.storage.commit, broken
        wire.storage.do("update log set out = x'00' where kind = 'event'")
        call = asyncio.ensure_future(wire.call("POST", "/v1/pay/events", event("last")))
        for _ in range(500):
            await asyncio.sleep(0.01)
            if left:
                break
        assert left == [1]
        assert not call.done()
        call.cancel()
        wire.storage.commit = commit

    run(scenario)


def test_the_open_inference_protocol():
    async def scenario(wire):
        assert (await wire.call("GET", "/v2/health/live"))[0] == 200
        assert (await wire.call("GET", "/v2/health/ready"))[0] == 200
        assert (await wire.call("GET", "/v2/models/pay/ready"))[0] == 503
        await taught(wire)
        assert (await wire.call("GET", "/v2/models/pay/ready"))[0] == 200
        _, about = await wire.call("GET", "/v2/models/pay")
        assert about["inputs"][0]["datatype"] == "BYTES"
        tensor = {"name": "features", "shape": [2], "datatype": "BYTES",
                  "data": ['{"a": 3}', '{"a": -3}']}  # fmt: skip
        status, found = await wire.call("POST", "/v2/models/pay/infer", {"inputs": [tensor]})
        outputs = {out["name"]: out["data"] for out in found["outputs"]}
        assert status == 200
        for i, value in enumerate((3, -3)):
            _, score = await wire.call("POST", "/v1/pay/score", {"features": {"a": value}})
            assert {name: data[i] for name, data in outputs.items()} == score
        tensor["shape"] = [3]
        assert (await wire.call("POST", "/v2/models/pay/infer", {"inputs": [tensor]}))[0] == 422

    run(scenario)


def test_metrics_and_the_page_of_the_calls():
    async def scenario(wire):
        await taught(wire, 6)
        status, text = await wire.call("GET", "/metrics")
        assert status == 200
        assert b'lopsided_events_total{stream="pay"} 6\n' in text
        assert b"# TYPE lopsided_seq gauge\n" in text
        status, found = await wire.call("GET", "/openapi.json")
        assert found["openapi"] == "3.1.0"
        listed = {(m.upper(), p) for p, calls in found["paths"].items() for m in calls}
        assert listed == {(m, p) for m, p, _, _ in wire.app.routes.listed}
        status, page = await wire.call("GET", "/docs")
        assert b"<script" not in page
        assert b"http://" not in page
        assert b"https://" not in page

    run(scenario)
