"""Budgets: how many labels may be bought."""

from __future__ import annotations

import dataclasses
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..estimator import state as entry
from ..estimator.parameters import is_number

_TEXT = re.compile(
    r"(?P<amount>\d+(?:\.\d+)?)\s*"
    r"(?:(?P<percent>%)|[^\d@/%.]*@\s*(?P<price>\d+(?:\.\d+)?))?"
    r"(?:\s*/\s*(?P<per>\d+|day))?"
)
_EXAMPLES = "'1000', '5%', '20/1000', '50/day' or '300EUR@1.5'"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Budget:
    """How many labels may be bought. One of labels, fraction and money says how much there is.

    A model whose budget changes counts the labels it has bought; where the kind of
    period changes, the first one begins with the next event.

    Parameters
    ----------
    labels : int, optional
        The number of labels.
    fraction : float, optional
        This share of the events so far, rounded down: it holds at every moment.
    length : int, optional
        With fraction: the share of a stream of this many events, to be spent at any time.
    money : float, optional
        As many labels as this pays for.
    price : float, optional
        With money: what a label costs.
    per : int or "day", optional
        With labels or money: renewed every this many events, or every day (UTC).
        An event that comes after one of a later day counts for the later day; one that is more
        than 366 days from the latest day so far is an error, for it is likely a slip.
    saving : bool
        With per: what is not spent in one period can be spent in later ones, and so can money that
        did not pay for a whole label.

    Examples
    --------
    >>> Budget(labels=20, per=1000)
    Budget(labels=20, per=1000)
    >>> Budget.parse("5%").fraction
    0.05
    """

    labels: int | None = None
    fraction: float | None = None
    length: int | None = None
    money: float | None = None
    price: float | None = None
    per: Any = None
    saving: bool = False

    def __post_init__(self) -> None:
        given = [n for n in ("labels", "fraction", "money") if getattr(self, n) is not None]
        if len(given) != 1:
            raise InputError("a budget has one of labels, fraction and money")
        kind = given[0]
        _check("labels", self.labels, lambda v: _is_whole(v, 0), "a whole number from 0 to 2**53")
        _check("fraction", self.fraction, lambda v: 0 < v <= 1, "a number above 0 and up to 1")
        _check("length", self.length, lambda v: _is_whole(v, 1), "a whole number of at least 1")
        _check("money", self.money, lambda v: v >= 0, "a number that is not negative")
        _check("price", self.price, lambda v: v > 0, "a positive number")
        if self.per != "day":
            _check("per", self.per, lambda v: _is_whole(v, 1), "a number of events or 'day'")
        for name, used in (
            ("length", kind == "fraction"),
            ("price", kind == "money"),
            ("per", kind != "fraction"),
            ("saving", self.per is not None),
        ):
            if not used and getattr(self, name) not in (None, False):
                raise ParameterError(name, f"has no effect on a budget of this kind, {self!r}")
        if not isinstance(self.saving, (bool, np.bool_)):
            raise ParameterError(
                "saving", "is invalid: it is True or False", value=self.saving, owner="budget"
            )
        if kind == "money" and self.price is None:
            raise ParameterError("money", "needs price: what a label costs", owner="budget")

    @classmethod
    def parse(cls, text: str, *, saving: bool = False) -> Budget:
        """Return the budget that a text stands for.

        Parameters
        ----------
        text : str
            "1000" labels, "5%" of the events so far, "20/1000" or "50/day" labels in each period,
            "300EUR@1.5" for as many as 300 pays for at 1.5 each, also with a period.
        saving : bool
            As above.
        """
        found = _TEXT.fullmatch(text.strip())
        if not found or (found["percent"] and found["per"]):
            raise InputError(f"{text!r} is not a budget; it must look like {_EXAMPLES}")
        amount, per = found["amount"], found["per"]
        period = per if per in (None, "day") else int(per)
        if found["percent"]:
            return cls(fraction=float(Fraction(amount) / 100), saving=saving)
        if found["price"]:
            money = float(amount)
            return cls(money=money, price=float(found["price"]), per=period, saving=saving)
        if "." in amount:
            raise InputError(f"{text!r} is not a whole number of labels; a share is like '5%'")
        return cls(labels=int(amount), per=period, saving=saving)

    def __repr__(self) -> str:
        changed = (
            f"{f.name}={getattr(self, f.name)!r}"
            for f in dataclasses.fields(self)
            if getattr(self, f.name) != f.default
        )
        return f"Budget({', '.join(changed)})"

    def options(self) -> dict[str, Any]:
        """Return the numbers that the core knows a budget by."""
        if self.fraction is not None and self.length is not None:
            return {"budget": float(math.floor(_exact(self.fraction) * self.length))}
        if self.fraction is not None:
            return {**_ratio(_exact(self.fraction)), "budget_share": True}
        if self.money is not None and self.price is not None:
            options = _ratio(_exact(self.money) / _exact(self.price))
        else:
            options = {"budget": float(self.labels or 0)}
        if self.per is None:
            return options
        period = {"budget_daily": True} if self.per == "day" else {"budget_per": float(self.per)}
        return {**options, **period, "budget_saving": bool(self.saving)}

    @property
    def at_first(self) -> float:
        """How many labels may be bought before the first event."""
        options = self.options()
        if "budget_share" in options:
            return 0.0
        return float(options["budget"] // options.get("budget_price", 1.0))


def carried_over(
    state: dict[str, Any], before: dict[str, Any], now: dict[str, Any]
) -> dict[str, Any]:
    """Return the state of a model whose budget changes, from its options before and now.

    Labels bought so far count, but periods of another kind begin with the next event.
    """
    if now.get("budget_pace"):
        state = {entry.BUDGET_ELAPSED: 0.0, **state}
    if now["query"] == "uncertainty":
        counted = entry.QUERY_POSITIVES, entry.QUERY_NEGATIVES, entry.QUERY_EVENTS
        state = {**dict.fromkeys(counted, 0), entry.QUERY_UNCERTAINTY: 0.0, **state}
    kinds = [
        (options.get("budget_daily", False), options.get("budget_per", 0.0))
        for options in (before, now)
    ]
    daily, per = kinds[1]
    if kinds[0] != kinds[1]:
        begun = 0 if daily else 1  # the day of the next event is not known yet
        start = {entry.BUDGET_BEGUN: begun, entry.BUDGET_FIRST: float(state[entry.BUDGET_EVENTS])}
        return {**state, **start, entry.BUDGET_PERIOD: 0, entry.BUDGET_SPENT: 0}
    if (daily or per) and now.get("budget_saving") and not before.get("budget_saving"):
        gone = state[entry.BUDGET_PERIOD] * (per or 1)  # nothing was saved of these
        first = state[entry.BUDGET_FIRST] + gone
        return {**state, entry.BUDGET_FIRST: first, entry.BUDGET_PERIOD: 0}
    return state


def as_budget(value: Any) -> Budget | None:
    """Return the budget that a parameter stands for; None is no limit."""
    if value is None or isinstance(value, Budget):
        return value
    if isinstance(value, str):
        return Budget.parse(value)
    if is_number(value):
        if value == int(value) and value != 1.0:
            return Budget(labels=int(value))
        if 0 < value < 1:
            return Budget(fraction=float(value))
        if isinstance(value, (int, np.integer)):
            return Budget(labels=int(value))
    raise ParameterError(
        "budget",
        f"is invalid: it must be a number of labels, a share below 1, a text "
        f"like {_EXAMPLES}, a Budget or None",
        value=value,
    )


def _ratio(labels: Fraction) -> dict[str, Any]:
    """Return two whole numbers, so that a share or a price is not rounded."""
    if labels.denominator == 1 or max(labels.numerator, labels.denominator) >= 2**40:
        return {"budget": float(labels)}
    return {"budget": float(labels.numerator), "budget_price": float(labels.denominator)}


def _exact(value: float) -> Fraction:
    """Return the number that was written, so that 0.3 pays for three labels at 0.1."""
    return Fraction(repr(float(value)))


def _is_whole(value: Any, low: int) -> bool:
    return bool(value == int(value) and low <= value < 2**53)


def _check(name: str, value: Any, good: Any, wanted: str) -> None:
    if value is not None and not (is_number(value) and good(value)):
        raise ParameterError(name, f"is invalid: it must be {wanted}", value=value, owner="budget")
