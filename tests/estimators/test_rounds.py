"""How many rounds: cross-validation, watched rows, going on, offsets, time, callbacks."""

import io
import pickle
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import log_loss, mean_squared_error, roc_auc_score
from sklearn.model_selection import KFold, ShuffleSplit

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor
from hedgerow.ensembles import boosting
from hedgerow.ensembles.boosting import Boosting
from hedgerow.estimators import control
from tests.estimators.tables import census, message

FEW = {"n_estimators": 6, "min_child_weight": 1.0}
BY_CV = {"n_estimators": "cv", "max_estimators": 30, "n_iter_no_change": 4, "learning_rate": 0.4}
REGRESSORS = [
    GradientBoostingRegressor(**FEW),
    GradientBoostingRegressor(**FEW, loss="huber"),
    GradientBoostingRegressor(**FEW, loss="absolute_error", method="gradient"),
    GradientBoostingRegressor(**FEW, early_stopping=True),
    GradientBoostingRegressor(**FEW, subsample=0.5, random_state=0),
    GradientBoostingRegressor(**FEW, sampling="goss", loss="absolute_error", random_state=0),
    GradientBoostingRegressor(**FEW, learning_rate="line_search"),
]
CLASSIFIERS = [
    GradientBoostingClassifier(**FEW),
    GradientBoostingClassifier(**FEW, class_weight="balanced"),
]
MODELS = pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=repr)
BOTH = pytest.mark.parametrize("kind", [GradientBoostingRegressor, GradientBoostingClassifier])


def fitted(model, problem, **given):
    return clone(model).fit(problem.X, problem.target(model), **given)


def two_classes(n_rows=300):
    problem = census(n_rows)
    return problem._replace(classes=np.where(problem.classes == "high", "high", "other"))


# ------------------------------------------------------------------ cross-validation


@BOTH
def test_the_chosen_round_is_the_best_of_the_pooled_curve(kind):
    model = fitted(kind(**BY_CV), census(400))
    results = model.cv_results_
    assert model.n_estimators_ == int(np.argmin(results.losses))
    assert 0 < model.n_estimators_ < 30
    assert len(results.losses) == model.n_estimators_ + 5  # the start, and four rounds in vain
    sizes = [len(rows) for rows in results.held_out]
    assert_allclose(results.losses, np.average(results.fold_losses, axis=0, weights=sizes))


@BOTH
def test_the_model_is_that_of_a_fit_of_the_chosen_number_of_rounds(kind):
    model = fitted(kind(**BY_CV), census(400))
    alone = {"n_estimators": model.n_estimators_, "learning_rate": 0.4, "early_stopping": False}
    assert model.fingerprint_ == fitted(kind(**alone), census(400)).fingerprint_


@BOTH
def test_threads_order_and_repeats_make_no_difference_to_cross_validation(kind):
    problem = census(300)
    model = fitted(kind(**BY_CV), problem)
    for n_jobs in (1, 2, 8):
        same = fitted(kind(**BY_CV, n_jobs=n_jobs), problem)
        assert same.fingerprint_ == model.fingerprint_
        assert_array_equal(same.cv_results_.losses, model.cv_results_.losses)
    order = np.random.default_rng(0).permutation(300)
    shuffled = fitted(kind(**BY_CV), problem.rows(order))
    assert shuffled.fingerprint_ == model.fingerprint_
    assert_array_equal(shuffled.oof_predictions_, model.oof_predictions_[order])
    weights = np.random.default_rng(1).integers(0, 4, 300)
    repeated = fitted(kind(**BY_CV), problem.rows(np.repeat(np.arange(300), weights)))
    weighted = fitted(kind(**BY_CV), problem, sample_weight=weights)
    assert repeated.fingerprint_ == weighted.fingerprint_
    assert_array_equal(
        repeated.oof_predictions_, np.repeat(weighted.oof_predictions_, weights, axis=0)
    )


def test_the_curve_is_the_loss_of_the_predictions_of_rows_held_out():
    problem = census(400)
    model = fitted(GradientBoostingClassifier(**BY_CV), problem)
    found = log_loss(problem.classes, model.oof_predictions_, labels=model.classes_)
    assert_allclose(model.cv_results_.losses.min(), found, rtol=1e-12)
    model = fitted(GradientBoostingRegressor(**BY_CV), problem)
    found = mean_squared_error(problem.numbers, model.oof_predictions_) / 2
    assert_allclose(model.cv_results_.losses.min(), found, rtol=1e-12)


@pytest.mark.parametrize("with_offset", [False, True])
def test_rows_held_out_are_predicted_by_a_model_that_never_saw_them(with_offset):
    rng = np.random.default_rng(0)
    X, test = rng.integers(0, 9, (200, 3)).astype(float), np.arange(200) % 4 == 1
    y, offset = X[:, 0] + rng.normal(size=200), rng.normal(size=200) if with_offset else None
    splits = [(np.flatnonzero(~test), np.flatnonzero(test))]
    model = GradientBoostingRegressor(**BY_CV, cv=splits).fit(X, y, offset=offset)
    changed = np.where(test, y + 0.01 * rng.normal(size=200), y)
    other = GradientBoostingRegressor(**BY_CV, cv=splits).fit(X, changed, offset=offset)
    assert np.isnan(model.oof_predictions_[~test]).all()
    assert model.n_estimators_ == other.n_estimators_ > 1
    assert_array_equal(model.oof_predictions_[test], other.oof_predictions_[test])
    alone = GradientBoostingRegressor(n_estimators=model.n_estimators_, learning_rate=0.4)
    train = {} if offset is None else {"offset": offset[~test]}
    tested = {} if offset is None else {"offset": offset[test]}
    alone.fit(X[~test], y[~test], **train)
    assert_array_equal(model.oof_predictions_[test], alone.predict(X[test], **tested))


def test_one_standard_error_allows_fewer_rounds():
    problem = census(400)
    all_features = BY_CV | {"max_features": None}
    best = fitted(GradientBoostingRegressor(**all_features), problem)
    simple = fitted(GradientBoostingRegressor(**all_features, one_se=True), problem)
    losses, errors = best.cv_results_.losses, best.cv_results_.standard_errors
    allowed = losses.min() + errors[np.argmin(losses)]
    assert simple.n_estimators_ == int(np.argmax(losses <= allowed)) < best.n_estimators_


def test_callbacks_see_every_round_of_models_that_grow_ahead_of_them():
    told, problem = [], census(200)

    def see(one):
        told.append((one.number, one.fitted().n_estimators_, len(one.history["cv"]["loss"])))
        return one.number < 21

    fitted(GradientBoostingRegressor(**BY_CV | {"n_iter_no_change": 30}, callbacks=[see]), problem)
    assert told == [(number, number, number + 1) for number in range(1, 22)]


def test_splitters_of_scikit_learn_choose_too():
    problem = census(300)
    model = fitted(GradientBoostingClassifier(**BY_CV, cv=KFold(3)), problem)
    assert_array_equal(model.cv_results_.held_out[1], np.arange(100, 200))
    model = fitted(GradientBoostingRegressor(**BY_CV, cv=ShuffleSplit(3, random_state=0)), problem)
    assert model.cv_results_.fold_losses.shape[0] == 3
    seen = np.unique(np.concatenate(model.cv_results_.held_out))
    assert_array_equal(np.isfinite(model.oof_predictions_), np.isin(np.arange(300), seen))


def test_rounds_are_chosen_by_a_metric_if_one_is_given():
    problem = two_classes()
    model = fitted(GradientBoostingClassifier(**BY_CV, eval_metric="roc_auc"), problem)
    assert_allclose(model.cv_results_.losses[0], -0.5)  # the negative of a score
    assert model.n_estimators_ == int(np.argmin(model.cv_results_.losses))


def test_an_interrupt_keeps_the_rounds_that_all_folds_have_done(monkeypatch):
    problem, calls = census(300), []
    whole = fitted(GradientBoostingRegressor(**BY_CV, n_jobs=1), problem)
    next_round = Boosting.next_round

    def interrupted(self):
        calls.append(self)
        if len(calls) == 6 * 3 + 3:  # in the third fold's fourth round
            raise KeyboardInterrupt
        return next_round(self)

    monkeypatch.setattr(Boosting, "next_round", interrupted)
    monkeypatch.setattr(boosting, "is_plain", lambda *_: False)  # no seasons
    model = fitted(GradientBoostingRegressor(**BY_CV, n_jobs=1), problem)
    assert len(model.cv_results_.losses) == 4
    assert_array_equal(model.cv_results_.losses, whole.cv_results_.losses[:4])
    assert model.n_estimators_ == 3
    assert np.isfinite(model.predict(problem.X)).all()


def test_an_interrupt_in_a_season_keeps_the_rounds_that_all_folds_have_done(monkeypatch):
    problem, calls = census(300), []
    whole = fitted(GradientBoostingRegressor(**BY_CV, n_jobs=1), problem)
    season = Boosting.season

    def interrupted(self, *given):
        calls.append(self)
        if len(calls) == 21:
            raise KeyboardInterrupt
        return season(self, *given)

    monkeypatch.setattr(Boosting, "season", interrupted)
    model = fitted(GradientBoostingRegressor(**BY_CV, n_jobs=1), problem)
    n_measured = len(model.cv_results_.losses)
    assert 1 < n_measured < len(whole.cv_results_.losses)
    assert_array_equal(model.cv_results_.losses, whole.cv_results_.losses[:n_measured])
    assert np.isfinite(model.predict(problem.X)).all()


@pytest.mark.parametrize(
    ("parameters", "given", "said"),
    [
        ({"cv": [([0, 1], [])]}, {}, "Split 0 of cv has 2 training rows and 0 rows"),
        ({"cv": []}, {}, "cv has no splits"),
        ({}, {"eval_set": ([[0.0]], [1.0])}, "eval_set has no part"),
        ({"cv": 1}, {}, "cv"),
    ],
)
def test_folds_that_cannot_be_are_refused(parameters, given, said):
    model = GradientBoostingRegressor(n_estimators="cv", **parameters)
    assert said in message(model.fit, [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], **given)


def test_equal_rows_have_no_folds():
    model = GradientBoostingRegressor(n_estimators="cv")
    assert "all 3 rows" in message(model.fit, [[0.0]] * 3, [1.0] * 3)


# ------------------------------------------------------------------ going on


@MODELS
@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_that_are_gone_on_with_have_the_bytes_of_one_fit(model, weighted):
    problem = census(300, seed=3)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 300) if weighted else None
    whole = fitted(model, problem, sample_weight=weights)
    half = fitted(clone(model).set_params(n_estimators=3), problem, sample_weight=weights)
    later = pickle.loads(pickle.dumps(half)).set_params(warm_start=True, n_estimators=6)
    later.fit(problem.X, problem.target(model), sample_weight=weights)
    assert half.n_estimators_ == 3
    assert later.fingerprint_ == whole.fingerprint_
    assert later._loss == whole._loss
    if model.early_stopping is True:
        assert_array_equal(later.validation_losses_, whole.validation_losses_)


def test_going_on_with_an_offset_and_watched_rows_is_one_fit_too():
    problem, offset = two_classes(), np.random.default_rng(0).normal(size=300)
    given = {"offset": offset, "eval_set": (problem.X, problem.classes, None, offset)}
    model = GradientBoostingClassifier(**FEW, warm_start=True)
    whole = fitted(model, problem, **given)
    half = fitted(clone(model).set_params(n_estimators=2), problem, **given)
    half.set_params(n_estimators=6).fit(problem.X, problem.classes, **given)
    assert half.fingerprint_ == whole.fingerprint_
    assert_array_equal(half.evals_result_["eval_0"]["loss"], whole.evals_result_["eval_0"]["loss"])


def test_going_on_to_the_same_number_of_rounds_changes_nothing():
    problem = census(100)
    model = fitted(GradientBoostingRegressor(**FEW, warm_start=True), problem)
    before = model.fingerprint_
    assert model.fit(problem.X, problem.numbers).fingerprint_ == before


@pytest.mark.parametrize(
    ("parameters", "change", "said"),
    [
        ({"n_estimators": 2}, {}, "n_estimators=2 is less than the 6 rounds"),
        ({"n_estimators": "cv"}, {}, "n_estimators='cv' chooses"),
        ({}, {"X": [[0.0, 1.0]] * 4}, "X has 2 features, but the model"),
        ({}, {"X": [["a"], ["b"], ["a"], ["b"]]}, "other column names or categories"),
        ({}, {"y": ["a", "b", "c", "c"]}, "y has the classes"),
        ({"loss": "exponential"}, {}, "loss='exponential' is not the loss"),
        ({}, {"offset": [0.0] * 4}, "fit has an offset, but the model"),
    ],
)
def test_a_model_that_cannot_go_on_says_why(parameters, change, said):
    data = {"X": [[0.0], [1.0], [2.0], [3.0]], "y": ["a", "a", "b", "b"]}
    model = GradientBoostingClassifier(**FEW, warm_start=True).fit(**data)
    before = model.fingerprint_
    assert said in message(model.set_params(**parameters).fit, **(data | change))
    assert model.fingerprint_ == before


# ------------------------------------------------------------------ watched rows


@BOTH
def test_watched_rows_are_measured_before_the_first_round_and_after_each(kind):
    train, test = census(400), census(100, seed=7)
    model = fitted(
        kind(**FEW), train, eval_set=[(train.X, train.target(kind)), (test.X, test.target(kind))]
    )
    losses = model.evals_result_["eval_1"]["loss"]
    assert list(model.evals_result_) == ["eval_0", "eval_1"]
    assert len(losses) == 7
    assert not hasattr(model, "validation_losses_")
    if kind is GradientBoostingRegressor:
        stages = [mean_squared_error(test.numbers, p) / 2 for p in model.staged_predict(test.X)]
    else:
        stages = [log_loss(test.classes, p) for p in model.staged_predict_proba(test.X)]
    assert_allclose(losses[1:], stages, rtol=1e-12)


def test_the_best_round_for_the_last_watched_rows_is_kept():
    train, test = census(400), census(200, seed=7)
    model = GradientBoostingRegressor(n_estimators=200, learning_rate=0.5, n_iter_no_change=5)
    sets = [(train.X, train.numbers), (test.X, test.numbers)]
    stopped = fitted(model, train, eval_set=sets)
    losses = stopped.evals_result_["eval_1"]["loss"]
    assert stopped.n_estimators_ == int(np.argmin(losses)) == len(losses) - 6
    watching = model.set_params(early_stopping=False, n_estimators=20)
    assert fitted(watching, train, eval_set=sets).n_estimators_ == 20


def test_any_metric_of_scikit_learn_is_kept_for_every_round():
    train, test = two_classes(), two_classes(200).rows(np.arange(100))
    weights = np.arange(1.0, 101.0)
    model = GradientBoostingClassifier(**FEW, eval_metric=["roc_auc", negative_entropy])
    model = fitted(model, train, eval_set=(test.X, test.classes, weights))
    found = model.evals_result_["eval_0"]
    assert list(found) == ["roc_auc", "negative_entropy", "loss"]
    staged = list(model.staged_predict_proba(test.X))
    expected = [
        roc_auc_score(test.classes == "other", p[:, 1], sample_weight=weights) for p in staged
    ]
    curve = found["roc_auc"][: len(staged) + 1]
    assert_allclose(curve, [0.5, *expected], rtol=1e-12)
    assert_allclose(found["loss"][1], log_loss(test.classes, staged[0], sample_weight=weights))
    plain = [-log_loss(test.classes, p) for p in staged]
    assert_allclose(found["negative_entropy"][1 : len(staged) + 1], plain)


def negative_entropy(model, X, y):
    return -log_loss(y, model.predict_proba(X))


def test_early_stopping_goes_by_the_metric():
    problem = two_classes(600)
    model = GradientBoostingClassifier(
        n_estimators=60, early_stopping=True, eval_metric="accuracy", n_iter_no_change=3
    )
    model = fitted(model, problem)
    assert model.n_estimators_ == int(np.argmax(model.evals_result_["validation"]["accuracy"]))


def test_huber_losses_of_different_rounds_are_of_one_delta():
    problem = census(300)
    model = GradientBoostingRegressor(**FEW, loss="huber", early_stopping=False)
    model = fitted(model, problem, eval_set=(problem.X, problem.numbers))
    start = model._model.start[0]
    loss = model._loss.adapted(problem.numbers, np.full(300, start), np.ones(300))
    stages = [
        np.mean([loss.loss(y, f) for y, f in zip(problem.numbers, p, strict=True)])
        for p in model.staged_predict(problem.X)
    ]
    assert_allclose(model.evals_result_["eval_0"]["loss"][1:], stages, rtol=1e-12)


@pytest.mark.parametrize(
    ("eval_set", "said"),
    [
        ([([[0.0]],)], "eval_set[0] is not a tuple"),
        (([[0.0]], ["c"]), "y[0] of eval_set is"),
        (([[0.0, 1.0]], ["a"]), "X has 2 features"),
        (([[0.0]], ["a", "b"]), "X has 1 rows"),
        (([[0.0]], ["a"], None, [0.0]), "eval_set[0] has an offset, but fit has none"),
    ],
)
def test_rows_that_cannot_be_watched_are_refused(eval_set, said):
    model = GradientBoostingClassifier(**FEW)
    assert said in message(model.fit, [[0.0], [1.0]], ["a", "b"], eval_set=eval_set)


# ------------------------------------------------------------------ offsets


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie", "squared_error", "quantile"])
def test_the_start_beside_an_offset_minimises_the_loss(loss):
    rng = np.random.default_rng(0)
    y, offset = rng.gamma(2.0, size=80) + 0.1, rng.normal(size=80)
    weights = rng.integers(1, 4, 80)
    model = GradientBoostingRegressor(loss=loss, n_estimators=1)
    model.fit(np.zeros((80, 1)), y, offset=offset, sample_weight=weights)

    def total(c):
        each = [model._loss.loss(a, c + o) for a, o in zip(y, offset, strict=True)]
        return weights @ each

    start = model._model.start[0]
    assert total(start) <= min(total(start - 1e-4), total(start + 1e-4))


def test_the_start_of_a_poisson_model_is_the_rate_per_exposure():
    rng = np.random.default_rng(1)
    exposure = rng.uniform(0.1, 4.0, 200)
    y = rng.poisson(2.0 * exposure).astype(float)
    model = GradientBoostingRegressor(loss="poisson", n_estimators=1)
    model.fit(np.zeros((200, 1)), y, offset=np.log(exposure))
    assert_allclose(np.exp(model._model.start[0]), y.sum() / exposure.sum(), rtol=1e-6)


def test_the_start_of_classes_beside_offsets_gives_each_its_share():
    rng = np.random.default_rng(1)
    y, offset = rng.integers(0, 3, 300), rng.normal(size=(300, 3))
    model = GradientBoostingClassifier(n_estimators=1, class_weight={0: 1.0, 1: 2.0, 2: 0.5})
    model.fit(np.zeros((300, 1)), y, offset=offset)
    weights = np.array([1.0, 2.0, 0.5])[y]
    shown = next(model.staged_predict_proba(np.zeros((300, 1)), offset=offset))
    shares = [weights[y == k].sum() / weights.sum() for k in range(3)]
    assert_allclose(weights @ shown / weights.sum(), shares, rtol=1e-5)
    assert_allclose(model._model.start.sum(), 0.0, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_an_offset_is_taken_from_the_target_of_a_location(loss):
    problem, offset = census(300), np.random.default_rng(0).integers(-4, 5, 300) / 4.0
    model = GradientBoostingRegressor(**FEW, loss=loss)
    ours = fitted(model, problem, offset=offset)
    plain = clone(model).fit(problem.X, problem.numbers - offset)
    assert_allclose(
        ours.predict(problem.X, offset=offset),
        plain.predict(problem.X) + offset,
        rtol=1e-4,
        atol=1e-4,
    )


def test_the_order_of_rows_and_repeats_make_no_difference_beside_offsets():
    problem, rng = two_classes(), np.random.default_rng(0)
    offset, weights, order = rng.normal(size=300), rng.integers(1, 4, 300), rng.permutation(300)
    model = GradientBoostingClassifier(**FEW)
    whole = fitted(model, problem, offset=offset, sample_weight=weights).fingerprint_
    shuffled = fitted(
        model, problem.rows(order), offset=offset[order], sample_weight=weights[order]
    )
    again = np.repeat(np.arange(300), weights)
    repeated = fitted(model, problem.rows(again), offset=offset[again])
    assert shuffled.fingerprint_ == repeated.fingerprint_ == whole


@MODELS
def test_every_way_to_predict_takes_offsets(model):
    problem = census(200)
    n_classes = 3 if isinstance(model, GradientBoostingClassifier) else 1
    offset = np.random.default_rng(0).normal(size=(200, n_classes))
    offset = offset if n_classes > 1 else offset[:, 0]
    fit = fitted(model, problem, offset=offset)
    *_, last = fit.staged_predict(problem.X, offset=offset)
    assert_array_equal(last, fit.predict(problem.X, offset=offset))
    assert "was fitted with an offset" in message(fit.predict, problem.X)
    zero = np.zeros_like(offset) if n_classes > 1 else 0.0
    assert (fit.predict(problem.X, offset=zero) != last).any()


@pytest.mark.parametrize(
    ("offset", "said"),
    [
        ([0.0, np.inf, 0.0], "offset[1] is inf"),
        ([0.0, 0.0], "X has 3 rows, offset has 2"),
        (np.zeros((3, 2)), "offset has shape (3, 2), expected (3,)"),
    ],
)
def test_offsets_that_cannot_be_added_are_refused(offset, said):
    model = GradientBoostingRegressor(**FEW)
    assert said in message(model.fit, [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], offset=offset)


# ------------------------------------------------------------------ time, callbacks, progress


@pytest.mark.parametrize("parameters", [{"n_estimators": 10_000}, BY_CV | {"tol": 0.0}])
def test_a_time_limit_ends_the_fit_after_a_round(parameters):
    problem = census(200)
    model = fitted(GradientBoostingRegressor(**parameters, time_limit=1e-6), problem)
    assert model.n_estimators_ == 1
    assert np.isfinite(model.predict(problem.X)).all()


@BOTH
@pytest.mark.parametrize("parameters", [FEW, BY_CV], ids=["rounds", "cv"])
def test_callbacks_see_each_round_and_may_end_the_fit(kind, parameters):
    problem, told = census(200), []

    def until_three(seen):
        told.append(seen)
        return seen.number < 3

    silent = [].append  # returns None: goes on
    model = fitted(kind(**parameters, callbacks=[until_three, silent]), problem)
    assert [seen.number for seen in told] == [1, 2, 3]
    assert {seen.n_rounds for seen in told} == {6 if parameters is FEW else 30}
    assert sorted(seen.seconds for seen in told) == [seen.seconds for seen in told]
    whole = fitted(kind(**(parameters | {"n_estimators": 3})), problem)
    assert told[-1].fitted().fingerprint_ == whole.fingerprint_
    if parameters is BY_CV:
        assert [len(seen.history["cv"]["loss"]) for seen in told] == [2, 3, 4]
    with pytest.raises(AttributeError):
        told[0].number = 7
    assert model.n_estimators_ <= 3


def test_an_error_in_a_callback_leaves_the_model_as_it_was():
    problem = census(100)
    model = fitted(GradientBoostingRegressor(**FEW), problem)
    before = model.fingerprint_
    model.set_params(callbacks=[lambda _: 1 / 0])
    with pytest.raises(ZeroDivisionError):
        model.fit(problem.X, problem.numbers + 1.0)
    assert model.fingerprint_ == before


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "wait", "verbose", "is_shown"),
    [
        (Terminal, 0.0, True, True),
        (Terminal, 9.0, True, False),
        (Terminal, 0.0, False, False),
        (io.StringIO, 0.0, True, False),
    ],
)
def test_progress_is_shown_on_a_terminal_only_and_only_of_long_fits(
    monkeypatch, stream, wait, verbose, is_shown
):
    screen, problem = stream(), census(100)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(control, "_PATIENCE", wait)
    monkeypatch.setenv("TERM", "xterm")
    fitted(GradientBoostingRegressor(**FEW, verbose=verbose), problem)
    assert ("6/6" in screen.getvalue()) == is_shown
    assert bool(screen.getvalue()) == is_shown


def test_the_clock_of_a_round_runs_from_the_beginning_of_the_fit():
    seen, begun = [], time.monotonic()
    fitted(GradientBoostingRegressor(**FEW, callbacks=[seen.append]), census(50))
    assert 0.0 < seen[-1].seconds <= time.monotonic() - begun


def test_an_interrupt_of_an_early_stopped_fit_keeps_the_best_round_so_far():
    def interrupt(seen):
        if seen.number == 4:
            raise KeyboardInterrupt

    problem = census(300)
    stopping = {"n_estimators": 30, "early_stopping": True}
    model = fitted(GradientBoostingRegressor(**stopping, callbacks=[interrupt]), problem)
    whole = fitted(GradientBoostingRegressor(**stopping), problem)
    assert model.n_estimators_ == int(np.argmin(model.validation_losses_))
    assert_array_equal(model.validation_losses_, whole.validation_losses_[:5])


@pytest.mark.parametrize(
    ("given", "at_most"),
    [
        ({}, 200),
        ({"learning_rate": 0.1}, 100),
        ({"early_stopping": True}, 500),
        ({"early_stopping": False, "n_estimators": 7}, 7),
    ],
)
def test_rounds_that_nobody_counted_are_more_if_rows_are_watched(given, at_most):
    told = []

    def stop(one):
        told.append(one.n_rounds)
        return False

    problem = census(60)
    X, y = problem.X, problem.numbers
    GradientBoostingRegressor(callbacks=[stop], **given).fit(X, y)
    GradientBoostingRegressor(callbacks=[stop]).fit(X, y, eval_set=(X, y))
    GradientBoostingRegressor(callbacks=[stop]).fit(X, y, eval_set=[])
    assert told == [at_most, 500, 200]
