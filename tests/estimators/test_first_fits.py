"""A first fit does not wait for a compiler if it is small, and has the bits of one that does."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow import GradientBoostingRegressor
from hedgerow.cli.warmup import steps
from hedgerow.data.table import read_table
from hedgerow.estimators.first_fits import first_boosting, first_forest, first_tree, step_of
from hedgerow.estimators.gb_ranker import RANKING_LOSSES
from hedgerow.estimators.losses import REGRESSION_LOSSES, regression_loss
from hedgerow.estimators.request import Request
from hedgerow.kernels import begging, meanwhile
from hedgerow.kernels.jit import config
from hedgerow.kernels.meanwhile import Little, interpreted

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="everything is interpreted")

MODELS = """
import hashlib, json
import numpy as np
from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from hedgerow.kernels import meanwhile

def tables():
    random = np.random.default_rng(5)
    for kind in ("values", "missing", "few", "flags"):
        for n in (50, 900):
            X = random.normal(size=(n, 6))
            y = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n)
            if kind == "missing":
                X[random.random(X.shape) < 0.2] = np.nan
            if kind == "few":
                X = np.round(1.5 * X)
            if kind == "flags":
                X[:, ::2] = X[:, ::2] > 0.8
            yield X, y, random.integers(1, 4, n) if kind == "few" else None

def told():
    for X, y, weights in tables():
        for model, target in (
            (GradientBoostingClassifier(n_estimators=8, max_leaf_nodes=12), y > 0),
            (GradientBoostingClassifier(n_estimators=3, max_features=0.5), np.digitize(y, [-1, 1])),
            (GradientBoostingRegressor(n_estimators=6, l1=0.5, max_depth=4), y),
            (GradientBoostingRegressor(n_estimators=4, loss="poisson"), np.abs(np.round(y))),
            (DecisionTreeClassifier(max_depth=5), y > 0),
            (DecisionTreeRegressor(max_leaf_nodes=9), y),
            (RandomForestClassifier(2, random_state=1), np.digitize(y, [-1, 1])),
        ):
            model.fit(X, target, sample_weight=weights)
            shown = getattr(model, "predict_proba", model.predict)(X)
            yield model.fingerprint_, hashlib.sha256(shown.tobytes()).hexdigest()

print(json.dumps([list(told()), meanwhile._spent[0]]))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What models are, interpreted in a process that has nothing compiled, and compiled."""
    empty = str(tmp_path_factory.mktemp("kernels"))
    own = {"HEDGEROW_INTERPRET": "alone", "HEDGEROW_CACHE_DIR": empty}
    return [_run(own), _run({"HEDGEROW_INTERPRET": "0"})]


def _run(variables):
    command = [sys.executable, "-W", "error", "-c", MODELS]
    given = os.environ | variables
    said = subprocess.run(command, env=given, check=True, capture_output=True, text=True)
    return said, *json.loads(said.stdout)


def test_interpreted_models_have_the_bits_of_compiled_ones(runs):
    (_, interpreted_models, _), (_, compiled_models, _) = runs
    assert len(interpreted_models) == 56
    assert interpreted_models == compiled_models


def test_a_process_knows_whether_it_has_interpreted(runs):
    (_, _, seconds), (_, _, none) = runs
    assert seconds > 0.0
    assert none == 0.0


def test_who_waits_for_nothing_is_told_nothing(runs):
    assert runs[0][0].stderr == ""


CRITERIA = "gini", "entropy", "log_loss", "misclassification", "exponential"


class Cold:
    """A kernel of which nothing is compiled."""

    overloads = ()

    def __init__(self, place):
        index = SimpleNamespace(_index_path=place / "kernels" / "none.nbi")
        self._cache, self.plain = SimpleNamespace(_cache_file=index), max


@pytest.fixture
def cold(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_INTERPRET", "1")
    monkeypatch.setattr(meanwhile, "_spent", [0.0])
    return Cold(tmp_path)


@pytest.mark.parametrize(("seconds", "is_on"), [(1.0, True), (1000.0, False)])
def test_only_what_takes_less_than_a_compiler_is_interpreted(cold, seconds, is_on):
    with interpreted(Little(seconds, cold)):
        assert meanwhile.is_interpreting() == is_on
    assert not meanwhile.is_interpreting()


def test_nothing_is_interpreted_if_the_user_says_so(cold, monkeypatch):
    monkeypatch.setenv("HEDGEROW_INTERPRET", "0")
    assert not Little(1.0, cold).is_on()


def test_nothing_is_interpreted_once_it_is_compiled(cold, tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "none.nbi").touch()
    assert not Little(1.0, cold).is_on()


def test_a_process_does_not_interpret_for_ever(cold, monkeypatch):
    monkeypatch.setattr(meanwhile, "_spent", [61.0])
    assert not Little(1.0, cold).is_on()


def test_one_process_is_asked_to_compile_and_only_after_the_work(cold, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        begging.subprocess, "Popen", lambda command, **_: asked.append(command) or SimpleNamespace()
    )
    for _ in range(2):
        with interpreted(Little(1.0, cold, "gini")):
            assert not asked or _
    assert [command[-3:] for command in asked] == [["warmup", "--step", "gini"]]
    assert [each.name for each in tmp_path.glob("*.begun")] == ["gini.begun"]


@pytest.mark.parametrize("executable", ["/opt/app/server", "", None])
def test_a_program_that_is_not_python_is_not_begun_again(cold, monkeypatch, executable):
    monkeypatch.setattr(begging.sys, "executable", executable)
    monkeypatch.setattr(begging.subprocess, "Popen", None)
    with interpreted(Little(1.0, cold, "gini")):
        pass


def test_work_that_fails_leaves_the_thread_as_it_was(cold):
    with pytest.raises(KeyError), interpreted(Little(1.0, cold)):
        raise KeyError
    assert not meanwhile.is_interpreting()


@pytest.mark.parametrize(
    "loss", [*REGRESSION_LOSSES, *RANKING_LOSSES, "log_loss", "exponential", SimpleNamespace()]
)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_every_loss_has_a_step_of_the_warmup(loss, n_outputs):
    assert step_of(loss, n_outputs) in steps()


@pytest.mark.parametrize("criterion", [*CRITERIA, "squared_error", "absolute_error"])
def test_every_criterion_has_a_step_of_the_warmup(criterion):
    assert first_tree(criterion, 1.0).step in steps()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification", "squared_error"])
def test_every_criterion_of_forests_has_a_step_of_the_warmup(criterion):
    assert first_forest(criterion, 1.0).step in steps()


def test_forests_of_many_values_are_compiled():
    assert first_forest("gini", 100 * 600.0).seconds < meanwhile._FEW
    assert first_forest("gini", 100 * 10_000.0).seconds > meanwhile._FEW


LONG = {
    "n_estimators": 100_000,
    "loss": "absolute_error",
    "min_samples_leaf": 3,
    "monotonic_cst": [1, 0, 0, 0],
    "split_finding": "exact",
    "categorical_features": [1],
    "sampling": "goss",
    "learning_rate": "line_search",
}


def seconds_of(n_rows=600, **parameters):
    """Return how long a first fit takes in Python, None if it is never interpreted."""
    model = GradientBoostingRegressor(**parameters)
    table = read_table(np.zeros((n_rows, 4)))
    loss = regression_loss(model.loss, model.alpha, 1.5)
    first = first_boosting(model, table, n_rows, loss, 1, Request(None, None, None, 0.0))
    return first and first.seconds


@pytest.mark.parametrize("name", LONG)
def test_what_python_would_take_long_for_is_compiled(name):
    assert seconds_of() < meanwhile._FEW < seconds_of(**{name: LONG[name]})


def test_what_is_watched_or_has_no_end_is_compiled():
    assert seconds_of(n_rows=20_000) is None  # some of them are held out
    assert seconds_of(n_estimators="cv") is None
    assert seconds_of(max_leaf_nodes=None) is None
