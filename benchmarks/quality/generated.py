"""Payment streams whose true probabilities are known, so that an oracle can be judged beside us.

Columns: the merchant, heavy-tailed; country, device and category, of few values; three log-normal
numbers. A miss costs 60 and an alarm 3, or, per event, a miss costs the amount.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .streams import Floats, Prices, Stream, Table

Columns = dict[str, NDArray[Any]]

MISS, ALARM = 60.0, 3.0
_FEW = {"country": 12, "device": 5, "category": 20}  # different values
_SPREAD = {"merchant": 1.3, "card": 0.3}  # of the effects of their values; others 0.9
_RARE = 50  # events
_NUMBERS = {"amount": (3.5, 1.0), "gap": (8.0, 1.5), "distance": (2.0, 1.3)}  # of the logarithms


@dataclasses.dataclass(frozen=True)
class Family:
    """How the streams of a family are made.

    Attributes
    ----------
    about : str
        In words.
    truth : str
        "logistic": the log-odds are a sum over columns; "rules": over conditions on two columns.
    merchants : pair of int
        Between how many and how many there are.
    cards : int
        Different values of one more column; 0: there is none.
    change : str
        "abrupt": another truth from the middle on; "gradual": it turns into another one.
    noise : pair of float
        The share of positives that is reported as negative, and the other way round.
    late : float
        How long labels take on the average, as a share of the stream.
    swing : float
        How far the log-odds of all events go up and down.
    """

    about: str
    truth: str = "logistic"
    merchants: tuple[int, int] = (15_000, 18_000)
    cards: int = 0
    change: str = ""
    noise: tuple[float, float] = (0.0, 0.0)
    late: float = 0.0
    swing: float = 0.0

    @property
    def still(self) -> bool:
        """Whether the truth is the same all along."""
        return not self.change and not self.swing


FAMILIES = {
    "payments": Family("payments, logistic truth"),
    "rules": Family("payments, rules with interactions", truth="rules"),
    "abrupt": Family("rules, other ones from the middle on", truth="rules", change="abrupt"),
    "gradual": Family("logistic truth that turns into another one", change="gradual"),
    "many": Family("100,000 merchants, 30,000 cards", merchants=(100_000, 100_000), cards=30_000),
    "noise": Family("rules, wrong labels", truth="rules", noise=(0.1, 0.0005)),
    "late": Family("rules, late labels", truth="rules", late=0.03),
    "ratio": Family("logistic truth, the share of fraud goes up and down", swing=1.2),
}


def generate(family: str, rows: int, seed: int) -> Stream:
    """Return a stream of a family."""
    made = FAMILIES[family]
    rng = np.random.default_rng([seed, list(FAMILIES).index(family)])
    columns = _columns(rng, rows, made)
    place = np.arange(rows) / rows
    log_odds = _log_odds(rng, columns, made, place)
    log_odds += made.swing * np.sin(3 * np.pi * place)
    truth = _sigmoid(log_odds + _intercept(log_odds, rng.uniform(0.006, 0.008)))
    lost, wrong = made.noise
    truth = truth * (1 - lost) + (1 - truth) * wrong
    y = rng.random(rows) < truth
    delay = None
    if made.late:
        delay = np.ceil(rng.exponential(made.late * rows, rows)).astype(np.int64)
    return Stream(
        name=f"{family}/{seed}",
        rows=_table(columns),
        y=y,
        own={"own": Prices(MISS, ALARM), "per event": Prices(columns["amount"], ALARM)},
        delay=delay,
        truth=truth,
        change=rows // 2 if made.change == "abrupt" else None,
    )


def _columns(rng: np.random.Generator, rows: int, made: Family) -> Columns:
    merchants = int(rng.integers(*made.merchants, endpoint=True))
    columns: Columns = {"merchant": _heavy_tailed(rng, rows, merchants)}
    if made.cards:
        columns["card"] = _heavy_tailed(rng, rows, made.cards)
    for name, values in _FEW.items():
        columns[name] = rng.choice(values, rows, p=rng.dirichlet(np.full(values, 2.0)))
    for name, (mean, deviation) in _NUMBERS.items():
        # to cents, as they would be in a file
        columns[name] = np.round(rng.lognormal(mean, deviation, rows), 2) + 0.01
    return columns


def _heavy_tailed(rng: np.random.Generator, rows: int, values: int) -> NDArray[np.int64]:
    weights = (np.arange(values) + 5.0) ** -1.15
    names = rng.permutation(values)  # the name says nothing about how frequent it is
    return names[np.searchsorted(np.cumsum(weights / weights.sum())[:-1], rng.random(rows))]


def _table(columns: Columns) -> Table:
    numbers = {name: columns[name] for name in _NUMBERS}
    texts = {
        name: np.char.add(name[0], values.astype(str))
        for name, values in columns.items()
        if name not in numbers
    }
    return Table(numbers, texts)


def _log_odds(rng: np.random.Generator, columns: Columns, made: Family, place: Floats) -> Floats:
    """Return the log-odds of all events, up to a constant."""
    draw = {"logistic": _logistic, "rules": _rules}[made.truth]
    before = draw(rng, columns)
    if made.change == "abrupt":
        return np.where(place < 0.5, before, draw(rng, columns))
    if made.change == "gradual":
        angle = place * np.pi / 2
        middle = before.mean()
        after = draw(rng, columns)
        return np.cos(angle) * (before - middle) + np.sin(angle) * (after - after.mean())
    return before


def _logistic(rng: np.random.Generator, columns: Columns) -> Floats:
    total = np.zeros(len(columns["amount"]))
    for name, values in columns.items():
        if name in _NUMBERS:
            mean, deviation = _NUMBERS[name]
            sign = 1.0 if name == "amount" else rng.choice([-1.0, 1.0])
            total += 0.8 * sign * (np.log(values) - mean) / deviation
        else:
            spread = _SPREAD.get(name, 0.9)
            count = np.bincount(values)
            effect = spread * rng.standard_normal(len(count))
            # little is special about rare values: most of what there is to know can be learned
            total += (effect * count / (count + _RARE))[values]
    return total


def _rules(rng: np.random.Generator, columns: Columns) -> Floats:
    count = np.bincount(columns["merchant"])
    risky = (rng.random(len(count)) < 0.12) & (count > _RARE)
    at_risk = risky[columns["merchant"]]
    total = 2.4 * at_risk
    names = [*_FEW, *_NUMBERS]
    for name in names:
        total += rng.uniform(1.0, 2.0) * _condition(rng, name, columns[name])
    for pair in (rng.choice([*names, "merchant"], 2, replace=False) for _ in range(3)):
        met = [
            at_risk if name == "merchant" else _condition(rng, name, columns[name]) for name in pair
        ]
        total += rng.uniform(0.8, 1.6) * (met[0] & met[1])
    return total


def _condition(rng: np.random.Generator, name: str, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a condition holds that about a fifth of the events meet."""
    if name in _NUMBERS:
        mean, deviation = _NUMBERS[name]
        scores = (np.log(values) - mean) / deviation
        return scores > 0.84 if rng.random() < 0.5 else scores < -0.84
    some = rng.choice(_FEW[name], max(1, _FEW[name] // 5), replace=False)
    return np.isin(values, some)


def _intercept(log_odds: Floats, rate: float) -> float:
    """Return the constant that makes a share of the events positive, by bisection."""
    low, high = -60.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        if _sigmoid(log_odds + middle).mean() < rate:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _sigmoid(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-values))
