"""Model files: a plain layout, whole or not at all, and never a wrong model without an error."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import signal
import stat
import struct
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from streams import parameters

from lopsided import ACOG, COG, PAUM, ROMMA, Perceptron, learners, load, make
from lopsided.errors import DivergedError, ModelFileError
from lopsided.persist import FORMAT, from_bytes, to_bytes

X = np.array([[1.0, 2, 3], [0, 1, 0], [2, 0, 1], [1, 1, 1]])
Y = np.array([0, 1, 0, 1])
FRAME = pd.DataFrame(X, columns=["a", "größe", "\U0001f600 b\0c\n"])


def read_safetensors(data):
    """Read the layout without the library: the metadata and the arrays."""
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    kinds = {"F64": "<f8", "U64": "<u8", "U8": "u1"}
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = (8 + size + k for k in entry["data_offsets"])
            arrays[name] = np.frombuffer(data[first:last], kinds[entry["dtype"]])
            arrays[name] = arrays[name].reshape(entry["shape"])
    return header["__metadata__"], arrays


def rewritten(change, data):
    """Return a file with its header changed and its checksum right again."""
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    about = json.loads(header.pop("__metadata__")["lopsided"])
    about.pop("sha256")
    change(about, header)
    text = json.dumps([about, header], sort_keys=True).encode()
    about["sha256"] = hashlib.sha256(text + body).hexdigest()
    header["__metadata__"] = {"lopsided": json.dumps(about)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def test_a_ten_line_reader_reads_a_model():
    model = ACOG().fit(FRAME, Y)
    about, arrays = read_safetensors(to_bytes(model))
    assert json.loads(about["lopsided"])["class"] == "ACOG"
    np.testing.assert_array_equal(arrays["mean"], model.coef_)
    np.testing.assert_array_equal(arrays["variance"], model.covariance_)
    ends = arrays["names.ends"].tolist()
    text = arrays["names.text"].tobytes()
    names = [text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]
    assert names == list(FRAME.columns)


@pytest.mark.parametrize("name", learners())
@pytest.mark.parametrize("params", [{}, {"intercept": True}, {"scaling": "none"}], ids=str)
@pytest.mark.promise("same bits")
def test_a_loaded_model_goes_on_with_the_same_bits(name, params, tmp_path):
    if not params.keys() <= make(name).get_params().keys():
        pytest.skip("it has no such parameter")
    model = make(name, **params).partial_fit(X, Y)
    model.save(tmp_path / "model")
    copies = [load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    later = to_bytes(model.partial_fit(X[::-1], Y))
    for other in copies:
        assert type(other) is type(model)
        assert parameters(other) == parameters(model)
        assert to_bytes(other.partial_fit(X[::-1], Y)) == later


def test_a_header_of_any_length_can_be_read():
    for k in range(0, 300, 4):
        positive = "p" * (k + 1)
        model = COG(positive=positive).fit(X, ["n", positive] * 2)
        assert from_bytes(to_bytes(model)).positive == positive


def test_a_parameter_changed_before_saving_is_in_force_after_loading():
    model = COG().fit(X, Y).set_params(learning_rate=5.0)
    copies = [from_bytes(to_bytes(model)), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    later = model.partial_fit(X, Y).coef_.tolist()
    for other in copies:
        assert other.partial_fit(X, Y).coef_.tolist() == later


@pytest.mark.parametrize("value", [0.1, 1 / 3, 5e-324, 1e308, np.nextafter(1, 2)])
def test_floats_keep_their_bits(value):
    model = from_bytes(to_bytes(COG(learning_rate=float(value)).fit(X * 1e-5, Y)))
    assert model.learning_rate.hex() == float(value).hex()


@pytest.mark.parametrize("keys", [(0, 1), (-1, 1), (False, True), (0.0, 1.0), ("a", "b")])
def test_class_weight_keys_keep_their_types(keys):
    weights = {keys[0]: 1, keys[1]: 2.5}
    model = from_bytes(to_bytes(COG(class_weight=weights).fit(X, [*keys, *keys])))
    assert model.class_weight == weights
    assert [type(k) for k in model.class_weight] == [type(k) for k in keys]


def test_names_of_any_characters_survive():
    names = ["", " ", "\0", "\n", "größe", "\U0001f600", "\ud800", "a=b", "x" * 10_000, "\\u0041"]
    model = COG().learn_one(dict.fromkeys(names, 1.0), 1)
    other = from_bytes(to_bytes(model))
    assert other.feature_names_in_.tolist() == names
    assert other.score_one({"\ud800": 1.0}) == model.score_one({"\ud800": 1.0}) != 0


def test_pickle_and_copy_of_an_unfitted_model():
    model = COG(learning_rate=3.0, class_weight={0: 1, 1: 2})
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert other.get_params() == model.get_params()
        assert not hasattr(other, "coef_")
        other.fit(X, Y)
    assert not hasattr(model, "coef_")


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="COG has not learned"):
        COG().save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


# Damage ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    return to_bytes(Perceptron(scaling="none").fit(X[:, :1], Y))


def test_every_flipped_byte_is_noticed(small):
    missed = []
    for at in range(len(small)):
        for mask in (0x01, 0x20, 0x80, 0xFF):
            bad = bytearray(small)
            bad[at] ^= mask
            try:
                model = from_bytes(bytes(bad))
            except ModelFileError:
                continue
            if to_bytes(model) != small:  # white space in the header may change
                missed.append((at, mask))
    assert missed == []


def test_every_truncation_is_noticed(small):
    for size in range(len(small)):
        with pytest.raises(ModelFileError):
            from_bytes(small[:size])


def deep(levels):
    text = b'{"a":' + b"[" * levels
    return struct.pack("<Q", len(text)) + text


# fmt: off
FOREIGN = {
    "empty": (b"", "short"), "zeros": (bytes(64), "not a model"),
    "text": (b"hello, world " * 9, "not"),
    "zip": (b"PK\3\4" + bytes(99), "not a model"),
    "json": (b'{"a": 1, "b": [1, 2, 3]}', "not a model"),
    "pickle": (pickle.dumps(list(range(99))), "pickle"), "deep": (deep(200_000), "not|damaged"),
    "old pickle": (pickle.dumps([1] * 99, protocol=0), "not a model"),
    "a model in a pickle": (pickle.dumps(COG().fit(X, Y)), "pickle"),
    "other safetensors": (struct.pack("<Q", 64)
        + b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(64) + bytes(4), "not a"),
    "other metadata": (
        struct.pack("<Q", 40) + b'{"__metadata__":{"format":"pt"}}'.ljust(40), "not a"),
    "header is a list": (struct.pack("<Q", 8) + b"[]      ", "not a model"),
    "header length of 2**63": (struct.pack("<Q", 2**63) + b"{}" * 50, "cut off"),
    "header length of 2**64 - 1": (b"\xff" * 8 + b"{}" * 50, "cut off"),
    "header length 0": (bytes(8) + b"{}      ", "not a model"),
}
# fmt: on


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_told_from_models(name, tmp_path):
    data, words = FOREIGN[name]
    path = tmp_path / "file.bin"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=f"(?s)file.bin.*({words})"):
        load(path)


def test_bytes_at_the_end_are_noticed(small):
    with pytest.raises(ModelFileError, match="3 bytes too many"):
        from_bytes(small + b"abc")


class Trap:
    """A pickle that would run code."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


@pytest.mark.promise("no code from files")
def test_loading_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError, match="pickle"):
        load("bad")
    assert os.listdir(tmp_path) == ["bad"]


def made_with(about):
    return dict(about["made_with"]["dict"])["parameters"]["dict"]


# fmt: off
# Sound checksum, unsound contents: (change of the metadata a and the header h)
UNSOUND = {
    "newer format": lambda a, h: a.update(format=FORMAT + 1),
    "format 0": lambda a, h: a.update(format=0),
    "format as text": lambda a, h: a.update(format="1"),
    "unknown class": lambda a, h: a.update({"class": "os"}),
    "class is a number": lambda a, h: a.update({"class": 5}),
    "another class": lambda a, h: a.update({"class": "COG"}),
    "unknown parameter": lambda a, h: a["parameters"]["dict"].append(["zz", 1]),
    "hash_bits 64": lambda a, h: a["parameters"]["dict"].append(["hash_bits", 64]),
    "hash_bits -1": lambda a, h: a["parameters"]["dict"].append(["hash_bits", -1]),
    "float too large": lambda a, h: a["parameters"]["dict"].append(["C", {"float": "0x1p99999"}]),
    "parameters a list": lambda a, h: a.update(parameters=[1]),
    "too few labels": lambda a, h: a.update(labels=[]),
    "too many labels": lambda a, h: a.update(labels=[1, 0, False, None, 5]),
    "no labels": lambda a, h: a.pop("labels"),
    "labels are lists": lambda a, h: a.update(labels=[[1], [2]]),
    "no dtype": lambda a, h: a.update(labels=[1, 0, False, "zz"]),
    "one label twice": lambda a, h: a.update(labels=[1, 1]),
    "another form": lambda a, h: made_with(a).append(["covariance", "full"]),
    "made with text": lambda a, h: made_with(a).append(["regularization", "x"]),
    "made out of range": lambda a, h: made_with(a).append(["learning_rate", {"float": "-0x1p0"}]),
    "made with the unknown": lambda a, h: made_with(a).append(["zz", 3]),
    "made with nothing": lambda a, h: a.update(made_with=None),
    "state a list": lambda a, h: a.update(state=[1]),
    "state none": lambda a, h: a.update(state=None),
    "state missing": lambda a, h: a["state"].pop("rounds"),
    "negative rounds": lambda a, h: a["state"].update(rounds=-1),
    "rounds as text": lambda a, h: a["state"].update(rounds="x"),
    "too many rounds": lambda a, h: a["state"].update(rounds=2**70),
    "fewer features": lambda a, h: a.update(features=2),
    "more features": lambda a, h: a.update(features=5),
    "negative features": lambda a, h: a.update(features=-3),
    "features as text": lambda a, h: a.update(features="3"),
    "features beyond int32": lambda a, h: a.update(features=2**40),
    "array missing": lambda a, h: h.pop("mean"),
    "array too short": lambda a, h: h["mean"].update(shape=[2]),
    "array of another rank": lambda a, h: h["mean"].update(shape=[1, 3]),
    "shape too large": lambda a, h: h["mean"].update(shape=[2**62, 4]),
    "shape is text": lambda a, h: h["mean"].update(shape="x"),
    "unknown dtype": lambda a, h: h["mean"].update(dtype="BF16"),
    "dtype a list": lambda a, h: h["mean"].update(dtype=[1]),
    "another dtype": lambda a, h: h["mean"].update(dtype="U64"),
    "bytes for numbers": lambda a, h: h["mean"].update(dtype="U8", shape=[24]),
    "offsets before the data": lambda a, h: h["mean"].update(data_offsets=[-8, 16]),
    "offsets before the file": lambda a, h: h["mean"].update(data_offsets=[-90000, -89976]),
    "offsets reversed": lambda a, h: h["mean"].update(data_offsets=[24, 0]),
    "offsets not whole": lambda a, h: h["mean"].update(data_offsets=[0.0, 24.0]),
    "offsets beyond the file": lambda a, h: h["mean"].update(data_offsets=[10**6, 10**6 + 24]),
    "names without text": lambda a, h: h.pop("names.text"),
    "fewer names than features": lambda a, h: h["names.ends"].update(dtype="U8", shape=[24]),
}
# fmt: on


@pytest.mark.parametrize("name", UNSOUND)
def test_contents_that_do_not_fit_are_an_error(name):
    data = rewritten(UNSOUND[name], to_bytes(ACOG().fit(FRAME, Y)))
    with pytest.raises(ModelFileError) as caught:
        from_bytes(data)
    assert "incompatible function" not in str(caught.value)


@pytest.mark.parametrize("reach", [-1, 5, 2**31, 2**53, 2**62, 2**70, 0.5, "3", None])
def test_a_length_beyond_the_arrays_is_refused_by_name(reach):
    good = to_bytes(ROMMA().fit(X, Y))
    assert json.loads(read_safetensors(good)[0]["lopsided"])["state"]["reach"] <= 4
    with pytest.raises(ModelFileError, match="reach"):
        from_bytes(rewritten(lambda a, h: a["state"].update(reach=reach), good))


LARGE = {
    "more features than any array has": lambda: rewritten(
        lambda a, h: a.update(features=40_000_000), to_bytes(COG().fit(X, Y))
    ),
    "a full covariance that is not there": lambda: rewritten(
        lambda a, h: made_with(a).append(["covariance", "full"]),
        to_bytes(ACOG().fit(np.ones((4, 30_000)), Y)),
    ),
    "means that are not there": lambda: rewritten(
        lambda a, h: a.update(features=40_000_000),
        to_bytes(make("FSOL", scaling="standard").fit(csr_array(X), Y)),
    ),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.promise("bounded memory")
def test_a_small_file_cannot_ask_for_much_memory(name, tmp_path):
    (tmp_path / "model").write_bytes(LARGE[name]())
    code = f"""
        from pathlib import Path
        from lopsided.errors import ModelFileError
        from lopsided.persist import load
        try:
            load({str(tmp_path / "model")!r})
        except ModelFileError:
            print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True)
    assert int(out.stdout) < 200_000  # kilobytes


def test_the_class_can_be_asked_for(tmp_path):
    COG().fit(X, Y).save(tmp_path / "model")
    assert isinstance(load(tmp_path / "model", kind=COG), COG)
    with pytest.raises(ModelFileError, match=r"model: holds a COG, not a.* PAUM"):
        load(tmp_path / "model", kind=PAUM)


# Writing -----------------------------------------------------------------------------------------


def test_saving_where_it_cannot_be_saved_leaves_nothing_behind(tmp_path):
    model = COG().fit(X, Y)
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "missing" / "model", tmp_path / "folder"):
        with pytest.raises(OSError, match=path.name) as caught:
            model.save(path)
        assert "/." not in str(caught.value)  # the file the user named, not a temporary one
    assert os.listdir(tmp_path) == ["folder"]
    assert os.listdir(tmp_path / "folder") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_not_writable_is_an_error(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            COG().fit(X, Y).save(tmp_path / "model")
    finally:
        tmp_path.chmod(0o700)


def test_an_error_while_writing_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    COG().fit(X, Y).save(path)
    old = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, full)
            with pytest.raises(OSError, match="No space"):
                PAUM().fit(X, Y).save(path)
        assert path.read_bytes() == old
        assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_file_has_the_permissions_the_umask_leaves(tmp_path, mask):
    before = os.umask(mask)
    try:
        COG().fit(X, Y).save(tmp_path / "model")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("name", ["m" * 255, "größe", " ", "a\nb", "-x", ".hidden"], ids=len)
def test_any_file_name_will_do(tmp_path, name):
    COG().fit(X, Y).save(tmp_path / name)
    assert load(tmp_path / name).n_features_in_ == 3


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "store").mkdir()
    target = tmp_path / "store" / "model"
    COG().fit(X, Y).save(target)
    (tmp_path / "link").symlink_to(target)
    PAUM().fit(X, Y).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert isinstance(load(target), PAUM)


@pytest.mark.promise("whole files")
def test_kill_while_saving_leaves_the_old_file_or_the_new(tmp_path):
    path = tmp_path / "model"
    COG().fit(np.ones((2, 300_000)), [0, 1]).save(path)
    code = f"""
        from lopsided import load
        a = load({str(path)!r})
        b = load({str(path)!r}).learn_one([3.0] * 300_000, 1)
        print("ready", flush=True)
        while True:
            a.save({str(path)!r})
            b.save({str(path)!r})
    """
    delays = np.random.default_rng(0).uniform(0, 0.05, 6)
    for delay in delays:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        assert load(path).n_features_in_ == 300_000


@pytest.mark.parametrize("name", ["SACOG-II", "SSACOG-II"])
def test_a_model_that_has_diverged_is_not_saved_over_a_good_one(name, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 1] > 0.3).astype(int)
    X[-1, 0] = 1e100
    model = make(name, scaling="none").fit(X[:100], y[:100])
    model.save(tmp_path / "model.lop")
    model.partial_fit(X[100:], y[100:])
    with pytest.raises(DivergedError, match="not finite"):
        model.save(tmp_path / "model.lop")
    assert load(tmp_path / "model.lop").n_features_in_ == 3
