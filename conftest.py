"""Modules whose doctests are left out where what they need is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("pyspark") else ["src/lopsided/spark_ml.py"]
