"""A fit that was killed goes on where it was, and ends as if nothing had happened."""

import contextlib
import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.storage import journal
from tests.storage import training
from tests.storage.zoo import labels, mixed, numbers, targets

ROOT = Path(__file__).parents[2]
N = 300
X, Y, LABELS = mixed(N), targets(N), labels(N)
SMALL = {"max_leaf_nodes": 5}
STOPPED = {"early_stopping": True, "n_iter_no_change": 3, "tol": 0.0}

FITS = {
    "numbers": (lambda: hr.GradientBoostingRegressor(n_estimators=25, **SMALL), {"y": Y}),
    "huber": (
        lambda: hr.GradientBoostingRegressor(
            n_estimators=25, loss="huber", learning_rate="line_search", **SMALL
        ),
        {"y": Y, "sample_weight": np.arange(N) % 3 * 1.0},
    ),
    "stopped": (
        lambda: hr.GradientBoostingClassifier(
            n_estimators=300, learning_rate=0.5, **SMALL, **STOPPED
        ),
        {"y": LABELS},
    ),
    "watched": (
        lambda: hr.GradientBoostingClassifier(
            n_estimators=300,
            learning_rate=0.5,
            subsample=0.6,
            oob_improvement=True,
            **SMALL,
            **STOPPED,
        ),
        {"y": LABELS, "eval_set": (mixed(90), labels(90))},
    ),
    "beside": (
        lambda: hr.GradientBoostingRegressor(n_estimators=10, loss="poisson", **SMALL),
        {"y": Y, "offset": np.arange(N) % 2 * 0.5},
    ),
    "ranks": (
        lambda: hr.GradientBoostingRanker(n_estimators=15, **SMALL),
        {"X": numbers(N), "y": (Y // 12).astype(int) % 3, "qid": np.arange(N) // 10},
    ),
    "forest": (lambda: hr.RandomForestClassifier(13, oob_score=True), {"y": LABELS}),
    "quantiles": (lambda: hr.RandomForestRegressor(13, keep_rows=True), {"y": Y}),
    "extra": (lambda: hr.ExtraTreesRegressor(13, max_depth=6), {"y": Y}),
}


def fitted(name, folder, **more):
    """Return the bytes of a fitted model."""
    make, given = FITS[name]
    model = make().fit(**({"X": X} | given | more))
    model.save(folder / "model")
    return (folder / "model").read_bytes()


class Killed(BaseException):
    pass


def killed_after(n_records, monkeypatch):
    """Let a process die when it has written so many records, in the middle of the next."""
    append, written = journal.Journal.append, []

    def dying(self, value):
        if len(written) == n_records:
            pieces = b"".join(self._record(value))
            self._file.write(pieces[: len(pieces) // 2])
            self._file.flush()
            raise Killed
        written.append(append(self, value))

    monkeypatch.setattr(journal.Journal, "append", dying)


@pytest.mark.parametrize("name", FITS)
def test_a_fit_with_a_checkpoint_makes_the_model_of_a_fit_without(name, tmp_path):
    path, expected = tmp_path / "checkpoint", fitted(name, tmp_path)
    assert fitted(name, tmp_path, checkpoint=path, checkpoint_every=4) == expected
    written = path.read_bytes()
    assert fitted(name, tmp_path, checkpoint=path, checkpoint_every=4) == expected
    assert path.read_bytes() == written


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("n_records", [0, 1, 2])
def test_a_fit_that_dies_while_it_writes_goes_on(name, n_records, tmp_path, monkeypatch):
    path, expected = tmp_path / "checkpoint", fitted(name, tmp_path)
    with monkeypatch.context() as patch:
        killed_after(n_records, patch)
        with pytest.raises(Killed):
            fitted(name, tmp_path, checkpoint=path, checkpoint_every=3)
    assert fitted(name, tmp_path, checkpoint=path, checkpoint_every=2) == expected


@pytest.mark.parametrize("name", ["numbers", "forest"])
@pytest.mark.parametrize("problem", [KeyboardInterrupt(), OSError(28, "No space left")])
def test_a_record_that_could_not_be_written_is_taken_back(name, problem, tmp_path, monkeypatch):
    path, expected, sync, n_calls = tmp_path / "c", fitted(name, tmp_path), os.fsync, []

    def fail(number):
        n_calls.append(number)
        if len(n_calls) == 4:  # of the new file and its directory, and of the first record
            raise problem
        sync(number)

    with monkeypatch.context() as patch:
        patch.setattr(journal.os, "fsync", fail)
        with contextlib.suppress(KeyboardInterrupt, OSError):
            fitted(name, tmp_path, checkpoint=path, checkpoint_every=3)
    assert len(n_calls) >= 4
    assert fitted(name, tmp_path, checkpoint=path, checkpoint_every=3) == expected


def test_a_full_disk_is_said_to_be_full(tmp_path, monkeypatch):
    path = tmp_path / "c"

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal.os, "fsync", fail)
    with pytest.raises(OSError, match=r"c was not written\. The disk is full"):
        fitted("numbers", tmp_path, checkpoint=path)
    assert not path.exists()


def test_rounds_that_are_there_are_not_grown_again(tmp_path):
    seen = []
    model = hr.GradientBoostingRegressor(n_estimators=20, callbacks=[lambda told: told.number < 12])
    model.fit(X, Y, checkpoint=tmp_path / "c", checkpoint_every=5)
    assert model.n_estimators_ == 12
    model.set_params(callbacks=[lambda told: seen.append(told.number)])
    model.fit(X, Y, checkpoint=tmp_path / "c", checkpoint_every=5)
    assert seen == list(range(12, 21))


def test_stopping_was_not_of_no_account():
    make, given = FITS["stopped"]
    assert 1 < make().fit(X, **given).n_estimators_ < 300


def test_each_round_is_written_once(tmp_path):
    sizes = {}
    for n_rounds in (100, 200, 400):
        model = hr.GradientBoostingRegressor(n_estimators=n_rounds, learning_rate=0.1, **SMALL)
        model.fit(X, Y, checkpoint=tmp_path / str(n_rounds), checkpoint_every=10)
        sizes[n_rounds] = (tmp_path / str(n_rounds)).stat().st_size
    assert sizes[400] - sizes[200] < 2.2 * (sizes[200] - sizes[100])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"y": Y + 1}, "other rows, targets"),
        ({"X": X.iloc[::-1]}, "other rows, targets"),
        ({"X": X.rename(columns={"gap": "hole"})}, "other rows, targets"),
        ({"sample_weight": np.arange(N) % 2}, "other rows, targets"),
        ({"offset": np.ones(N)}, "other rows, targets"),
        ({"eval_set": (X, Y)}, "other rows, targets"),
    ],
)
def test_a_checkpoint_of_other_data_is_refused(change, said, tmp_path):
    path = tmp_path / "checkpoint"
    fitted("numbers", tmp_path, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(hr.CheckpointError, match=said):
        fitted("numbers", tmp_path, checkpoint=path, **change)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_estimators": 26}, "parameter n_estimators = '25', and this fit has '26'"),
        ({"loss": "huber"}, "parameter loss"),
        ({"random_state": 1}, "seed"),
        ({"eval_metric": np.dot}, "parameter eval_metric"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(change, said, tmp_path):
    path, make = tmp_path / "checkpoint", FITS["numbers"][0]
    make().fit(X, Y, checkpoint=path)
    with pytest.raises(hr.CheckpointError, match=f"{said}.*remove the file"):
        make().set_params(**change).fit(X, Y, checkpoint=path)
    make().set_params(n_jobs=1, verbose=False, time_limit=1e9).fit(X, Y, checkpoint=path)


def test_a_checkpoint_of_another_estimator_is_refused(tmp_path):
    hr.RandomForestRegressor(2).fit(X, Y, checkpoint=tmp_path / "c")
    with pytest.raises(hr.CheckpointError, match="class = 'RandomForestRegressor'"):
        hr.ExtraTreesRegressor(2).fit(X, Y, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("name", ["numbers", "forest"])
def test_a_damaged_checkpoint_is_never_begun_anew(name, tmp_path):
    path, expected = tmp_path / "checkpoint", fitted(name, tmp_path)
    fitted(name, tmp_path, checkpoint=path, checkpoint_every=4)
    whole, chance = path.read_bytes(), random.Random(1)
    for _ in range(40):
        changed = bytearray(whole)
        changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(hr.CheckpointError, match=r"checkpoint is damaged.*(R|r)emove"):
            fitted(name, tmp_path, checkpoint=path, checkpoint_every=4)
        assert path.read_bytes() == changed
    path.write_bytes(b"")
    with pytest.raises(hr.CheckpointError, match="damaged"):
        fitted(name, tmp_path, checkpoint=path)
    path.write_bytes(whole)
    assert fitted(name, tmp_path, checkpoint=path, checkpoint_every=4) == expected


def test_a_model_file_is_no_checkpoint(tmp_path):
    fitted("numbers", tmp_path)
    with pytest.raises(hr.CheckpointError, match="damaged"):
        fitted("numbers", tmp_path, checkpoint=tmp_path / "model")


def test_two_fits_do_not_write_to_one_checkpoint(tmp_path):
    path = tmp_path / "checkpoint"
    fitted("numbers", tmp_path, checkpoint=path)
    with path.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(hr.CheckpointError, match="Another fit is writing"):
            fitted("numbers", tmp_path, checkpoint=path)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"warm_start": True}, "warm_start"),
        ({"dropout": 0.2}, "dropout"),
        ({"n_estimators": "cv"}, "fold"),
    ],
)
def test_fits_that_cannot_go_on_say_so(parameters, said, tmp_path):
    model = hr.GradientBoostingRegressor(**parameters)
    with pytest.raises(ValueError, match=f"checkpoint was given, but.*{said}"):
        model.fit(X, Y, checkpoint=tmp_path / "c")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("every", [0, -1, 2.5, True, "ten"])
def test_how_often_is_a_whole_number(every, tmp_path):
    with pytest.raises(ValueError, match="checkpoint_every"):
        hr.GradientBoostingRegressor().fit(X, Y, checkpoint=tmp_path / "c", checkpoint_every=every)


def test_a_directory_for_the_checkpoint_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no directory"):
        fitted("numbers", tmp_path, checkpoint=tmp_path / "missing" / "c")


def trained(arguments, seconds=None):
    """Train in a process; kill it so many seconds after its fit began.

    Return whether it ended by itself, and how long its fit took.
    """
    command = [sys.executable, "-m", "tests.storage.training", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    begun = time.monotonic()
    if seconds is not None:
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert process.returncode in (0, -signal.SIGKILL)
    return process.returncode == 0, time.monotonic() - begun


def killed_at_random(folder, kind, size, n_kills, seed=0):
    """Kill trainings at random moments; return how many were killed before they ended."""
    chance, n_killed = random.Random(seed), 0
    begun = time.monotonic()
    training.trained(kind, *size, None, folder / "whole")
    longest = time.monotonic() - begun
    expected = (folder / "whole").read_bytes()
    for number in range(n_kills):
        checkpoint, model = folder / f"checkpoint {number}", folder / f"model {number}"
        ended, _ = trained([kind, *size, checkpoint, model], chance.uniform(0, longest))
        n_killed += not ended
        if chance.random() < 0.3:
            trained([kind, *size, checkpoint, model], chance.uniform(0, longest / 2))
        assert trained([kind, *size, checkpoint, model])[0]
        assert model.read_bytes() == expected, number
    return n_killed


def test_a_process_that_was_killed_goes_on(tmp_path):
    assert killed_at_random(tmp_path, "boosting", (4000, 100), 1) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["boosting", "classes", "forest"])
def test_trainings_killed_at_twenty_random_moments_end_with_the_same_bytes(kind, tmp_path):
    size = {"boosting": (30_000, 300), "classes": (10_000, 150), "forest": (4000, 40)}[kind]
    assert killed_at_random(tmp_path, kind, size, 20) >= 10
