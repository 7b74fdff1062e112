"""Writes the model files kept here and what they must answer; run with commit a82c4c8 only.

The files are kept for ever: every later version must load them and give the same bits. Do NOT run
this with a later version, which would only compare the version with itself. If a new format of
model files comes, give it a folder of its own and leave this one alone.

    git worktree add /tmp/v1 a82c4c8 && python -m venv /tmp/v1/venv
    /tmp/v1/venv/bin/pip install /tmp/v1 scipy && /tmp/v1/venv/bin/python tests/files/v1/write.py
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "support"))

from model_files import as_form, as_labels, replay, sha256  # noqa: E402

import lopsided  # noqa: E402
from lopsided.persist import from_bytes, to_bytes  # noqa: E402

DAY = 20_000 * 86_400
NAMED = {"labels": "text", "form": "dict"}
KERNELS = [
    {"kernel": "gaussian", "gamma": 0.5},
    {"kernel": "polynomial", "degree": 2, "coef0": 1.0, "gamma": 1.0},
    {"kernel": "linear"},
]


def made_up(rows, seed):
    """Rows of small fractions with many zeros, from a generator that is written out here."""
    x, found, signs = seed, [], []
    for _ in range(rows):
        row = []
        for _ in range(5):
            x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
            value = (x >> 33) % 256 - 128
            row.append(0.0 if value % 3 == 0 else value / 64)
        found.append(row)
        signs.append(1 if row[0] - row[1] + 0.5 * row[4] > 1 else -1)
    return found, signs


STREAM = {"learned": made_up(30, 1), "later": made_up(12, 2), "judged": made_up(6, 3)[0]}


def cases():
    """Yield the name of a file, the model before it learns, how it is fed."""
    for name in lopsided.learners():
        yield name, lopsided.make(name), {}
    for name in ("AROW", "ACOG-I", "ACOG-II", "SSOL-full", "OA3"):
        yield f"{name} float32", lopsided.make(name, covariance_dtype="float32"), {}
    for scaling in ("none", "unit", "standard", "standard+unit"):
        for name in ("COG-II", "ACOG-II", "Recommended", "RBP"):
            yield f"{name} scaling={scaling}", lopsided.make(name, scaling=scaling), {}
    for name in ("COG-II", "AROW", "SACOG-II", "SSOL"):
        yield f"{name} intercept", lopsided.make(name, intercept=True), {}
    for name in ("COG-II", "Recommended", "SSACOG-I", "KOIL-FIFO++", "OAM-gra"):
        yield f"{name} sparse", lopsided.make(name), {"form": "csr"}
        yield f"{name} names", lopsided.make(name, positive="fraud"), NAMED
    for name in ("COG-II", "SSACOG-II"):
        yield f"{name} hashed", lopsided.make(name, hash_bits=4, positive="fraud"), NAMED
    for violators in ("paper", "code"):
        yield f"KOIL neighbors={violators}", lopsided.KOIL(buffer_size=3, neighbors=violators), {}
    hashed = lopsided.KOIL(buffer_size=2, hash_bits=3, positive="fraud")
    yield "KOIL hashed", hashed, NAMED
    yield "KOIL kernels", lopsided.KOIL(kernels=KERNELS, buffer_size=4), {}
    yield "KOIL threshold", lopsided.KOIL(fit_threshold=True, gamma="median", buffer_size=4), {}
    for name in ("RBP", "Forgetron"):
        yield f"{name} full", lopsided.make(name, buffer_size=3), {}
    for name in ("OAM-seq", "OAM-gra"):
        yield f"{name} full", lopsided.make(name, buffer_size=3), {}
    yield "COG costs", lopsided.COG(positive="fraud", class_weight={"fraud": 99, "fine": 1}), NAMED
    yield "COG last positive", lopsided.COG(positive=0, class_weight="balanced"), {}
    yield "Ada-RDA", lopsided.make("Ada-RDA", l1=0.01), {}
    yield "FSOL target", lopsided.make("FSOL", target_sparsity=0.4), {}
    daily = lopsided.Budget(labels=3, per="day", saving=True)
    asking = {**NAMED, "asks": True}
    for name, learner, params, how in (
        ("daily", "COG-II", {"budget": daily}, {**asking, "time": DAY}),
        ("share", "Recommended", {"budget": "60%"}, asking),
        ("count", "AROW", {"budget": 30}, asking),
        ("pending", "SSACOG-II", {"max_pending": 4, "query": "confidence"}, asking),
    ):
        model = lopsided.Active(learner, delta=2.0, explore=0.1, **params)
        yield f"Active {name}", model.set_params(learner__positive="fraud"), how
    yield "COG-II changed", lopsided.make("COG-II"), {"set": {"learning_rate": 0.75}}
    yield "AROW changed", lopsided.make("AROW"), {"set": {"regularization": 4.0}}
    yield (
        "Active changed",
        lopsided.Active("COG-II", budget=20),
        {"set": {"budget": 40, "delta": 3.0}},
    )


def taught(model, case):
    """Learn the first rows, all but the last few in one call; ask where labels come later."""
    rows, signs = STREAM["learned"]
    given, labels = as_form(rows, case["form"]), as_labels(signs, case)
    if case["asks"]:
        for k, event in enumerate(given):
            decision = model.ask(event, time=case["time"] + 20_000 * k if case["time"] else None)
            if decision.asked and k % 3:
                model.tell(decision.id, labels[k])
    else:
        model.partial_fit(given[:20], labels[:20])
        weights = {} if case["weight"] == 1 else {"sample_weight": np.arange(1, 11) / 4}
        model.partial_fit(given[20:], labels[20:], **weights)
    return model


def main() -> None:
    """Write models.zip and expected.json."""
    usual = {"form": "array", "labels": "number", "asks": False, "time": None, "weight": 2.5}
    found, files = {}, {}
    for name, model, how in cases():
        case = {**usual, **how}
        changes = case.pop("set", {})
        if name.split()[0] in (
            "ROMMA",
            "aROMMA",
            "PA",
            "CPA",
            "Forgetron",
            "Projectron++",
        ):  # a full step takes no weight
            case["weight"] = 1.0
        data = files[f"{name}.lop"] = to_bytes(taught(model, case).set_params(**changes))
        kept = from_bytes(data)
        answers = replay(kept, STREAM, case)
        digests = {"sha256": sha256(data), "sha256_later": sha256(to_bytes(kept))}
        found[name] = {**case, **digests, "answers": answers}
    text = json.dumps({"stream": STREAM, "models": found}, separators=(",", ":"))
    (HERE / "expected.json").write_text(text.replace('},"', '},\n"') + "\n")
    with zipfile.ZipFile(
        HERE / "models.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9
    ) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    print(f"{len(files)} models")


if __name__ == "__main__":
    main()
