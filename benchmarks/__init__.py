"""Speed of lopsided against its peers, in one run, as ratios: ``python -m benchmarks``."""

import os

# One thread for everyone. The libraries read this when they are loaded, so it comes first.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
