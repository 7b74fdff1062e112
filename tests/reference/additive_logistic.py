"""Recommended in slow motion: eight Bayesian logistic regressions and their mixture."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

PRIORS = np.array([4, 1, 0.25, 1, 1, 1, 1, 0.25])
CAPS = np.array([np.inf, np.inf, np.inf, 3, np.inf, np.inf, 10, np.inf])
HATS = np.array([0, 0, 0, 0, 1, 1, 1, 1])
PAIRS = np.array([0, 0, 0, 0, 0, 1, 1, 1])
SAMPLES = {64: 8, 256: 16, 1024: 32}  # values of a column after which it gets so many intervals
MOST_TOKENS, MOST_PAIRS, MOST_COLUMNS = 10, 65536, 64


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


class Column:
    """A numeric feature that most rows have."""

    def __init__(self, values):
        self.values = values  # of all rows so far, zeros too
        self.sampled = 0
        self.knots = []

    def z_score(self, x):
        """The standard score of the next value, which counts."""
        deviation = np.std([*self.values, x])
        if deviation == 0:
            return 0.0
        return float(np.clip((x - np.mean([*self.values, x])) / deviation, -5, 5))

    def hats(self, x):
        """Pairs of knot and value; they sum to 1."""
        place = np.interp(x, self.knots, range(len(self.knots)))
        low = min(int(place), len(self.knots) - 1)
        share = place - low
        return [(low, 1 - share), (low + 1, share)] if share else [(low, 1.0)]

    def range(self, x):
        return sum(k <= x for k in self.knots) * 6 // (len(self.knots) + 1)


class AdditiveLogistic:
    """Takes raw rows of `d` features."""

    def __init__(self, d):
        self.rows = []
        self.met = [[] for _ in range(d)]  # nonzero values of features that are no columns
        self.numeric = []  # the values of those among them with several
        self.columns, self.order = {}, []
        self.weights, self.gains = {}, {}  # by input, of all members
        self.pairs = set()
        self.positives = self.negatives = 0.0
        self.losses = np.zeros(8)
        self.slope, self.shift = 1.0, 0.0
        self.curvature = np.diag([20.0, 5.0])

    # From a row to inputs -----------------------------------------------------------------------

    def encoded(self, x, learning):
        """The inputs of a row that comes next: (name, value, which members see it)."""
        linear, frequent = [], []
        for j in np.flatnonzero(x):
            if j in self.columns:
                continue
            met = [*self.met[j], x[j]]
            value = 1.0
            if len(set(met)) == 1:
                if len(met) >= 16 and 64 * len(met) >= len(self.rows) + 1:
                    frequent.append((-self.worth("linear", j), j))
            else:
                root = math.sqrt(np.mean(np.square(met)))
                usual = math.sqrt(np.mean(np.square(self.numeric))) if self.numeric else root
                value = np.clip(x[j] / root, -5, 5) * np.clip(root / usual, 0.25, 4)
            linear.append((("linear", j), value))
        linear += [(("linear", j), c.z_score(x[j])) for j, c in self.columns.items()]
        hats, ranges = [], {}
        for j, column in self.columns.items():
            if len(column.knots) > 1:
                hats += [(("hat", j, k), value) for k, value in column.hats(x[j])]
                ranges[j] = column.range(x[j])
        names = self.paired(ranges, frequent)
        if learning:
            new = [name for name in names if name not in self.pairs]
            self.pairs.update(new[: MOST_PAIRS - len(self.pairs)])
        pairs = [(name, 1.0) for name in names]
        return [
            *scaled(linear, 4.0, np.ones(8)),
            *scaled(hats, min(4.0, 0.25 * len(ranges)), HATS),
            *(p for p in scaled(pairs, min(2.0, 0.025 * len(pairs)), PAIRS) if p[0] in self.pairs),
        ]

    def paired(self, ranges, frequent):
        """The pairs of a row, in order."""
        room = MOST_TOKENS - min(len(frequent), MOST_TOKENS // 2)
        tokens = [("range", j, ranges[j]) for j in self.order if j in ranges][:room]
        tokens += [("category", j) for _, j in sorted(frequent)[: MOST_TOKENS - len(tokens)]]
        return [("pair", *sorted(both, key=str)) for both in combinations(tokens, 2)]

    def absorb(self, x):
        """The row has been scored: it enters the statistics."""
        self.rows.append(np.array(x))
        for j, column in self.columns.items():
            column.values.append(x[j])
            self.sample(j)
        for j in np.flatnonzero(x):
            if j in self.columns:
                continue
            self.met[j].append(x[j])
            if len(set(self.met[j])) == 1:
                continue
            self.numeric.append(x[j])
            often = len(self.rows) >= 8 and len(self.met[j]) > 0.3 * len(self.rows)
            if often and len(self.columns) < MOST_COLUMNS:
                self.columns[j] = Column([row[j] for row in self.rows])
                self.order.append(j)
                self.sample(j)
        if len(self.rows) >= 512 and len(self.rows).bit_count() == 1:
            self.order.sort(key=lambda j: (-self.usefulness(j), j))

    def sample(self, j):
        column = self.columns[j]
        column.sampled += 1
        if column.sampled not in SAMPLES:
            return
        intervals = SAMPLES[column.sampled]
        values = np.sort(column.values[-column.sampled :])
        at = [(i * (len(values) - 1) + intervals // 2) // intervals for i in range(intervals + 1)]
        knots = sorted(set(values[at]))
        old, column.knots = column.knots, knots
        moved = {}
        for k, x in enumerate(knots if len(old) > 1 else []):
            place = np.clip(np.interp(x, old, range(len(old))), 0, len(old) - 1)
            left = min(int(place), len(old) - 2)
            share = place - left
            moved[k] = [
                (1 - share) * of.get(("hat", j, left), np.zeros(8))
                + share * of.get(("hat", j, left + 1), np.zeros(8))
                for of in (self.weights, self.gains)
            ]
        for k in range(33):
            w, g = moved.get(k, (np.zeros(8), np.zeros(8)))
            self.weights["hat", j, k], self.gains["hat", j, k] = w, g * len(old) / len(knots)

    def usefulness(self, j):
        return sum(self.worth("hat", j, k) for k in range(33))

    def worth(self, *name, member=4):
        """What an input explains, as one member has it."""
        w, g = (of.get(name, np.zeros(8))[member] for of in (self.weights, self.gains))
        return w**2 * g

    # Scoring and learning -----------------------------------------------------------------------

    def observe(self, x):
        self.inputs = self.encoded(x, learning=True)
        score = self.forecast()
        self.absorb(x)
        self.forecast()  # with the weights of knots that have moved
        return score

    def score(self, x):
        self.inputs = self.encoded(x, learning=False)
        return self.forecast()

    def forecast(self):
        z = np.full(8, math.log((self.positives + 0.5) / (self.negatives + 0.5)))
        self.quotients = [
            value / (PRIORS + self.gains.get(name, np.zeros(8))) for name, value in self.inputs
        ]
        self.variance = np.zeros(8)
        for (name, value), quotient in zip(self.inputs, self.quotients, strict=True):
            z = z + self.weights.get(name, np.zeros(8)) * value
            self.variance += value * quotient
        self.z = np.clip(z, -30, 30)
        shares = np.exp(self.losses.min() - self.losses)
        self.mixed = float(shares @ self.z / shares.sum())
        self.logit = float(np.clip(self.slope * self.mixed + self.shift, -30, 30))
        return self.doubted()

    def doubted(self):
        """The log odds where the class counts alone may be right."""
        doubt = 0.5 / (min(self.positives, self.negatives) + 1)
        share = (self.positives + 0.5) / (self.positives + self.negatives + 1)
        p, q = sigmoid(self.logit), sigmoid(-self.logit)
        return math.log((p + doubt * (share - p)) / (q + doubt * (1 - share - q)))

    def learn(self, label, weight=1.0):
        y = float(label > 0)
        p = sigmoid(self.z)
        h = weight * p * (1 - p)
        step = weight * (y - p) / (1 + h * self.variance)
        for (name, value), quotient in zip(self.inputs, self.quotients, strict=True):
            w, g = (of.get(name, np.zeros(8)) for of in (self.weights, self.gains))
            self.weights[name] = w + step * quotient
            self.gains[name] = np.minimum(g + h * value**2, CAPS)
        self.account(y, weight)

    def account(self, y, weight):
        p = sigmoid(self.logit)
        h = weight * p * (1 - p)
        fade = 1 - min(0.5, 0.005 * h + 1e-6)
        self.losses = fade * self.losses + weight * np.log1p(np.exp(-self.z if y else self.z))
        v = np.array([self.mixed, 1.0])
        self.curvature = (1 - min(0.5, 0.0005 * h)) * self.curvature + h * np.outer(v, v)
        move = np.linalg.solve(self.curvature, weight * (p - y) * v)
        self.slope, self.shift = self.slope - move[0], self.shift - move[1]
        self.positives += weight * y
        self.negatives += weight * (1 - y)


def scaled(terms, most, members):
    """Inputs scaled to this squared length, for the members that see them."""
    square = sum(value**2 for _, value in terms)
    factor = math.sqrt(most / square) if square else 0.0
    return [(name, factor * value * members) for name, value in terms]
