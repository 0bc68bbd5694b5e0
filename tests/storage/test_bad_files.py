"""A file that is damaged, foreign, too new or meant to harm is refused, whatever its checksum."""

import json
import os
import random
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hedgerow as hr
from tests.storage import fuzz, mutations
from tests.storage.mutations import resealed, sealed, split

GOLDEN = Path(__file__).parents[1] / "golden"
SMALL = (GOLDEN / "l1-stumps.hedgerow").read_bytes()
BOOSTED = (GOLDEN / "boosting-two.hedgerow").read_bytes()
FOREST = (GOLDEN / "forest-numbers.hedgerow").read_bytes()
CLASSES = (GOLDEN / "forest-classes.hedgerow").read_bytes()


def refused(data, tmp_path, said=""):
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(hr.ModelFileError, match=said or "cannot be loaded") as raised:
        hr.load(tmp_path / "bad")
    assert str(tmp_path / "bad") in str(raised.value)


def with_array(data, name, change):
    """Return the file with an array changed, and its checksum made right."""
    header, body = split(data)
    about = header[f"model.attributes.{name}"]
    begin, end = about["data_offsets"]
    kind = {"I32": "<i4", "I64": "<i8", "F64": "<f8", "BOOL": "?", "U8": "<i4"}[about["dtype"]]
    array = np.frombuffer(body[begin:end], kind).copy()
    array = array.reshape(-1, 4) if about["dtype"] == "U8" else array.reshape(about["shape"])
    change(array)
    return sealed(header, body[:begin] + array.tobytes() + body[end:])


def with_model(data, change):
    """Return the file with what it says of the model changed, and its checksum made right."""
    header, body = split(data)
    told = json.loads(header["__metadata__"]["model"])
    fields = {
        part: {key: (pair, 1) for pair in told["fields"][part]["dict"] for key in pair[:1]}
        for part in ("parameters", "attributes")
    }

    def put(name, value, part="attributes"):
        owner, place = fields[part][name]
        owner[place] = value

    change(put)
    header["__metadata__"]["model"] = json.dumps(told)
    return sealed(header, body)


def put(place, value):
    def change(array):
        array[place] = value

    return change


def test_every_change_of_a_single_byte_is_noticed(tmp_path):
    path, chance = tmp_path / "bad", random.Random(0)
    for place in range(len(SMALL)):
        changed = bytearray(SMALL)
        changed[place] ^= chance.randrange(1, 256)
        path.write_bytes(changed)
        with pytest.raises(hr.ModelFileError):
            hr.load(path)


def test_every_beginning_of_a_file_is_noticed(tmp_path):
    path = tmp_path / "bad"
    for length in range(len(SMALL)):
        path.write_bytes(SMALL[:length])
        with pytest.raises(hr.ModelFileError):
            hr.load(path)


def test_a_file_of_a_newer_format_says_so(tmp_path):
    header, body = split(SMALL)
    header["__metadata__"] |= {"format_version": "7", "library": "hedgerow 9.1"}
    refused(sealed(header, body), tmp_path, r"version 7.*hedgerow 9.1.*up to 1.*newer hedgerow")


def test_a_file_that_is_something_else_says_so(tmp_path):
    refused(b"", tmp_path, "0 bytes")
    refused(b"PK\x03\x04" + bytes(1000), tmp_path)
    refused(b"\x80\x04\x95" + bytes(1000), tmp_path)
    header, body = split(SMALL)
    header["__metadata__"]["format"] = "another model"
    refused(sealed(header, body), tmp_path, "not a model of hedgerow")


def test_what_is_no_file_is_refused_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        hr.load(tmp_path / "missing")
    with pytest.raises((hr.ModelFileError, IsADirectoryError)):
        hr.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    begun = time.monotonic()
    with pytest.raises(hr.ModelFileError, match="a pipe"):
        hr.load(tmp_path / "pipe")
    assert time.monotonic() - begun < 1.0
    with pytest.raises(ValueError, match="memory_map='yes'"):
        hr.load(GOLDEN / "l1-stumps.hedgerow", memory_map="yes")


@pytest.mark.parametrize(
    ("data", "name", "change", "said"),
    [
        (BOOSTED, "_model.grove.right", put(0, 0), "not in its tree"),
        (BOOSTED, "_model.grove.right", put(0, 2**31 - 1), "not in its tree"),
        (BOOSTED, "_model.grove.right", put(0, -5), "not in its tree"),
        (BOOSTED, "_model.grove.left", put(0, 2), "left child"),
        (BOOSTED, "_model.grove.left", put(0, -1), "no tree"),
        (BOOSTED, "_model.grove.feature", put(0, 4), "feature that is not there"),
        (BOOSTED, "_model.grove.feature", put(0, -1), "feature that is not there"),
        (BOOSTED, "_model.grove.value", put(1, np.nan), "not finite"),
        (BOOSTED, "_model.grove.weight", put(1, np.inf), "not finite"),
        (BOOSTED, "_model.grove.weight", put(1, -1.0), "below 0"),
        (BOOSTED, "_model.grove.offset", put(1, 2**40), "bounds"),
        (BOOSTED, "_model.grove.offset", put(1, 0), "no node"),
        (BOOSTED, "_model.grove.output", put(0, 1), "scores in turn"),
        (BOOSTED, "_model.start", put(0, np.nan), "not finite"),
        (FOREST, "_model.thickets.0.nodes", put((0, 3), 1), "not in its tree"),
        (FOREST, "_model.thickets.0.nodes", put((0, 2), 1000), "feature that is not there"),
        (FOREST, "_model.thickets.0.first", put((1, 2), 10**9), "bounds"),
        (FOREST, "_model.thickets.0.extra", put((0, 1), np.inf), "not finite"),
        (FOREST, "_model.thickets.0.extra", put((0, 0), 0.0), "weighs nothing"),
        (FOREST, "_model.n_categories", put(1, 500), ""),
        (FOREST, "_bags.urn.order", put(0, 10**6), "not there"),
        (FOREST, "_bags.urn.order", put(slice(None), 0), "not in an order"),
        (FOREST, "_settlement.dwellers.rows", put(0, 60), "row is not there"),
        (FOREST, "_settlement.dwellers.starts", put(3, 10**9), "bounds"),
        (FOREST, "_settlement.ranks", put((0, 0), 10**6), "target is not there"),
        (CLASSES, "_model.thickets.0.extra", put((0, 0), -5), "less than nothing"),
        (CLASSES, "_model.thickets.0.extra", put((0, 0), 2**40), "do not add up"),
        (CLASSES, "_rows", put(0, -1), "row is not there"),
        (SMALL, "dictionary_.feature", put(0, 99), "feature that is not there"),
    ],
)
def test_numbers_that_a_kernel_must_never_see_are_refused(data, name, change, said, tmp_path):
    refused(with_array(data, name, change), tmp_path, said)


@pytest.mark.parametrize(
    ("data", "change", "said"),
    [
        (BOOSTED, lambda put: put("n_features_in_", 5), "as many"),
        (BOOSTED, lambda put: put("n_classes_", 3), "as many"),
        (BOOSTED, lambda put: put("_model", None), "no _model"),
        (BOOSTED, lambda put: put("_loss", {"class": "os.system", "fields": {}}), "os.system"),
        (BOOSTED, lambda put: put("_seed", -1), "_seed"),
        (BOOSTED, lambda put: put("n_jobs", 10**6, "parameters"), "n_jobs"),
        (BOOSTED, lambda put: put("n_jobs", 0, "parameters"), "n_jobs"),
        (BOOSTED, lambda put: put("unseen", "average", "parameters"), "unseen"),
        (BOOSTED, lambda put: put("n_jobs", "many", "parameters"), ""),
        (BOOSTED, lambda put: put("classes_", {"labels": ["b", "a"], "dtype": "<U1"}), "order"),
        (BOOSTED, lambda put: put("classes_", {"labels": ["a"], "dtype": "<U99999"}), "fit"),
        (FOREST, lambda put: put("n_outputs_", 2), "outputs"),
        (CLASSES, lambda put: put("voting", "loud", "parameters"), "voting"),
        (CLASSES, lambda put: put("_bags", {"class": "Bootstrap", "fields": {"n_draws": 1}}), ""),
    ],
)
def test_values_that_do_not_belong_together_are_refused(data, change, said, tmp_path):
    refused(with_model(data, change), tmp_path, said)


def test_an_attribute_that_no_model_has_is_refused(tmp_path):
    header, body = split(SMALL)
    told = json.loads(header["__metadata__"]["model"])
    told["fields"]["attributes"]["dict"].append(["predict", 1])
    header["__metadata__"]["model"] = json.dumps(told)
    refused(sealed(header, body), tmp_path, "unknown attributes")


@pytest.mark.parametrize("text", ["[" * 200_000, '{"tuple":' * 5000 + "[]" + "}" * 5000])
def test_values_nested_without_end_are_refused(text, tmp_path):
    header, body = split(SMALL)
    header["__metadata__"]["model"] = text
    refused(sealed(header, body), tmp_path)


def test_a_header_of_millions_of_values_is_refused_before_they_are_made(tmp_path):
    header, body = split(SMALL)
    header["__metadata__"]["model"] = "[" + "[]," * 3_000_000 + "[]]"
    data = sealed(header, body)
    tracemalloc.start()
    refused(data, tmp_path, "more than")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(data)


def test_a_key_that_stands_there_twice_is_refused(tmp_path):
    n_header = int.from_bytes(SMALL[:8], "little")
    text = SMALL[8 : 8 + n_header].rstrip()
    doubled = text[:-1] + b',"x":1,"x":2}'
    data = len(doubled).to_bytes(8, "little") + doubled + SMALL[8 + n_header :]
    refused(resealed(data), tmp_path, "twice")


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.hedgerow")))
def test_golden_files_load_and_say_what_they_said(name):
    model = hr.load(GOLDEN / f"{name}.hedgerow")
    expected = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    found = fuzz.answers(model)
    assert "predict" in expected
    for how, answer in expected.items():
        if found[how].dtype.kind == "f":
            # Exponentials of another NumPy may differ in the last bits.
            assert_allclose(found[how], np.array(answer, float), rtol=1e-13, err_msg=how)
        else:
            assert found[how].tolist() == answer, how


def test_there_is_a_golden_file_of_every_estimator():
    classes = {type(hr.load(path)).__name__ for path in GOLDEN.glob("*.hedgerow")}
    public = {name for name in hr.__all__ if isinstance(getattr(hr, name), type)}
    assert public - classes == {"ModelFileError", "CheckpointError"}


@pytest.mark.filterwarnings("ignore")
def test_mutated_files_are_refused_or_load_to_models_that_predict(tmp_path):
    outcomes = [fuzz.tried(seed, tmp_path / "mutated") for seed in range(330)]
    assert [each for each in outcomes if each["problem"]] == []
    ways = {each["way"] for each in outcomes}
    assert ways == {way.__name__ for way in mutations.WAYS}
    assert {each["outcome"] for each in outcomes} == {"refused", "loaded", "same"}


@pytest.mark.slow
def test_twenty_thousand_mutated_files_do_no_harm():
    command = [sys.executable, "-m", "tests.storage.fuzz", "20000"]
    root = Path(__file__).parents[2]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]


TRAP = "def spring(*_, **__):\n    raise SystemExit('called')\n"


def test_nothing_that_a_file_names_is_imported_or_called(tmp_path):
    (tmp_path / "trap.py").write_text(TRAP)
    root = Path(__file__).parents[2]
    ways = os.pathsep.join([str(tmp_path), str(root)])
    command = [sys.executable, "-m", "tests.storage.traps"]
    result = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": ways},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    told = json.loads(result.stdout)
    assert told["seen"] == []
    assert told["files"] > told["loaded"] > 100  # categories may have any name
