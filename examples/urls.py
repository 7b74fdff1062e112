"""Malicious URLs: words and hosts without end, hashed into a fixed number of features."""

import random

import lopsided

rng = random.Random(0)
BAD = ("login", "verify", "account", "free", "gift")
GOOD = ("news", "docs", "blog", "shop", "about")


def url(malicious: bool) -> str:
    """Return a made-up URL; almost every host is new."""
    host = f"h{rng.randrange(10**6)}.{rng.choice(('com', 'org', 'info', 'xyz'))}"
    words = [rng.choice(BAD if malicious and rng.random() < 0.5 else GOOD) for _ in range(3)]
    return f"{host}/{'/'.join(words)}/{rng.randrange(10**5)}"


def features(address: str) -> dict[str, float]:
    """Return the parts of a URL as named features."""
    return {f"part={part}": 1.0 for part in address.replace(".", "/").split("/")}


# 2 ** 20 features, whatever comes: memory is fixed, names are not stored.
# FSOL keeps only weights that matter: at most 0.1 % of the features seen have one.
model = lopsided.make(
    "FSOL", positive=1, intercept=True, hash_bits=20, scaling="none", target_sparsity=0.999
)
found = alarms = total = 0
for _ in range(30_000):
    bad = rng.random() < 0.05
    event = features(url(bad))
    score = model.step_one(event, int(bad))  # the score before the label, then the step
    total += bad
    found += bad and score >= 0
    alarms += (not bad) and score >= 0

weights = model.coef_
print(f"found {found} of {total} malicious URLs with {alarms} false alarms")
print(f"{len(weights):,} features, {(weights != 0).sum()} with a weight")
for address in ("h1.com/login/verify/account/7", "h2.org/docs/news/about/7"):
    print(f"{address}: score {model.score_one(features(address)):+.2f}")
