"""Every benchmark runs, with tiny tables, and what it writes makes the table."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import bench
from benchmarks.bench import PARTS, Part, cells
from benchmarks.options import chosen, options
from benchmarks.records import read
from benchmarks.rows import contest_rows, kernel_rows, limit_rows

ROOT = Path(__file__).parents[2]
TINY = {
    "micro/run.py": "--rows 3000",
    "macro/boosting.py": "--rows 600 --threads 2 --cases 1k adult",
    "macro/forests.py": "--rows 600 --trees 2 --threads 2 --cases 100k",
    "macro/adaboost.py": "--rows 600 --rounds 2 --threads 2 --cases stumps",
    "macro/trees.py": "--rows 600 --cases regression",
    "macro/prediction.py": "--rows 600 --threads 2 --cases tree",
    "macro/one_row.py": "--rows 600 --cases tree",
    "macro/explaining.py": "--rows 600 --threads 2 --cases boosting",
    "macro/binning.py": "--rows 3000 --threads 2 --cases 28",
    "macro/cross_validation.py": "--rows 600 --threads 2",
    "macro/starting.py": "--cases import",
    "growth.py": "--rows 600 --points 2 --cases trees",
}


def test_every_benchmark_of_the_door_is_tried_and_is_there():
    assert {part.file for part in PARTS} == TINY.keys()
    assert all((ROOT / "benchmarks" / part.file).exists() for part in PARTS)


@pytest.mark.slow
@pytest.mark.parametrize("file", TINY)
def test_a_benchmark_runs_and_what_it_writes_makes_rows(file, tmp_path):
    if "explaining" in file:
        pytest.importorskip("shap")
    (part, *_) = [part for part in PARTS if part.file == file]
    output = tmp_path / part.output
    command = [sys.executable, ROOT / "benchmarks" / file, *TINY[file].split(), "--repeats", "1"]
    result = subprocess.run(
        [*command, "--output", output],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    assert all("machine" in record and "load_after" in record for record in read(output))
    rows = contest_rows(tmp_path) + limit_rows(tmp_path) + kernel_rows(tmp_path)
    assert rows or not any(len(r.get("seconds", {})) > 1 for r in read(output))
    assert all(len(cells(row)) == 7 for row in rows)


def _sleeper(folder, seconds):
    """Write a benchmark that keeps a line and then sleeps, and return it as a part."""
    (folder / "sleeper.py").write_text(
        "import pathlib, sys, time\n"
        "pathlib.Path(sys.argv[-1]).write_text('kept')\n"
        f"time.sleep({seconds})\n"
    )
    return Part(str(folder / "sleeper.py"), "--rows 10")


def test_cases_are_chosen_by_what_their_names_contain_and_what_they_do_not():
    names = ["1k x 10", "no higher loss: 1k x 10", "10k x 20", "7 classes"]
    parser = options("Some contests.", "contests")
    assert chosen(names, parser.parse_args([])) == names
    given = parser.parse_args(["--cases", "1k", "10k", "--without", "higher"])
    assert chosen(names, given) == ["1k x 10", "10k x 20"]


def test_a_first_look_ends_in_time_and_names_what_it_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "PARTS", [_sleeper(tmp_path, 60), PARTS[0]])
    begun = time.perf_counter()
    bench.run_all(tmp_path, False, begun + 2.0)
    assert time.perf_counter() - begun < 20
    assert (tmp_path / "sleeper.jsonl").read_text() == "kept"
    said = capsys.readouterr().out
    assert "sleeper.py" in said
    assert PARTS[0].file in said


def test_a_first_look_that_has_time_says_nothing_of_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "PARTS", [_sleeper(tmp_path, 0)])
    bench.run_all(tmp_path, False, time.perf_counter() + 60)
    assert "Time was over" not in capsys.readouterr().out
