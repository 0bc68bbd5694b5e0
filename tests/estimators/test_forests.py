"""Forests: scikit-learn's contract, the same model everywhere, and what the notes say of them."""

import copy
import os
import pickle
import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_absolute_error,
    r2_score,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import (
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensembles import scaling
from hedgerow.estimators import forest as forest_module
from hedgerow.trees import grower
from tests.estimators.tables import census, message

KINDS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]
CLASSIFIERS, REGRESSORS = KINDS[::2], KINDS[1::2]


@parametrize_with_checks([kind(n_estimators=5) for kind in KINDS])  # no failure is expected
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module", name="problem")
def _problem():
    return census(400)


def fitted(kind, problem, **parameters):
    model = kind(**({"n_estimators": 6} | parameters))
    return model.fit(problem.X, problem.target(model))


@pytest.mark.parametrize("kind", KINDS)
def test_a_fitted_forest_is_ready_to_predict(kind, monkeypatch):
    random = np.random.default_rng(4)
    X = np.column_stack([random.normal(size=(300, 3)), random.integers(0, 5, 300)])
    y = X[:, 0] + X[:, 1] * X[:, 3] > 0
    model = kind(n_estimators=20).fit(X[:200], y[:200])
    monkeypatch.setattr(scaling, "ranking_of", None)  # whoever looks for thresholds now fails
    model.predict(X[200:])


# ------------------------------------------------------------------ the same model everywhere

WAYS = {
    "as they are": {},
    "bootstrap": {"bootstrap": True, "max_samples": 0.7},
    "whole rows": {"bootstrap": False, "max_features": 2},
    "small trees": {"max_leaf_nodes": 9, "min_samples_leaf": 4},
    "pruned": {"ccp_alpha": 0.01},
    "binned": {"split_finding": "histogram", "max_bins": 16},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_threads_and_the_order_of_rows_do_not_matter(problem, kind, way):
    expected = fitted(kind, problem, n_jobs=1, **WAYS[way]).fingerprint_
    for n_jobs in (2, 3):
        assert fitted(kind, problem, n_jobs=n_jobs, **WAYS[way]).fingerprint_ == expected
    shuffled = problem.rows(np.random.default_rng(1).permutation(400))
    assert fitted(kind, shuffled, **WAYS[way]).fingerprint_ == expected


@pytest.mark.parametrize("kind", KINDS)
def test_whole_weights_are_repeats(problem, kind):
    weights = np.random.default_rng(2).integers(0, 4, 400)
    model = kind(n_estimators=4, oob_score=kind in KINDS[:2])
    weighted = clone(model).fit(problem.X, problem.target(model), sample_weight=weights)
    repeated = problem.rows(np.repeat(np.arange(400), weights))
    model.fit(repeated.X, repeated.target(model))
    assert model.fingerprint_ == weighted.fingerprint_


def test_another_seed_is_another_forest_and_none_is_always_the_same(problem):
    names = [
        fitted(RandomForestClassifier, problem, random_state=s).fingerprint_
        for s in (None, None, 0, 1)
    ]
    assert names[0] == names[1] == names[2] != names[3]


@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_start_adds_the_trees_that_are_missing(problem, kind):
    model = fitted(kind, problem, n_estimators=3, warm_start=True)
    model.set_params(n_estimators=8)
    model.fit(problem.X, problem.target(model))
    assert model.fingerprint_ == fitted(kind, problem, n_estimators=8).fingerprint_
    text = message(model.set_params(n_estimators=2).fit, problem.X, problem.target(model))
    assert "n_estimators=2 is less than the 8 trees" in text


def test_a_warm_start_with_other_classes_says_so():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(n_estimators=2, warm_start=True).fit(X, y)
    assert "warm_start" in message(model.set_params(n_estimators=3).fit, X, y % 2)
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(n_estimators=2, warm_start=True).fit(X, y)
    text = message(model.set_params(n_estimators=3).fit, X, np.column_stack([y, y]))
    assert "goes on from a forest of 1" in text


@pytest.mark.parametrize("kind", KINDS)
def test_copies_and_pickles_are_the_same_forest(problem, kind):
    model = fitted(kind, problem)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again.fingerprint_ == model.fingerprint_
        assert_array_equal(again.predict(problem.X), model.predict(problem.X))


# ------------------------------------------------------------------ one tree is a tree

ONE = {"n_estimators": 1, "bootstrap": False, "max_features": None, "split_finding": "exact"}


@pytest.mark.parametrize("parameters", [{}, {"min_samples_leaf": 5}, {"ccp_alpha": 0.005}])
def test_a_forest_of_one_is_the_tree(problem, parameters):
    given = {"split_finding": "exact"} | parameters
    for criterion in ("gini", "entropy", "misclassification"):
        tree = DecisionTreeClassifier(criterion=criterion, **given)
        tree.fit(problem.X, problem.classes)
        forest = RandomForestClassifier(criterion=criterion, **ONE | given)
        forest.fit(problem.X, problem.classes)
        assert forest.estimators_[0].fingerprint_ == tree.fingerprint_
        # The tree divides its proportions by their sum once more.
        assert_allclose(forest.predict_proba(problem.X), tree.predict_proba(problem.X), rtol=4e-16)
    tree = DecisionTreeRegressor(**given).fit(problem.X, problem.numbers)
    forest = RandomForestRegressor(**ONE | given).fit(problem.X, problem.numbers)
    assert forest.estimators_[0].fingerprint_ == tree.fingerprint_
    assert_array_equal(forest.predict(problem.X), tree.predict(problem.X))


def test_a_forest_of_one_with_class_weights_is_the_tree_with_class_weights(problem):
    weights = np.random.default_rng(0).random(400)
    for class_weight in ("balanced", {"low": 2.5, "middle": 1.0, "high": 0.5}):
        tree = DecisionTreeClassifier(class_weight=class_weight, split_finding="exact")
        tree.fit(problem.X, problem.classes, sample_weight=weights)
        forest = RandomForestClassifier(class_weight=class_weight, **ONE)
        forest.fit(problem.X, problem.classes, sample_weight=weights)
        assert forest.estimators_[0].fingerprint_ == tree.fingerprint_


# ------------------------------------------------------------------ ties between features


def roots(model):
    X, y = load_diabetes(return_X_y=True)
    y = y > 150 if is_classifier(model) else y
    flags = (X > 0).astype(float)  # of which a random cut is the best, too
    model.set_params(n_estimators=30).fit(np.column_stack([flags, flags]), y)
    features = [int(tree.tree_.feature[0]) for tree in model.estimators_]
    return {feature >= X.shape[1] for feature in features}


def test_lots_decide_between_equal_features_if_nodes_try_all_of_them():
    assert roots(RandomForestRegressor()) == {False, True}
    assert roots(ExtraTreesRegressor(max_depth=1)) == {False, True}
    assert roots(RandomForestClassifier(max_features=None)) == {False, True}


def test_margins_decide_in_trees_that_might_stand_alone():
    assert roots(RandomForestRegressor(bootstrap=False, max_depth=1)) == {False}
    assert roots(BaggingRegressor(DecisionTreeRegressor(max_depth=1))) == {False}


# ------------------------------------------------------------------ what forests predict


@pytest.mark.parametrize("kind", KINDS)
def test_a_forest_predicts_the_mean_of_its_trees(problem, kind):
    model = fitted(kind, problem, min_samples_leaf=3)
    trees = model.estimators_
    assert len(trees) == 6
    if kind in CLASSIFIERS:
        expected = np.mean([tree.predict_proba(problem.X) for tree in trees], axis=0)
        assert_allclose(model.predict_proba(problem.X), expected, rtol=1e-14)
        assert_array_equal(
            model.predict(problem.X), model.classes_[np.argmax(model.predict_proba(problem.X), 1)]
        )
        log = model.predict_log_proba(problem.X)
        assert_allclose(np.exp(log), model.predict_proba(problem.X), rtol=1e-12)
    else:
        expected = np.mean([tree.predict(problem.X) for tree in trees], axis=0)
        assert_allclose(model.predict(problem.X), expected, rtol=1e-14)


def test_hard_voting_counts_the_votes_of_trees(problem):
    model = fitted(RandomForestClassifier, problem, min_samples_leaf=3, voting="hard")
    votes = np.array([tree.predict(problem.X) for tree in model.estimators_])
    shares = [(votes == name).mean(axis=0) for name in model.classes_]
    assert_allclose(model.predict_proba(problem.X), np.transpose(shares), rtol=1e-14)
    soft = fitted(RandomForestClassifier, problem, min_samples_leaf=3)
    assert (soft.predict_proba(problem.X) != model.predict_proba(problem.X)).any()


@pytest.mark.parametrize("kind", KINDS)
def test_apply_gives_the_leaf_of_each_tree(problem, kind):
    model = fitted(kind, problem)
    expected = [tree.apply(problem.X) for tree in model.estimators_]
    assert_array_equal(model.apply(problem.X), np.transpose(expected))


@pytest.mark.parametrize("kind", REGRESSORS)
def test_several_outputs_are_predicted_together(problem, kind):
    y = np.column_stack([problem.numbers, problem.numbers**2])
    model = kind(n_estimators=5, min_samples_leaf=3).fit(problem.X, y)
    assert model.predict(problem.X).shape == (400, 2)
    expected = np.mean([tree.predict(problem.X) for tree in model.estimators_], axis=0)
    assert_allclose(model.predict(problem.X), expected, rtol=1e-14)
    assert r2_score(y, model.predict(problem.X)) > 0.5


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_unseen_categories_are_averaged_as_by_each_tree(problem, voting):
    strange = problem.X[:50].copy()
    strange[:, 2], strange[::2, 4] = "elsewhere", "nowhere"
    model = fitted(
        RandomForestClassifier, problem, unseen="average", min_samples_leaf=5, voting=voting
    )
    shown = [tree.predict_proba(strange) for tree in model.estimators_]
    if voting == "soft":
        assert_allclose(model.predict_proba(strange), np.mean(shown, axis=0), rtol=1e-12)
    assert_allclose(model.predict_proba(strange).sum(axis=1), 1.0)
    plain = fitted(RandomForestClassifier, problem, min_samples_leaf=5, voting=voting)
    assert (plain.predict_proba(strange) != model.predict_proba(strange)).any()
    assert "not seen at fit" in message(
        fitted(RandomForestClassifier, problem, unseen="error").predict, strange
    )


@pytest.mark.parametrize("kind", KINDS)
def test_importances_are_those_of_the_trees_on_average(problem, kind):
    model = fitted(kind, problem)
    expected = np.mean([tree.feature_importances_ for tree in model.estimators_], axis=0)
    assert_allclose(model.feature_importances_, expected, rtol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


# ------------------------------------------------------------------ rows out of the bag


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_judged_by_the_trees_that_have_not_seen_them(problem, weighted):
    weights = np.random.default_rng(0).random(400) if weighted else None
    model = RandomForestClassifier(n_estimators=9, oob_score=True, min_samples_leaf=2)
    model.fit(problem.X, problem.classes, sample_weight=weights)
    sums, n_trees, curve = np.zeros((400, 3)), np.zeros(400), []
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(400), rows)
        sums[out] += tree.predict_proba(problem.X[out])
        n_trees[out] += 1
        known = n_trees > 0
        shown = model.classes_[np.argmax(sums[known], axis=1)]
        own = None if weights is None else weights[known]
        curve.append(accuracy_score(problem.classes[known], shown, sample_weight=own))
    with np.errstate(invalid="ignore"):
        assert_allclose(model.oob_decision_function_, sums / n_trees[:, None], rtol=1e-12)
    assert_allclose(model.oob_curve_, curve, rtol=1e-9)
    assert model.oob_score_ == model.oob_curve_[-1]


def test_numbers_are_judged_by_the_trees_that_have_not_seen_them(problem):
    model = RandomForestRegressor(n_estimators=30, oob_score=True)
    model.fit(problem.X, problem.numbers)
    sums, n_trees = np.zeros(400), np.zeros(400)
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(400), rows)
        sums[out] += tree.predict(problem.X[out])
        n_trees[out] += 1
    assert_allclose(model.oob_prediction_, sums / n_trees, rtol=1e-12)
    assert model.oob_score_ == pytest.approx(r2_score(problem.numbers, sums / n_trees))


def test_rows_out_of_the_bag_can_be_judged_by_a_metric_of_your_own(problem):
    model = fitted(RandomForestClassifier, problem, oob_score=balanced_accuracy_score)
    shown = model.oob_decision_function_
    known = ~np.isnan(shown[:, 0])
    told = model.classes_[np.argmax(shown[known], axis=1)]
    assert model.oob_score_ == balanced_accuracy_score(problem.classes[known], told)
    model = fitted(RandomForestRegressor, problem, oob_score=mean_absolute_error)
    known = ~np.isnan(model.oob_prediction_)
    expected = mean_absolute_error(problem.numbers[known], model.oob_prediction_[known])
    assert model.oob_score_ == expected
    assert len(model.oob_curve_) == 6


def test_a_refit_without_scores_out_of_bag_forgets_the_old_ones(problem):
    model = fitted(RandomForestRegressor, problem, oob_score=True)
    model.set_params(oob_score=False).fit(problem.X, problem.numbers)
    assert not [name for name in vars(model) if name.startswith("oob_") and name.endswith("_")]


def test_a_bag_has_as_many_rows_as_were_asked_for(problem):
    for given, expected in ((None, 400), (50, 50), (0.5, 200), (1.5, 600)):
        model = fitted(RandomForestClassifier, problem, max_samples=given, n_estimators=2)
        assert [len(rows) for rows in model.estimators_samples_] == [expected] * 2
    whole = fitted(RandomForestClassifier, problem, bootstrap=False)
    assert_array_equal(whole.estimators_samples_[0], np.arange(400))


def test_weights_that_are_hardly_repeats_are_not_read_as_such(problem):
    model = RandomForestClassifier(n_estimators=2)
    with pytest.warns(UserWarning, match="They are not read as repeats, and 400 rows are drawn"):
        model.fit(problem.X, problem.classes, sample_weight=np.full(400, 3500))
    assert len(model.estimators_samples_[0]) == 400


def test_the_classes_of_each_tree_weigh_the_same_if_asked(problem):
    model = fitted(RandomForestClassifier, problem, class_weight="balanced_subsample", max_depth=1)
    for tree in model.estimators_:
        assert_allclose(tree.tree_.value[0, 0], 1 / 3, rtol=1e-6)
    plain = fitted(RandomForestClassifier, problem, max_depth=1)
    assert np.ptp(plain.estimators_[0].tree_.value[0, 0]) > 0.05


# ------------------------------------------------------------------ chance


def test_cuts_of_extra_trees_are_uniform_between_the_smallest_and_the_largest_value():
    X = np.array([[0.0], [0.3], [0.35], [0.4], [2.0]])
    y = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    model = ExtraTreesRegressor(n_estimators=600, max_depth=1, split_finding="exact").fit(X, y)
    cuts = np.array([tree.tree_.threshold[0] for tree in model.estimators_])
    assert kstest(cuts / 2.0, "uniform").pvalue > 1e-4


def test_nodes_try_each_feature_with_the_same_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    model = RandomForestRegressor(
        n_estimators=800, bootstrap=False, max_features=1, max_depth=1
    ).fit(X, y)
    used = np.bincount([tree.tree_.feature[0] for tree in model.estimators_], minlength=5)
    assert ((used - 160) ** 2 / 160).sum() < 23.5  # chi-square of 4, chance 1e-4


def test_the_best_cuts_of_forests_of_classes_are_sought_in_the_tails_of_a_column():
    # Of 255 equal bins the last has 47 rows, and no cut could part the 20 from the others.
    X, is_last = np.arange(12_000.0)[:, None], np.arange(12_000) >= 12_000 - 20
    stump = RandomForestClassifier(3, bootstrap=False, max_depth=1).fit(X, is_last)
    assert np.count_nonzero(stump.predict(X) != is_last) < 10


# ------------------------------------------------------------------ time, interrupts, errors


@pytest.fixture
def interruptible():
    """Let an interrupt be one, even where the shell has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_keeps_the_trees_that_are_grown(problem, monkeypatch, n_jobs):
    class Impatient(forest_module.Control):
        def __call__(self, number, *_):
            if number == 100:  # of two threads the slower one has made the first tree by then
                os.kill(os.getpid(), signal.SIGINT)
            return True

    with monkeypatch.context() as patch:
        patch.setattr(forest_module, "Control", Impatient)
        model = fitted(RandomForestClassifier, problem, n_estimators=2_000, n_jobs=n_jobs)
    n_trees = len(model.estimators_)
    assert 1 <= n_trees < 2_000
    again = fitted(RandomForestClassifier, problem, n_estimators=n_trees)
    assert model.fingerprint_ == again.fingerprint_
    assert model.predict(problem.X).shape == (400,)


def test_an_interrupt_before_the_first_tree_changes_nothing(problem, monkeypatch):
    model = fitted(RandomForestClassifier, problem)
    before = model.fingerprint_

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(grower.Grower, "regrown", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(problem.X, problem.classes)
    assert model.fingerprint_ == before


def test_after_the_time_limit_no_tree_is_begun(problem):
    begun = time.monotonic()
    model = fitted(RandomForestClassifier, problem, n_estimators=1_000_000, time_limit=0.2)
    assert time.monotonic() - begun < 30
    assert 1 <= model._model.n_trees < 1_000_000
    kept = model._model.n_trees
    again = fitted(RandomForestClassifier, problem, n_estimators=kept)
    assert again.fingerprint_ == model.fingerprint_


def test_what_cannot_be_is_said_before_any_work(problem):
    fit = RandomForestClassifier(bootstrap=False, oob_score=True, n_estimators=1).fit
    assert "bootstrap=True" in message(fit, problem.X, problem.classes)
    fit = RandomForestClassifier(bootstrap=False, max_samples=10).fit
    assert "bootstrap=False draws none" in message(fit, problem.X, problem.classes)
    fit = RandomForestClassifier(criterion="ginny").fit
    assert "Did you mean 'gini'?" in message(fit, problem.X, problem.classes)
    fit = RandomForestRegressor(n_estimators=0).fit
    assert "n_estimators" in message(fit, problem.X, problem.numbers)


def test_a_fit_that_fails_leaves_the_forest_as_it_was(problem):
    model = fitted(RandomForestClassifier, problem)
    before = sorted(vars(model))
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit([[1.0], [2.0]], [0.0, np.nan])
    assert sorted(vars(model)) == before
    assert model.predict(problem.X).shape == (400,)


def test_large_forests_are_put_together_in_parts(problem, monkeypatch):
    expected = fitted(RandomForestClassifier, problem)
    monkeypatch.setattr("hedgerow.ensembles.forest._MOST_NODES", 300)
    model = fitted(RandomForestClassifier, problem)
    assert len(model._model.thickets) > 1
    assert model.fingerprint_ == expected.fingerprint_
    assert_array_equal(model.predict_proba(problem.X), expected.predict_proba(problem.X))
    assert_array_equal(model.apply(problem.X), expected.apply(problem.X))
    first = model._model.first_trees(2)
    assert (
        first.fingerprint() == fitted(RandomForestClassifier, problem, n_estimators=2).fingerprint_
    )


def test_a_tree_of_a_forest_can_be_asked_for_by_place_and_slice(problem):
    trees = fitted(RandomForestRegressor, problem).estimators_
    assert trees[-1].fingerprint_ == trees[5].fingerprint_
    assert [tree.fingerprint_ for tree in trees[1:3]] == [trees[k].fingerprint_ for k in (1, 2)]
    with pytest.raises(IndexError):
        trees[6]
    assert forest_module.Unpacked is type(trees)
