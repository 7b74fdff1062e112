"""The tests of significance are those of SciPy."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats

from lopsided.comparison.statistics import _incomplete_beta, paired_t, wilcoxon


@pytest.mark.parametrize("n", [2, 3, 5, 10, 20, 25, 26, 60, 400])
@pytest.mark.parametrize("shift", [0.0, 0.3, 3.0, -40.0])
def test_the_t_test_is_that_of_scipy(n, shift):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=n) + shift, rng.normal(size=n)
    assert paired_t(a, b) == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, rel=1e-9, abs=0)


def test_the_incomplete_beta_is_that_of_scipy():
    for a in (0.5, 1, 2.5, 9.5, 200, 5000):
        for b in (0.5, 1, 7):
            for x in (0, 1e-12, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-12, 1):
                expected = scipy.stats.beta.cdf(x, a, b)
                assert _incomplete_beta(a, b, x) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("n", [2, 3, 6, 20, 25])
@pytest.mark.parametrize("shift", [0.0, 0.5, 3.0])
def test_wilcoxon_is_exact_for_few_pairs(n, shift):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=n) + shift, rng.normal(size=n)
    expected = scipy.stats.wilcoxon(a, b, method="exact").pvalue
    assert wilcoxon(a, b) == pytest.approx(expected, rel=1e-12)


def rounded(n, digits, shift):
    rng = np.random.default_rng(n)
    return np.round(2 * rng.normal(size=n) + shift, digits), np.round(rng.normal(size=n), digits)


@pytest.mark.parametrize("n", [2, 4, 7, 11])
@pytest.mark.parametrize("shift", [0.0, 1.0, 4.0])
def test_wilcoxon_is_exact_with_ties(n, shift):
    a, b = rounded(n, 0, shift)
    d = (a - b)[a != b]
    ranks = scipy.stats.rankdata(np.abs(d))
    sums = [ranks[list(signs)].sum() for signs in itertools.product([False, True], repeat=len(d))]
    low = min(ranks[d > 0].sum(), ranks[d < 0].sum())
    assert wilcoxon(a, b) == pytest.approx(min(1, 2 * np.mean(np.array(sums) <= low)))


@pytest.mark.parametrize(("n", "digits"), [(26, 9), (60, 9), (60, 0), (200, 1)])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_wilcoxon_allows_for_ties_among_many_pairs(n, digits, shift):
    a, b = rounded(n, digits, shift)
    expected = scipy.stats.wilcoxon(a, b, method="asymptotic").pvalue
    assert wilcoxon(a, b) == pytest.approx(expected, rel=1e-9)


def test_equal_runs_do_not_differ():
    a = np.array([1.0, 2.0, 3.0])
    assert paired_t(a, a) == wilcoxon(a, a) == 1.0
    assert paired_t(a + 1, a) == 0.0


@pytest.mark.parametrize("test", [paired_t, wilcoxon])
def test_one_pair_or_a_missing_value_gives_no_answer(test):
    assert math.isnan(test(np.array([1.0]), np.array([2.0])))
    assert math.isnan(test(np.array([1.0, math.nan]), np.array([2.0, 1.0])))
