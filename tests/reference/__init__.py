"""Slow, obvious NumPy versions of the learners, for comparison with the library.

Nothing here is shared with the library. Every learner is written from the formulas of its paper,
one dense example at a time, with whole vectors and matrices.
"""

from __future__ import annotations

from lopsided.catalog_data import ROWS

from . import auc, first_order, kernel, second_order, sketch, sparse
from .stream import Pass, run

LEARNERS = {row["home"].partition(":")[2] for row in ROWS}


def oracles(*modules):
    """The oracles of some modules: those that are called like a class of the library."""
    return {
        name: oracle
        for module in modules
        for name, oracle in vars(module).items()
        if name in LEARNERS and oracle.__module__ == module.__name__
    }


ORACLES = oracles(first_order, second_order, sparse) | {"SACOG": sketch.SACOG}  # ACOG's sketches
AUC_ORACLES = oracles(auc)
KERNEL_ORACLES = oracles(kernel)

__all__ = ["AUC_ORACLES", "KERNEL_ORACLES", "ORACLES", "Pass", "run"]
