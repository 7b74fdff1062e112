"""WeightedMajority in slow motion: oracles of AROW and ACOG, each with its rows, and a vote."""

from __future__ import annotations

import numpy as np

from .scaling import Scaler
from .second_order import ACOG, AROW

LIMIT = 64  # features up to which there is a full covariance, and sparse rows are centred
EARLY = 32  # rows within which a stream shows that it is wide
TRIAL = 1 << 17  # values after which full covariances go


class WeightedMajority:
    """Takes raw rows; `sparse` says whether they came as sparse ones."""

    def __init__(self, d, *, scaling="auto", intercept=True, sparse=False, trial=TRIAL):
        self.intercept, self.sparse = intercept, sparse
        self.own = scaling == "auto"
        self.rows = []
        self.narrow = True
        self.wide = False
        self.members = [
            AROW(cost_in="step"),
            *(ACOG(learning_rate=rate) for rate in (0.1, 1.0, 0.01)),
        ]
        self.members += [
            AROW(regularization=r, covariance="full", cost_in="step") for r in (0.3, 0.1)
        ]
        self.trial, self.met, self.full = trial, 0, [4, 5]
        for member in self.members:
            member.start(d + 1)
        self.missed, self.alarmed, self.rho = np.zeros(6), np.zeros(6), 1.0
        self.other = Scaler("none" if self.own else scaling, not sparse)

    def look(self, x):
        met = np.flatnonzero(x).max(initial=-1) + 1 if self.sparse else len(x)
        if met <= LIMIT or not self.narrow:
            return
        self.narrow = False
        self.wide = self.own and len(self.rows) < EARLY
        if self.wide:
            self.members[0].regularization = 10.0
            self.members[2].learning_rate = 10.0
            raw = AROW(cost_in="step")
            raw.w, raw.sigma = self.members[3].w, self.members[3].sigma
            self.members[3] = raw

    def views(self, x):
        """The row as each member sees it, the constant in front."""
        if self.own:
            standard, plain = self.standard(x), Scaler("unit", False).scale(x)
            uncentred = Scaler("standard+unit", False)
            uncentred.rows = self.rows
            uncentred = uncentred.scale(x)
        else:
            self.other.rows = self.rows
            standard = plain = uncentred = self.other.scale(x)
        ones = [float(self.intercept)] * 6
        if self.wide:
            ones[0] = ones[1] = ones[3] = 0.0
        rows = [standard, standard, standard, plain, uncentred, plain]
        return [np.concatenate([[one], row]) for one, row in zip(ones, rows, strict=True)]

    def standard(self, x):
        """Of sparse rows only the first features are centred, unless there are many early on."""
        centred, uncentred = Scaler("standard", True), Scaler("standard", False)
        centred.rows = uncentred.rows = self.rows
        block = len(x)
        if self.sparse:
            block = 0 if self.wide else LIMIT
        z = uncentred.scale(x)
        z[:block] = centred.scale(x)[:block]
        return Scaler("unit", False).scale(z)

    def price(self):
        return (self.rho * self.missed + self.alarmed) / max(self.rho, 1.0)

    def voters(self):
        return [0, 1, 2, 3] + (self.full if self.narrow else [])

    def meet(self, x):
        self.look(x)
        if len(self.full) > 1 and self.met >= self.trial:
            leader = min(self.voters(), key=lambda k: self.price()[k])
            self.full = [leader] if leader >= 4 else []
        self.met += np.count_nonzero(x)
        self.seen = self.views(x)
        self.rows.append(x)
        self.scores = np.array([m.w @ v for m, v in zip(self.members, self.seen, strict=True)])
        price, votes = self.price()[self.voters()], self.scores[self.voters()]
        weights = (1 + (price - price.min()) / 12) ** -8
        return np.sum(weights * votes / np.sqrt(1 + votes**2)) / np.sum(weights)

    def learn(self, y, rho, weight):
        account = self.missed if y > 0 else self.alarmed
        account += weight * ((self.scores >= 0) != (y > 0))
        if y > 0:
            self.rho = rho
        for k in self.voters():
            self.members[k].learn(self.seen[k], y, self.scores[k], rho, weight, 0)
