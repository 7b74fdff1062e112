"""The theorems of the papers as functions of a run."""

from . import active_bounds, bounds, sparse_bounds

__all__ = ["active_bounds", "bounds", "sparse_bounds"]
