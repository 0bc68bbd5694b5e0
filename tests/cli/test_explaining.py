"""`hedgerow explain` of every kind of model: parts of a row's score that add up to it."""

import json
import math

import pytest

from hedgerow.cli import explaining
from hedgerow.cli.recipes import KINDS
from tests.cli.calls import called, people, written

FEW = {kind: "max_depth=4" if kind == "tree" else "n_estimators=5" for kind in KINDS}
OTHERS = {"bought": ("grade", "price"), "grade": ("bought", "price"), "price": ("grade", "bought")}
UNITS = {
    ("boosting", "bought"): "log-odds of",
    ("adaboost", "bought"): "half the log-odds of",
    ("boosting", "grade"): "scores of classes",
    ("adaboost", "grade"): "scores of classes",
    ("forest", "bought"): "probability of",
    ("forest", "grade"): "probabilities of classes",
    ("tree", "price"): "in the unit of the target",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explaining")
    written(folder / "people.csv", people())
    return folder


def trained(folder, kind, target):
    path = folder / f"{kind}-{target}.hedgerow"
    dropped = [word for name in ("id", *OTHERS[target]) for word in ("--drop", name)]
    options = ["--target", target, "--model", kind, "--set", FEW[kind], *dropped, "-o", path]
    result = called("train", folder / "people.csv", *options)
    assert result.exit_code == 0, result.stderr
    return path


def reported(*arguments):
    result = called(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_explained(folder, kind, target):
    if (kind, target) == ("adaboost", "price"):
        pytest.skip("AdaBoost of numbers is a median, not a sum: tests/cli/test_mistakes.py")
    path, data = trained(folder, kind, target), folder / "people.csv"
    row = reported("explain", path, data, "--row", "7")
    parts = sum(each["effect"] for each in row["contributions"])
    assert row["start"] + parts == pytest.approx(row["raw"])
    if kind not in ("boosting", "adaboost"):
        said = row["prediction"] if target == "price" else row["probability"]
        assert row["raw"] == pytest.approx(said)
    summary = reported("explain", path, data)
    assert all(each["mean_size"] > 0 for each in summary["effects"])
    assert summary["unit"].startswith(UNITS.get((kind, target), ""))
    shown = called("explain", path, data, "--row", "7").stdout
    assert "Row 7: the model says" in shown
    assert "Together: " in shown


def test_scores_of_counts_are_said_to_be_logarithms(folder):
    data, path = folder / "people.csv", folder / "counts.hedgerow"
    dropped = [word for name in ("id", *OTHERS["price"]) for word in ("--drop", name)]
    counts = ["--set", "loss=poisson", "--set", "n_estimators=5"]
    result = called("train", data, "--target", "price", *counts, *dropped, "-o", path)
    assert result.exit_code == 0, result.stderr
    row = reported("explain", path, data, "--row", "7")
    assert row["unit"] == "logarithm of the prediction"
    assert row["prediction"] == pytest.approx(math.exp(row["raw"]))


@pytest.mark.parametrize(("most", "said"), [(50, "of the first 50 rows"), (2000, "of 120 rows")])
def test_it_is_said_if_only_the_first_rows_are_explained(folder, most, said, monkeypatch):
    monkeypatch.setattr(explaining, "_MOST_ROWS", most)
    path = trained(folder, "tree", "price")
    assert said in called("explain", path, folder / "people.csv").stdout
