"""Online learning from lopsided streams."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._decision import Decision as Decision
    from ._decision import Decisions as Decisions
    from ._estimate import Estimate as Estimate
    from .active import Active as Active
    from .auc import OAM as OAM
    from .auc import OPAUC as OPAUC
    from .budget import Budget as Budget
    from .catalog import learners as learners
    from .catalog import make as make
    from .comparison import Comparison as Comparison
    from .comparison import compare as compare
    from .evaluation import Progress as Progress
    from .evaluation import progressive as progressive
    from .evaluation import progressive_bank as progressive_bank
    from .kernel import KOIL as KOIL
    from .kernel import NORMA as NORMA
    from .kernel import RBP as RBP
    from .kernel import Forgetron as Forgetron
    from .kernel import KernelPerceptron as KernelPerceptron
    from .kernel import Projectron as Projectron
    from .linear import ACOG as ACOG
    from .linear import AROW as AROW
    from .linear import COG as COG
    from .linear import CPA as CPA
    from .linear import PAUM as PAUM
    from .linear import ROMMA as ROMMA
    from .linear import PassiveAggressive as PassiveAggressive
    from .linear import Perceptron as Perceptron
    from .persist import load as load
    from .recommended import Recommended as Recommended
    from .sparse import SSOL as SSOL
    from .sparse import AdaFOBOS as AdaFOBOS
    from .sparse import AdaRDA as AdaRDA
    from .sparse import DualAveraging as DualAveraging
    from .sparse import SparseVector as SparseVector
    from .sparse import TruncatedGradient as TruncatedGradient
    from .sweeps import sparsity_sweep as sparsity_sweep

_HOME = {
    **dict.fromkeys(
        ["ACOG", "AROW", "COG", "CPA", "PAUM", "ROMMA", "PassiveAggressive", "Perceptron"], "linear"
    ),
    **dict.fromkeys(
        ["SSOL", "AdaFOBOS", "AdaRDA", "DualAveraging", "SparseVector", "TruncatedGradient"],
        "sparse",
    ),
    **dict.fromkeys(["OAM", "OPAUC"], "auc"),
    **dict.fromkeys(
        ["KOIL", "NORMA", "RBP", "Forgetron", "KernelPerceptron", "Projectron"], "kernel"
    ),
    **dict.fromkeys(["Progress", "progressive", "progressive_bank"], "evaluation"),
    **dict.fromkeys(["Comparison", "compare"], "comparison"),
    **dict.fromkeys(["learners", "make"], "catalog"),
    "Active": "active",
    **dict.fromkeys(["Decision", "Decisions"], "_decision"),
    "Estimate": "_estimate",
    "Budget": "budget",
    "load": "persist",
    "Recommended": "recommended",
    "sparsity_sweep": "sweeps",
}

__all__ = sorted(
    [
        *_HOME,
        "active_bounds",
        "bounds",
        "catalog",
        "label_sweeps",
        "metrics",
        "report",
        "sparse_bounds",
    ]
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # slow to import, seldom needed

        return version("lopsided")
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    if name in __all__:
        return importlib.import_module(f".{name}", __name__)
    hint = ""
    if not name.startswith("_"):
        from ._parameters import nearest

        hint = f": {nearest(name, __all__)}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
