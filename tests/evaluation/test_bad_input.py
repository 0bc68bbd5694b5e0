"""What cannot be judged is said before anything is kept: what was given, and what to do."""

import _thread
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold

import hedgerow as hr
from hedgerow.evaluation import compare, cross_validate, select

X, Y = load_diabetes(return_X_y=True)
IRIS = load_iris(return_X_y=True)
MODEL = hr.GradientBoostingRegressor(n_estimators=3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"scoring": "accurate"},
            "'accurate' is not a scorer of scikit-learn. Did you mean 'accuracy",
        ),
        ({"scoring": ["r2", "nothing of the kind"]}, "is not a scorer of scikit-learn"),
        ({"scoring": []}, "is no list of scorers' names"),
        (
            {"scoring": lambda *_: "good"},
            "scoring must return a number, but 'score' returned 'good'",
        ),
        ({"cv": 1}, "cv=1 leaves no rows to be judged by"),
        ({"cv": True}, "cv=True leaves no rows"),
        ({"cv": []}, "cv has no splits"),
        ({"cv": [([], [1, 2])]}, "Fold 0 has 0 training rows and 2 rows held out"),
        ({"cv": [([0, 1, 2], [2, 3])]}, "Row 2 is both a training row and held out in fold 0"),
        ({"sample_weight": np.ones(5)}, r"sample_weight has shape \(5,\), expected \(442,\)"),
        ({"error_score": "nan"}, "error_score='nan' is neither 'raise' nor a number"),
        ({"average": "mean"}, "average='mean' is neither 'rows' nor 'folds'"),
    ],
)
def test_bad_parameters_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        cross_validate(MODEL, X, Y, **given)


def test_a_target_that_is_missing_is_named():
    y = Y.copy()
    y[7] = np.nan
    for judge in (
        lambda: cross_validate(MODEL, X, y),
        lambda: select(MODEL, {}, X, y),
        lambda: compare({"a": MODEL}, X, y),
    ):
        with pytest.raises(ValueError, match=r"y\[7\] is NaN"):
            judge()


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_validate(MODEL, X, Y[:-1])


def test_a_fold_without_a_class_says_so():
    inputs, y = IRIS  # in order of their classes: each of three folds lacks one
    model = hr.GradientBoostingClassifier(n_estimators=2)
    with pytest.raises(
        ValueError, match="Fold 0 cannot be judged: its training rows have no class 0, which"
    ):
        cross_validate(model, inputs, y, cv=KFold(3), scoring="neg_log_loss")
    found = cross_validate(model, inputs, y, cv=KFold(3), scoring="accuracy")
    assert (found["test_score"] == 0.0).all()


class Stubborn(ClassifierMixin, BaseEstimator):
    """It learns what has row 0 among its rows, and nothing else."""

    def fit(self, X, y):
        if 0.0 not in np.asarray(X)[:, 0]:
            raise RuntimeError("no row 0")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_a_fit_that_fails_is_an_error_or_a_score_of_your_own():
    inputs, y = np.arange(12.0)[:, None], np.arange(12) % 2
    with pytest.raises(RuntimeError, match="no row 0"):
        cross_validate(Stubborn(), inputs, y, cv=KFold(3))
    with pytest.warns(FitFailedWarning, match="Fold 0 of Stubborn failed"):
        found = cross_validate(Stubborn(), inputs, y, cv=KFold(3), error_score=np.nan)
    assert np.isnan(found["test_score"]).tolist() == [True, False, False]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        with pytest.raises(ValueError, match="All 3 fits failed"):
            cross_validate(Stubborn(), inputs + 1.0, y, cv=KFold(3), error_score=np.nan)


class Interrupted(RegressorMixin, BaseEstimator):
    """The user presses Ctrl-C while its second model is fitted."""

    fits = 0
    threads = ()

    def fit(self, X, y):  # noqa: ARG002
        Interrupted.fits += 1
        Interrupted.threads += (threading.current_thread(),)
        if Interrupted.fits == 2:
            _thread.interrupt_main()
        if Interrupted.fits >= 2:
            time.sleep(0.05)  # 50 fits that take no time are over before Ctrl-C is seen
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    "judge",
    [
        lambda model: cross_validate(model, X, Y, cv=50, n_jobs=1),
        lambda model: select(model, {}, X, Y, cv=50, n_jobs=1),
        lambda model: compare({"a": model}, X, Y, cv=50, n_jobs=1),
    ],
    ids=["cross_validate", "select", "compare"],
)
def test_an_interrupt_ends_everything_and_nothing_is_kept(judge):
    Interrupted.fits, Interrupted.threads, model = 0, (), Interrupted()
    with pytest.raises(KeyboardInterrupt):
        judge(model)
    assert Interrupted.fits < 50
    assert vars(model) == {}
    assert threading.main_thread() not in Interrupted.threads


def test_a_model_of_ours_is_not_kept_half_grown_by_an_interrupt():
    # A fit in the main thread would keep the rounds that are done, and be judged as if whole.
    def interrupt(told):
        if told.number == 3:
            _thread.interrupt_main()

    model = hr.GradientBoostingRegressor(n_estimators=2000, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        cross_validate(model, X, Y, cv=2)
    assert not hasattr(model, "n_estimators_")


def test_a_scorer_that_wants_more_than_predictions_is_told_about_curves():
    def count(estimator, X, y):  # noqa: ARG001  a scorer has them
        return estimator.n_estimators_

    with pytest.raises(AttributeError, match=r"has no 'n_estimators_'.* Pass curve=False"):
        cross_validate(MODEL, X, Y, scoring=count)
    assert (cross_validate(MODEL, X, Y, scoring=count, curve=False)["test_score"] == 3).all()

    def other_rows(estimator, X, y):  # noqa: ARG001
        return estimator.predict(X[:3]).mean()

    with pytest.raises(ValueError, match="other rows than those it is to be judged by"):
        cross_validate(MODEL, X, Y, scoring=other_rows)


class Doubling(LinearRegression):
    """A score of its own that looks at the model; stages would not know."""

    def score(self, X, y, sample_weight=None):
        return 2.0 * super().score(X, y, sample_weight)

    def staged_predict(self, X):
        yield self.predict(X)

    n_estimators_ = 1


def test_a_score_of_the_users_own_is_that_of_whole_models():
    found = cross_validate(Doubling(), X, Y)
    plain = cross_validate(LinearRegression(), X, Y)
    assert found.curves == {}
    np.testing.assert_array_equal(found["test_score"], 2.0 * plain["test_score"])


def queries():
    random = np.random.default_rng(0)
    qid = np.repeat(np.arange(24), 5)
    inputs = random.normal(size=(120, 3))
    return inputs, random.integers(0, 3, 120) + (inputs[:, 0] > 0), qid


def test_a_ranker_is_judged_by_whole_queries():
    inputs, y, qid = queries()
    model = hr.GradientBoostingRanker(n_estimators=4, min_child_weight=0.0)
    found = cross_validate(
        model, inputs, y, params={"qid": qid}, groups=qid, cv=GroupKFold(3), return_indices=True
    )
    for k, (train, test) in enumerate(zip(*found["indices"].values(), strict=True)):
        for m in range(1, 5):
            alone = hr.GradientBoostingRanker(n_estimators=m, min_child_weight=0.0)
            alone.fit(inputs[train], y[train], qid=qid[train])
            expected = alone.score(inputs[test], y[test], qid=qid[test])
            assert found.curve.folds[k, m - 1] == expected


def test_queries_that_are_divided_are_named():
    inputs, y, qid = queries()
    model = hr.GradientBoostingRanker(n_estimators=2)
    with pytest.raises(ValueError, match=r"Query .* has training rows and rows held out in fold 0"):
        cross_validate(
            model, inputs, y, params={"qid": qid}, cv=KFold(5, shuffle=True, random_state=0)
        )
    with pytest.raises(ValueError, match="cannot be divided into folds"):
        cross_validate(model, inputs, y, params={"group": [5] * 24})
    with pytest.raises(ValueError, match="neither qid nor group was given"):
        cross_validate(model, inputs, y)
