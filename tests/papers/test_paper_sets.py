"""How the papers' data sets are prepared, on small made-up files of the same formats."""

from __future__ import annotations

import gzip
import io
import tarfile

import numpy as np
import pytest

from lopsided.errors import AbsentDataError, DataError
from lopsided.papers import prepare, sets
from reference.published import prepare_acog, prepare_csogd


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def load(name, folder, **options):
    return sets.load(name, [str(folder)], **options)


def dense(X):
    return X if isinstance(X, np.ndarray) else prepare._dense(X)


def test_both_parts_are_one_stream(tmp_path):
    write(tmp_path, "a9a", "+1 1:1 3:1\n-1 2:1\n")
    write(tmp_path, "a9a.t", "-1 5:1\n")
    stream = load("a9a", tmp_path)
    assert stream.y.tolist() == [1, -1, -1]
    assert dense(stream.X).shape == (3, 123)
    assert dense(stream.X)[2].nonzero()[0].tolist() == [4]


def test_one_part_alone(tmp_path):
    write(tmp_path, "ijcnn1", "-1 1:1 2:-1\n1 1:2\n")
    assert load("ijcnn1", tmp_path, rows="train").y.tolist() == [-1, 1]
    with pytest.raises(AbsentDataError):
        load("ijcnn1", tmp_path)


def test_the_rarer_class_is_positive_where_names_say_nothing(tmp_path):
    write(tmp_path, "covtype.libsvm.binary", "1 1:1\n2 1:2\n2 1:3\n")
    assert load("covtype", tmp_path).y.tolist() == [1, -1, -1]


def test_classes_by_the_count_behind_the_printed_costs(tmp_path, monkeypatch):
    monkeypatch.setitem(prepare._POSITIVES, "protein", 3)
    rows = "0 1:1\n1 1:1\n2 1:1\n1 2:1\n0 2:1\n0 3:1\n0 3:1\n"
    write(tmp_path, "protein", rows)
    stream = load("protein", tmp_path)
    assert stream.y.tolist() == [-1, 1, 1, 1, -1, -1, -1]
    assert stream.notes == ["positive: class 1 and 2, the 3 rows behind the printed costs"]
    monkeypatch.setitem(prepare._POSITIVES, "protein", 5)
    assert load("protein", tmp_path).y.tolist() == [1, -1, 1, -1, 1, 1, 1]
    monkeypatch.setitem(prepare._POSITIVES, "protein", 8)
    with pytest.raises(DataError, match="classes of 8 rows"):
        load("protein", tmp_path)


def test_one_class_against_the_rest(tmp_path):
    write(tmp_path, "usps", "1 1:1\n10 1:2\n3 1:3\n1 2:1\n")
    assert load("usps", tmp_path).y.tolist() == [1, -1, -1, 1]


def test_comma_separated_rows_without_header(tmp_path):
    write(tmp_path, "magic04.data", "1.5,2,3,4,5,6,7,8,9,10,g\n2,2,3,4,5,6,7,8,9,10,h\n\n")
    stream = load("magic04", tmp_path)
    assert stream.y.tolist() == [-1, 1]
    assert stream.X[:, 0].tolist() == [1.5, 2]
    write(tmp_path, "magic04.data", "1,x,g\n1,2,h\n")
    with pytest.raises(DataError, match=r"magic04.data, line 1.*numbers and a class"):
        load("magic04", tmp_path)


def test_rows_with_missing_values_are_removed_and_counted(tmp_path):
    rows = "125,125, 1.0,1,ad.\n   ?,  ?,   ?,0,ad.\n33,230,6.9,0,nonad.\n1,   ?,2,1,nonad.\n"
    write(tmp_path, "ad.data", rows)
    stream = load("internetads", tmp_path)
    assert stream.y.tolist() == [1, -1]
    assert stream.X.tolist() == [[125, 125, 1, 1], [33, 230, 6.9, 0]]
    assert stream.notes == ["2 rows with missing values left out"]


def test_features_and_labels_in_two_files(tmp_path):
    write(tmp_path, "kddcup08/Features.txt", "0.5 -1\n0.25 2\n1 1\n")
    write(tmp_path, "kddcup08/Info.txt", "-1 101 5\n1 102 6\n-1 103 7\n")
    stream = load("kddcup08", tmp_path)
    assert stream.y.tolist() == [-1, 1, -1]
    assert stream.X.tolist() == [[0.5, -1], [0.25, 2], [1, 1]]
    write(tmp_path, "kddcup08/Info.txt", "-1 101 5\n")
    with pytest.raises(DataError, match=r"it has 1 rows but Features.txt has 3"):
        load("kddcup08", tmp_path)


def test_images_are_a_fifth_of_the_training_ones(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (20, 3072), dtype=np.uint8)
    labels = np.arange(20, dtype=np.uint8) % 2
    records = np.concatenate([labels[:, None], pixels], axis=1)
    with tarfile.open(tmp_path / "cifar-10-binary.tar.gz", "w:gz") as archive:
        for name, part in (("data_batch_1", records[:10]), ("data_batch_2", records[10:])):
            data = part.tobytes()
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo("cifar-10-batches-bin/test_batch.bin")
        info.size = 3073
        archive.addfile(info, io.BytesIO(bytes(3073)))
    stream = load("cifar10", tmp_path)
    assert stream.X.shape == (4, 3072)
    places = [np.flatnonzero((pixels == row).all(axis=1)).item() for row in stream.X]
    assert places == sorted(places)
    assert stream.y.tolist() == [1 if labels[k] == 0 else -1 for k in places]
    assert "20% of the rows, drawn here" in stream.notes[0]


def test_documents_with_a_topic_are_positive_and_parts_stay_apart(tmp_path):
    for k in range(4):
        text = f"{10 + k}  1:0.5 {k + 2}:1\n{20 + k}  2:1\n"
        write(tmp_path, f"lyrl2004_vectors_test_pt{k}.dat.gz", text)
    write(tmp_path, "lyrl2004_vectors_train.dat.gz", "30  1:1\n31  2:1\n")
    write(tmp_path, "rcv1v2.topics.qrels.gz", "CCAT 10 1\nECAT 11 1\nCCAT 21 1\nCCAT 31 1\n")
    stream = load("rcv1", tmp_path, held_out=True)
    assert stream.y.tolist() == [1, -1, -1, 1, -1, -1, -1, -1]
    assert stream.test[1].tolist() == [-1, 1]


def test_the_first_rows_train_where_the_paper_says_so(tmp_path):
    rows = [f"{1 if k % 3 == 0 else -1} {k + 1}:1" for k in range(24)]
    write(tmp_path, "url_combined", "\n".join(rows) + "\n")
    stream = load("url", tmp_path, held_out=True)
    assert len(stream.y) == 20  # 2,000,000 of 2,396,130
    assert [int(j) for j in stream.X.indices] == list(range(20))
    assert len(stream.test[1]) == 4


def test_drawn_training_rows_are_the_same_each_time(tmp_path):
    rows = [f"{1 if k % 2 else -1} {k + 1}:1" for k in range(20)]
    write(tmp_path, "news20.binary", "\n".join(rows) + "\n")
    first, again = (load("news20", tmp_path, held_out=True) for _ in range(2))
    assert first.X.indices.tolist() == again.X.indices.tolist() != list(range(10))
    both = [*first.X.indices.tolist(), *first.test[0].indices.tolist()]
    assert sorted(both) == list(range(20))
    assert len(first.y) == 10
    assert any("drawn here" in note for note in first.notes)


@pytest.mark.parametrize(
    ("name", "file"),
    [("url2", "url_combined"), ("webspam2", "webspam_wc_normalized_trigram.svm")],
)
def test_one_in_a_hundred_is_positive(tmp_path, name, file):
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(4000) < 0.3, 1, -1)
    write(tmp_path, file, "".join(f"{y} {k + 1}:1\n" for k, y in enumerate(labels)))
    stream = load(name, tmp_path, held_out=True)
    for y in (stream.y, stream.test[1]):
        positives, negatives = np.sum(y > 0), np.sum(y < 0)
        assert positives >= 1
        assert 98 * positives <= negatives <= 120 * positives
    assert set(stream.X.indices).isdisjoint(stream.test[0].indices)
    assert any("sample is drawn here" in note for note in stream.notes)


def test_rows_of_zeros_are_taken_out_and_counted(tmp_path):
    write(tmp_path, "w8a", "-1 1:1\n-1\n+1 \n+1 2:1\n-1 3:0\n")
    write(tmp_path, "w8a.t", "-1 1:1\n")
    stream = load("w8a", tmp_path, zero_rows="mistakes", scaling="unit")
    assert stream.zeros == (1, 2)
    assert stream.y.tolist() == [-1, 1, -1]
    assert load("w8a", tmp_path, scaling="unit").zeros == (0, 0)


def test_scalings_are_those_of_the_reference():
    X = np.random.default_rng(0).normal(2, 3, (20, 4))
    X[3] = 0
    np.testing.assert_allclose(prepare.scaled(X, "unit"), prepare_acog(X), atol=1e-15)
    np.testing.assert_allclose(prepare.scaled(X, "standard+unit"), prepare_csogd(X), atol=1e-14)
    assert prepare.scaled(X, "none") is X
    with pytest.raises(ValueError, match="is invalid"):
        prepare.scaled(X, "l1")


def test_sparse_rows_are_scaled_as_dense_ones(tmp_path):
    write(tmp_path, "a9a", "+1 1:3 2:4\n-1\n-1 120:5\n")
    write(tmp_path, "a9a.t", "-1 7:2\n")
    raw, unit, standard = (
        load("a9a", tmp_path, scaling=s) for s in ("none", "unit", "standard+unit")
    )
    X = dense(raw.X)
    np.testing.assert_allclose(dense(unit.X), prepare_acog(X))
    spread = X.std(axis=0, ddof=1)
    z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    np.testing.assert_allclose(standard.X, prepare_acog(z))


def test_published_permutations_and_folds(tmp_path):
    assert sets.orders("german", [str(tmp_path)], 3) is None
    (tmp_path / "oa3").mkdir()
    np.savez(tmp_path / "oa3" / "german.ID_ALL.npz", ID_ALL=[[3, 1, 2], [1, 2, 3]])
    assert sets.orders("german", [str(tmp_path)], 3).tolist() == [[2, 0, 1], [0, 1, 2]]
    with pytest.raises(DataError, match="permutations of 4 rows"):
        sets.orders("german", [str(tmp_path)], 4)
    write(tmp_path, "koil/sonar.IdxCv.txt", "1\t2\n2\t1\n")
    assert sets.folds("koil/sonar", [str(tmp_path)], 2).tolist() == [[1, 2], [2, 1]]
    assert sets.folds("koil/heart", [str(tmp_path)], 2) is None


def test_what_is_absent_is_said_to_be_absent(tmp_path):
    with pytest.raises(AbsentDataError, match="lopsided data fetch mushrooms"):
        load("mushrooms", tmp_path)
    with pytest.raises(AbsentDataError, match=r"no address is known.*kddcup08.libsvm"):
        load("kddcup08", tmp_path)
    write(tmp_path, "mammography.libsvm", "1 1:1\n-1 2:1\n")
    with pytest.raises(AbsentDataError, match="--substitute takes mammography"):
        load("kddcup08", tmp_path)
    stream = load("kddcup08", tmp_path, substitute=True)
    assert stream.name == "mammography"
    assert stream.notes[0] == "mammography in place of kddcup08: not the data of the paper"


def test_a_stream_of_one_class_is_refused(tmp_path):
    write(tmp_path, "australian", "1 1:1\n1 2:1\n")
    with pytest.raises(DataError, match="two classes"):
        load("australian", tmp_path)
