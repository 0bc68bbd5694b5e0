"""Rows of the tables of benchmarks: figures are computed from records, and bars are held to."""

import json

import pytest

from benchmarks.bars import Bar, ratio_bar
from benchmarks.records import is_same_machine, kept, previous, read
from benchmarks.rows import contest_rows, kernel_rows, limit_rows
from benchmarks.table import table
from benchmarks.units import duration

MACHINE = {"cpu": "C", "cores": 2, "system": "S", "python": "3", "numpy": "1", "numba": "2"}
FACTS = {"machine": MACHINE | {"scikit-learn": "4"}, "when": "2026-01-02T03:04:05+00:00"}


def stored(folder, kind, **record):
    (folder / f"{kind}.jsonl").write_text(json.dumps(FACTS | record), encoding="utf-8")


def test_a_ratio_is_the_median_of_the_fastest_other_over_ours(tmp_path):
    seconds = {
        "hedgerow": {"fit": [1.0, 2.0, 9.0]},
        "A": {"fit": [5.0, 6.0, 7.0]},
        "B": {"fit": [1.0, 8.0, 8.0]},
    }
    stored(tmp_path, "boosting", contest="binary, 1k x 10, 2 threads", seconds=seconds)
    (row,) = contest_rows(tmp_path)
    assert (row.figure, row.theirs, row.n_runs) == (3.0, "6 s, A", 3)
    assert row.holds


def test_hedgerows_other_ways_are_not_among_the_others(tmp_path):
    times = {"hedgerow": [4e-5], "hedgerow, exported C": [2e-6], "A": [8e-5]}
    seconds = {name: {"ask": own} for name, own in times.items()}
    stored(tmp_path, "one_row", contest="boosting, one row", seconds=seconds)
    (row,) = contest_rows(tmp_path)
    assert row.theirs == "80 us, A"
    ours, exported = limit_rows(tmp_path)
    assert (ours.figure, str(ours.bar), ours.holds) == (pytest.approx(40.0), "at most 50", True)
    assert exported.bar is None


def test_shapley_values_are_held_against_shap_and_against_the_fastest_of_the_others(tmp_path):
    seconds = {name: {"explain": [t]} for name, t in (("hedgerow", 1.0), ("shap", 6.0), ("A", 0.5))}
    stored(tmp_path, "explaining", contest="boosting, 1 thread", seconds=seconds)
    first, second = contest_rows(tmp_path)
    assert (first.figure, first.holds, second.figure, second.holds) == (6.0, True, 0.5, False)


def test_a_start_has_a_limit_and_need_not_have_others(tmp_path):
    stored(tmp_path, "starting", contest="cold start", seconds={"hedgerow": {"start": [45.0]}})
    (row,) = limit_rows(tmp_path)
    assert (row.ours, row.theirs, row.holds) == ("45 s", "", False)
    assert "| start: cold start | seconds | 45 s (few runs: 1) |  | at most 10: **behind** |" in (
        table(tmp_path)
    )


def growth_of(ours, theirs, exponent):
    return {
        "contest": "rows",
        "sizes": [100, 1000],
        "seconds": {name: {"fit": [[1.0, 1.1], [10.0, 10.1]]} for name in ("hedgerow", "A")},
        "fit_bytes": {"hedgerow": [9, ours], "A": [9, theirs]},
        "table_bytes": [10, 100],
        "exponents": {"hedgerow": exponent, "A": 1.0},
    }


@pytest.mark.parametrize(
    ("ours", "theirs", "exponent", "holds"),
    [
        (140, 200, 1.04, [True, True]),
        (160, 200, 1.06, [False, False]),
        (140, 120, 1.0, [True, False]),
    ],
)
def test_growth_keeps_its_exponent_and_takes_less_memory_than_all_others(
    tmp_path, ours, theirs, exponent, holds
):
    stored(tmp_path, "growth", **growth_of(ours, theirs, exponent))
    slope, memory = limit_rows(tmp_path)
    assert [slope.holds, memory.holds] == holds
    assert memory.figure == ours / 100


def test_where_memory_is_unknown_nothing_is_said_of_it(tmp_path):
    stored(tmp_path, "growth", **growth_of(None, None, 1.0))
    (slope,) = limit_rows(tmp_path)
    assert slope.step == "exponent of time"


def test_kernels_are_shown_by_their_newest_record(tmp_path):
    lines = [
        FACTS | {"contest": "split search", "unit": "bin", "ns_per_update": times}
        for times in ([9.0], [1.0, 3.0, 2.0])
    ]
    for line in lines:
        kept(line, tmp_path / "micro.jsonl")
    (row,) = kernel_rows(tmp_path)
    assert (row.ours, row.step, row.bar) == ("2 ns", "a bin", None)


def test_the_first_bar_that_fits_counts_and_without_one_nobody_may_be_faster():
    assert ratio_bar("forests", "extra-trees, covtype") == Bar(4.0)
    assert ratio_bar("forests", "forest, covtype") == Bar(10.0)
    assert ratio_bar("forests", "forest, covtype", "predict") == Bar(5.0)
    assert ratio_bar("trees", "covtype") == Bar(4.0)
    assert Bar(1.0).holds(1.0)
    assert Bar(1.0, is_limit=True).holds(1.0)
    assert not Bar(1.0, is_limit=True).holds(1.1)


def test_records_of_another_machine_are_not_compared(tmp_path):
    file = tmp_path / "a.jsonl"
    here = {"contest": "a", "shape": [1, 2], "machine": {"cpu": "C", "memory_gb": 8}}
    kept(here | {"machine": {"cpu": "C"}, "number": 1}, file)
    kept(here | {"machine": {"cpu": "D"}, "number": 2}, file)
    kept(here | {"shape": [9, 9], "number": 3}, file)
    assert len(read(file)) == 3
    assert previous(file, here)["number"] == 1
    assert not is_same_machine({"cpu": "C", "memory_gb": 4}, here["machine"])
    assert previous(tmp_path / "absent.jsonl", here) is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(12.345, "12.3 s"), (0.1, "0.1 s"), (0.0999, "99.9 ms"), (5e-5, "50 us"), (4e-10, "0.4 ns")],
)
def test_a_duration_has_the_unit_that_suits_it(seconds, shown):
    assert duration(seconds) == shown
