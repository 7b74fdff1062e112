"""What the papers claim about their experiments, tested on results."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from . import claim_tests as tests
from .results import Result


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim on one data set: whether it holds, and by how much, in words."""

    set: str
    holds: bool
    by: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper.

    Attributes
    ----------
    paper, where, text : str
        Which paper, where in it, and what it says.
    experiments : tuple of str
        The experiments that can decide it.
    test : callable
        Takes a result; returns whether it holds and by how much, or None if it does not speak
        about the claim.
    """

    paper: str
    where: str
    text: str
    experiments: tuple[str, ...]
    test: tests.Test

    def findings(self, results: Iterable[Result]) -> list[Finding]:
        """Return what the results say about it, one finding per result."""
        found = []
        for result in results:
            if result.experiment in self.experiments and result.data:
                told = self.test(result)
                if told is not None:
                    found.append(Finding(set=self._named(result), holds=told[0], by=told[1]))
        return found

    def _named(self, result: Result) -> str:
        """Return the data set, with table, metric and what it stands in for."""
        words = []
        if len(self.experiments) > 1:
            words.append(" ".join(result.experiment.split("-")[1:]))
        if result.metric == "cost":
            words.append("cost")
        if result.substitute:
            words.append(f"in place of {result.set}")
        elif result.other_data:
            words.append("other data")
        return result.data + (f" ({', '.join(words)})" if words else "")


CLAIMS = (
    Claim(
        paper="CSOGD",
        where="Section V",
        text="CSOGD is better than all cost-insensitive and cost-sensitive baselines",
        experiments=("csogd-table-2",),
        test=tests.leads("CSOGD"),
    ),
    Claim(
        paper="CSOGD",
        where="Section V",
        text="the cost-sensitive baselines PAUM and CPA are better than the cost-insensitive ones",
        experiments=("csogd-table-2",),
        test=tests.leads(("PAUM", "CPA"), ("Perceptron", "ROMMA", "agg-ROMMA", "PA-I", "PA-II")),
    ),
    Claim(
        paper="ACOG",
        where="Tables 2, 3, 8",
        text="ACOG is better than all other learners",
        experiments=("acog-table-2", "acog-table-3", "acog-table-8"),
        test=tests.leads("ACOG"),
    ),
    Claim(
        paper="ACOG",
        where="Tables 2, 3, 8",
        text="ACOG is better than COG with the same loss",
        experiments=("acog-table-2", "acog-table-3", "acog-table-8"),
        test=tests.pairs(("ACOG-I", "COG-I"), ("ACOG-II", "COG-II")),
    ),
    Claim(
        paper="ACOG",
        where="Tables 2, 3, 8",
        text="second-order AROW is better than the first-order learners",
        experiments=("acog-table-2", "acog-table-3", "acog-table-8"),
        test=tests.leads("AROW", ("Perceptron", "ROMMA", "PA-I", "PAUM", "CPA", "COG-I", "COG-II")),
    ),
    Claim(
        paper="ACOG",
        where="Table 2",
        text="ACOG has the highest sensitivity",
        experiments=("acog-table-2",),
        test=tests.leads("ACOG", figure="sensitivity"),
    ),
    Claim(
        paper="ACOG",
        where="Tables 2, 8",
        text="ACOG with the diagonal is faster than with the full covariance",
        experiments=("acog-table-2", "acog-table-8"),
        test=tests.faster(("ACOG-I-diag", "ACOG-I"), ("ACOG-II-diag", "ACOG-II")),
    ),
    Claim(
        paper="ACOG",
        where="Figures 2, 4",
        text="at every weight ACOG is better than the others",
        experiments=("acog-figure-2", "acog-figure-4"),
        test=tests.everywhere("ACOG-I", "ACOG-II", "ACOG-I-diag", "ACOG-II-diag"),
    ),
    Claim(
        paper="ACOG",
        where="Figure 5",
        text="loss II is less sensitive to the learning rate than loss I (mean over the rates)",
        experiments=("acog-figure-5",),
        test=tests.robust_to_rates,
    ),
    Claim(
        paper="ACOG",
        where="Figure 7",
        text="the covariance after the row is slightly better than the one before it",
        experiments=("acog-figure-7",),
        test=tests.between("new", "old"),
    ),
    Claim(
        paper="ACOG",
        where="Figure 8",
        text="estimated class counts are as good as known ones (within half a point)",
        experiments=("acog-figure-8",),
        test=tests.between("estimated", "known", within=0.005),
    ),
    Claim(
        paper="ACOG",
        where="Tables 5, 8",
        text="SSACOG is faster than ACOG",
        experiments=("acog-table-5", "acog-table-8"),
        test=tests.faster(("SSACOG-I", "ACOG-I"), ("SSACOG-II", "ACOG-II")),
    ),
    Claim(
        paper="ACOG",
        where="Tables 5, 8",
        text="SSACOG loses little against ACOG (at most 2 %)",
        experiments=("acog-table-5", "acog-table-8"),
        test=tests.pairs(("SSACOG-I", "ACOG-I"), ("SSACOG-II", "ACOG-II"), within=0.02),
    ),
    Claim(
        paper="ACOG",
        where="Table 6",
        text="the sparse sketch is faster than the dense one",
        experiments=("acog-table-6",),
        test=tests.faster(("SSACOG-I", "SACOG-I"), ("SSACOG-II", "SACOG-II")),
    ),
    Claim(
        paper="ACOG",
        where="Table 8",
        text="PAUM and CPA are better than Perceptron and PA-I",
        experiments=("acog-table-8",),
        test=tests.pairs(("PAUM", "Perceptron"), ("CPA", "PA-I")),
    ),
    Claim(
        paper="OA3",
        where="Tables 2, 3",
        text="OA3 is better than the other learners that ask",
        experiments=("oa3-table-2", "oa3-table-3"),
        test=tests.leads(("OA3", "SOA3", "SSOA3")),
    ),
    Claim(
        paper="OA3",
        where="Tables 2, 3",
        text="asymmetric queries (OAAL) or steps (CSOAL) are better than symmetric ones (PAA)",
        experiments=("oa3-table-2", "oa3-table-3"),
        test=tests.pairs(("OAAL", "PAA"), ("CSOAL", "PAA")),
    ),
    Claim(
        paper="OA3",
        where="Tables 2, 3",
        text="second-order learners that ask are better than first-order ones",
        experiments=("oa3-table-2", "oa3-table-3"),
        test=tests.leads(("OA3", "SOAL"), ("PAA", "OAAL", "CSOAL")),
    ),
    Claim(
        paper="OA3",
        where="Tables 2, 3",
        text="OA3 has the highest sensitivity",
        experiments=("oa3-table-2", "oa3-table-3"),
        test=tests.leads(("OA3", "SOA3", "SSOA3"), figure="sensitivity"),
    ),
    Claim(
        paper="OA3",
        where="Table 2",
        text="OA3-diag, SOA3 and SSOA3 are faster than OA3",
        experiments=("oa3-table-2",),
        test=tests.faster(("OA3-diag", "OA3"), ("SOA3", "OA3"), ("SSOA3", "OA3")),
    ),
    Claim(
        paper="OA3",
        where="Figures 3, 4",
        text="OA3 is better than the others at every budget",
        experiments=("oa3-figure-3", "oa3-figure-4"),
        test=tests.everywhere("OA3", "OA3-diag", "SOA3", "SSOA3"),
    ),
    Claim(
        paper="OA3",
        where="Figure 5",
        text="more questions about positive predictions are better",
        experiments=("oa3-figure-5",),
        test=tests.asks_positives,
    ),
    Claim(
        paper="OA3",
        where="Figure 5",
        text="two large biases are as good as the best within 2 points, two small ones are not",
        experiments=("oa3-figure-5",),
        test=tests.first_come,
    ),
    Claim(
        paper="OA3",
        where="Figure 6",
        text="OA3 is better than the others at every weight",
        experiments=("oa3-figure-6",),
        test=tests.everywhere("OA3", "OA3-diag", "SOA3", "SSOA3"),
    ),
    Claim(
        paper="KOIL",
        where="Table 1",
        text="KOIL has a higher AUC than the baselines",
        experiments=("koil-table-1",),
        test=tests.leads("KOIL"),
    ),
    Claim(
        paper="KOIL",
        where="Table 1",
        text="KOIL is significantly better than all kernel baselines",
        experiments=("koil-table-1",),
        test=tests.significant("NORMA", "RBP", "Forgetron", "Projectron", "Projectron++"),
    ),
    Claim(
        paper="KOIL",
        where="Figure 1",
        text="the policies with ++ are better than those without once the buffers are full",
        experiments=("koil-figure-1",),
        test=tests.compensated,
    ),
    Claim(
        paper="KOIL",
        where="Figure 1",
        text="the policies with ++ are as good as unlimited buffers",
        experiments=("koil-figure-1",),
        test=tests.as_unlimited,
    ),
    Claim(
        paper="KOIL",
        where="Figure 2",
        text="larger buffers help up to a point",
        experiments=("koil-figure-2",),
        test=tests.saturates,
    ),
    Claim(
        paper="KOIL",
        where="Figure 3",
        text="a tenth of the buffer is a good number of neighbours (within 0.5 of the best)",
        experiments=("koil-figure-3",),
        test=tests.tenth,
    ),
    Claim(
        paper="SOL",
        where="Figures 1, 2",
        text="dual averaging keeps its error as sparsity grows, truncation does not",
        experiments=("sol-figure-1", "sol-figure-2"),
        test=tests.keeps_error,
    ),
    Claim(
        paper="SOL",
        where="Figure 1",
        text="on the synthetic set the error of dual averaging jumps past 90 %",
        experiments=("sol-figure-1",),
        test=tests.jumps,
    ),
    Claim(
        paper="SOL",
        where="Figures 1, 2",
        text="SSOL has the lowest error at high sparsity",
        experiments=("sol-figure-1", "sol-figure-2"),
        test=tests.ssol_best,
    ),
    Claim(
        paper="SOL",
        where="Figures 4, 5",
        text="CS-SSOL is best at 1:99",
        experiments=("sol-figure-4", "sol-figure-5"),
        test=tests.sensitive_best,
    ),
    Claim(
        paper="SOL",
        where="Figures 4, 5",
        text="cost-sensitive forms are better at 1:99",
        experiments=("sol-figure-4", "sol-figure-5"),
        test=tests.beats_insensitive,
    ),
)


def rows(results: Sequence[Result]) -> list[list[str]]:
    """Return the table of claims: claim, where, holds, does not hold, by how much."""
    found = []
    for claim in CLAIMS:
        findings = claim.findings(results)
        if not findings:
            found.append([claim.text, f"{claim.paper}, {claim.where}", "not tested", "", ""])
            continue
        told = (
            ", ".join(dict.fromkeys(f.set for f in findings if f.holds is held)) or "–"
            for held in (True, False)
        )
        by = "; ".join(f"{f.set}: {f.by}" for f in findings)
        found.append([claim.text, f"{claim.paper}, {claim.where}", *told, by])
    return found


HEADER = ("claim", "where", "holds on", "does not hold on", "by how much")
