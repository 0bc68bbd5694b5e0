"""`hedgerow train --checkpoint`, killed at any moment, goes on and ends with the same bytes."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
N_KILLS = 20
KINDS = {
    "boosting": ("--set", "n_estimators=600", "--set", "learning_rate=0.02"),
    "forest": ("--set", "n_estimators=120", "--set", "min_samples_leaf=20"),
}


def table(path, n_rows=6000):
    """Write numbers, words and gaps, and a target that depends on them."""
    chance = np.random.default_rng(0)
    X = chance.normal(size=(n_rows, 6)).round(3)
    words = chance.choice(["oak", "ash", "elm"], n_rows)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (words == "oak") + chance.normal(size=n_rows)).round(3)
    lines = ["a,b,c,d,e,f,tree,y"]
    for row, word, target in zip(X.tolist(), words, y.tolist(), strict=True):
        cells = ["" if k == 3 and row[0] > 1 else str(cell) for k, cell in enumerate(row)]
        lines.append(",".join([*cells, word, str(target)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def trained(folder, data, kind, name, moment=None):
    """Run the command; kill it so many seconds after its checkpoint is there.

    Return whether it ended by itself, and how long it went on with a checkpoint.
    """
    checkpoint = folder / f"{name}.checkpoint"
    command = [sys.executable, "-m", "hedgerow", "train", data, "--target", "y", "--json"]
    command += ["--model", kind, *KINDS[kind], "--checkpoint", checkpoint]
    command += ["--output", folder / f"{name}.hedgerow"]
    process = subprocess.Popen(
        [str(each) for each in command], cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True
    )
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.005)
    begun = time.monotonic()
    if moment is not None:
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert process.returncode in (0, -signal.SIGKILL)
    return process.returncode == 0, time.monotonic() - begun


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_training_killed_at_random_moments_ends_with_the_same_bytes(kind, tmp_path):
    data, chance, n_killed = table(tmp_path / "data.csv"), random.Random(7), 0
    ended, longest = trained(tmp_path, data, kind, "whole")
    assert ended
    expected = (tmp_path / "whole.hedgerow").read_bytes()
    attempts = count()
    while n_killed < N_KILLS:
        name = f"attempt{next(attempts)}"
        ended, took = trained(tmp_path, data, kind, name, chance.uniform(0.0, longest))
        n_killed += not ended
        longest = min(longest, took) if ended else longest  # this one ended before its moment
        while not ended:  # some are killed again and again
            moment = chance.uniform(0.0, longest) if chance.random() < 0.3 else None
            ended, _ = trained(tmp_path, data, kind, name, moment)
        assert (tmp_path / f"{name}.hedgerow").read_bytes() == expected, name
    assert next(attempts) < 5 * N_KILLS
