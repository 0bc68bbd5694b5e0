"""What cannot be exported says why, and leaves no file behind."""

import os
import sys
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor as ForeignTree

import hedgerow as hr
from tests.storage import zoo

ROWS = np.arange(12.0)[:, None]
FITTED = hr.DecisionTreeRegressor(max_depth=2).fit(ROWS, ROWS[:, 0])


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path):
    yield
    assert [file for file in os.listdir(tmp_path) if not file.startswith("kept")] == []


def test_a_model_must_be_fitted(tmp_path):
    with pytest.raises(NotFittedError, match="fit"):
        hr.export_model(hr.DecisionTreeClassifier(), tmp_path / "tree.onnx")


def test_the_model_must_be_ours(tmp_path):
    with pytest.raises(TypeError, match=r"is a LogisticRegression, and a fitted estimator of hedg"):
        hr.export_model(LogisticRegression(), tmp_path / "lines.onnx")


@pytest.mark.parametrize("to", ["java", "ONNX", "", 3])
def test_a_format_that_is_not_there_is_named_with_those_that_are(to, tmp_path):
    with pytest.raises(ValueError, match=rf"to={to!r} .* Pass to='onnx', 'c' or 'python'"):
        hr.export_model(FITTED, tmp_path / "tree.onnx", to=to)


def test_an_ending_without_a_format_asks_for_one(tmp_path):
    with pytest.raises(ValueError, match=r"model.bin' ends in none of .onnx, .c, .py. Pass to="):
        hr.export_model(FITTED, tmp_path / "model.bin")


def test_onnx_is_asked_for_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "hedgerow\[onnx\]"'):
        hr.export_model(FITTED, tmp_path / "tree.onnx")


def test_sources_need_no_onnx(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    for name in ("kept.c", "kept.py"):
        hr.export_model(FITTED, tmp_path / name)
        assert (tmp_path / name).stat().st_size


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no directory .*nowhere. Make it first"):
        hr.export_model(FITTED, tmp_path / "nowhere" / "tree.py")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden here")
def test_a_directory_that_may_not_be_written_to_is_named(tmp_path):
    closed = tmp_path / "kept"
    closed.mkdir(mode=0o500)
    with pytest.raises(PermissionError, match="may not write"):
        hr.export_model(FITTED, closed / "tree.py")


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="Pass the name of a file in it"):
        hr.export_model(FITTED, tmp_path, to="c")


def test_a_file_that_was_there_stays_if_the_export_fails(tmp_path):
    file = tmp_path / "kept.py"
    file.write_text("old")
    with pytest.raises(TypeError):
        hr.export_model(zoo.made("adaboost-learners"), file)
    assert file.read_text() == "old"


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("bagging-boosting", "BaggingClassifier of GradientBoostingClassifier"),
        ("adaboost-learners", "AdaBoostRegressor of GradientBoostingRegressor"),
    ],
)
def test_models_that_are_more_than_trees_name_those_that_can_be_exported(name, named, tmp_path):
    with pytest.raises(TypeError, match=rf"{named} cannot be exported.*RandomForest\*"):
        hr.export_model(zoo.made(name), tmp_path / "model.onnx")


def test_trees_of_other_libraries_cannot_be_exported(tmp_path):
    model = hr.AdaBoostRegressor(ForeignTree(max_depth=2), n_estimators=3).fit(ROWS, ROWS[:, 0])
    with pytest.raises(TypeError, match="of DecisionTreeRegressor cannot be exported"):
        hr.export_model(model, tmp_path / "model.onnx")


@pytest.mark.parametrize(
    "model",
    [
        hr.StagewiseRegressor(ForeignTree(max_depth=2), n_estimators=3),
        hr.StagewiseRegressor(hr.GradientBoostingRegressor(n_estimators=2), n_estimators=3),
    ],
)
def test_stagewise_models_of_other_learners_cannot_be_exported(model, tmp_path):
    of = type(model.estimator).__name__
    with pytest.raises(TypeError, match=rf"of {of} cannot be exported.*Fit with a DecisionTree"):
        hr.export_model(model.fit(ROWS, ROWS[:, 0]), tmp_path / "model.onnx")


@pytest.mark.parametrize("kind", [hr.L1BoostClassifier, hr.StagewiseClassifier])
def test_functions_of_the_users_own_cannot_be_exported(kind, tmp_path):
    model = kind(dictionary=[lambda X: np.sign(X[:, 0] - 0.5)]).fit(ROWS, ROWS[:, 0] > 0.5)
    with pytest.raises(TypeError, match=r"your own functions.*trees or stumps of the library"):
        hr.export_model(model, tmp_path / "model.py")


def test_a_stagewise_model_without_rounds_cannot_be_exported(tmp_path):
    model = hr.StagewiseClassifier().fit(ROWS, np.ones(len(ROWS)))
    with pytest.raises(ValueError, match="has no rounds"):
        hr.export_model(model, tmp_path / "model.c")


def test_unseen_categories_that_go_both_ways_cannot_be_exported(tmp_path):
    model = zoo.made("tree-numbers")
    with pytest.raises(ValueError, match=r"unseen='average'.*Set unseen='missing'"):
        hr.export_model(model, tmp_path / "model.py")
    hr.export_model(model.set_params(unseen="missing"), tmp_path / "kept.py")


@pytest.mark.parametrize("to", ["onnx", "c"])
def test_unseen_categories_that_raise_can_only_be_exported_to_python(to, tmp_path):
    model = hr.DecisionTreeClassifier(unseen="error").fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match=r"unseen='error'.*Set unseen='missing'"):
        hr.export_model(model, tmp_path / "model", to=to)


def test_a_model_of_offsets_cannot_be_exported(tmp_path):
    with pytest.raises(ValueError, match=r"was fitted with an offset"):
        hr.export_model(zoo.made("boosting-huber"), tmp_path / "model.py")


class _Quartic(NamedTuple):
    scale: float = 3.0

    def loss(self, y, f):
        return ((y - f) / self.scale) ** 4


class _Squared(_Quartic):
    def link(self, raw):
        return raw * raw


def test_a_link_of_the_users_own_cannot_be_exported(tmp_path):
    model = hr.GradientBoostingRegressor(loss=_Squared(), n_estimators=2).fit(ROWS, ROWS[:, 0])
    with pytest.raises(ValueError, match=r"has a link of your own.*Without `link`"):
        hr.export_model(model, tmp_path / "model.py")


@pytest.mark.parametrize("to", ["onnx", "c"])
def test_categories_of_two_kinds_can_only_be_exported_to_python(to, tmp_path):
    X = pd.DataFrame({"code": pd.Categorical([1, "one", 2, "two"])})
    model = hr.DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"'code' has categories that are texts \('one'\) and oth"):
        hr.export_model(model, tmp_path / "model", to=to)
    hr.export_model(model, tmp_path / "kept.py")


@pytest.mark.parametrize("to", ["onnx", "c", "python"])
def test_categories_that_no_other_language_has_cannot_be_exported(to, tmp_path):
    X = pd.DataFrame({"day": pd.Categorical(pd.to_datetime(["2024-01-01", "2024-01-02"]))})
    model = hr.DecisionTreeClassifier().fit(X, [0, 1])
    with pytest.raises(ValueError, match=r"column 'day' has the category .*only texts and numbers"):
        hr.export_model(model, tmp_path / "model", to=to)
