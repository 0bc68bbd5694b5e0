"""Gradient boosting of rankings: whole queries, order-free training, NDCG, and what it says."""

import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import GradientBoostingRanker, GradientBoostingRegressor, mean_ndcg
from hedgerow.estimators import rounds
from tests.estimators.tables import message

FEW = {"n_estimators": 8, "max_leaf_nodes": 6}
RANKERS = [
    GradientBoostingRanker(**FEW),
    GradientBoostingRanker(**FEW, loss="pairwise"),
    GradientBoostingRanker(**FEW, truncation=3, gain="linear", sigma=2.0),
    GradientBoostingRanker(**FEW, method="gradient"),
    GradientBoostingRanker(**FEW, dropout=0.4, random_state=0),
    GradientBoostingRanker(**FEW, early_stopping=True, validation_fraction=0.3, n_iter_no_change=3),
]
MODELS = pytest.mark.parametrize("model", RANKERS, ids=repr)
ROWS, LABELS, QUERIES = np.arange(8.0).reshape(4, 2), [0, 1, 2, 3], [0, 0, 1, 1]


class OfOneList(GradientBoostingRanker):
    """A ranker for scikit-learn's checks, which give no queries: all rows are one."""

    def fit(self, X, y):
        return super().fit(X, y, qid=np.zeros(np.size(y)))

    def score(self, X, y):
        return super().score(X, y, qid=np.zeros(np.size(y)))


@parametrize_with_checks(
    [OfOneList(n_estimators=5, gain="linear"), OfOneList(n_estimators=5, loss="pairwise")]
)  # no failure is expected of any
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def searches(n_queries=60, seed=0, noise=0.3):
    """Rows of queries of 1 to 20 documents; features of a query are shifted by its own constant."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 21, n_queries))
    X = rng.normal(size=(len(qid), 4)).round(2)
    quality = X[:, 0] - 0.5 * X[:, 1] ** 2 + noise * rng.normal(size=len(qid))
    X[:, 2] += 5 * qid  # a column that tells queries, not documents, apart
    X[rng.random(len(qid)) < 0.1, 3] = np.nan
    return X, np.digitize(quality, [-1.0, 0.0, 1.0]).astype(float), qid


def fingerprint(model, X, y, **given):
    return clone(model).fit(X, y, **given).fingerprint_


# ------------------------------------------------------------------ a function of the queries


@MODELS
def test_threads_order_and_names_make_no_difference(model):
    X, y, qid = searches(200)
    order = np.random.default_rng(1).permutation(len(y))
    names = np.array([f"query {number * 7919 % 200}" for number in range(200)])
    prints = {fingerprint(clone(model).set_params(n_jobs=n), X, y, qid=qid) for n in (1, 2, 3)}
    prints.add(fingerprint(model, X[order], y[order], qid=qid[order]))
    prints.add(fingerprint(model, X[order], y[order], qid=names[qid][order]))
    prints.add(fingerprint(model, X, y, group=np.bincount(qid)))
    assert len(prints) == 1


@MODELS
def test_a_query_of_weight_three_is_three_queries(model):
    X, y, qid = searches()
    weights = np.random.default_rng(5).integers(0, 4, 60)
    copies = [(rows := np.flatnonzero(qid == q), w) for q, w in enumerate(weights)]
    rows = np.concatenate([rows for rows, w in copies for _ in range(w)])
    sizes = [len(rows) for rows, w in copies for _ in range(w)]
    assert fingerprint(model, X, y, qid=qid, sample_weight=weights[qid]) == fingerprint(
        model, X[rows], y[rows], group=sizes
    )


def test_a_row_of_weight_zero_is_not_there():
    X, y, qid = searches()
    kept = np.random.default_rng(6).random(len(y)) < 0.7
    weights = np.where(kept, 0.3, 0.0)
    without = {"qid": qid[kept], "sample_weight": weights[kept]}
    model = GradientBoostingRanker(**FEW)
    assert fingerprint(model, X, y, qid=qid, sample_weight=weights) == fingerprint(
        model, X[kept], y[kept], **without
    )


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_queries_that_cannot_be_ordered_teach_nothing(loss):
    X, y, qid = searches()
    alone = np.concatenate([qid, [100, 101, 102, 102]])
    more = np.concatenate([X, X[:4]])
    labels = np.concatenate([y, [3.0, 0.0, 2.0, 2.0]])
    # The same bins: the four rows repeat rows that are there, with weights that matter to no cut.
    lone = GradientBoostingRanker(**FEW, loss=loss).fit(more, labels, qid=alone)
    model = GradientBoostingRanker(**FEW, loss=loss).fit(X, y, qid=qid)
    assert_allclose(lone.predict(X), model.predict(X), atol=1e-4)


def test_equal_labels_need_no_tree():
    X, _, qid = searches()
    model = GradientBoostingRanker().fit(X, np.ones(len(qid)), qid=qid)
    assert model.n_estimators_ == 0
    assert_array_equal(model.predict(X[:3]), [0.0, 0.0, 0.0])


@MODELS
def test_a_pickled_copy_is_the_same_and_small(model):
    X, y, qid = searches()
    fitted = clone(model).fit(X, y, qid=qid)
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.fingerprint_ == fitted.fingerprint_
    assert_array_equal(copy.predict(X), fitted.predict(X))
    assert fitted._loss == type(fitted._loss)(model.sigma)  # and not the rows


# ------------------------------------------------------------------ what is learnt


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_new_queries_are_ranked_better_than_by_a_regression(loss):
    """Labels have an offset for each query, which a regression takes for something to learn."""
    X, y, qid = searches(400, noise=0.1)
    rng = np.random.default_rng(3)
    labels = y + rng.integers(0, 12, 400)[qid]
    test = qid % 4 == 0
    ranker = GradientBoostingRanker(loss=loss, n_estimators=50)
    ranker.fit(X[~test], labels[~test], qid=qid[~test])
    regressor = GradientBoostingRegressor(n_estimators=50).fit(X[~test], labels[~test])
    ours, theirs = (
        mean_ndcg(y[test], model.predict(X[test]), qid=qid[test]) for model in (ranker, regressor)
    )
    assert ours > theirs + 0.02


@pytest.mark.parametrize("method", ["newton", "gradient"])
def test_small_steps_lower_the_pairwise_loss_in_every_round(method):
    X, y, qid = searches(20)
    model = GradientBoostingRanker(loss="pairwise", method=method, n_estimators=20)
    better = (qid[:, None] == qid) & (y[:, None] > y)
    losses = [
        np.log1p(np.exp(scores - scores[:, None]))[better].sum()
        for scores in model.fit(X, y, qid=qid).staged_predict(X)
    ]
    assert losses[0] < np.log(2) * better.sum()
    assert (np.diff(losses) < 0).all()


def test_the_last_stage_is_the_prediction():
    X, y, qid = searches()
    model = GradientBoostingRanker(**FEW).fit(X, y, qid=qid)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_estimators_ == 8
    assert_array_equal(stages[-1], model.predict(X))
    assert_array_equal(stages[2], model.predict(X, n_trees=3))
    assert_array_equal(model.predict(X, n_trees=0), np.zeros(len(y)))


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_a_model_that_goes_on_is_the_one_that_never_stopped(loss):
    X, y, qid = searches()
    order = np.random.default_rng(4).permutation(len(y))
    model = GradientBoostingRanker(**FEW, loss=loss, warm_start=True)
    model.set_params(n_estimators=3).fit(X, y, qid=qid)
    model.set_params(n_estimators=8).fit(X[order], y[order], qid=qid[order])
    assert model.fingerprint_ == fingerprint(
        GradientBoostingRanker(**FEW, loss=loss), X, y, qid=qid
    )


def test_importance_is_measured_on_whole_queries():
    X, y, qid = searches()
    model = GradientBoostingRanker(**FEW).fit(X, y, qid=qid)
    assert "scoring=lambda model, X, y" in message(
        model.permutation_importances, X, y, error=TypeError
    )
    found = permutation_importance(
        model, X, y, scoring=lambda model, X, y: model.score(X, y, qid=qid), random_state=0
    )
    assert found.importances_mean.argmax() == model.feature_importances_.argmax() == 0


def test_early_stopping_keeps_the_best_round_of_queries_held_out():
    X, y, qid = searches(300, noise=1.0)
    model = GradientBoostingRanker(
        n_estimators=200, learning_rate=0.5, early_stopping=True, n_iter_no_change=5, truncation=10
    ).fit(X, y, qid=qid)
    losses = model.validation_losses_
    assert model.n_estimators_ == int(np.argmin(losses)) > 0
    assert len(losses) < 200
    # Without any tree all scores are equal: the NDCG of a random order of some queries.
    assert 0.3 < 1 - losses[0] < 1 - losses.min() <= 1


def test_validation_losses_are_of_whole_queries():
    """Two kinds of queries of different sizes: the fold is one of them, so its loss is known."""
    X, y = np.arange(10.0)[:, None], np.array([0, 1, 2, 3, 4, 1, 0, 0, 0, 0.0])
    model = GradientBoostingRanker(n_estimators=1, early_stopping=True, validation_fraction=0.5)
    model.fit(X, y, group=[4, 6])
    start = mean_ndcg(y[:4], np.zeros(4), group=[4])  # the smaller query comes first
    assert_allclose(model.validation_losses_[0], 1 - start, rtol=1e-12)


# ------------------------------------------------------------------ queries to be watched


def halves(X, y, qid):
    """Part queries, and not the rows of any, into those to learn from and those to watch."""
    watched = qid % 2 == 1
    return (X[~watched], y[~watched], qid[~watched]), (X[watched], y[watched], qid[watched])


def watching(model, train, eval_set, **given):
    X, y, qid = train
    return clone(model).fit(X, y, qid=qid, eval_set=eval_set, **given)


@pytest.mark.parametrize("model", RANKERS[:4], ids=repr)
def test_the_loss_of_watched_queries_is_one_minus_their_score_after_each_round(model):
    train, test = halves(*searches(120))
    weights = np.random.default_rng(8).integers(0, 4, 120)[test[2]]
    fitted = watching(
        clone(model).set_params(early_stopping=False), train, [train, (*test, weights)]
    )
    assert list(fitted.evals_result_) == ["eval_0", "eval_1"]
    for name, (X, y, qid), weight in (("eval_0", train, None), ("eval_1", test, weights)):
        scores = [np.zeros(len(y)), *fitted.staged_predict(X)]
        given = {"qid": qid, "k": model.truncation, "gain": model.gain, "sample_weight": weight}
        expected = [1 - mean_ndcg(y, each, **given) for each in scores]
        assert_allclose(fitted.evals_result_[name]["loss"], expected, rtol=1e-12)
    assert not hasattr(fitted, "validation_losses_")


@pytest.mark.parametrize("early_stopping", ["auto", True])
def test_the_best_round_for_the_last_watched_queries_is_kept(early_stopping):
    train, test = halves(*searches(300, noise=1.0))
    model = GradientBoostingRanker(
        n_estimators=200, learning_rate=0.5, n_iter_no_change=5, early_stopping=early_stopping
    )
    stopped = watching(model, train, [train, test])
    losses = stopped.evals_result_["eval_1"]["loss"]
    assert stopped.n_estimators_ == int(np.argmin(losses)) > 0
    assert len(losses) < 200
    assert stopped.n_estimators_ < int(np.argmin(stopped.evals_result_["eval_0"]["loss"]))
    X, y, qid = train  # all of it: nothing is held out
    alone = clone(model).set_params(n_estimators=stopped.n_estimators_, early_stopping=False)
    assert stopped.fingerprint_ == fingerprint(alone, X, y, qid=qid)


def test_queries_may_be_watched_without_stopping():
    train, test = halves(*searches(60, noise=1.0))
    model = GradientBoostingRanker(n_estimators=25, learning_rate=0.5, early_stopping=False)
    fitted = watching(model, train, test)
    assert fitted.n_estimators_ == 25 > int(np.argmin(fitted.evals_result_["eval_0"]["loss"]))
    X, y, qid = train
    assert fitted.fingerprint_ == fingerprint(model, X, y, qid=qid)


def test_threads_order_and_names_make_no_difference_to_what_is_watched():
    train, (X, y, qid) = halves(*searches(100, noise=1.0))
    model = GradientBoostingRanker(**FEW, learning_rate=0.5)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 100)[qid]
    first = watching(model, train, (X, y, qid, weights))
    order = np.random.default_rng(2).permutation(len(y))
    names = np.array([f"query {-number}" for number in qid])
    shuffled = X[order], y[order], names[order], weights[order]
    for n_jobs in (1, 2, 3):
        other = watching(clone(model).set_params(n_jobs=n_jobs), train, shuffled)
        assert other.fingerprint_ == first.fingerprint_
        assert_array_equal(
            other.evals_result_["eval_0"]["loss"], first.evals_result_["eval_0"]["loss"]
        )


def test_a_watched_row_of_weight_zero_is_not_there():
    train, (X, y, qid) = halves(*searches(100))
    kept = np.random.default_rng(6).random(len(y)) < 0.7
    model = GradientBoostingRanker(**FEW)
    weighted = watching(model, train, (X, y, qid, np.where(kept, 0.3, 0.0)))
    without = watching(model, train, (X[kept], y[kept], qid[kept]))
    assert_allclose(
        weighted.evals_result_["eval_0"]["loss"],
        without.evals_result_["eval_0"]["loss"],
        rtol=1e-12,  # sums of 0.3 are rounded
    )


def test_going_on_with_watched_queries_is_one_fit_too():
    train, test = halves(*searches(100))
    model = GradientBoostingRanker(**FEW, early_stopping=False, warm_start=True)
    whole = watching(model, train, test)
    half = watching(clone(model).set_params(n_estimators=3), train, test)
    half.set_params(n_estimators=8).fit(train[0], train[1], qid=train[2], eval_set=test)
    assert half.fingerprint_ == whole.fingerprint_
    assert_array_equal(half.evals_result_["eval_0"]["loss"], whole.evals_result_["eval_0"]["loss"])


def test_watched_queries_are_not_kept_with_the_model():
    train, test = halves(*searches(100))
    model = watching(GradientBoostingRanker(**FEW), train, test)
    assert model._loss == type(model._loss)(model.sigma)
    assert hasattr(pickle.loads(pickle.dumps(model)), "evals_result_")
    X, y, qid = train
    assert not hasattr(model.fit(X, y, qid=qid), "evals_result_")


def test_the_number_of_rounds_depends_on_whether_queries_are_watched(monkeypatch):
    train, test = halves(*searches(40))
    X, y, qid = train
    assert (rounds._ROUNDS, rounds._ROUNDS_STOPPED) == (100, 500)
    monkeypatch.setattr(rounds, "_ROUNDS", 3)
    monkeypatch.setattr(rounds, "_ROUNDS_STOPPED", 5)
    model = GradientBoostingRanker(max_leaf_nodes=2)
    assert model.fit(X, y, qid=qid).n_estimators_ == 3
    assert len(watching(model, train, test).evals_result_["eval_0"]["loss"]) == 6
    model.set_params(early_stopping=False)
    assert len(watching(model, train, test).evals_result_["eval_0"]["loss"]) == 4
    monkeypatch.setattr(rounds, "_AUTO_STOPPING_ROWS", 100)
    model.set_params(early_stopping="auto")
    assert len(model.fit(X, y, qid=qid).validation_losses_) == 6
    assert model.fit(X, y, group=[len(y)]).n_estimators_ == 3  # one query is not parted


@pytest.mark.parametrize(
    ("eval_set", "said"),
    [
        ((ROWS, LABELS), "eval_set[0] is a tuple of 2. Pass (X, y, qid) or (X, y, qid, weight)"),
        ((ROWS, LABELS, QUERIES, None, None), "eval_set[0] is a tuple of 5"),
        ([(ROWS, LABELS, QUERIES), "abc"], "eval_set[1] is a str"),
        ([ROWS, LABELS, QUERIES], "eval_set[0] is a ndarray"),
        ((ROWS, LABELS, None), "eval_set[0]: qid is None, but X has 4 rows"),
        ((ROWS, LABELS, [3, 1]), "np.repeat(np.arange(len(sizes)), sizes)"),
        ((ROWS, LABELS, [[0, 0], [1, 1]]), "eval_set[0]: qid has shape (2, 2)"),
        ((ROWS, LABELS, [0, 0, 1, np.nan]), "eval_set[0]: qid[3] is missing"),
        ((ROWS, LABELS, QUERIES, [1, 2, 1, 1]), "eval_set[0]: sample_weight[0] is 1"),
        ((ROWS, LABELS, QUERIES, [0, 0, 0, 0]), "eval_set[0]: sample_weight is zero"),
        ((ROWS[:, :1], LABELS, QUERIES), "eval_set[0]: X has 1 features"),
        ((ROWS, [0, 1, 2, -3], QUERIES), "eval_set[0]: A ranking loss was given y[3] = -3"),
        ((ROWS, [0, 1], QUERIES), "eval_set[0]: Found input variables with inconsistent"),
        ((ROWS, ROWS, QUERIES), "eval_set[0]: y has 2 columns"),
    ],
)
def test_queries_that_cannot_be_watched_are_refused(eval_set, said):
    model = GradientBoostingRanker(**FEW)
    assert said in message(model.fit, ROWS, LABELS, qid=QUERIES, eval_set=eval_set)


def test_dropped_rounds_cannot_be_watched():
    model = GradientBoostingRanker(**FEW, dropout=0.4)
    given = {"qid": QUERIES, "eval_set": (ROWS, LABELS, QUERIES)}
    assert "Leave eval_set out" in message(model.fit, ROWS, LABELS, **given)


# ------------------------------------------------------------------ NDCG


@pytest.mark.parametrize("k", [None, 1, 4, 50])
def test_ndcg_is_that_of_scikit_learn(k):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 5, (30, 12)), rng.normal(size=(30, 12)).round(0)
    y[0] = 0  # nothing to find
    qid = np.repeat(np.arange(30), 12)
    for gain, gains in (("linear", y), ("exponential", 2.0**y - 1)):
        ours = mean_ndcg(y.ravel(), scores.ravel(), qid=qid, k=k, gain=gain)
        assert_allclose(ours, ndcg_score(gains, scores, k=k), rtol=1e-12)


def test_weights_of_ndcg_are_those_of_queries():
    y, scores = [1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0]
    values = [mean_ndcg(y[i : i + 2], scores[i : i + 2], group=[2]) for i in (0, 2)]
    found = mean_ndcg(y, scores, group=[2, 2], sample_weight=[3, 3, 1, 1])
    assert_allclose(found, (3 * values[0] + values[1]) / 4, rtol=1e-15)


def test_score_is_the_mean_ndcg_at_truncation():
    X, y, qid = searches()
    order = np.random.default_rng(2).permutation(len(y))
    model = GradientBoostingRanker(**FEW, truncation=5).fit(X, y, qid=qid)
    score = model.score(X[order], y[order], qid=qid[order])
    assert score == model.score(X, y, group=np.bincount(qid))
    assert score == mean_ndcg(y, model.predict(X), qid=qid, k=5)
    assert score > 0.8


def test_scikit_learn_hands_queries_on_in_cross_validation():
    X, y, qid = searches()
    with sklearn.config_context(enable_metadata_routing=True):
        model = GradientBoostingRanker(**FEW)
        model.set_fit_request(qid=True).set_score_request(qid=True)
        scores = cross_val_score(model, X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid})
    train, test = next(GroupKFold(3).split(X, y, qid))
    plain = GradientBoostingRanker(**FEW).fit(X[train], y[train], qid=qid[train])
    assert scores[0] == plain.score(X[test], y[test], qid=qid[test])


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "neither qid nor group"),
        ({"qid": [0, 0, 1, 1], "group": [2, 2]}, "both qid and group"),
        ({"group": [2, 1]}, "add up to 3, but X has 4 rows"),
        ({"group": [0, 0, 1, 1]}, "are these the rows' queries, qid?"),
        ({"group": [5, -1]}, "group[1] is -1"),
        ({"group": [1.5, 2.5]}, "group[0] is 1.5"),
        ({"group": "abcd"}, "group is 'abcd'"),
        ({"qid": [0, 0, 1]}, "qid has 3"),
        ({"qid": [[0, 0], [1, 1]]}, "shape (2, 2)"),
        ({"qid": [0, 0, 1, np.nan]}, "qid[3] is missing"),
        ({"qid": ["a", None, "b", "b"]}, "qid[1] is missing"),
        ({"qid": np.array(["2020", "2020", "NaT", "2021"], "M8[D]")}, "qid[2] is missing"),
        ({"qid": np.array(["a", 1, 2, 3], object)}, "qid mixes number and text"),
        ({"group": [4], "sample_weight": [1, 1, 2, 0]}, "sample_weight[0] is 1"),
        ({"group": [4], "sample_weight": [1, 1, 1, -1]}, "sample_weight[3] is -1"),
        ({"group": [4], "early_stopping": True}, "all rows are of one query"),
    ],
)
def test_queries_that_are_not_right_are_refused(given, said):
    model = GradientBoostingRanker(early_stopping=given.pop("early_stopping", False))
    assert said in message(model.fit, ROWS, [0, 1, 2, 3], **given)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([0, 1, -2, 0], "y[2] = -2"),
        ([0, 1, 32, 0], "y[2] = 32, and accepts labels up to 31"),
        ([0, 1, np.nan, 0], "y[2] is nan"),
        (["a", "b", "c", "d"], "y[0] is 'a'"),
        ([[0, 1], [1, 0], [2, 0], [3, 0]], "y has 2 columns, but a ranking is by one"),
    ],
)
def test_labels_that_are_no_grades_are_refused(y, said):
    assert said in message(GradientBoostingRanker().fit, ROWS, y, group=[4])


def test_large_labels_may_gain_themselves():
    model = GradientBoostingRanker(gain="linear", min_child_weight=0.0)
    model.fit(ROWS, [0, 100, 200, 1000], group=[4])
    assert (np.diff(model.predict(ROWS)) > 0).all()


def test_scores_without_a_rank_are_refused():
    assert "y has shape (0,)" in message(mean_ndcg, [], [], group=[])
    assert "y has shape (2, 1)" in message(mean_ndcg, [[0], [1]], [0.0, 1.0], group=[2])
    assert "scores[1] is nan" in message(mean_ndcg, [0, 1], [0.0, np.nan], group=[2])
    assert "neither qid nor group" in message(mean_ndcg, [0, 1], [0.0, 1.0])
