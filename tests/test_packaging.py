"""What is released: the contents of a wheel, the bill of materials, one version."""

import json
import re
import zipfile
from pathlib import Path

import pytest
from tools import check_wheel

ROOT = Path(__file__).parent.parent
VERSION = re.search(r'\nversion = "(.*)"\n', (ROOT / "pyproject.toml").read_text())[1]


@pytest.fixture
def wheel(tmp_path):
    """A wheel of this tree, with something in place of the compiled core."""
    about = f"lopsided-{VERSION}.dist-info"
    path = tmp_path / "lopsided.whl"
    with zipfile.ZipFile(path, "w") as file:
        for source in check_wheel._sources(ROOT / "src" / "lopsided"):
            file.write(source, source.relative_to(ROOT / "src"))
        for name in ("_core.pyi", "_core.abi3.so"):
            file.writestr(f"lopsided/{name}", "")
        for name in ("RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"):
            file.writestr(f"{about}/{name}", "")
        file.writestr(f"{about}/METADATA", f"Name: lopsided\nVersion: {VERSION}\n")
    return path


def without(wheel, *names):
    other = wheel.with_name("without.whl")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(other, "w") as new:
        for item in old.infolist():
            if item.filename not in names:
                new.writestr(item, old.read(item))
    return other


def test_a_wheel_of_this_tree_is_accepted(wheel):
    assert check_wheel.faults(wheel) == []


@pytest.mark.parametrize(
    "name",
    [
        "lopsided/py.typed",
        "lopsided/_core.pyi",
        "lopsided/metrics.py",
        "lopsided/data/sets/registry.json",
    ],
)
def test_a_file_that_a_wheel_lacks_is_named(wheel, name):
    assert check_wheel.faults(without(wheel, name)) == [f"{name} is missing"]


@pytest.mark.parametrize("name", ["lopsided/report.html", "tests/test_docs.py", "lopsided/x.pyc"])
def test_a_stray_file_in_a_wheel_is_named(wheel, name):
    with zipfile.ZipFile(wheel, "a") as file:
        file.writestr(name, "")
    assert check_wheel.faults(wheel) == [f"{name} does not belong"]


def test_the_cpp_library_is_in_a_wheel_for_musl_only(wheel):
    name = "lopsided.libs/libstdc++-5d72f927.so.6.0.32"
    with zipfile.ZipFile(wheel, "a") as file:
        file.writestr(name, "")
    assert check_wheel.faults(wheel) == [f"{name} does not belong"]
    musl = wheel.rename(wheel.with_name("lopsided-musllinux_1_2_x86_64.whl"))
    assert check_wheel.faults(musl) == []


def test_a_wheel_without_a_core_is_refused(wheel):
    found = check_wheel.faults(without(wheel, "lopsided/_core.abi3.so"))
    assert found == ["0 files of the core instead of one"]


def test_a_wheel_that_is_too_large_is_refused(wheel, monkeypatch):
    monkeypatch.setattr(check_wheel, "LARGEST", 1000)
    assert "more than 1,000" in check_wheel.faults(wheel)[0]


def test_the_bill_of_materials_has_what_a_user_runs():
    bill = json.loads((ROOT / "sbom.cdx.json").read_text())
    scopes = {part["name"]: part["scope"] for part in bill["components"]}
    for name in ("click", "msgspec", "numpy", "zstandard", "nanobind", "uPlot"):
        assert scopes[name] == "required"
    assert (scopes["pyspark"], scopes["scikit-build-core"]) == ("optional", "excluded")
    assert bill["metadata"]["component"]["version"] == VERSION


def test_the_version_comes_from_one_place():
    places = [*(ROOT / "src").rglob("*.py"), ROOT / "CMakeLists.txt", ROOT / "docs" / "conf.py"]
    assert [p for p in places if f'"{VERSION}"' in p.read_text()] == []
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is None or cited[1].strip('"') == VERSION


def test_a_wheel_with_the_stable_abi_is_released_and_tried_in_ci():
    option = "wheel.py-api=cp312"
    assert option in (ROOT / ".github" / "workflows" / "wheels.yml").read_text()
    assert option in (ROOT / ".ci" / "run").read_text()
