"""Peak memory of a fit above that of its data, in a process that does nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from . import data, peers
from .fresh import number_printed_by
from .harness import Contender, Group

FITS = {
    "COG-II": ("lopsided", "from lopsided import COG; model = COG()"),
    "ACOG-II diagonal": ("lopsided", "from lopsided import ACOG; model = ACOG()"),
    "SGDClassifier": (
        "scikit-learn",
        "from sklearn.linear_model import SGDClassifier; "
        "model = SGDClassifier(loss='hinge', shuffle=False, max_iter=1, tol=None)",
    ),
}

# VmHWM is the peak of this process image; ru_maxrss would remember the parent's.
MEASURED = """
import numpy as np
from scipy.sparse import csr_matrix
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line)
parts = [np.load(f"{folder}/{{name}}.npy") for name in ("data", "indices", "indptr")]
X, y = csr_matrix(tuple(parts), shape={shape}), np.load("{folder}/y.npy")
{model}
model.fit(X[:100], y[:100])
before = peak()
model.fit(X, y)
print(1024.0 * (peak() - before))
"""


def groups(quick: bool) -> Iterator[Group]:
    if not peers.present("scipy") or not Path("/proc/self/status").exists():
        return
    rows = 50_000 if quick else 200_000
    X, y = data.zipf(rows)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("data", "indices", "indptr"):
            np.save(f"{folder}/{name}.npy", getattr(X, name))
        np.save(f"{folder}/y.npy", y)
        contenders = [_contender(name, folder, X.shape) for name in FITS]
        title = f"memory of a fit, {rows:,} rows of 75 of 100,000 features"
        yield Group(
            title,
            "MB",
            [c for c in contenders if peers.present(FITS[c.name][0])],
            "SGDClassifier",
            note="peak above data and libraries",
        )


def _contender(name: str, folder: str, shape: tuple[int, int]) -> Contender:
    package, model = FITS[name]
    code = MEASURED.format(folder=folder, shape=shape, model=model)
    return Contender(name, lambda: number_printed_by(code), ours=package == "lopsided")
