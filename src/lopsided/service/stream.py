"""A stream: its models and counts, a function of the rows of its log."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct, field

from .account import Account, Calibration, Drift
from .learner import Learner, Met, check_name_count
from .types import (
    Answer,
    Costs,
    Event,
    LabelRow,
    NewModel,
    Refusal,
    Score,
    StreamConfig,
    as_dict,
    encode,
)  # fmt: skip

FIXED = ("positive", "negative", "learner", "parameters")  # settings that cannot change
_BAD = (ValueError, TypeError, OverflowError)  # what estimators raise at bad events


class ModelState(Struct):
    """What is known of a model besides what it has learned."""

    spec: NewModel
    since: int
    account: Account = field(default_factory=Account)
    failed: str | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.spec.name


class State(Struct):
    """Everything of a stream that the log implies, but for the models themselves."""

    config: StreamConfig
    champion: str = ""
    before: str = ""  # the champion before it
    events: int = 0
    flagged: int = 0
    asked: int = 0
    labels: int = 0
    corrections: int = 0
    forgotten: int = 0
    nobody: float = 0.0  # what flagging no event would have cost
    everybody: float = 0.0
    models: list[ModelState] = field(default_factory=list)
    calibration: Calibration = field(default_factory=Calibration)
    scores: Drift = field(default_factory=Drift)
    flags: Drift = field(default_factory=Drift)


class Stream:
    """The models of a stream and what they are fed.

    Nothing here looks at clocks, random numbers or the environment: the same rows of the log give
    the same bits.
    """

    def __init__(self, number: int, name: str, config: StreamConfig) -> None:
        self.id, self.name = number, name
        self.state = State(config)
        self.learners: dict[str, Learner] = {}

    @property
    def config(self) -> StreamConfig:
        """The settings."""
        return self.state.config

    @property
    def champion(self) -> Learner:
        """The model that decides."""
        return self.learners[self.state.champion]

    # Events ---------------------------------------------------------------------------------------

    def meet(self, events: Sequence[Event], times: Sequence[float], seq: int) -> list[Answer]:
        """Decide on events, numbered from `seq` on: on all of them, or on none if one is bad."""
        champion, xs = self.champion, [event.features for event in events]
        try:
            check_name_count(champion, xs, self.config.max_features)
            found = champion.meet(xs, times, self.config.positive)
        except _BAD as error:
            row = getattr(error, "row", None)
            where = f"event {row}: " if row is not None and len(xs) > 1 else ""
            raise Refusal(422, f"{where}{error}") from None
        shadows = self._shadows(xs, times)
        return self._answers(events, found, shadows, seq)

    def _shadows(self, xs: list[Any], times: Sequence[float]) -> dict[str, list[bool]]:
        """Return what the challengers say; one that cannot is out."""
        out = {}
        for known in self.state.models:
            if known.name == self.state.champion or known.failed is not None:
                continue
            learner = self.learners[known.name]
            try:
                found = learner.meet(xs, times, self.config.positive, alone=False)
                if learner.ready:
                    out[known.name] = found.alarm
            except _BAD as error:
                known.failed = str(error)
        return out

    def _answers(
        self, events: Sequence[Event], met: Met, shadows: dict[str, list[bool]], seq: int
    ) -> list[Answer]:
        """Return the answers to events that were met, and count them."""
        state, champion = self.state, self.champion
        sure = champion.probabilities(met.score)
        flags = met.alarm if champion.ready else [False] * len(events)
        own = [i for i, event in enumerate(events) if event.costs is not None]
        if own:
            flags = flags.copy()
        for i in own:
            flags[i] = self._flag(met.alarm[i], sure[i], events[i].costs)
        name, first = state.champion, met.first
        answers = [
            Answer(event.key, seq + i, first + i, score, flag, asked, chance, name, probability)
            for i, (event, score, flag, asked, chance, probability) in enumerate(
                zip(events, met.score, flags, met.asked, met.probability, sure, strict=True)
            )
        ]
        for i in [i for i, asked in enumerate(met.asked) if asked]:
            answer = answers[i]
            unsure = "unsure" if answer.ask_probability >= 0.5 else "check"
            answer.why = "suspected" if answer.flag else unsure
            answer.reasons = champion.reasons(as_dict(events[i].features))
        if shadows:
            for i, answer in enumerate(answers):
                answer.shadow = {name: said[i] for name, said in shadows.items()}
        state.events += len(answers)
        state.flagged += sum(flags)
        state.asked += sum(met.asked)
        state.forgotten += met.forgotten
        state.flags.add(map(float, flags))
        state.scores.add(map(math.tanh, met.score))
        return answers

    def _flag(self, alarm: bool, probability: float | None, costs: Costs | None) -> bool:
        """Decide: by the probability at an event's own prices, else as the model does."""
        if costs is not None and probability is not None:
            return probability * costs.miss >= (1 - probability) * costs.alarm
        return self.champion.ready and alarm

    def score(self, features: Any, costs: Costs | None = None, *, reasons: bool = False) -> Score:
        """Score an event that is not met."""
        champion = self.champion
        if not champion.ready:
            raise Refusal(409, "nothing has been learned yet")
        try:
            features = as_dict(features)
            score, alarm, probability = champion.judged(features, self.config.positive)
        except _BAD as error:
            raise Refusal(422, str(error)) from None
        flag = alarm if costs is None else self._flag(alarm, probability, costs)
        why = champion.reasons(features) if reasons else None
        return Score(score, flag, probability, None, why)

    # Labels ---------------------------------------------------------------------------------------

    def learn(self, label: LabelRow, event: Event, answer: Answer) -> None:
        """Learn from a label of an event that was met."""
        x = event.features
        try:
            self.champion.label(answer.id, x, label.label, label.weight)
        except _BAD as error:
            raise Refusal(422, str(error)) from None
        # A correction is no sample of all labels.
        sampled = answer.asked and label.before is None
        chance = answer.ask_probability if sampled else None
        for known in self.state.models:
            if known.name == self.state.champion or known.failed is not None:
                continue
            if known.since > answer.seq:  # it has not met the event
                continue
            learner = self.learners[known.name]
            try:
                if learner.waits(answer.id):  # it asked itself, while it decided
                    learner.label(answer.id, x, label.label, label.weight)
                else:
                    learner.overhear(x, label.label, label.weight, chance)
            except _BAD as error:
                known.failed = str(error)
        if label.before is not None:
            self.state.corrections += 1
            self._count(label.before, event, answer, -1.0)
        else:
            self.state.labels += 1
        self._count(label.label, event, answer, 1.0)

    def _count(self, label: Any, event: Event, answer: Answer, times: float) -> None:
        """Add a label to the accounts of all models that decided on its event."""
        state, costs = self.state, event.costs or self.config.costs
        positive = label == self.config.positive
        if positive:
            state.nobody += times * costs.miss
        else:
            state.everybody += times * costs.alarm
        shadow = answer.shadow or {}
        for known in state.models:
            if known.name == answer.model:
                known.account.add(answer.flag, answer.flag, positive, costs, times)
            elif known.name in shadow:
                known.account.add(shadow[known.name], answer.flag, positive, costs, times)
        weight = times / answer.ask_probability if answer.asked else 0.0
        if weight:
            state.calibration.add(answer.probability, positive, weight)

    # Models ---------------------------------------------------------------------------------------

    def configure(self, config: StreamConfig) -> None:
        """Take over other settings; the labels and the learner stay."""
        now = self.config
        for name in FIXED:
            if getattr(now, name) != getattr(config, name):
                raise Refusal(422, f"{name} cannot change: add a challenger or another stream")
        try:
            Learner.made(config, asks=True)  # complains before anything changes
        except _BAD as error:
            raise Refusal(422, str(error)) from None
        self._apply(config, self.state.champion)
        self.state.config = config

    def _apply(self, config: StreamConfig, champion: str) -> None:
        """Apply settings to all models, with one of them as champion; to none if one cannot.

        The champion asks and decides at the prices of the stream. A challenger is silent and
        decides at its own prices, if it has any.
        """
        changes: dict[str, Callable[[Learner], None]] = {}
        for known in self.state.models:
            asks, own = known.name == champion, known.spec.costs
            if known.failed is None:
                changes[known.name] = partial(
                    Learner.configure,
                    config=config,
                    costs=config.costs if asks or own is None else own,
                    keep="costs" in known.spec.parameters,
                    asks=asks,
                )
        for name, configure in changes.items():
            try:
                configure(self.learners[name].untaught())
            except _BAD as error:  # noqa: PERF203
                raise Refusal(422, f"{name} cannot take these settings: {error}") from None
        after = self.learners[champion]
        changes.pop(champion)(after)
        if after is not self.champion:  # before that one is silent
            after.model.take_budget(self.champion.model)
        for name, configure in changes.items():
            configure(self.learners[name])

    def add(self, spec: NewModel, blob: bytes, seq: int) -> None:
        """Add a model: the first one decides, others are in the shadow."""
        if spec.name in self.learners:
            raise Refusal(409, f"there is a model {spec.name} already")
        first = not self.learners
        try:
            if blob:
                learner = Learner.loaded(blob)
                learner.price(spec.costs or self.config.costs, keep=False)
                learner.ask_by(self.config) if first else learner.stay_silent()
                learner.model.check_params()
                learner.model.refresh()
            else:
                learner = self._made(spec, asks=first)
            if not first:  # so that its events have the same numbers
                learner.model.take_budget(self.champion.model)
        except (*_BAD, KeyError) as error:
            raise Refusal(422, str(error)) from None
        self.learners[spec.name] = learner
        self.state.models.append(ModelState(spec, seq))
        if first:
            self.state.champion = spec.name

    def _made(self, spec: NewModel, *, asks: bool) -> Learner:
        return Learner.made(
            self.config,
            learner=spec.learner,
            parameters=spec.parameters,
            costs=self.config.costs if asks else spec.costs,
            asks=asks,
        )

    def promote(self, name: str) -> None:
        """Let another model decide, at the prices of the stream; it continues the budget."""
        if name not in self.learners:
            raise Refusal(404, f"there is no model {name}")
        known = next(m for m in self.state.models if m.name == name)
        if known.failed is not None:
            raise Refusal(409, f"{name} has failed: {known.failed}")
        if name == self.state.champion:
            return
        self._apply(self.config, name)
        self.state.before, self.state.champion = self.state.champion, name

    def remove(self, name: str) -> None:
        """Drop a challenger."""
        if name == self.state.champion:
            raise Refusal(409, f"{name} decides: promote another model first")
        if self.learners.pop(name, None) is None:
            raise Refusal(404, f"there is no model {name}")
        self.state.models = [m for m in self.state.models if m.name != name]

    # Snapshots ------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, bytes]:
        """Return everything: the state under the empty name and each model under its own."""
        models = {name: learner.blob() for name, learner in self.learners.items()}
        return {"": encode(self.state), **models}

    def restore(self, parts: dict[str, bytes]) -> None:
        """Go back to a snapshot."""
        self.state = msgspec.json.decode(parts[""], type=State)
        self.learners = {
            known.name: Learner.loaded(parts[known.name])
            if parts[known.name]
            else self._made(known.spec, asks=known.name == self.state.champion)
            for known in self.state.models
        }


def digest(parts: dict[str, bytes]) -> str:
    """Return the SHA-256 of a snapshot."""
    total = hashlib.sha256()
    for name in sorted(parts):
        total.update(hashlib.sha256(name.encode()).digest())
        total.update(hashlib.sha256(parts[name]).digest())
    return total.hexdigest()
