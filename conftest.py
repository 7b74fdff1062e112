"""Modules whose doctests are left out where what they need is not installed."""

from importlib.util import find_spec

_NEEDS = {"pyspark": "spark_ml", "river": "river", "onnx": "onnx", "mlflow": "mlflow"}
collect_ignore = [f"src/lopsided/{name}.py" for need, name in _NEEDS.items() if not find_spec(need)]
