"""How good predictions are. See `python -m benchmarks.quality --help`."""

from .files import load

__all__ = ["load"]
