"""Theorem 1 of Hu et al. 2015 (KOIL): the regret of the localized objective.

With L_t(f) = |f|^2 / 2 + C sum of the losses against the k nearest kept rows of the other class and
f' = f - eta dL_t(f), the paper says that the regret against any f* is at most

    |f*|^2 / (2 eta) + eta C k sum_t (U - 1 + (k + 1) C (X^2 - xi_1^2)),                        (16)

U being the largest loss, X^2 the largest k(x, x) and xi_1^2 the least kernel of a row and one of
its neighbours. A compensated buffer adds to it (17). Write dL_t(f_t) = f_t - g_t. Summing |f_t|^2
gives

    sum |f_t - g_t|^2 <= (sum |g_t|^2 + |f_1|^2 / eta) / (1 - eta),

so that for 0 < eta < 1 the regret is at most ("corrected")

    |f_1 - f*|^2 / (2 eta) + |f_1|^2 / (2 - 2 eta) + T eta / (2 - 2 eta) max |g|^2,

|g|^2 <= 2 (C k)^2 (X^2 - xi_1^2) for the hinge and 4 U times as much for its square. Hence (16) is
true for the hinge and eta <= 1 / (k + 1). It is false for larger rates, and for the squared hinge,
whose slope it forgets: streams that show it are kept below. Rounds count from when both classes are
kept, because before there are no pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_streams import PROFILE
from streams import stream

import lopsided

GAMMA = 0.5


def walk(X, y, **options):
    """The two buffers before each round and after the last, as lists of (row, weight)."""
    model = lopsided.KOIL(gamma=GAMMA, scaling="none", positive=1, **options)
    yield {-1: [], 1: []}
    for x, label in zip(X, y, strict=True):
        model.partial_fit(x[None], [label], classes=[-1, 1])
        negatives = int(model.n_support_[0])
        kept = list(zip(np.asarray(model.support_vectors_), model.dual_coef_, strict=True))
        yield {-1: kept[:negatives], 1: kept[negatives:]}


@dataclass
class Course:
    """A run as functions: row t of `f` holds the weights of f_t at the rows of the stream."""

    f: np.ndarray
    y: np.ndarray
    rows: np.ndarray  # of the rounds
    near: list  # of each round the k nearest kept rows of the other class
    K: np.ndarray
    C: float
    eta: float
    k: int
    squared: bool
    largest: float  # of all weights

    def inner(self, a, b):
        return float(a @ self.K @ b)

    def margins(self, c, t):
        """1 - loss of every pair of a round."""
        values = self.K @ c
        return self.y[t] * (values[self.rows[t]] - values[self.near[t]])

    def losses(self, c, t):
        hinge = np.maximum(0, 1 - self.margins(c, t))
        return hinge**2 if self.squared else hinge

    def objective(self, c, t):
        return self.inner(c, c) / 2 + self.C * self.losses(c, t).sum()

    def pull(self, c, t):
        """g_t at a function: c less it is the gradient of its objective."""
        hinge = np.maximum(0, 1 - self.margins(c, t))
        slope = self.C * self.y[t] * (2 * hinge if self.squared else (hinge > 0).astype(float))
        g = np.zeros(len(self.K))
        np.add.at(g, self.near[t], -slope)
        g[self.rows[t]] += slope.sum()
        return g

    @property
    def rounds(self):
        return range(len(self.rows))

    def regret(self, best):
        return sum(self.objective(self.f[t], t) - self.objective(best, t) for t in self.rounds)

    @property
    def spread(self):
        """X^2 - xi_1^2."""
        pairs = [self.K[self.rows[t], self.near[t]].min() for t in self.rounds]
        return self.K.diagonal().max() - max(0.0, min(pairs))

    @property
    def largest_loss(self):
        return max(1.0, *(self.losses(self.f[t], t).max() for t in self.rounds))

    def start(self, best):
        away = self.f[0] - best
        return self.inner(away, away) / (2 * self.eta)

    def printed(self, best):
        C, k = self.C, self.k
        more = self.largest_loss - 1 + (k + 1) * C * self.spread
        return self.start(best) + self.eta * C * k * len(self.rows) * more

    def corrected(self, best):
        largest = 2 * (self.C * self.k) ** 2 * self.spread
        if self.squared:
            largest *= 4 * self.largest_loss
        first = self.inner(self.f[0], self.f[0])
        more = first + self.eta * len(self.rows) * largest
        return self.start(best) + more / (2 - 2 * self.eta)

    def moved(self):
        """What each replacement did to the function beyond the step."""
        for t in self.rounds:
            step = (1 - self.eta) * self.f[t] + self.eta * self.pull(self.f[t], t)
            change = self.f[t + 1] - step
            change[np.abs(change) < 1e-12 * self.largest] = 0
            yield change

    def compensated(self, best):
        """(17), with what (16) says for the regret without compensation."""
        pairs = [np.flatnonzero(change) for change in self.moved()]
        likeness = [self.K[p[0], p[1]] for p in pairs if len(p)]
        assert all(len(p) in (0, 2) for p in pairs)
        away = self.K.diagonal().max() - max(0.0, min(likeness, default=0.0))
        gamma = self.largest / self.eta
        root = math.sqrt(away * self.spread)
        more = 4 * gamma * self.C * self.k * root + 2 * gamma**2 * away
        return self.printed(best) + len(self.rows) * more

    def comparators(self):
        """Functions near the worst: descent on what the regret is against, from the mean."""
        best = self.f.mean(axis=0)
        yield from (0 * best, self.f[-1], self.f[0], best)
        T = len(self.rows)
        for step in range(1, 30):
            slope = sum(best - self.pull(best, t) for t in self.rounds)
            slope = slope + (best - self.f[0]) / self.eta
            best = best - slope / ((T + 1 / self.eta) * step)
            if step % 3 == 0:
                yield best


def course(X, y, *, C, eta, k, loss="hinge", **options):
    options |= {"C": C, "learning_rate": eta, "n_neighbors": k, "loss": loss}
    states = list(walk(X, y, **options))
    place = {}
    for i, x in enumerate(X):
        place.setdefault(x.tobytes(), i)
    K = np.exp(-GAMMA * np.sum((X[:, None] - X) ** 2, axis=2))
    begin = next((t for t, s in enumerate(states[:-1]) if s[-1] and s[1]), len(y))
    f = np.zeros((len(states) - begin, len(y)))
    rows, near = [], []
    largest = 0.0
    for t, state in enumerate(states[begin:]):
        for x, weight in state[-1] + state[1]:
            f[t, place[x.tobytes()]] += weight
            largest = max(largest, abs(weight))
        if begin + t < len(y):
            i = place[X[begin + t].tobytes()]
            other = [place[x.tobytes()] for x, _ in state[-int(y[begin + t])]]
            rows.append(i)
            near.append(sorted(other, key=lambda j: -K[i, j])[:k])
    near = [np.array(n) for n in near]
    return Course(f, y[begin:], np.array(rows), near, K, C, eta, k, loss == "squared", largest)


@st.composite
def courses(draw, losses=("hinge", "squared"), policies=("infinite",), slow=False):
    k = draw(st.integers(1, 5))
    eta = draw(st.sampled_from([0.01, 0.1, 1 / (k + 1)] + ([] if slow else [0.5, 0.9])))
    if slow:
        eta = min(eta, 1 / (k + 1))
    quirks = draw(st.sets(st.sampled_from(["repeats", "one class first", "zero rows"])))
    X, y = stream(draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, 30)), 3, quirks=quirks)
    y[-2:] = 1, -1
    if draw(st.booleans()):
        y = np.random.default_rng(draw(st.integers(0, 99))).choice([-1, 1], size=len(y))
        y[:2] = 1, -1
    policy = draw(st.sampled_from(policies))
    options = {} if policy == "infinite" else {"buffer_size": draw(st.integers(k, 6))}
    C = draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0]))
    loss = draw(st.sampled_from(losses))
    if loss == "squared":
        C = min(C, 0.1)  # larger steps run away
    return course(X, y, C=C, eta=eta, k=k, loss=loss, policy=policy, **options)


SLACK = 1 + 1e-9


@settings(PROFILE, max_examples=60)
@given(data=st.data())
def test_corrected_regret_bound_holds_at_any_rate(data):
    run = data.draw(courses())
    if len(run.rows):
        for best in run.comparators():
            assert run.regret(best) <= run.corrected(best) * SLACK


@settings(PROFILE, max_examples=60)
@given(data=st.data())
def test_printed_regret_bound_holds_for_the_hinge_at_small_rates(data):
    run = data.draw(courses(losses=("hinge",), slow=True))
    if len(run.rows):
        first = run.inner(run.f[0], run.f[0]) / (2 - 2 * run.eta)  # the paper starts at f = 0
        for best in run.comparators():
            assert run.regret(best) <= (run.printed(best) + first) * SLACK


@settings(PROFILE, max_examples=60)
@given(data=st.data())
def test_printed_bound_of_compensated_buffers_holds_for_the_hinge(data):
    run = data.draw(courses(("hinge",), ("rs++", "fifo++"), slow=True))
    if len(run.rows):
        first = run.inner(run.f[0], run.f[0]) / (2 - 2 * run.eta)
        for best in run.comparators():
            assert run.regret(best) <= (run.compensated(best) + first) * SLACK


def two_far_pairs(rounds):
    """A positive and a negative here, the same far away; one of here and one of there in turns."""
    X = np.array([[0.0, 0.0], [0.0, 20.0], [5.0, 0.0], [5.0, 20.0]] * (rounds // 4))
    return X, np.where(X[:, 0] == 0, 1, -1)


@pytest.mark.parametrize(("loss", "eta"), [("hinge", 0.95), ("squared", 0.15)])
def test_printed_regret_bound_fails_on_two_far_pairs_in_turns(loss, eta):
    k = 8
    X, y = two_far_pairs(240)
    run = course(X, y, C=1e-3, eta=eta, k=k, loss=loss, policy="infinite")
    best = run.f.mean(axis=0)
    assert run.regret(best) > 1.05 * run.printed(best)
    assert run.regret(best) <= run.corrected(best)
