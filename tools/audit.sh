#!/usr/bin/env bash
# Known vulnerabilities of what users of the package and of its extras install. Needs PyPI itself: of a mirror without
# its advisories pip-audit skips every package and finds nothing, so a package that is skipped is an error (--strict).
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet pip-audit
python3 - > "$work/requirements.txt" <<'END'
import json
for part in json.load(open("sbom.cdx.json"))["components"]:
    if part["scope"] != "excluded" and "pypi" in part["purl"]:
        print(part["properties"][0]["value"])
END
"$work/venv/bin/pip-audit" --strict --progress-spinner off --requirement "$work/requirements.txt" "$@"
