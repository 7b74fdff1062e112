"""Random streams on which a learner and its oracle must take the same decisions.

Whether a learner steps hangs on a comparison, and where the two sides are equal in exact
arithmetic, rounding decides. Such a stream says nothing about the library, so it is not used: a
stream counts only if the oracle itself, with its scores and weights wrong by one part in 10^11,
still takes the same decisions. What must happen at a tie is tested on numbers without rounding.
"""

from __future__ import annotations

import os

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

settings.register_profile(
    "oracles",
    max_examples=150,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
PROFILE = settings.get_profile("oracles")
SCALINGS = ("auto", "none", "unit", "standard", "standard+unit")
QUIRKS = (
    "zero rows",
    "repeats",
    "zero column",
    "constant column",
    "one class first",
    "magnitudes",
    "offset",
)
NOISE = 1e-11  # against rounding errors of about 1e-15
TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}
rates = st.floats(-2, 2).map(lambda k: 10.0**k)
switches = st.booleans()


@st.composite
def weights(draw, rng, rows, equal):
    """Sample weights with zeros among them, or None."""
    kind = draw(st.sampled_from(["none", "random", "zeros"]))
    if kind == "none":
        return None
    values = np.full(rows, 2.5) if equal else rng.uniform(0.1, 3, size=rows)
    if kind == "zeros":
        values[rng.random(rows) < 0.3] = 0.0
        values[rng.integers(rows)] = 2.5
    return values


@st.composite
def orders(draw, rng, rows):
    """Rows to visit: all as they come, a permutation, part of one, or with some twice."""
    kind = draw(st.sampled_from(["as is", "permutation", "part", "again"]))
    if kind == "as is":
        return None
    if kind == "again":
        return rng.integers(rows, size=rows)
    return rng.permutation(rows)[: rows if kind == "permutation" else (rows + 1) // 2]


def shaky(oracle, noise):
    """The same learner with rounding errors of a given size, which notes when it steps.

    A score w . x is off by a part of sum |w_i x_i|, as with any order of summation; a scaled value
    by a part of itself; a new weight or covariance by a part of the old one, as with any way to
    write their difference; the step along a sketch by a part of what the sketch takes away from.
    """
    rng = np.random.default_rng(0)

    class Shaky(type(oracle)):
        def start(self, d):
            super().start(d)
            self.steps = []

        def score(self, x):
            size = np.dot(np.abs(self.w), np.abs(x)) + abs(self.b)
            return super().score(x) + noise * rng.uniform(-1, 1) * size

        def learn(self, x, *event):
            x = x * (1 + noise * rng.uniform(-1, 1, size=x.shape))
            parts = [name for name in self.parts if hasattr(self, name)]
            before = {name: getattr(self, name) for name in parts}
            self.steps.append(super().learn(x, *event))
            for name, old in before.items():
                new = getattr(self, name)
                error = noise * rng.uniform(-1, 1, size=np.shape(old))
                setattr(self, name, new + error * (np.abs(old) + np.abs(new)))
            return self.steps[-1]

        def move(self, g):
            super().move(g)
            error = noise * rng.uniform(-1, 1, size=g.shape)
            self.w = self.w + error * self.learning_rate * np.abs(g)

    oracle.__class__ = Shaky
    return oracle


# The library's names for the forms of an oracle, where it has not the oracle's own name.
FORMS = {"SACOG": [("ACOG", {"covariance": form}) for form in ("sketch", "dense-sketch")]}


def forms(name):
    return FORMS.get(name, [(name, {})])
