"""What this package is made of and needs, from pyproject.toml, as CycloneDX: sbom.cdx.json."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Compiled into the extension, beside our own code and the C++ library.
LINKED = ("nanobind",)
# Copied into the package: its first line has its version.
CHARTS = "src/lopsided/service/page/uplot.js"


def text(root: Path) -> str:
    """Return the bill of materials of a tree, a component on each line."""
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    project, build = settings["project"], settings["build-system"]
    extras = project["optional-dependencies"].values()
    parts = {
        **{_name(need): (need, "optional") for needs in extras for need in needs},
        **{_name(need): (need, "excluded") for need in build["requires"]},  # to build, not to run
        **{_name(need): (need, "required") for need in project["dependencies"]},
    }
    parts |= {name: (parts[name][0], "required") for name in LINKED}
    name, version = project["name"], project["version"]
    about = {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": [{"license": {"id": project["license"]}}],
    }
    components = [_component(name, *part) for name, part in sorted(parts.items())]
    components.append(_charts((root / CHARTS).read_text()))
    return (
        '{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,\n'
        f' "metadata": {{"component": {json.dumps(about)}}},\n'
        ' "components": [\n  ' + ",\n  ".join(components) + "\n ]}\n"
    )


def _component(name: str, need: str, scope: str) -> str:
    wanted = [{"name": "requirement", "value": need}]
    part = {"type": "library", "name": name, "purl": f"pkg:pypi/{name}", "scope": scope}
    return json.dumps({**part, "properties": wanted})


def _charts(source: str) -> str:
    found = re.match(r"/\*! \S+/(uPlot) \(v([\d.]+)\)", source)
    if found is None:
        raise SystemExit(f"{CHARTS} does not say which version it is")
    part = {"type": "library", "name": found[1], "version": found[2], "scope": "required"}
    licence = [{"license": {"id": "MIT"}}]
    return json.dumps({**part, "purl": f"pkg:npm/uplot@{found[2]}", "licenses": licence})


def _name(need: str) -> str:
    return re.split(r"[\[<>=!~; ]", need)[0].lower()
