"""Slow, obvious NumPy versions of the learners, for comparison with the library.

Nothing here is shared with the library. Every learner is written from the formulas of its paper,
one dense example at a time, with whole vectors and matrices.
"""

from __future__ import annotations

from .first_order import COG, CPA, PAUM, ROMMA, PassiveAggressive, Perceptron
from .second_order import ACOG, AROW
from .sketch import SACOG
from .sparse import SSOL, AdaFOBOS, AdaRDA, DualAveraging, TruncatedGradient
from .stream import Pass, run

ORACLES = {
    oracle.__name__: oracle
    for oracle in (
        Perceptron,
        ROMMA,
        PassiveAggressive,
        PAUM,
        CPA,
        COG,
        AROW,
        ACOG,
        SACOG,
        TruncatedGradient,
        AdaFOBOS,
        AdaRDA,
        DualAveraging,
        SSOL,
    )
}

__all__ = ["ORACLES", "Pass", "run"]
