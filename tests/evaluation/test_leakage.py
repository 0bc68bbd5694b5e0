"""Rows held out have no say in how the training rows are binned."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold

import hedgerow as hr
from hedgerow.data import parts
from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.evaluation import cross_validate, select
from hedgerow.evaluation.folds import Given, folds_of
from hedgerow.kernels.team import Team


def noise(n=400):
    random = np.random.default_rng(0)
    x = np.sort(random.normal(size=n))
    return x[:, None], random.integers(0, 2, n)


def test_edges_are_those_of_the_training_rows_alone(monkeypatch):
    X, y = noise()
    seen, binned = [], []
    choose = parts.Part.once

    def watched(part, what, make):
        made = choose(part, what, make)
        if hasattr(made, "codes"):
            seen.append(set(part._rows.tolist()))
            binned.append(made)
        return made

    monkeypatch.setattr(parts.Part, "once", watched)
    splits = list(KFold(4).split(X))
    model = hr.GradientBoostingClassifier(n_estimators=2, max_bins=8)
    cross_validate(model, X, y, cv=splits, n_jobs=1)
    assert seen == [set(train.tolist()) for train, _ in splits]
    for (train, test), own in zip(splits, binned, strict=True):
        highs = own.codes.bins.high
        assert set(highs.tolist()) <= set(X[train, 0].tolist())
        assert not set(highs.tolist()) & set(X[test, 0].tolist())


class Peeking(hr.GradientBoostingRegressor):
    """A class of the user's own is given X as it is, never a part."""

    def fit(self, X, y, **given):
        assert isinstance(X, np.ndarray)
        return super().fit(X, y, **given)


def test_bins_made_with_rows_held_out_would_tell_their_targets():
    # A value of x is there twice: as it is in a training row, and in a row that is held out moved
    # up or down by the sign of its target. Bins of all rows have an edge between the two.
    x, y = np.arange(40.0), np.random.default_rng(1).normal(size=40)
    X = np.concatenate([x, x + np.where(y > 0, 0.4, -0.4)])[:, None]
    targets = np.concatenate([y, y])
    train, test = np.arange(40), np.arange(40, 80)
    leaking = bin_table(read_table(X), Recipe(255), Team(1))
    assert set(leaking.codes.bins.high) & set(X[test, 0])
    model = hr.GradientBoostingRegressor(n_estimators=20, l2=0.0, min_child_weight=0.0)
    found = cross_validate(model, X, targets, cv=[(train, test)], return_estimator=True)
    fitted = found["estimator"][0]
    assert fitted.fingerprint_ == model.fit(X[train], targets[train]).fingerprint_
    # A cut is half-way between training values: no row held out has moved one.
    cuts = fitted._model.grove.threshold[fitted._model.grove.left >= 0]
    assert len(cuts)
    assert set((2.0 * cuts).tolist()) <= set(range(1, 79, 2))


def test_categories_of_rows_held_out_are_unknown_to_the_model():
    X = np.array([["a"], ["b"], ["a"], ["b"], ["new"], ["a"]] * 5, object)
    y = np.arange(30) % 2
    train = np.flatnonzero(X[:, 0] != "new")
    test = np.flatnonzero(X[:, 0] == "new")
    model = hr.GradientBoostingClassifier(n_estimators=2)
    found = cross_validate(model, X, y, cv=[(train, test)], return_estimator=True)
    assert found["estimator"][0]._schema.categories == (("a", "b"),)
    with pytest.raises(ValueError, match="not seen at fit"):
        cross_validate(model.set_params(unseen="error"), X, y, cv=[(train, test)])


def test_a_fold_is_binned_once_for_all_candidates_of_one_recipe(monkeypatch):
    X, y = noise()
    made = []
    bin_once = parts.Part.once

    def counted(part, what, make):
        def make_and_count():
            thing = make()
            made.extend([what[0]] * hasattr(thing, "codes"))
            return thing

        return bin_once(part, what, make_and_count)

    monkeypatch.setattr(parts.Part, "once", counted)
    tried = {"max_leaf_nodes": [2, 3, 4, 5], "max_bins": [8, 16]}
    select(hr.GradientBoostingClassifier(n_estimators=2), tried, X, y, cv=3)
    assert len(made) == 3 * 2


def test_what_is_made_of_a_fold_is_forgotten_with_its_last_model():
    X, y = noise()
    model = hr.GradientBoostingClassifier(n_estimators=2)
    (fold, *_) = folds_of(Given(X, y), model, 3)
    fold.expect(2)
    first = fold.sides
    fold.left()
    assert fold.sides is first
    fold.left()
    assert fold.sides is not first


def test_a_class_of_the_users_own_is_given_the_table_as_it_is():
    X, y = noise()
    found = cross_validate(Peeking(n_estimators=2), X, y.astype(float))
    plain = cross_validate(hr.GradientBoostingRegressor(n_estimators=2), X, y.astype(float))
    assert_array_equal(found["test_score"], plain["test_score"])
