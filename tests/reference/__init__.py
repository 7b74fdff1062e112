"""Slow, obvious NumPy versions of the learners, for comparison with the library.

Nothing here is shared with the library. Every learner is written from the formulas of its paper,
one dense example at a time, with whole vectors and matrices.
"""

from __future__ import annotations

from .auc import OAM, OPAUC
from .first_order import COG, CPA, PAUM, ROMMA, PassiveAggressive, Perceptron
from .kernel import KOIL, NORMA, RBP, Forgetron, KernelPerceptron, Projectron
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

AUC_ORACLES = {oracle.__name__: oracle for oracle in (OAM, OPAUC)}
KERNEL_ORACLES = {
    oracle.__name__: oracle
    for oracle in (KernelPerceptron, NORMA, RBP, Forgetron, Projectron, KOIL)
}

__all__ = ["AUC_ORACLES", "KERNEL_ORACLES", "ORACLES", "Pass", "run"]
