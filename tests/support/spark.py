"""A Spark cluster of two executors on this machine, each a process of its own."""

from __future__ import annotations

import os
import shutil
import sys
import warnings

import pytest


def session():
    """Return a session, or skip where there is no Spark or no Java."""
    pytest.importorskip("pyspark", reason="no pyspark: pip install lopsided[spark]")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java: Spark runs on it")
    from pyspark.sql import SparkSession

    import lopsided

    source = os.path.dirname(os.path.dirname(lopsided.__file__))
    paths = [source, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # nothing here is worth optimising
    settings = {
        "spark.driver.extraJavaOptions": quick,
        "spark.executor.extraJavaOptions": quick,
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "spark.sql.files.openCostInBytes": str(1 << 30),  # a partition for each file
        "spark.sql.parquet.compression.codec": "uncompressed",  # without a native library
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found
