#!/usr/bin/env bash
# PySpark in this environment, its folders where pip puts them. `pip install` would pack a wheel of its 450 MB and unpack
# that again: over a minute of processor time, most of which is saved here.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip install --quiet wheel "setuptools<81"  # what its setup.py needs
pip download --quiet --no-deps --no-build-isolation --no-binary pyspark --dest "$work" "pyspark>=3.5"
tar xzf "$work"/pyspark-*.tar.gz -C "$work" --strip-components=1
mv "$work"/deps/{bin,jars,sbin} "$work/pyspark"
mkdir -p "$work/pyspark/python"
mv "$work/lib" "$work/pyspark/python"
mv "$work/pyspark" "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
pip install --quiet "$(grep -oE 'py4j[<>=.,0-9]+' "$work/setup.py" | head -1)"
python -c 'import pyspark; print("PySpark", pyspark.__version__)'
