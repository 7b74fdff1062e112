"""Learners whose score is a sum of kernels at rows kept, f(x) = sum_i beta_i k(x_i, x).

Every score is summed anew from the kept rows, every nearest row is looked for among all of them.
`decided` notes what each round hung on (who stepped, who was near, who was dropped), for tests that
must know whether rounding could have decided otherwise.
"""

from __future__ import annotations

import math

import numpy as np

from .active import uniforms

SETTLING = 50  # rows from which gamma="median" is taken
CEILING = 1e6  # of a squared-loss step
FARTHEST = 708.0  # e^-709 is below the smallest normal number


def fading(distance):
    """e^-distance, 0 where it would no longer be a number of full precision."""
    return math.exp(-distance) if distance <= FARTHEST else 0.0


def kernel(kind, gamma, degree=3, coef0=1.0):
    """The kernel as a function of two rows."""
    return {
        "gaussian": lambda x, z: fading(gamma * np.sum((x - z) ** 2)),
        "laplacian": lambda x, z: fading(gamma * np.sum(np.abs(x - z))),
        "linear": lambda x, z: float(np.dot(x, z)),
        "polynomial": lambda x, z: float((gamma * np.dot(x, z) + coef0) ** degree),
    }[kind]


def remembered(function):
    """The function of two rows, computed once for each pair."""
    known = {}

    def found(x, z):
        pair = x.tobytes(), z.tobytes()
        if pair not in known:
            known[pair] = function(x, z)
        return known[pair]

    return found


class Kept:
    """A row with its weight; `born` is the round in which it came."""

    def __init__(self, x, weight, born=0):
        self.x, self.weight, self.born = x, weight, born


class Kernel:
    """A list of kept rows. A subclass learns in `step`, which says whether it took one."""

    def __init__(self, *, kernel="gaussian", gamma=1.0, degree=3, coef0=1.0):
        self.kind, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0

    def start(self, d):
        self.d = d
        self.support = []
        self.decided = []
        self.k = remembered(kernel(self.kind, self.gamma, self.degree, self.coef0))

    def absorb(self, x):
        pass

    @property
    def kept(self):
        return self.support

    def f(self, x):
        return float(sum(one.weight * self.k(one.x, x) for one in self.kept))

    def score(self, x):
        return self.f(x)

    def decision(self, x):
        return self.score(x)

    def learn(self, x, y, score, rho, weight, t):
        stepped = self.step(x, y, score, weight, t)
        self.decided.append(stepped)
        return stepped


def median_gamma(rows, kind):
    """One over the median distance between rows that differ; 1 if none do."""
    pairs = [(a, b) for i, a in enumerate(rows) for b in rows[:i]]
    distance = {
        "gaussian": lambda a, b: np.sum((a - b) ** 2),
        "laplacian": lambda a, b: np.sum(np.abs(a - b)),
    }[kind]
    distances = [d for d in (distance(a, b) for a, b in pairs) if d > 0]
    return 1 / float(np.median(distances)) if distances else 1.0


class KernelPerceptron(Kernel):
    """A mistake, or a score of 0, is kept."""

    def step(self, x, y, score, weight, t):
        if y * score > 0:
            return False
        self.support.append(Kept(x, weight * y))
        return True


class NORMA(Kernel):
    """Kivinen, Smola, Williamson 2004, with a margin that nu moves."""

    def __init__(
        self,
        *,
        learning_rate=0.01,
        regularization=0.01,
        nu=None,
        bias=False,
        truncation=None,
        **kernel,
    ):
        super().__init__(**kernel)
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.nu = nu
        self.bias = bias
        self.truncation = truncation

    def start(self, d):
        super().start(d)
        self.b = 0.0
        self.margin = 1.0 if self.nu is None else 0.0

    def score(self, x):
        return self.f(x) + self.b

    def step(self, x, y, score, weight, t):
        eta = self.learning_rate
        error = y * score <= self.margin
        for one in self.support:
            one.weight *= 1 - eta * self.regularization
        if error:
            self.support.append(Kept(x, eta * weight * y, t))
            if self.bias:
                self.b += eta * weight * y
        if self.nu is not None:
            self.margin -= eta * (error - self.nu)
        if self.truncation is not None:
            self.support = [one for one in self.support if t - one.born < self.truncation]
        return error


class RBP(Kernel):
    """Cavallanti, Cesa-Bianchi, Gentile 2007: a random one makes room."""

    def __init__(self, *, buffer_size=200, seed=0, **kernel):
        super().__init__(**kernel)
        self.buffer_size = buffer_size
        self.seed = seed

    def start(self, d):
        super().start(d)
        self.draws = uniforms(self.seed)

    def step(self, x, y, score, weight, t):
        if y * score > 0:
            return False
        new = Kept(x, weight * y)
        if len(self.support) < self.buffer_size:
            self.support.append(new)
        else:
            self.support[int(next(self.draws) * self.buffer_size)] = new
        return True


class Forgetron(Kernel):
    """Dekel, Shalev-Shwartz, Singer 2008, self-tuned: the oldest goes once it is small enough."""

    def __init__(self, *, buffer_size=200, **kernel):
        super().__init__(**kernel)
        self.buffer_size = buffer_size

    def start(self, d):
        super().start(d)
        self.Q = 0.0
        self.mistakes = 0

    def step(self, x, y, score, weight, t):
        if y * score > 0:
            return False
        self.mistakes += 1
        self.support.append(Kept(x, float(y)))
        if len(self.support) <= self.buffer_size:
            return True
        oldest = self.support[0]
        size = abs(oldest.weight)
        margin = np.sign(oldest.weight) * self.f(oldest.x)
        phi = self.shrink(size, margin)
        for one in self.support:
            one.weight *= phi
        self.Q += (phi * size) ** 2 + 2 * phi * size - 2 * phi * size * phi * margin
        del self.support[0]
        return True

    def shrink(self, size, margin):
        """The largest phi in (0, 1] with a phi^2 + b phi + c <= 0."""
        a, b = size**2 - 2 * size * margin, 2 * size
        c = self.Q - 15 / 32 * self.mistakes
        discriminant = b * b - 4 * a * c
        if a == 0:
            return min(1.0, -c / b)
        if a > 0 or (discriminant > 0 and (-b - math.sqrt(discriminant)) / (2 * a) > 1):
            return min(1.0, (-b + math.sqrt(discriminant)) / (2 * a))
        return 1.0


class Projectron(Kernel):
    """Orabona, Keshet, Caputo 2009: what the kept rows nearly span is projected onto them."""

    def __init__(self, *, tolerance=0.1, plus_plus=False, threshold="norm", **kernel):
        super().__init__(**kernel)
        self.tolerance = tolerance
        self.plus_plus = plus_plus
        self.threshold = threshold

    def project(self, x):
        """Coefficients of the nearest function in the span, its squared norm, and the distance."""
        if not self.support:
            return np.zeros(0), 0.0, self.k(x, x)
        gram = np.array([[self.k(a.x, b.x) for a in self.support] for b in self.support])
        row = np.array([self.k(one.x, x) for one in self.support])
        d = np.linalg.solve(gram, row)
        return d, float(row @ d), max(self.k(x, x) - float(row @ d), 0.0)

    def step(self, x, y, score, weight, t):
        if y * score >= 1 or (y * score > 0 and not self.plus_plus):
            return False
        d, inside, rest = self.project(x)
        distance = math.sqrt(rest) if self.threshold == "norm" else rest
        if y * score > 0:
            return self.margin_step(d, inside, distance, y, 1 - y * score, weight)
        if self.support and distance <= self.tolerance:
            self.add(weight * y * d)
            self.decided.append("projected")
        elif rest > 0:
            self.support.append(Kept(x, weight * float(y)))
        else:  # k(x, x) = 0: there is nothing to add
            return False
        return True

    def margin_step(self, d, inside, distance, y, loss, weight):
        left = loss - distance / self.tolerance
        if inside <= 0 or left <= 0:
            return False
        self.add(weight * min(1.0, loss / inside, 2 * left / inside) * y * d)
        return True

    def add(self, change):
        for one, more in zip(self.support, change, strict=True):
            one.weight += more


class KOIL(Kernel):
    """Hu et al. 2015, algorithm 1: a pair of buffers and the losses against the nearest others."""

    def __init__(
        self,
        *,
        policy="rs++",
        loss="hinge",
        C=1.0,
        learning_rate=0.01,
        schedule="constant",
        buffer_size=100,
        n_neighbors=None,
        neighbors="paper",
        scale_C=False,
        seed=0,
        **kernel,
    ):
        super().__init__(**kernel)
        self.policy = policy
        self.loss = loss
        self.C = C
        self.learning_rate = learning_rate
        self.schedule = schedule
        sizes = buffer_size if isinstance(buffer_size, tuple) else (buffer_size, buffer_size)
        self.size = dict(zip((-1, 1), sizes, strict=True))
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.scale_C = scale_C
        self.seed = seed

    def start(self, d):
        super().start(d)
        self.buffers = {-1: [], 1: []}
        self.n = {-1: 0, 1: 0}
        self.draws = uniforms(self.seed)

    @property
    def kept(self):
        """Negatives first."""
        return self.buffers[-1] + self.buffers[1]

    def valid(self, x, y, score):
        """Members of the opposite buffer that the new row is held against, with their losses."""
        other = self.buffers[-y]
        k = self.n_neighbors or math.ceil(self.size[-y] / 10)
        losses = [1 - y * (score - self.f(one.x)) for one in other]
        among = range(len(other))
        if self.neighbors == "code":
            among = [i for i in among if losses[i] > 0 and other[i].weight != 0]
        nearest = sorted(among, key=lambda i: -self.k(other[i].x, x))[:k]  # the sort is stable
        chosen = sorted(i for i in nearest if losses[i] > 0)
        self.decided.append(chosen)
        return [(other[i], losses[i]) for i in chosen]

    def step(self, x, y, score, weight, t):
        y = int(y)
        own, other = self.buffers[y], self.buffers[-y]
        self.n[y] += 1
        eta, C = self.learning_rate, self.C * weight
        if self.schedule == "sqrt":
            eta /= math.sqrt(t)
        if self.scale_C:
            C *= max(1.0, self.n[-y] / self.size[-y])
        valid = self.valid(x, y, score)
        for one in self.kept:
            one.weight *= 1 - eta
        alpha = 0.0
        if not other or not (own or valid):
            alpha = eta * C * y
        else:
            for one, loss in valid:
                change = eta * C * y
                if self.loss == "squared":
                    change *= 2 * min(loss, CEILING)
                alpha += change
                one.weight -= change
        if alpha == 0:
            return False
        self.store(own, self.size[y], Kept(x, alpha), self.n[y])
        return True

    def store(self, own, size, new, met):
        if self.policy == "infinite" or len(own) < size:
            own.append(new)
            return
        if self.policy.startswith("fifo"):
            removed = own.pop(0)
            own.append(new)
        elif next(self.draws) * met < size:
            at = int(next(self.draws) * size)
            removed, own[at] = own[at], new
        else:
            removed = new
        if self.policy.endswith("++"):
            likeness = [self.k(removed.x, one.x) for one in own]
            heir = int(np.argmax(likeness))
            own[heir].weight += removed.weight
            self.decided.append(heir)


class MedianGamma:
    """A learner that takes gamma from the rows so far, up to 50, and learns them anew each time."""

    def __init__(self, learner):
        self.learner = learner

    def start(self, d):
        self.events = []
        self.learner.start(d)

    def absorb(self, x):
        pass

    def __getattr__(self, name):
        return getattr(self.learner, name)

    def learn(self, x, y, score, rho, weight, t):
        one = self.learner
        if len(self.events) == SETTLING:
            return one.learn(x, y, score, rho, weight, t)
        self.events.append((x, y, weight))
        one.gamma = median_gamma([x for x, *_ in self.events], one.kind)
        one.start(one.d)
        for s, (x, y, weight) in enumerate(self.events, start=1):
            stepped = one.learn(x, y, one.score(x), rho, weight, s)
        return stepped


class SeveralKernels:
    """KOIL with several kernels: members vote by where a score stands among their last ones.

    A vote is the share of a member's last 100 scores of negatives that are below, plus that of
    positives, less 1; the score itself decides between two that stand alike. Its weight is
    exp(-eta L), eta = sqrt(8 ln(members) / rounds), L the sum over rounds of the share of the last
    events of the other class that the member ranked wrongly.
    """

    LAST = 100

    def __init__(self, kernels, **options):
        self.members = [KOIL(**options, **one) for one in kernels]

    def start(self, d):
        for member in self.members:
            member.start(d)
        self.losses, self.rounds = np.zeros(len(self.members)), 0.0
        self.scores = {-1: [], 1: []}  # of each event one for each member

    def absorb(self, x):
        pass

    def below(self, side, own):
        if not self.scores[side]:
            return np.full(len(own), 0.5)
        last = np.array(self.scores[side][-self.LAST :])
        return np.mean((last < own) + 0.5 * (last == own), axis=0)

    def score(self, x):
        own = np.array([member.score(x) for member in self.members])
        eta = math.sqrt(8 * math.log(len(own)) / self.rounds) if self.rounds else 0.0
        weights = np.exp(-eta * (self.losses - self.losses.min()))
        votes = self.below(-1, own) + self.below(1, own) - 1 + own / np.sqrt(1 + own**2) / 128
        return float(np.sum(weights * votes) / np.sum(weights))

    def decision(self, x):
        return self.score(x)

    def learn(self, x, y, score, rho, weight, t):
        own = np.array([member.score(x) for member in self.members])
        if self.scores[-int(y)]:
            below = self.below(-int(y), own)
            self.losses += weight * (1 - below if y > 0 else below)
            self.rounds += weight
        self.scores[int(y)].append(own)
        stepped = [
            member.learn(x, y, s, rho, weight, t)
            for member, s in zip(self.members, own.tolist(), strict=True)
        ]
        return any(stepped)
