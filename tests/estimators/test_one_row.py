"""One row at a time: the numbers that it has among others."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor
from hedgerow.ensembles.one_row import OneRow

random = np.random.default_rng(0)
X = random.normal(size=(400, 5))
X[random.random(X.shape) < 0.2] = np.nan
y = np.nan_to_num(X[:, 0]) + random.normal(size=400)
classes = np.digitize(y, [-0.5, 0.5])
MODELS = {
    "numbers": GradientBoostingRegressor(n_estimators=300).fit(X, y),
    "two classes": GradientBoostingClassifier(n_estimators=20).fit(X, y > 0),
    "three classes": GradientBoostingClassifier(n_estimators=20).fit(X, classes),
    "nothing to learn": GradientBoostingRegressor(n_estimators=5).fit(X, np.ones(400)),
    "the first feature": GradientBoostingRegressor(n_estimators=5).fit(X * [1, 0, 0, 0, 0], y),
}


def one_by_one(ask, table):
    return np.concatenate([ask(table[i : i + 1]) for i in range(len(table))])


@pytest.mark.parametrize("name", MODELS)
def test_a_row_alone_has_the_prediction_that_it_has_among_others(name, monkeypatch):
    model, n_asked, add = MODELS[name], [], OneRow.add
    monkeypatch.setattr(OneRow, "add", lambda *given: n_asked.append(1) or add(*given))
    for ask in (model.predict, getattr(model, "predict_proba", model.predict)):
        assert_array_equal(one_by_one(ask, X[:60]), ask(X)[:60])
    assert len(n_asked) == 120


def test_a_row_of_an_offset_or_of_fewer_trees_is_no_exception():
    model = MODELS["numbers"]
    offset = np.arange(60.0)
    alone = [model.predict(X[i : i + 1], offset=offset[i : i + 1])[0] for i in range(60)]
    assert_array_equal(alone, model.predict(X[:60], offset=offset))
    few = one_by_one(lambda row: model.predict(row, n_trees=7), X[:60])
    assert_array_equal(few, model.predict(X[:60], n_trees=7))


def test_a_row_of_categories():
    frame = pd.DataFrame(X, columns=list("abcde")).assign(word=random.choice(["x", "y"], 400))
    model = GradientBoostingRegressor(n_estimators=20).fit(frame, y)
    alone = [model.predict(frame.iloc[[i]])[0] for i in range(20)]
    assert_array_equal(alone, model.predict(frame.iloc[:20]))


def test_threads_that_ask_at_once_get_their_own_rows():
    model = MODELS["numbers"]
    expected = model.predict(X)

    def ask(number):
        return all(model.predict(X[i : i + 1])[0] == expected[i] for i in range(number, 400, 3))

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(ask, range(16)))


def test_a_model_that_was_asked_for_a_row_is_copied_and_pickled():
    model = MODELS["numbers"]
    expected = model.predict(X[:1])
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert_array_equal(again.predict(X[:1]), expected)


def test_a_row_of_too_few_features_is_refused():
    with pytest.raises(ValueError, match="X has 4 features"):
        MODELS["numbers"].predict(X[:1, :4])
