#!/usr/bin/env bash
# PySpark in this environment, its folders where pip puts them. pip would first pack a wheel of its 450 MB and unpack
# that again: over a minute of processor time, most of which is saved here.
set -euo pipefail
page=$(curl -sSfL "${PIP_INDEX_URL:-https://pypi.org/simple}/pyspark/")
link=$(grep -oE 'https?://[^"]*/pyspark-[0-9.]+\.tar\.gz#sha256=[0-9a-f]{64}' <<<"$page" |
  sed -E 's|.*/pyspark-([0-9.]+)\.tar.*|\1 &|' | sort -V | tail -1 | cut -d' ' -f2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
curl -sSfL "${link%%#*}" | tee >(sha256sum >"$work/sum") | tar xz -C "$work" --strip-components=1
until [ -s "$work/sum" ]; do sleep 0.1; done
grep -q "^${link##*sha256=} " "$work/sum" || { echo "$link: another sum, $(cat "$work/sum")" >&2; exit 1; }
mv "$work"/deps/{bin,jars,sbin} "$work/pyspark"
mkdir -p "$work/pyspark/python"
mv "$work/lib" "$work/pyspark/python"
mv "$work/pyspark" "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
pip install --quiet "$(grep -oE 'py4j[<>=.,0-9]+' "$work/setup.py" | head -1)"
python -c 'import pyspark; print("PySpark", pyspark.__version__)'
