"""Methods of models in several threads, with the extension compiled for the thread sanitizer.

    LD_PRELOAD=$(c++ -print-file-name=libtsan.so) setarch -R python tests/fire/races.py build/tsan

The folder holds the extension. Python itself is not compiled for it, but its locks are seen: what
the bindings and the core share without a lock, theirs or the interpreter's, is a race, which is
reported and makes the exit code 66.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import threading
from pathlib import Path


def load(folder: Path) -> None:
    """Make the extension in a folder that of the package."""
    (file,) = folder.glob("_core*.so")
    spec = importlib.util.spec_from_file_location("lopsided._core", file)
    sys.modules["lopsided._core"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    load(Path(sys.argv[1]))
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402

from estimator import test_pairs as pairs  # noqa: E402
from lopsided import Active, progressive  # noqa: E402
from lopsided import make as make_learner  # noqa: E402

X = np.random.default_rng(0).normal(size=(3000, 8))  # enough to let the interpreter's lock go
Y = (X[:, 0] > 0).astype(int)
LARGE = {
    "partial_fit": lambda m: m.partial_fit(X, Y),
    "progressive": lambda m: progressive(m, X, Y, resume=True),
    "decision_function": lambda m: m.decision_function(X),
    "score_one": lambda m: m.score_one(X[0]),
    "learn_one": lambda m: m.learn_one(X[0], 1),
    "features": lambda m: (m.n_features_in_, m.classes_),
    "save": lambda m: pairs.to_bytes(m),
}
LEARNERS = ("COG-II", "SSOL", "Recommended", "KOIL-FIFO")


def events(name):
    """Return a model that learns from dicts."""
    return make_learner(name).partial_fit(*pairs.batch())


def asking(_):
    """Return a model that asks."""
    model = Active(learner="COG-II", query="always", budget=10**6)
    return model.partial_fit(*pairs.batch())


def arrays(name):
    """Return a model that learns from arrays."""
    return make_learner(name).partial_fit(X[:50], Y[:50])


def together(model, acts):
    """Let each act run in a thread of its own, several times."""

    faults = []

    def work(act):
        try:
            for _ in range(4):
                act(model)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults


def main() -> None:
    """Run all pairs."""
    sys.setswitchinterval(1e-5)
    count = 0
    for make, methods, names in (
        (events, pairs.METHODS, ("Recommended", "COG-II")),
        (asking, pairs.ASKING, ("",)),
        (arrays, LARGE, LEARNERS),
    ):
        for name in names:
            for two in itertools.combinations_with_replacement(methods.values(), 2):
                together(make(name), two)
                count += 1
    print(f"{count} pairs of methods in two threads each")


if __name__ == "__main__":
    main()
