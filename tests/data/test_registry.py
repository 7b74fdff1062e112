"""Data sets by name, and finding them on this machine."""

import csv
import os
from pathlib import Path

import pytest

from lopsided.data.sets import downloads as cache
from lopsided.data.sets import registry
from lopsided.data.sets.downloads import find
from lopsided.data.sets.registry import datasets, lookup
from lopsided.errors import UnknownDatasetError

# What the tables of the papers list, by hand: name here, rows, test rows, features, ratio.
PRINTED = {
    "CSOGD": [
        ("covtype", 581012, None, 54, 1),
        ("german", 1000, None, 24, 2.3),
        ("w8a", 64700, None, 300, 32.5),
    ],
    "ACOG": [
        ("covtype", 581012, None, 54, 1),
        ("german", 1000, None, 24, 2.3),
        ("a9a", 48842, None, 123, 3.2),
        ("ijcnn1", 141691, None, 22, 9.4),
        ("mushrooms", 8124, None, 112, 1.07),
        ("protein", 17766, None, 357, 1.7),
        ("usps", 7291, None, 256, 5.11),
        ("Sensorless", 58509, None, 48, 10),
        ("Australian", 690, None, 14, 1.25),
        ("Magic04", 19020, None, 10, 1.8),
        ("DNA", 2000, None, 180, 3.31),
        ("KDDCUP08", 102294, None, 117, 163.19),
    ],
    "OA3": [
        ("protein", 17766, None, 357, 1.7),
        ("Sensorless", 58509, None, 48, 10),
        ("w8a", 64700, None, 300, 32.5),
        ("KDDCUP08", 102294, None, 117, 163.19),
        ("CIFAR-10", None, None, 3072, None),
        ("IAD", None, None, 1558, None),
    ],
    "SOL": [
        ("AUT", 40000, 22581, 20707, 0.33),
        ("PCMAC", 1000, 946, 7510, 1),
        ("NEWS", 10000, 9996, 1355191, 1.5),
        ("RCV1", 781265, 23149, 47152, 1.11),
        ("URL", 2000000, 396130, 3231961, 2.02),
        ("WEBSPAM", 300000, 50000, 16071971, 0.64),
        ("URL2", 1000000, 100000, 3231961, 99),
        ("WEBSPAM2", 100000, 10000, 16071971, 99),
        ("synthetic", 100000, 10000, 1000, None),
    ],
    "KOIL": [
        ("sonar", None, None, None, None),
        ("koil/australian", None, None, None, None),
        ("heart", None, None, None, None),
        ("ionosphere", None, None, None, None),
        ("diabetes", None, None, None, None),
        ("glass", None, None, None, None),
        ("koil/german", None, None, None, None),
        ("svmguide2", None, None, None, None),
        ("segment", None, None, None, None),
        ("satimage", None, None, None, None),
        ("vowel", None, None, None, None),
        ("letter", None, None, None, None),
        ("poker", None, None, None, None),
        ("shuttle", None, None, None, 328.546),
    ],
}


@pytest.mark.parametrize("paper", PRINTED)
def test_every_set_of_the_papers_is_there_as_printed(paper):
    for name, *printed in PRINTED[paper]:
        uses = [use for use in lookup(name).uses if use.paper == paper]
        assert len(uses) == 1, name
        use = uses[0]
        assert [use.rows, use.test_rows, use.features, use.ratio] == printed, name


def test_no_paper_uses_anything_else():
    for paper, sets in PRINTED.items():
        tables = {
            d.name
            for d in datasets()
            for use in d.uses
            if use.paper == paper and use.where != "published code"
        }
        assert tables == {lookup(name).name for name, *_ in sets}
    assert list(registry.papers()) == ["CSOGD", "ACOG", "SOL", "OA3", "KOIL"]


def test_counts_agree_with_the_printed_ratios():
    for d in datasets():
        for use in d.uses:
            if d.positives and use.ratio:
                decimals = len(str(float(use.ratio)).partition(".")[2])
                # the papers cut as often as they round
                assert abs(d.ratio - use.ratio) < 10.0**-decimals, d.name


def test_names_and_aliases_are_one_to_one():
    spelled = [s.casefold() for d in datasets() for s in (d.name, *d.aliases)]
    assert len(set(spelled)) == len(spelled)


def test_files_have_places_of_their_own():
    places = [f.name for d in datasets() for f in (*d.files, *d.prepared)]
    assert len(set(places)) == len(places)
    assert not any(Path(p).is_absolute() or ".." in p for p in places)


def test_checksums_have_a_form_and_an_origin():
    sizes = {"md5": 32, "sha256": 64}
    for d in datasets():
        for file in d.files:
            assert file.address is None or file.address.startswith(("https://", "http://"))
            assert (file.checksum is None) == (file.checksum_from is None)
            if file.checksum is not None:
                kind, _, digits = file.checksum.partition(":")
                assert len(digits) == sizes[kind]
                assert set(digits) <= set("0123456789abcdef")


def test_rules_of_the_positive_class():
    for d in datasets():
        assert d.positive.rule in ("label", "rarer", "topic", "unknown")
        assert bool(d.positive.labels) == (d.positive.rule in ("label", "topic")), d.name
        assert d.positive.meaning


def test_sets_refer_to_sets_that_exist():
    for d in datasets():
        for other in (d.substitute_for, d.derived_from):
            assert other is None or lookup(other).name == other
    assert "protein_val" in lookup("protein").substitutes
    assert lookup("url2").sources == lookup("url").files


def test_lookup_is_case_insensitive_and_names_the_nearest():
    assert lookup("KDD cup 2008") is lookup("kddcup08")
    with pytest.raises(UnknownDatasetError, match="did you mean 'covtype'"):
        lookup("covtyp")


def test_describe_says_what_is_unverified():
    text = "\n".join(f"{a}: {b}" for a, b in lookup("ijcnn1").describe())
    assert "address unverified" in text
    assert "no checksum known" in text
    assert "ACOG Table 1, 141,691 rows, 22 features, 1:9.4" in text
    for d in datasets():
        assert all(isinstance(part, str) for row in d.describe() for part in row)


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """No data on this machine but what a test puts there."""
    monkeypatch.setenv("LOPSIDED_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LOPSIDED_DATA", raising=False)


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("+1 1:1\n")
    return folder


def test_nothing_is_found_where_nothing_is():
    assert find("a9a") is None


@pytest.mark.parametrize("ending", ["", ".bz2", ".gz", ".xz", ".zst"])
def test_plain_names_with_any_packing(tmp_path, ending):
    folder = touch(tmp_path / "d", f"ijcnn1{ending}", f"ijcnn1.t{ending}")
    found = find("ijcnn1", [folder])
    assert [p.name for p in found.paths] == [f"ijcnn1{ending}", f"ijcnn1.t{ending}"]
    assert found.parts == ("train", "test")
    assert found.kind == "published"


def test_a_checksum_is_of_the_published_packing_only(tmp_path):
    found = find("ijcnn1", [touch(tmp_path / "d", "ijcnn1.bz2", "ijcnn1.t.bz2")])
    assert found.check() == {found.paths[0]: None, found.paths[1]: False}
    found = find("ijcnn1", [touch(tmp_path / "e", "ijcnn1", "ijcnn1.t")])
    assert set(found.check().values()) == {None}


def test_upper_and_lower_case_of_file_names(tmp_path):
    assert find("sensorless", [touch(tmp_path / "d", "sensorless")]).paths[0].name == "sensorless"


def test_a_set_is_found_whole_or_by_the_parts_asked_for(tmp_path):
    folder = touch(tmp_path / "d", "a9a")
    assert find("a9a", [folder]) is None
    assert find("a9a", [folder], parts=["train"]).paths == (folder / "a9a",)
    assert find("a9a", [folder], parts=["test"]) is None
    assert find("a9a", [folder], parts=["nonsense"]) is None


def test_order_of_the_folders(tmp_path, monkeypatch):
    given, first, second, fetched = (
        touch(tmp_path / name, "german.numer") for name in ("given", "first", "second", "cache")
    )
    monkeypatch.setenv("LOPSIDED_DATA", os.pathsep.join([str(first), str(second)]))
    for folders, expected in (([given], given), ([], first)):
        assert find("german", folders).paths == (expected / "german.numer",)
    (first / "german.numer").unlink()
    assert find("german").paths == (second / "german.numer",)
    (second / "german.numer").unlink()
    assert find("german").paths == (fetched / "german.numer",)


def test_a_named_folder_must_exist(tmp_path, monkeypatch):
    with pytest.raises(NotADirectoryError, match="no such folder"):
        find("german", [tmp_path / "absent"])
    monkeypatch.setenv("LOPSIDED_DATA", str(tmp_path / "absent"))
    with pytest.raises(NotADirectoryError, match="no such folder"):
        find("german")


def test_a_single_folder_may_stand_alone(tmp_path):
    folder = touch(tmp_path / "d", "german.numer")
    assert find("german", folder) == find("german", str(folder)) == find("german", [folder])


def test_copies_with_the_labels_of_two_classes(tmp_path):
    folder = touch(tmp_path / "d", "usps.libsvm.xz", "koil/australian.libsvm.gz")
    found = find("usps", [folder])
    assert found.kind == "prepared"
    assert "ESL" in found.notes[0]
    assert set(found.check().values()) == {False}
    assert find("koil/australian", [folder]).paths[0].parent.name == "koil"
    assert find("australian", [folder]) is None


def test_published_files_come_before_copies(tmp_path):
    found = find("usps", [touch(tmp_path / "d", "usps.libsvm.xz", "usps")])
    assert found.kind == "published"


def test_a_substitute_is_never_taken_silently(tmp_path):
    folder = touch(tmp_path / "d", "protein_val.libsvm.xz")
    assert find("protein", [folder]) is None
    assert find("protein_val", [folder]).dataset.substitute_for == "protein"


def test_a_sampled_set_is_found_as_its_base(tmp_path):
    assert find("url2", [touch(tmp_path / "d", "url_combined")]).kind == "base"
    folder = touch(tmp_path / "e", "url_combined", "url2.libsvm", "url2.t.libsvm")
    assert find("url2", [folder]).kind == "prepared"


def test_a_manifest_names_files(tmp_path):
    folder = touch(tmp_path / "d", "odd/mush.txt")
    touch(tmp_path, "outside.txt")
    digest = cache.checksum_of(folder / "odd" / "mush.txt")
    with (folder / "MANIFEST.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["name", "file", "sha256"])
        rows.writerow(["mushrooms", "odd/mush.txt", digest.removeprefix("sha256:")])
        rows.writerow(["kddcup08", "../outside.txt", ""])
    found = find("mushrooms", [folder])
    assert found.paths == (folder / "odd" / "mush.txt",)
    assert set(found.check().values()) == {True}
    assert find("kddcup08", [folder]) is None


def test_the_cache_folder(monkeypatch, tmp_path):
    assert cache.cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("LOPSIDED_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "lopsided"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.cache_folder().is_relative_to(Path.home())


SHARED = Path(os.environ.get("LOPSIDED_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.mark.skipif(not (SHARED / "MANIFEST.csv").exists(), reason="no data folder here")
def test_the_shared_folder_is_recognised():
    with (SHARED / "MANIFEST.csv").open(newline="") as lines:
        manifest = {row["file"]: row for row in csv.DictReader(lines)}
    known = {c.name: (d, c) for d in datasets() for c in d.prepared if c.file_sha256}
    for name, (dataset, copy) in known.items():
        row = manifest[name + ".xz"]
        assert copy.file_sha256 == row["sha256"]
        assert copy.rows == int(row["examples"])
        assert dataset.features == int(row["features"])
    found = find("german", [SHARED])
    assert found.kind == "prepared"
    assert set(found.check().values()) == {True}
    for dataset, _ in known.values():
        if dataset.name != "creditcard":
            assert find(dataset.name, [SHARED]) is not None
