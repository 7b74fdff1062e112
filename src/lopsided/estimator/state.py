"""Names of the entries of a model's state that Python reads or sets; the core writes them.

Each is visited by the function `state` of a class in `cpp/core`. Names with braces are patterns.
"""

from __future__ import annotations

# Weights and matrices
FEATURES = "features"
FEATURE_VALUES = "features.values"
COVARIANCE = "covariance"
VARIANCE = "variance"
BIAS = "bias"

# Scaling
SCALING_ROWS = "scaling.rows"
SCALING_MEAN = "scaling.mean"
SCALING_SPREAD = "scaling.spread"

# Sketches
SKETCH = "sketch"
SKETCH_VALUES = "sketch.values"
SKETCH_BASIS = "sketch.basis"
SKETCH_ENERGY = "sketch.energy"
SKETCH_DIRECTION = "sketch.direction.{}"  # of a dense sketch

# Recommended
LOSSES = "losses"
POSITIVES = "positives"
NEGATIVES = "negatives"
SLOPE = "slope"
SHIFT = "shift"

# WeightedMajority
LEFT = "left"
WIDE = "wide"
NARROW = "narrow"
RHO = "rho"
MISSED = "missed.{}"  # of a member
ALARMED = "alarmed.{}"

# Kernel learners; lists of support vectors have names of their own
GAMMA = "kernel.gamma"
GAMMA_OF = "kernel.gamma.{}"  # of a member
KOIL_SCALE = "koil.scale"
NORMA_SCALE = "norma.scale"
HEDGE_LOSSES = "hedge.losses"
HEDGE_ROUNDS = "hedge.rounds"
LIST_SLOTS = "{}.slots"
LIST_SIZE = "{}.size"
LIST_SIZE_OF = "{}.size.{}"  # of a member
LIST_FIRST = "{}.first"
LIST_SPARSE = "{}.sparse"
LIST_VALUES = "kept.{}.values"
LIST_WEIGHTS = "kept.{}.weights"
LIST_INDICES = "kept.{}.indices"
LIST_ENDS = "kept.{}.ends"

# Questions and their budget
PENDING_EVENTS = "pending.events"
QUERY_POSITIVES = "query.positives"
QUERY_NEGATIVES = "query.negatives"
QUERY_EVENTS = "query.events"
QUERY_UNCERTAINTY = "query.uncertainty"
BUDGET = "budget."  # what the names of the next ones begin with
BUDGET_EVENTS = "budget.events"
BUDGET_BEGUN = "budget.begun"
BUDGET_FIRST = "budget.first"
BUDGET_PERIOD = "budget.period"
BUDGET_SPENT = "budget.spent"
BUDGET_ELAPSED = "budget.elapsed"

# Alarm capacity and calibration
CAPACITY_MET = "capacity.met"
CAPACITY_EVENTS = "capacity.events"
CAPACITY_SPENT = "capacity.spent"
CAPACITY_DAY = "capacity.day"
CAPACITY_USUAL = "capacity.usual"
CAPACITY_UNIT = "capacity.unit"
CAPACITY_GAINS = "capacity.gains"
CALIBRATION_LABELS = "calibration.labels"
CALIBRATION_CHECKPOINT = "calibration.checkpoint"
CALIBRATION_UNIT = "calibration.unit"
CALIBRATION_MASS = "calibration.mass"
CALIBRATION_NOW = "calibration.now"
CALIBRATION_BEFORE = "calibration.before"
