"""The rules that say how much a label is wanted, and the parameters that belong to each."""

from __future__ import annotations

from typing import Any

from ..errors import Parameter, ParameterError
from .budget import Budget

_PROBABILITY = ("give ", Parameter("probability"))
_DELTAS = ("give ", Parameter("delta_pos"), " and ", Parameter("delta_neg"))
QUERIES = ("auto", "always", "random", "margin", "asymmetric", "confidence", "uncertainty")
# Which of the parameters of a question have an effect on which rule.
NEEDS: dict[str, tuple[str, ...]] = {
    "always": (),
    "random": ("probability",),
    "margin": ("delta",),
    "asymmetric": ("delta_pos", "delta_neg"),
    "confidence": ("delta", "delta_pos", "delta_neg"),
    "uncertainty": ("probability",),
}
_RATE = 0.4  # of a query by uncertainty, without a budget that gives one
_SLACK = 1.5  # how much more than the budget gives is wanted, so that it is spent
RULE_PARAMETERS = ("delta", "delta_pos", "delta_neg", "probability")


def rule_of(asker: Any, inner: Any) -> str:
    """Return the rule that an asker goes by."""
    if asker.query != "auto":
        return str(asker.query)
    return "uncertainty" if inner._log_odds and asker.delta is None else "margin"


def check_query(asker: Any, inner: Any) -> None:
    """Raise unless the parameters of an asker suit its rule and its learner."""
    query = rule_of(asker, inner)
    for name in RULE_PARAMETERS:
        if getattr(asker, name) is not None and name not in NEEDS[query]:
            raise ParameterError(name, f"has no effect on query={query!r}")
    pair = asker.delta_pos is not None, asker.delta_neg is not None
    if query == "random" and asker.probability is None:
        raise ParameterError("query", "needs probability", value=query, remedy=[_PROBABILITY])
    if any(pair) != all(pair) or (query == "asymmetric" and not all(pair)):
        raise ParameterError(
            "query", "needs both delta_pos and delta_neg", value=query, remedy=[_DELTAS]
        )
    if any(pair) and asker.delta is not None:
        raise ParameterError("delta", "excludes delta_pos and delta_neg: give it or those two")
    if query == "confidence" and not inner._has_variance:
        raise ParameterError(
            "query",
            "needs a learner with a covariance, as ACOG and AROW are; "
            f"for {type(inner).__name__} use 'margin'",
            value=query,
        )
    if asker.explore and query == "always":
        raise ParameterError("explore", "has no effect on query='always'")


def query_options(asker: Any, inner: Any, budget: Budget | None) -> dict[str, Any]:
    """Return the options of the core for the rule of an asker."""
    both = 1.0 if asker.delta is None else asker.delta
    query = rule_of(asker, inner)
    probability = 1.0 if asker.probability is None else asker.probability
    if query == "uncertainty" and asker.probability is None:
        probability = _rate(budget)
    return {
        "query": "margin" if query == "asymmetric" else query,
        "delta_pos": float(both if asker.delta_pos is None else asker.delta_pos),
        "delta_neg": float(both if asker.delta_neg is None else asker.delta_neg),
        "probability": float(probability),
        "explore": float(asker.explore),
        "query_seed": float(asker.seed),
        "max_pending": float(asker.max_pending),
    }


def _rate(budget: Budget | None) -> float:
    """Return the share of events to ask about by uncertainty, where nobody says."""
    options = {} if budget is None else budget.options()
    events = 1.0 if "budget_share" in options else float(options.get("budget_per", 0.0))
    if not events:  # a number of labels, or a day: nobody knows of how many events
        return _RATE
    labels = float(options["budget"]) / float(options.get("budget_price", 1.0))
    return min(1.0, _SLACK * labels / events)
