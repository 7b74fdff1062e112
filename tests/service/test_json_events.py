"""Events that the core reads are those that the decoder of all forms reads, to the bit."""

from __future__ import annotations

import json
import math
import struct

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lopsided._core import Numbers
from lopsided.service.commands.events import add_events
from lopsided.service.commands.labels import add_labels
from lopsided.service.ndjson import _read_lines
from lopsided.service.packing import pack_events
from lopsided.service.recovery import recover
from lopsided.service.stream import digest
from lopsided.service.types import Events, Label, as_dict, encode, quick, read_event
from service import Desk

several = msgspec.json.Decoder(Events).decode


def bits(value):
    return struct.pack("<d", value) if type(value) is float else value


def shown(event):
    """Everything of an event, with types and bits."""
    features = [(name, type(v), bits(v)) for name, v in as_dict(event.features).items()]
    return event.key, features, event.time, event.costs, event.show


def expected(text):
    try:
        return shown(read_event(text))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def agrees(text):
    """Say whether an event was read here; what was must be what the decoder reads."""
    found = quick.one(text, True)
    assert found is None or shown(found) == expected(text)
    return found is not None


NUMBERS = [
    "0",
    "0.0",
    "-0.0",
    "1",
    "-1",
    "12.5",
    "-12.5",
    "1e5",
    "1E-5",
    "1.5e+300",
    "123456789012345",
    "0.1",
    "0.30000000000000004",
    "4.9e-324",
    "2.2250738585072014e-308",
    "1.7976931348623157e308",
    "9007199254740993.0",
    "7.2057594037927933e+16",
    "123456789.123456789123456789",
]
ODD = [
    "-0",
    "-0e5",
    "0e0",
    "00",
    "01",
    "-",
    "+1",
    ".5",
    "1.",
    "1.e5",
    "1e",
    "1e+",
    "0x1",
    "1_0",
    "NaN",
    "nan",
    "Infinity",
    "-Infinity",
    "1e400",
    "-1e400",
    "1e-400",
    "null",
    "[]",
    "{}",
    "[1]",
    "tru",
    "truee",
    "'a'",
    "12345678901234567",
    "18446744073709551616",
    "1.5.5",
    "--1",
    '"a',
    '"\\u0041"',
    "1,",
]
ODD += ["", "1 2", "1" * 400, '"\n"', '"\x00"']


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_have_the_bits_of_the_decoder(number):
    text = f'{{"key":"k","features":{{"a":{number},"b":1.5}}}}'.encode()
    assert agrees(text)
    assert type(quick.one(text, True).features) is Numbers


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("place", ["key", "features", "time", "costs", "show", "a"])
def test_what_is_wrong_is_left_to_the_decoder(place, value):
    members = {"key": '"k"', "features": '{"a":1.5}', "time": "1.5"}
    for at in ("front", "end"):
        odd = f'{{"a":{value},"b":1}}' if at == "front" else f'{{"b":1,"a":{value}}}'
        whole = {**members, **({"features": odd} if place == "a" else {place: value})}
        text = ",".join(f'"{name}":{what}' for name, what in whole.items())
        agrees(f"{{{text}}}".encode())


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"{",
        b"{}",
        b"[]",
        b"null",
        b'"key"',
        b'{"key":"k"}',
        b'{"features":{}}',
        b"\xff",
        b'{"key":"k","features":{"a":1,"a":2}}',
        b'{"key":"k","key":"l","features":{}}',
        b'{"key":"k","features":{},"features":{}}',
        b'{"key":"","features":{}}',
        b'{"key":1,"features":{}}',
        b'{"key":"k","features":{"a":1},}',
        b'{"key":"k","features":{"a":1,}}',
        b'{"key":"k","features":{"a" 1}}',
        b'{"key":"k","features":{"a":1}',
        b'{"key":"k","features":{"a":1}}}',
        b'{"key":"k","features":{"a":1}} x',
        b'{"key":"k","features":{"a":1},"more":2}',
        b'{"key":"k","features":{"a":{"b":1}}}',
        b'{"key":"\xff","features":{"a":1}}',
        b'{"key":"k","features":{"\xff":1}}',
        b'{"key":"\xed\xa0\x80","features":{"a":1}}',
        b'{"key":"k\\n","features":{"a":1}}',
        b'{"key":"k","features":{"a\\"":1}}',
        b'{"key":"' + b"k" * 201 + b'","features":{}}',
        b'{"key":"k","features":{"a":1},"costs":{"miss":1}}',
        b'{"key":"k","features":{"a":1},"costs":{"miss":-1,"alarm":1}}',
        b'{"key":"k","features":{"a":1},"show":{"a":"}"}}',
        b'{"key":"k","features":{"a":1},"show":{"a":[1]}}',
        b'{"key":"k","features":{"a":1},"time":"yesterday"}',
        b'{"key":"k","features":{"a":1},"time":"1,5"}',
        b'{"key":"k" "features":{}}',
        b'{"key":"k","features":{"' + b"a" * 70000 + b'":1}}',
    ],
)
def test_texts_that_are_no_such_event(text):
    assert not agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"key":"k","features":{}}',
        b' {"key" : "k" ,\n"features"\t:{ "a" :1.5 , "b":2 } }\r\n ',
        b'{"features":{"a":1},"key":"k"}',
        b'{"key":"k","features":{"a":"b","c":true,"d":false,"e":-1.5}}',
        '{"key":"schlüssel-☃-😀","features":{"größe":1.5,"":"ü"}}'.encode(),
        b'{"key":"k","features":{"a":1},"time":1763.25}',
        b'{"key":"k","features":{"a":1},"time":1763}',
        b'{"key":"k","features":{"a":1},"time":"2026-11-17T09:00:00Z"}',
        b'{"key":"k","time":null,"features":{"a":1}}',
        b'{"key":"k","features":{"a":1},"costs":{"miss":850,"alarm":4},"show":{"who":"me","age":null}}',
        b'{"key":"k","features":{"a":1},"costs":null,"show":{}}',
        b'{"key":"' + b"k" * 200 + b'","features":{}}',
    ],
)
def test_forms_that_most_have(text):
    assert agrees(text)


value = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(10**18), 10**18)
    | st.booleans()
    | st.text(max_size=5)
)
features = st.dictionaries(st.text(max_size=4), value, max_size=5)
event = st.fixed_dictionaries(
    {"key": st.text(min_size=1, max_size=5), "features": features},
    optional={
        "time": st.floats(allow_nan=False, allow_infinity=False) | st.none(),
        "costs": st.fixed_dictionaries({"miss": st.floats(0, 9), "alarm": st.integers(0, 9)}),
        "show": st.dictionaries(st.text(max_size=3), value | st.none(), max_size=2),
    },
)


@settings(max_examples=300, deadline=None)
@given(event, st.booleans(), st.sampled_from([None, (", ", ": ")]))
def test_events_are_those_of_the_decoder(given_event, ascii_only, separators):
    text = json.dumps(given_event, ensure_ascii=ascii_only, separators=separators or (",", ":"))
    agrees(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=300, deadline=None)
@given(event, st.data())
def test_texts_that_were_changed(given_event, data):
    text = bytearray(json.dumps(given_event).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        byte = data.draw(st.sampled_from(b'{}[]":,.-+eE0195 \\\n\x00\xff'))
        how = data.draw(st.sampled_from(["put", "insert", "cut"]))
        if how == "put":
            text[at] = byte
        elif how == "insert":
            text.insert(at, byte)
        else:
            del text[at:]
            break
        if not text:
            break
    agrees(bytes(text))
    agrees(bytes(text[:-1]))


@settings(max_examples=200, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e22)
@example(1e23)
@example(math.pi * 1e-300)
def test_any_number_keeps_its_bits(number):
    for text in (repr(number), f"{number:.17g}", f"{number:.3e}", f"{number:.25f}"):
        agrees(f'{{"key":"k","features":{{"a":{text}}}}}'.encode())


@settings(max_examples=100, deadline=None)
@given(st.lists(event, max_size=5), st.booleans())
def test_lists_of_events_are_those_of_the_decoder(events, keyed):
    text = json.dumps({"events": events}).encode()
    found = quick.several(text, keyed, 4)
    if found is not None:
        assert 1 <= len(found) <= 4
        assert list(map(shown, found)) == list(map(shown, several(text).events))


def test_a_list_may_be_too_long():
    one = '{"key":"k","features":{"a":1.5}}'
    for size, wanted in ((0, False), (1, True), (3, True), (4, False)):
        found = quick.several(f'{{"events":[{",".join([one] * size)}]}}'.encode(), True, 3)
        assert (found is not None) == wanted
    assert quick.several(b'{"events":[{"features":{"a":1.5}}]}', True, 3) is None
    assert quick.several(b'{"events":[{"features":{"a":1.5}}]}', False, 3)[0].key is None


def test_lines_are_read_one_by_one_if_one_is_odd():
    one, odd = b'{"key":"k","features":{"a":1.5}}', b'{"key":"k","features":{"a\\u0062":1}}'
    split = b'{"key":"k",\n"features":{"a":1.5}}'
    assert len(quick.lines(one + b"\n\n \r\n" + one + b"\r\n" + one)) == 3
    assert quick.lines(b"\n \n") == []
    assert all(
        quick.lines(one + b"\n" + bad + b"\n") is None for bad in (odd, split, one + one, b"x")
    )
    ((first, bad, last),) = _read_lines(one + b"\nx\n\n" + odd)
    assert (first.key, last.key) == ("k", "k")
    assert b"error" in bad


def test_shapes_may_differ_from_event_to_event():
    values = [",".join(f'"f{j}":{j}.5' for j in range(i % 7, 9)) for i in range(200)]
    texts = [f'{{"key":"k","features":{{{inside}}}}}'.encode() for inside in values]
    assert all(map(agrees, texts))
    wide = [f'{{"key":"{i}","features":{{"only {i}":1.5}}}}'.encode() for i in range(300)]
    assert all(map(agrees, wide + texts))


def test_numbers_are_packed_as_the_encoder_packs_them():
    for size in (0, 1, 15, 16, 300):
        inside = ",".join(f'"f{j}":{j / 3}' for j in range(size))
        text = f'{{"key":"k","features":{{{inside}}},"time":1.5}}'.encode()
        found, plain = quick.one(text, True), read_event(text)
        assert type(found.features) is Numbers
        assert (len(found.features), found.features.names) == (size, list(plain.features))
        assert found.features.packed() == msgspec.msgpack.encode(list(plain.features.values()))
        assert pack_events([found, plain]) == pack_events([plain, plain])
        assert encode(found) == encode(plain)


def lines(n, shapes=1):
    for i in range(n):
        names = [f"f{j}" for j in range(4 + i % shapes)]
        values = ",".join(f'"{name}":{math.sin(i * 7 + j)!r}' for j, name in enumerate(names))
        yield f'{{"key":"{i}","features":{{{values}}},"time":{i}}}'.encode()


@pytest.mark.parametrize("shapes", [1, 3])
def test_the_log_and_the_models_are_the_same_to_the_bit(shapes):
    """A service that is told events by the core, one by the decoder, and what both recover to."""
    logs, digests = [], []
    for read in (read_event, lambda text: quick.one(text, True)):
        desk = Desk()
        for size in (1, 5, 20, 200):  # alone, in rows of their own, and packed
            texts = list(lines(size, shapes))
            given = [read(text.replace(b'"key":"', b'"key":"%d-' % size)) for text in texts]
            desk.do(add_events, "pay", given)
            told = [
                Label(key=one.key, label="fraud" if i % 3 else "fine")
                for i, one in enumerate(given)
            ]
            desk.do(add_labels, "pay", told)
        logs.append(
            [row[1:] for row in desk.storage.all("select * from log where kind <> 'config'")]
        )
        streams, _, _ = recover(desk.storage)
        digests += [digest(desk.stream.snapshot()), digest(streams["pay"].snapshot())]
    assert logs[0] == logs[1]
    assert len(set(digests)) == 1
