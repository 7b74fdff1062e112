"""The numbers a full covariance is kept in."""

from __future__ import annotations

from ..errors import ParameterError


def check_covariance_dtype(covariance: str, dtype: str) -> None:
    """Raise where the choice has no effect."""
    if covariance != "full" and dtype != "float64":
        raise ParameterError("covariance_dtype", "has an effect only with covariance='full'")


def covariance_kind(learner: str, covariance: str, dtype: str) -> str:
    """Return the name in the core of a learner with this covariance."""
    return f"{learner}-{covariance}" + ("" if dtype == "float64" else f"-{dtype}")
