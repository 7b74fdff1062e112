"""Linear learners of the AUC, and the AUC itself over all pairs."""

from __future__ import annotations

import numpy as np

from .active import uniforms
from .first_order import Linear


def pairwise_auc(scores, y, weights=None, ties=0.5):
    """Share of the pairs of a positive and a negative that stand in order, pair by pair."""
    weights = np.ones(len(y)) if weights is None else np.asarray(weights)
    right = total = 0.0
    for i in np.flatnonzero(np.asarray(y) > 0):
        for j in np.flatnonzero(np.asarray(y) < 0):
            if weights[i] == 0 or weights[j] == 0:
                continue
            pair = weights[i] * weights[j]
            total += pair
            right += pair * (1.0 if scores[i] > scores[j] else ties * (scores[i] == scores[j]))
    return right / total if total else np.nan


class OAM(Linear):
    """Zhao et al. 2011: pairs with a random sample of the other class."""

    def __init__(self, *, variant="seq", C=1.0, buffer_size=100, factor=0.5, seed=0):
        self.variant = variant
        self.C = C
        sizes = buffer_size if isinstance(buffer_size, tuple) else (buffer_size, buffer_size)
        self.size = dict(zip((-1, 1), sizes, strict=True))
        self.factor = factor
        self.seed = seed

    def start(self, d):
        super().start(d)
        self.buffers = {-1: [], 1: []}
        self.n = {-1: 0, 1: 0}
        self.draws = uniforms(self.seed)
        self.decided = []

    def learn(self, x, y, score, rho, weight, t):
        y = int(y)
        self.n[y] += 1
        self.sample(x, y)
        cap = self.factor * weight * self.C * max(1.0, self.n[-y] / self.size[-y])
        differences = [x - other for other in self.buffers[-y]]
        if self.variant == "seq":
            return self.one_by_one(differences, y, cap)
        inside = [z for z in differences if y * np.dot(self.w, z) <= 1]
        self.decided.append(len(inside))
        self.w = self.w + cap * y * sum(inside, np.zeros(len(x)))
        return len(inside) > 0

    def one_by_one(self, differences, y, cap):
        stepped = False
        for z in differences:
            loss, zz = max(0.0, 1 - y * np.dot(self.w, z)), np.dot(z, z)
            if loss > 0 and zz > 0:
                self.w = self.w + min(cap, loss / zz) * y * z
                stepped = True
        return stepped

    def sample(self, x, y):
        own, size = self.buffers[y], self.size[y]
        if len(own) < size:
            own.append(x)
        elif next(self.draws) * self.n[y] < size:
            own[int(next(self.draws) * size)] = x


class OPAUC(Linear):
    """Gao et al. 2013: the squared loss against every row of the other class, all of them kept."""

    def __init__(self, *, learning_rate=0.01, regularization=0.01):
        self.learning_rate = learning_rate
        self.regularization = regularization

    def start(self, d):
        super().start(d)
        self.met = {-1: [], 1: []}

    def learn(self, x, y, score, rho, weight, t):
        y = int(y)
        self.met[y].append((x, weight))
        if not self.met[-y]:
            return False
        rows = np.array([row for row, _ in self.met[-y]])
        z = x - rows
        shares = np.array([w for _, w in self.met[-y]])
        shares = shares / shares.sum()
        pull = (shares * (1 - y * (z @ self.w))) @ (y * z)
        gradient = self.regularization * self.w - pull
        self.w = self.w - self.learning_rate * weight * gradient
        return True


class OPAUCr(OPAUC):
    """The same with all rows about their mean, projected on random signs, for their covariance."""

    def __init__(self, *, learning_rate=0.01, regularization=0.01, rank=50, seed=0):
        super().__init__(learning_rate=learning_rate, regularization=regularization)
        self.rank, self.key, self.draws = rank, _scrambled(seed), 0

    def signs(self):
        words = -(-self.rank // 64)
        drawn = [_scrambled(self.key + self.draws * words + k // 64) for k in range(self.rank)]
        self.draws += 1
        return np.array([1.0 if d >> k % 64 & 1 else -1.0 for k, d in enumerate(drawn)])

    def learn(self, x, y, score, rho, weight, t):
        y = int(y)
        self.met[y].append((x, weight, self.signs() / np.sqrt(self.rank)))
        if not self.met[-y]:
            return False
        rows, weights, signs = (np.array(part) for part in zip(*self.met[-y], strict=True))
        mean = weights @ rows / weights.sum()
        projected = (np.sqrt(weights)[:, None] * (rows - mean)).T @ signs
        covariance = projected @ projected.T / weights.sum()
        z = x - mean
        gradient = self.regularization * self.w + (z @ self.w - y) * z + covariance @ self.w
        self.w = self.w - self.learning_rate * weight * gradient
        return True


def _scrambled(z):
    """splitmix64."""
    mask = 2**64 - 1
    z = z + 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31
