"""What the service is sent and what it answers: the one definition of its JSON."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from .. import _core

Key = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Text = Annotated[str, Meta(max_length=2000)]
LabelValue = bool | int | str
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Features = dict[str, bool | float | str]
Show = dict[str, bool | float | str | None]
MOST_EVENTS = 1000  # of one request
Currency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
Format = Annotated[str, Meta(pattern="^([A-Z]{3}|time|duration|percent|plain)$")]


class Costs(Struct, forbid_unknown_fields=True, frozen=True):
    """What mistakes cost: a missed positive and a false alarm."""

    miss: Amount
    alarm: Amount


class Event(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Something that happened. `show` is for people; the model does not see it."""

    key: Key
    features: Features
    time: float | datetime.datetime | None = None
    costs: Costs | None = None
    show: Show | None = None


class Events(Struct, forbid_unknown_fields=True):
    """Several events: all are taken or none."""

    events: Annotated[list[Event], Meta(min_length=1, max_length=MOST_EVENTS)]


class Unkeyed(Struct):
    """An event that is only scored."""

    features: Features
    key: Key | None = None
    costs: Costs | None = None


class ToScore(Struct, forbid_unknown_fields=True):
    """Events to score; nothing is stored or learned."""

    events: Annotated[list[Unkeyed], Meta(min_length=1, max_length=MOST_EVENTS)]


class Answer(Struct, omit_defaults=True, gc=False):
    """What the service says of an event.

    `flag` is the decision; `asked` says whether a person should look, and `why`. `shadow` has the
    decisions of the challengers. Where `stored` is false the disk is full and nothing was kept.
    """

    key: str
    seq: int
    id: int
    score: float
    flag: bool
    asked: bool
    ask_probability: float
    model: str
    probability: float | None = None
    why: str | None = None
    reasons: list[tuple[str, float]] | None = None
    shadow: dict[str, bool] | None = None
    stored: bool = True


class Score(Struct, omit_defaults=True):
    """A score that was not stored."""

    score: float
    flag: bool
    probability: float | None = None
    key: str | None = None
    reasons: list[tuple[str, float]] | None = None


class Label(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What an event turned out to be. With an `id` a repeated call is recognised as such."""

    key: Key
    label: LabelValue
    weight: Annotated[float, Meta(ge=0, le=1e6)] = 1.0
    source: Annotated[str, Meta(max_length=64)] = "system"
    by: Annotated[str, Meta(max_length=64)] | None = None
    id: Key | None = None


class Labels(Struct, forbid_unknown_fields=True):
    """Several labels; each has its own result."""

    labels: Annotated[list[Label], Meta(min_length=1, max_length=1000)]


class LabelResult(Struct, omit_defaults=True):
    """What became of a label.

    `learned`: the first of its event. `corrected`: another one before it. `repeated`: known
    already. `waiting`: kept until its event comes. `refused`: see `error`.
    """

    key: str
    result: str
    seq: int | None = None
    error: str | None = None


class LabelRow(Struct, omit_defaults=True):
    """A label in the log: `event` is the seq of its event, 0 if it is not there yet."""

    key: str
    label: LabelValue
    event: int
    result: str
    weight: float = 1.0
    source: str = "system"
    by: str | None = None
    id: str | None = None
    before: LabelValue | None = None


class Question(Struct, omit_defaults=True):
    """An event whose label is wanted, leased to whoever opened it.

    `costs` are the prices that it was decided by, `stake` is what a miss is expected to cost.
    """

    key: str
    seq: int
    features: dict[str, bool | float | str]
    score: float
    flag: bool
    why: str
    ask_probability: float
    lease: str
    until: float
    time: float
    show: dict[str, Any] | None = None
    probability: float | None = None
    reasons: list[tuple[str, float]] | None = None
    costs: Costs | None = None
    stake: float = 0.0


class Verdict(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A person's answer: a label, or `verdict` "skip", "unsure" or "escalate".

    With `same` the label is that of all open questions whose features are identical.
    """

    key: Key
    lease: Key
    label: LabelValue | None = None
    verdict: Annotated[str, Meta(pattern="^(skip|unsure|escalate)$")] | None = None
    note: Text | None = None
    ms: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    by: Annotated[str, Meta(max_length=64)] | None = None
    same: bool = False


class VerdictResult(Struct, omit_defaults=True):
    """What became of an answer; until `until` it can be undone. `same`: answered along with it."""

    key: str
    result: str
    seq: int | None = None
    until: float | None = None
    same: int = 0


class Assume(Struct, forbid_unknown_fields=True):
    """A policy: an event without a label `after` seconds counts as `label`."""

    label: LabelValue
    after: Annotated[float, Meta(ge=1)]


class StreamConfig(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One kind of event: its labels, prices, learner and budget of labels.

    `currency` is that of the prices; `formats` says how the page shows a feature: as money
    ("EUR"), "time" (seconds since 1970), "duration" (seconds), "percent" or "plain".
    """

    positive: LabelValue = 1
    negative: LabelValue = 0
    costs: Costs = Costs(miss=10.0, alarm=1.0)
    learner: str = "Recommended"
    parameters: dict[str, Any] = {}
    query: str | None = None
    delta: float | None = None
    explore: float = 0.0
    budget: str | int | None = None
    seed: int = 0
    lease: Annotated[float, Meta(ge=1, le=86400)] = 300.0
    hold: Annotated[float, Meta(ge=0, le=3600)] = 2.0
    max_features: Annotated[int, Meta(ge=1)] = 100_000
    hidden: list[str] = []
    assume: Assume | None = None
    keep_days: Annotated[float, Meta(ge=0)] | None = None
    currency: Currency | None = None
    formats: dict[str, Format] = {}


class NewModel(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A challenger, from parameters; with `replay` it begins with what the log still has.

    With `snapshot` it is a copy of the model `of` at that row of the log.
    """

    name: Name
    learner: str = "Recommended"
    parameters: dict[str, Any] = {}
    costs: Costs | None = None
    replay: bool = False
    snapshot: int | None = None
    of: Name | None = None
    by: Annotated[str, Meta(max_length=64)] | None = None


class Promotion(Struct, forbid_unknown_fields=True):
    """Which model is to decide."""

    name: Name


class Failure(Struct):
    """What every error looks like."""

    error: str


class Refusal(Exception):  # noqa: N818
    """A request that is not served: its status and what is said to the client."""

    def __init__(self, status: int, error: str, **headers: str) -> None:
        super().__init__(error)
        self.status, self.error, self.headers = status, error, headers


def as_dict(features: Any) -> dict[str, Any]:
    """Return the features of an event as a dict, also those that the core has read."""
    return features if isinstance(features, dict) else features.dict()


encode = msgspec.json.Encoder(enc_hook=as_dict).encode
read_event = msgspec.json.Decoder(Event).decode
read_answer = msgspec.json.Decoder(Answer).decode

# Reads events in the form that most have, and returns None if it is another one, or wrong: the
# decoders know that then. Features that are all numbers are not made into a dict.
quick: Any = _core.JsonEvents(
    Event,
    msgspec.json.Decoder(float | datetime.datetime | None).decode,
    msgspec.json.Decoder(Costs | None).decode,
    msgspec.json.Decoder(Show | None).decode,
)


def seconds(time: float | datetime.datetime | None, now: float) -> float:
    """Return a time as seconds since 1970; a time without a zone is UTC."""
    if time is None:
        return now
    if isinstance(time, datetime.datetime):
        if time.tzinfo is None:
            time = time.replace(tzinfo=datetime.timezone.utc)
        return time.timestamp()
    return time
