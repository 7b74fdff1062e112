"""The theorems of the papers as functions of a run."""

from . import active_bounds, bounds, kernel_bounds, sparse_bounds, sparse_framework

__all__ = ["active_bounds", "bounds", "kernel_bounds", "sparse_bounds", "sparse_framework"]
