"""Fuzz the decoders that are written in Python, guided by coverage if atheris is installed.

    python tests/fire/fuzz.py TARGET [--runs N] [--out FOLDER]

atheris sees no coverage in a package that is installed for development: `pip install .` is needed.
The inputs begin with those of tests/fire/corpus/TARGET; new ones go to FOLDER. An input that is not
refused properly ends this with an error and is printed.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

HERE = Path(__file__).parent


def corpus(name: str) -> list[bytes]:
    """Return the inputs that are kept for a target."""
    return [path.read_bytes() for path in sorted((HERE / "corpus" / name).iterdir())]


def blindly(name: str, runs: int, seed: int = 0) -> None:
    """Call a target with its corpus, then with changes of it at random."""
    from fire.decoders import damaged
    from fire.targets import TARGETS

    rng, kept = random.Random(seed), corpus(name)
    for at in range(len(kept) + runs):
        given = kept[at] if at < len(kept) else damaged(rng.choice(kept), rng)
        try:
            TARGETS[name](given)
        except Exception as error:
            raise AssertionError(f"{name}: {given!r}") from error


def main() -> None:
    """Fuzz a target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--out", type=Path, help="where new inputs go")
    given = parser.parse_args()
    try:
        import atheris
    except ImportError:
        print("atheris is not installed: inputs are changed at random", file=sys.stderr)
        return blindly(given.target, given.runs)
    with atheris.instrument_imports(include=["lopsided", "zipfile"]):
        import lopsided
        from fire.targets import TARGETS

        if not isinstance(lopsided.__spec__.loader, atheris.import_hook.AtherisSourceFileLoader):
            sys.exit("atheris sees no coverage where lopsided is installed for development")
        for one in corpus(given.target):  # imports what is imported late
            TARGETS[given.target](one)
    folders = [str(f) for f in (given.out, HERE / "corpus" / given.target) if f is not None]
    words = [sys.argv[0], f"-runs={given.runs}", "-max_len=4096", "-rss_limit_mb=4096", *folders]
    atheris.Setup(words, TARGETS[given.target])
    return atheris.Fuzz()


if __name__ == "__main__":
    main()
