"""The named learners: one entry each. Everything that lists learners reads this."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Mapping
from typing import Any

from .estimator.base import OnlineClassifier
from .estimator.parameters import nearest

_TENS = tuple(10.0**k for k in range(-5, 6))
_FEW = (0.01, 0.1, 1.0, 10.0, 100.0)
_COARSE = (0.1, 10.0, 1000.0)
_TWOS = tuple(2.0**k for k in range(-5, 6))
_WIDE_TWOS = tuple(2.0**k for k in range(-10, 11))
_SPARSE = {"learning_rate": tuple(2.0**k for k in range(-1, 10))}


# Bytes that a model holds at most, by the kind of its learner in the core. d: features, m:
# sketch_size, R: rows kept, r: the bytes of one (8 d if dense, else 12 for each number other than
# 0), P: the next power of two from the rows kept of a class.
_MEMORY = {
    "8 d": (
        "perceptron",
        "romma",
        "passive-aggressive",
        "cost-sensitive-passive-aggressive",
        "paum",
        "cog",
        "dual-averaging",
    ),
    "16 d": (
        "arow-diagonal",
        "acog-diagonal",
        "truncated-gradient",
        "adaptive-rda",
        "ssol-diagonal",
    ),
    "32 d": ("adaptive-fobos",),
    "72 d": ("recommended",),
    "8 (m + 1) d": ("acog-dense-sketch",),
    "8 (m + 4) d": ("acog-sketch",),
    "4 d d + 40 d": ("arow-full", "acog-full", "ssol-full"),
    "2 d d + 48 d": ("arow-full-float32", "acog-full-float32", "ssol-full-float32"),
    "8 d d + 60 d": ("opauc",),
    "R r + 20 d": ("oam",),
    "R r + 16 d": ("kernel-perceptron", "norma", "rbp", "forgetron"),
    "R r + 16 d + 8 R R": ("projectron",),
    "R r + 16 d + 32 P P": ("koil",),
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """One named learner.

    Attributes
    ----------
    name : str
        What users call it.
    home : str
        The class, as "module:Class".
    preset : mapping
        Parameters that make the class this learner.
    purpose : str
        What it is for, in a line.
    paper : str
        Where it is from.
    grid : mapping
        The values to try, by parameter.
    all_values : mapping
        Those its paper tries, where they are too many for every day.
    aliases : tuple of str
        Other names it goes by.
    """

    name: str
    home: str
    preset: Mapping[str, Any]
    purpose: str
    paper: str
    grid: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    all_values: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    aliases: tuple[str, ...] = ()

    @property
    def paper_grid(self) -> Mapping[str, tuple[Any, ...]]:
        """The values its paper tries, by parameter."""
        return self.all_values or self.grid

    @property
    def family(self) -> str:
        """The module of its class: "linear", "sparse", "ranking", "kernel", "active" ..."""
        return self.home.partition(":")[0].rpartition(".")[2]

    @property
    def cls(self) -> type[OnlineClassifier]:
        """The estimator class."""
        module, name = self.home.split(":")
        found: type[OnlineClassifier] = getattr(importlib.import_module(f"lopsided.{module}"), name)
        return found

    @property
    def memory(self) -> str:
        """How many bytes a model holds at most, as `memory` says it."""
        return memory(self.make())

    def make(self, **params: Any) -> OnlineClassifier:
        """Return the estimator, with parameters over the preset."""
        return self.cls.made(**{**self.preset, **params})


_CSOGD = "Wang, Zhao & Hoi 2012 (Cost-Sensitive Online Classification), algorithm 1"
_ACOG = "Zhao et al. 2018 (Adaptive Cost-Sensitive Online Classification), algorithm 1"
_SACOG = "Zhao et al. 2018 (Adaptive Cost-Sensitive Online Classification), algorithm 2"
_SSACOG = "Zhao et al. 2018 (Adaptive Cost-Sensitive Online Classification), algorithm 4"
_PA = "Crammer et al. 2006, section 3"
_ROMMA = "Li & Long 1999"
_AROW = "Crammer, Kulesza & Dredze 2009"
_ADAGRAD = "Duchi, Hazan & Singer 2011"
_OA3 = "Zhang et al. 2019 (Online Adaptive Asymmetric Active Learning)"
_KOIL = "Hu et al. 2015 (Kernelized Online Imbalanced Learning with Fixed Budgets), algorithm 1"
_SOL = "Wang et al. 2016 (A Framework of Sparse Online Learning), algorithm"

# Those that ask where a learner with a covariance is unsure.
_UNSURE: tuple[tuple[str, str, dict[str, Any], str, str], ...] = (
    (
        "SOAL",
        "ACOG-II",
        {"class_weight": None, "delta": 10.0},
        "asks where it is unsure, full second-order memory, blind to costs",
        "Hao et al. 2017",
    ),
    (
        "SOAL-CS",
        "ACOG-I",
        {"delta": 10.0},
        "SOAL with cost-sensitive steps",
        "Hao et al. 2017",
    ),
    *(
        (
            name,
            learner,
            {"delta_pos": 10.0, "delta_neg": 1.0},
            f"asks by class where it is unsure, cost-sensitive, {memory}",
            f"{_OA3}, algorithm {algorithm}",
        )
        for name, learner, memory, algorithm in (
            ("OA3", "ACOG-II", "full second-order memory", 1),
            ("OA3-diag", "ACOG-II-diag", "diagonal second-order memory", 1),
            ("SOA3", "SACOG-II", "sketched second-order memory", 4),
            ("SSOA3", "SSACOG-II", "the same sketch for sparse rows", 7),
        )
    ),
)

CATALOG: tuple[Entry, ...] = (
    Entry(
        "Recommended",
        "algorithms.recommended:Recommended",
        {},
        "good untuned: several of the learners below at once, voting",
        "ours, from Zhao et al. 2018",
    ),
    Entry(
        "Perceptron",
        "algorithms.linear:Perceptron",
        {},
        "baseline blind to costs",
        "Rosenblatt 1958",
    ),
    Entry("ROMMA", "algorithms.linear:ROMMA", {}, "large-margin baseline, nothing to tune", _ROMMA),
    Entry(
        "aROMMA",
        "algorithms.linear:ROMMA",
        {"aggressive": True},
        "ROMMA that also steps on small margins",
        _ROMMA,
        aliases=("agg-ROMMA",),
    ),
    Entry(
        "PA",
        "algorithms.linear:PassiveAggressive",
        {"variant": "PA"},
        "margin baseline, full steps",
        _PA,
    ),
    Entry(
        "PA-I",
        "algorithms.linear:PassiveAggressive",
        {"variant": "PA-I"},
        "margin baseline, capped steps",
        _PA,
        {"C": _TENS},
    ),
    Entry(
        "PA-II",
        "algorithms.linear:PassiveAggressive",
        {"variant": "PA-II"},
        "margin baseline, softened steps",
        _PA,
        {"C": _TENS},
    ),
    Entry(
        "PAUM",
        "algorithms.linear:PAUM",
        {},
        "perceptron with a margin for each class",
        "Li et al. 2002",
    ),
    Entry(
        "CPA",
        "algorithms.linear:CPA",
        {},
        "passive-aggressive with a cost for each class",
        "Crammer et al. 2006, section 9",
        aliases=("CPA_PB",),
    ),
    Entry(
        "COG-I",
        "algorithms.linear:COG",
        {"loss": "I", "learning_rate": 0.2},
        "direct optimisation of weighted sum or cost, cost in the margin",
        _CSOGD,
        {"learning_rate": _TENS},
        aliases=("CSOGD-I",),
    ),
    Entry(
        "COG-II",
        "algorithms.linear:COG",
        {"loss": "II"},
        "direct optimisation of weighted sum or cost, cost in the slope",
        _CSOGD,
        {"learning_rate": _TENS},
        aliases=("CSOGD-II", "CS-OGD"),
    ),
    Entry(
        "AROW",
        "algorithms.linear:AROW",
        {"covariance": "full"},
        "second-order baseline that forgives noise",
        _AROW,
        {"regularization": _TENS},
    ),
    Entry(
        "AROW-diag",
        "algorithms.linear:AROW",
        {"covariance": "diagonal"},
        "AROW at the price of first order",
        _AROW,
        {"regularization": _TENS},
    ),
    *(
        Entry(
            f"ACOG-{loss}{tail}",
            "algorithms.linear:ACOG",
            {"loss": loss, "learning_rate": rate, "covariance": covariance},
            f"cost-sensitive with {what} second-order memory, cost in the {where}",
            _ACOG,
            {"learning_rate": _TENS},
        )
        for covariance, tail, what in (("full", "", "full"), ("diagonal", "-diag", "diagonal"))
        for loss, rate, where in (("I", 1.0, "margin"), ("II", 0.1, "slope"))
    ),
    *(
        Entry(
            f"{name}-{loss}",
            "algorithms.linear:ACOG",
            {"loss": loss, "learning_rate": rate, "covariance": covariance},
            f"cost-sensitive with a sketched second-order memory{tail}, cost in the {where}",
            paper,
            {"learning_rate": _TENS},
        )
        for name, covariance, tail, paper in (
            ("SACOG", "dense-sketch", "", _SACOG),
            ("SSACOG", "sketch", " for sparse rows", _SSACOG),
        )
        for loss, rate, where in (("I", 1.0, "margin"), ("II", 0.1, "slope"))
    ),
    Entry(
        "STG",
        "algorithms.sparse:TruncatedGradient",
        {"period": 10},
        "sparse baseline, weights truncated now and then",
        "Langford, Li & Zhang 2009",
        _SPARSE,
    ),
    Entry(
        "FOBOS",
        "algorithms.sparse:TruncatedGradient",
        {"schedule": "sqrt", "learning_rate": 4.0},
        "sparse baseline, weights shrunk in every round",
        "Duchi & Singer 2009",
        _SPARSE,
    ),
    Entry(
        "Ada-FOBOS",
        "algorithms.sparse:AdaFOBOS",
        {},
        "FOBOS with a rate for each feature",
        _ADAGRAD,
        {**_SPARSE, "delta": _TWOS},
    ),
    Entry(
        "RDA",
        "algorithms.sparse:DualAveraging",
        {"l1_schedule": "rda", "beta": "sqrt", "learning_rate": 16.0},
        "sparse baseline by dual averaging",
        "Xiao 2010",
        _SPARSE,
    ),
    Entry(
        "Ada-RDA",
        "algorithms.sparse:AdaRDA",
        {},
        "RDA with a rate for each feature",
        _ADAGRAD,
        {**_SPARSE, "delta": _TWOS},
    ),
    *(
        Entry(
            f"{prefix}{name}",
            home,
            {**preset, **cost},
            f"{what}{costly}",
            f"{_SOL} {algorithm}",
            grid,
        )
        for prefix, cost, costly, algorithms in (
            ("", {}, "", (3, 5, 4)),
            ("CS-", {"class_weight": "balanced"}, ", cost-sensitive", (6, 7, 7)),
        )
        for (name, home, preset, what, grid), algorithm in zip(
            (
                (
                    "FSOL",
                    "algorithms.sparse:DualAveraging",
                    {},
                    "sparse at the price of first order",
                    _SPARSE,
                ),
                (
                    "SSOL",
                    "algorithms.sparse:SSOL",
                    {},
                    "sparse with diagonal second-order memory",
                    {**_SPARSE, "regularization": _TWOS},
                ),
                (
                    "SSOL-full",
                    "algorithms.sparse:SSOL",
                    {"covariance": "full"},
                    "sparse with full second-order memory",
                    {**_SPARSE, "regularization": _TWOS},
                ),
            ),
            algorithms,
            strict=True,
        )
    ),
    *(
        Entry(
            f"OAM-{variant}",
            "algorithms.ranking:OAM",
            {"variant": variant},
            f"ranks: maximises the AUC against a sample of the other class, {what}",
            "Zhao et al. 2011 (Online AUC Maximization)",
            {"C": _WIDE_TWOS},
        )
        for variant, what in (("seq", "pair after pair"), ("gra", "all pairs at once"))
    ),
    Entry(
        "OPAUC",
        "algorithms.ranking:OPAUC",
        {},
        "ranks: maximises the AUC with mean and covariance of the other class",
        "Gao et al. 2013 (One-Pass AUC Optimization)",
        {
            "learning_rate": tuple(2.0**k for k in range(-12, 11)),
            "regularization": tuple(2.0**k for k in range(-10, 3)),
        },
    ),
    *(
        Entry(
            f"KOIL-{name}",
            "algorithms.kernel:KOIL",
            {"policy": policy},
            f"nonlinear ranking on a budget: {what}",
            _KOIL,
            {"C": _WIDE_TWOS, "gamma": _WIDE_TWOS},
        )
        for name, policy, what in (
            ("RS", "rs", "a random sample of each class is kept"),
            ("RS++", "rs++", "a random sample is kept, the weight of the rest goes to it"),
            ("FIFO", "fifo", "the newest of each class are kept"),
            ("FIFO++", "fifo++", "the newest are kept, the weight of the rest goes to them"),
            ("inf", "infinite", "all are kept, for comparison"),
        )
    ),
    Entry(
        "KernelPerceptron",
        "algorithms.kernel:KernelPerceptron",
        {},
        "nonlinear baseline: every mistake is kept",
        "Freund & Schapire 1999",
        {"gamma": _WIDE_TWOS},
    ),
    Entry(
        "NORMA",
        "algorithms.kernel:NORMA",
        {},
        "nonlinear baseline: gradient steps, weights that fade",
        "Kivinen, Smola & Williamson 2004",
        {"nu": tuple(2.0**k for k in range(-10, 1)), "gamma": _WIDE_TWOS},
    ),
    Entry(
        "RBP",
        "algorithms.kernel:RBP",
        {},
        "nonlinear baseline on a budget: a random row makes room",
        "Cavallanti, Cesa-Bianchi & Gentile 2007",
        {"gamma": _WIDE_TWOS},
    ),
    Entry(
        "Forgetron",
        "algorithms.kernel:Forgetron",
        {},
        "nonlinear baseline on a budget: the oldest row fades and goes",
        "Dekel, Shalev-Shwartz & Singer 2008",
        {"gamma": _WIDE_TWOS},
    ),
    *(
        Entry(
            f"Projectron{plus}",
            "algorithms.kernel:Projectron",
            {"plus_plus": True} if plus else {},
            f"nonlinear baseline: what the kept rows nearly span is not kept{also}",
            "Orabona, Keshet & Caputo 2009",
            {"tolerance": _WIDE_TWOS, "gamma": _WIDE_TWOS},
        )
        for plus, also in (("", ""), ("++", "; steps on small margins too"))
    ),
    Entry(
        "PAA",
        "algorithms.active:Active",
        {"learner": "PA-I"},
        "asks where the score is small, blind to costs",
        "Lu, Zhao & Hoi 2016",
        {"C": _FEW, "delta": _COARSE},
        {"C": _TENS, "delta": _TENS},
    ),
    Entry(
        "OAAL",
        "algorithms.active:Active",
        {
            "learner": "COG-II",
            "class_weight": None,
            "query": "asymmetric",
            "delta_pos": 1.0,
            "delta_neg": 10.0,
        },
        "asks by class, learns blind to costs",
        "Zhang, Yang & Srinivasan 2016",
        {"learning_rate": _FEW, "delta_pos": _COARSE, "delta_neg": _COARSE},
        {"learning_rate": _TENS, "delta_pos": _TENS, "delta_neg": _TENS},
    ),
    Entry(
        "CSOAL",
        "algorithms.active:Active",
        {"learner": "PA-I", "loss": "I", "class_weight": "balanced", "delta": 10.0},
        "asks where the score is small, cost-sensitive steps",
        "Zhao & Hoi 2013",
        {"C": _FEW, "delta": _COARSE},
        {"C": _TENS, "delta": _TENS},
    ),
    *(
        Entry(
            name,
            "algorithms.active:Active",
            {"learner": learner, "query": "confidence", "learning_rate": 1.0} | preset,
            purpose,
            paper,
            {"learning_rate": _FEW, **{k: _COARSE for k in preset if k.startswith("delta")}},
            {"learning_rate": _TENS, **{k: _TENS for k in preset if k.startswith("delta")}},
        )
        for name, learner, preset, purpose, paper in _UNSURE
    ),
)

_BY_NAME = {name.casefold(): entry for entry in CATALOG for name in (entry.name, *entry.aliases)}


def memory(model: OnlineClassifier) -> str:
    """Return how many bytes a model holds at most; scaling and events that wait come on top.

    d: features, m: sketch_size, R: rows kept, r: the bytes of one of them, P: the next power of two
    from the rows kept of a class.

    Examples
    --------
    >>> memory(make("AROW")), memory(make("AROW", covariance_dtype="float32"))
    ('4 d d + 40 d', '2 d d + 48 d')
    """
    kind = model._kind()
    return next(formula for formula, kinds in _MEMORY.items() if kind in kinds)


def learners() -> list[str]:
    """Return the names of all learners.

    Examples
    --------
    >>> "COG-II" in learners()
    True
    """
    return [entry.name for entry in CATALOG]


def find(name: str) -> Entry:
    """Return the entry of a name or alias, whatever its case."""
    entry = _BY_NAME.get(str(name).casefold())
    if entry is None:
        # Variants are counted in Roman numbers.
        roman = re.sub(r"-?([12])(?=-|$)", lambda m: "-" + "I" * int(m[1]), str(name))
        meant = _BY_NAME.get(roman.casefold())
        known = [n for e in CATALOG for n in (e.name, *e.aliases)]
        hint = f"did you mean {meant.name!r}?" if meant else nearest(str(name), known)
        raise ValueError(f"there is no learner {name!r}: {hint}")
    return entry


def make(name: str, **params: Any) -> OnlineClassifier:
    """Return a learner by its name.

    Examples
    --------
    >>> make("acog-ii", learning_rate=100)
    ACOG(covariance='full', learning_rate=100)
    """
    return find(name).make(**params)
