"""ACOG with a sketch of the covariance: Oja's directions V and eigenvalues lam.

Zhao et al. 2018 (ACOG): algorithms 2 and 3 are `SACOG` and `Oja`, 4 to 6 `SSACOG` and `SparseOja`.
Both sketches hold every column at all times and orthonormalise after every change.

The space of a sketch: m columns that no row touches, where V starts as the identity, then the
features. The column of a feature is zero until it enters, see `entering`. With given directions
there are no virtual columns, and the features of the directions are in from the start.
"""

from __future__ import annotations

import numpy as np

from .costs import rho_of, slope
from .first_order import Linear

MASK = 2**64 - 1


def splitmix64(x):
    """Steele, Lea & Flood 2014: one step of the generator in state x."""
    z = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def uniform(seed, i, j):
    """A number in (-1, 1) for row i of V and feature j, from the upper 52 bits of a mix."""
    bits = splitmix64((splitmix64((splitmix64(seed) + i) & MASK) + j) & MASK) >> 12
    return (bits + 0.5) / 2**51 - 1


def entering(seed, m, j, norm2):
    """The column with which feature j enters; norm2 is about the length of a row of V, squared."""
    return np.array([np.sqrt(3) * uniform(seed, i, j) / np.sqrt(norm2) for i in range(m)])


def gram_schmidt(V):
    """Orthonormal rows with the same spans, in row order; twice, for the sake of rounding."""
    for _ in range(2):
        Q = np.zeros_like(V)
        for i, row in enumerate(V):
            rest = row - Q[:i].T @ (Q[:i] @ row)
            Q[i] = rest / np.sqrt(np.dot(rest, rest))
        V = Q
    return V


def qr(V):
    """As `gram_schmidt`, but for the signs of the rows."""
    return np.linalg.qr(V.T.astype(float))[0].T


class Sketch:
    """What the two sketches share: who has entered, and when to flush.

    Parameters
    ----------
    d : number of features, an intercept among them
    size : m
    every : rows between two changes of the sketch
    directions : V at the start, over the first features; without it V starts on virtual columns
    """

    def __init__(self, d, *, size, every=1, seed=0, directions=None):
        self.m, self.every, self.seed = size, every, seed
        if directions is None:
            self.virtual = size
            start = np.hstack([np.eye(size), np.zeros((size, d))])
            self.entered = np.zeros(d, dtype=bool)
        else:
            self.virtual = 0
            known = np.shape(directions)[1]
            start = np.hstack([directions, np.zeros((size, d - known))])
            self.entered = np.arange(d) < known
        self.n = 0
        self.lam = np.zeros(size)
        self.waiting = []
        self.begin(start)

    def whole(self, x):
        """The row in the space of the sketch."""
        return np.concatenate([np.zeros(self.virtual), x])

    def update(self, x):
        """Take a row, already divided by the root of gamma."""
        for j in np.flatnonzero((x != 0) & ~self.entered):
            norm2 = self.virtual + np.sum(self.entered)
            self.enter(self.virtual + j, entering(self.seed, self.m, int(j), norm2))
            self.entered[j] = True
        self.waiting.append(self.whole(x))
        if len(self.waiting) == self.every:
            for waiting in self.waiting:
                self.n += 1
                self.absorb(waiting)
            self.waiting = []
            self.orthonormalise()

    def average(self, a):
        """lam becomes the mean of the squares a^2 so far."""
        self.lam = (1 - 1 / self.n) * self.lam + a**2 / self.n

    @property
    def h(self):
        return (self.n * self.lam / (1 + self.n * self.lam)).astype(float)

    def directions(self):
        """V over the features."""
        return self.V[:, self.virtual :].astype(float)

    def covariance(self):
        """The implied covariance over the features."""
        V = self.directions()
        return np.eye(V.shape[1]) - V.T @ np.diag(self.h) @ V


class Oja(Sketch):
    """The sketch as V itself, algorithm 3.

    In long doubles: a row of length 1000 added to V leaves six digits less of what is across it.
    `error` is the part of V that rounding may have changed.
    """

    orth = staticmethod(gram_schmidt)

    def begin(self, start):
        self.V = start.astype(np.longdouble)
        self.error = 0.0

    def enter(self, column, u):
        self.V[:, column] = u
        self.V = self.orth(self.V)

    def absorb(self, x):
        a = self.V @ x
        self.average(a)
        self.V = self.V + np.outer(a, x) / self.n

    def orthonormalise(self):
        self.error = max(self.error, np.finfo(self.V.dtype).eps * np.max(np.abs(self.V)))
        self.V = self.orth(self.V)


def decompose(F, K):
    """Gram-Schmidt over the rows of F with the inner product of K, algorithm 6."""
    Q = np.zeros_like(F)
    for i, f in enumerate(F):
        rest = f - Q[:i].T @ (Q[:i] @ K @ f)
        Q[i] = rest / np.sqrt(rest @ K @ rest)
    return Q


def cholesky(F, K):
    """The same from F K F' = R R'."""
    return np.linalg.solve(np.linalg.cholesky(F @ K @ F.T), F)


class SparseOja(Sketch):
    """The sketch as V = F Z with K = Z Z', algorithms 5 and 6.

    `step` is how Z changed in the last update: a sum of delta x' over its pairs (delta, x).
    """

    decompose = staticmethod(decompose)

    def begin(self, start):
        self.V = self.Z = start
        self.F = np.eye(self.m)
        self.K = np.eye(self.m)
        self.step = []

    def enter(self, column, u):
        change, place = np.linalg.solve(self.F, u), np.eye(self.Z.shape[1])[column]
        self.Z = self.Z + np.outer(change, place)
        self.K = self.K + np.outer(change, change)
        self.step.append((change, place))
        self.orthonormalise()

    def update(self, x):
        self.step = []
        super().update(x)

    def absorb(self, x):
        z = self.Z @ x
        self.average(self.F @ z)
        delta = z / self.n
        self.K = (
            self.K + np.outer(z, delta) + np.outer(delta, z) + np.dot(x, x) * np.outer(delta, delta)
        )
        self.Z = self.Z + np.outer(delta, x)
        self.step.append((delta, x))

    def orthonormalise(self):
        self.F = self.decompose(self.F, self.K)
        self.V = self.F @ self.Z

    def rebase(self):
        """V as Z, the same V."""
        self.Z, self.F, self.K = self.V, np.eye(self.m), np.eye(self.m)


class WithoutK(SparseOja):
    """F K F' = I + (2/n + |x|^2/n^2) a a', so K is not needed; for every = 1."""

    def enter(self, column, u):
        self.G = np.eye(self.m) + np.outer(u, u)
        super().enter(column, u)

    def absorb(self, x):
        a = self.F @ self.Z @ x
        super().absorb(x)
        c = 2 / self.n + np.dot(x, x) / self.n**2
        self.G = np.eye(self.m) + c * np.outer(a, a)

    def orthonormalise(self):
        self.F = np.linalg.solve(np.linalg.cholesky(self.G), self.F)
        self.V = self.F @ self.Z


class SACOG(Linear):
    """Algorithm 2: the mean moves along the sketched covariance, just updated."""

    sketch_type = Oja

    def __init__(
        self,
        *,
        loss="II",
        learning_rate=0.1,
        regularization=1.0,
        sketch_size=5,
        sketch_every=1,
        sketch_on="always",
        seed=0,
        directions=None,
        weight_mode="margin",
        weight_state=False,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.on = sketch_on
        self.options = {
            "size": sketch_size,
            "every": sketch_every,
            "seed": seed,
            "directions": directions,
        }
        self.weight_mode = weight_mode
        self.weight_state = weight_state

    def start(self, d):
        super().start(d)
        self.sketch = self.sketch_type(d, **self.options)

    def learn(self, x, y, score, rho, weight, t):
        kappa = slope(self.loss, y, score, rho_of(y, rho), weight, self.weight_mode)
        if self.on == "always" or kappa > 0:
            seen = np.sqrt(weight) * x if self.weight_state else x
            self.feed(seen / np.sqrt(self.regularization), kappa)
        if kappa == 0:
            return False
        self.move(-kappa * y * x)
        return True

    def feed(self, x, kappa):
        self.sketch.update(x)

    def move(self, g):
        V = self.sketch.directions()
        self.w = self.w - self.learning_rate * (g - V.T @ (self.sketch.h * (V @ g)))


class SSACOG(SACOG):
    """Algorithm 4 with the mean kept as rest + Z'b, whatever the loss.

    The paper leaves rest alone on rounds without loss although Z moves; literal=True does so.
    When an entry of K exceeds `rebase`, Z starts again as V.
    """

    sketch_type = SparseOja

    def __init__(self, *, literal=False, rebase=1e4, **options):
        super().__init__(**options)
        self.literal = literal
        self.rebase = rebase

    def start(self, d):
        super().start(d)
        self.rest = self.sketch.whole(np.zeros(d))
        self.beta = np.zeros(self.sketch.m)
        self.rebased = 0

    @property
    def w(self):
        return (self.rest + self.sketch.Z.T @ self.beta)[self.sketch.virtual :]

    @w.setter
    def w(self, value):
        if hasattr(self, "rest"):
            self.rest = self.rest + self.sketch.whole(value - self.w)

    def learn(self, x, y, score, rho, weight, t):
        stepped = super().learn(x, y, score, rho, weight, t)
        if np.max(np.abs(self.sketch.K)) > self.rebase:
            self.rest, self.beta = self.rest + self.sketch.Z.T @ self.beta, 0 * self.beta
            self.sketch.rebase()
            self.rebased += 1
        return stepped

    def feed(self, x, kappa):
        self.sketch.update(x)
        if kappa > 0 or not self.literal:
            for delta, row in self.sketch.step:
                self.rest = self.rest - np.dot(delta, self.beta) * row

    def move(self, g):
        sketch, g = self.sketch, self.sketch.whole(g)
        self.rest = self.rest - self.learning_rate * g
        along = sketch.h * (sketch.F @ (sketch.Z @ g))
        self.beta = self.beta + self.learning_rate * sketch.F.T @ along
