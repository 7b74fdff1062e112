"""Online learning from lopsided streams."""

from __future__ import annotations

# Nothing is imported here: until the command line starts, Python answers Ctrl-C with a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .algorithms.active import Active as Active
    from .algorithms.budget import Budget as Budget
    from .algorithms.decision import Decision as Decision
    from .algorithms.decision import Decisions as Decisions
    from .algorithms.estimate import Estimate as Estimate
    from .algorithms.kernel import KOIL as KOIL
    from .algorithms.kernel import NORMA as NORMA
    from .algorithms.kernel import RBP as RBP
    from .algorithms.kernel import Forgetron as Forgetron
    from .algorithms.kernel import KernelPerceptron as KernelPerceptron
    from .algorithms.kernel import Projectron as Projectron
    from .algorithms.linear import ACOG as ACOG
    from .algorithms.linear import AROW as AROW
    from .algorithms.linear import COG as COG
    from .algorithms.linear import CPA as CPA
    from .algorithms.linear import PAUM as PAUM
    from .algorithms.linear import ROMMA as ROMMA
    from .algorithms.linear import PassiveAggressive as PassiveAggressive
    from .algorithms.linear import Perceptron as Perceptron
    from .algorithms.one_vs_rest import OneVsRest as OneVsRest
    from .algorithms.ranking import OAM as OAM
    from .algorithms.ranking import OPAUC as OPAUC
    from .algorithms.ranking import OPAUCr as OPAUCr
    from .algorithms.recommended import Recommended as Recommended
    from .algorithms.sparse import SSOL as SSOL
    from .algorithms.sparse import AdaFOBOS as AdaFOBOS
    from .algorithms.sparse import AdaRDA as AdaRDA
    from .algorithms.sparse import DualAveraging as DualAveraging
    from .algorithms.sparse import SparseVector as SparseVector
    from .algorithms.sparse import TruncatedGradient as TruncatedGradient
    from .algorithms.weighted_majority import WeightedMajority as WeightedMajority
    from .catalog import learners as learners
    from .catalog import make as make
    from .catalog import register as register
    from .comparison import Comparison as Comparison
    from .comparison import compare as compare
    from .errors import LopsidedError as LopsidedError
    from .evaluation.progress import Progress as Progress
    from .evaluation.progressive import progressive as progressive
    from .evaluation.progressive import progressive_bank as progressive_bank
    from .merging import merge as merge
    from .merging import split as split
    from .papers.sweeps import sparsity_sweep as sparsity_sweep
    from .persist import load as load

if TYPE_CHECKING:
    from typing import Any

# Public names that are not learners, by module; learners come from the catalog.
_OTHERS = {
    "algorithms.budget": ("Budget",),
    "algorithms.decision": ("Decision", "Decisions"),
    "algorithms.estimate": ("Estimate",),
    "algorithms.one_vs_rest": ("OneVsRest",),
    "algorithms.sparse": ("SparseVector",),
    "catalog": ("learners", "make", "register"),
    "comparison": ("Comparison", "compare"),
    "errors": ("LopsidedError",),
    "evaluation.progress": ("Progress",),
    "evaluation.progressive": ("progressive", "progressive_bank"),
    "merging": ("merge", "split"),
    "papers.sweeps": ("sparsity_sweep",),
    "persist": ("load",),
}
_MODULES = ("catalog", "errors", "metrics", "report", "theory")


_HOME: dict[str, str] = {}  # the module of each public name, once one was wanted


def _find_homes() -> None:
    from .catalog_data import ROWS

    _HOME.update({name: module for module, names in _OTHERS.items() for name in names})
    _HOME.update({name: module for module, name in (row["home"].split(":") for row in ROWS)})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # slow to import, seldom needed

        return version("lopsided")
    from importlib import import_module

    if not _HOME:
        _find_homes()
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    public = sorted([*_HOME, *_MODULES])
    if name == "__all__":
        return public
    hint = ""
    if not name.startswith("_"):
        from .estimator.parameters import nearest

        hint = f": {nearest(name, public)}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
