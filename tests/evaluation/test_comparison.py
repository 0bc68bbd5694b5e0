"""Models side by side: paired scores, corrected tests, sizes, text and pictures."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import t as student
from scipy.stats import ttest_rel
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.model_selection import cross_validate as theirs

import hedgerow as hr
from hedgerow.evaluation import compare, corrected_test, cross_validate, holm
from hedgerow.evaluation.fitting import size_in_bytes
from hedgerow.kernels import cores
from hedgerow.kernels.team import Team

X, Y = load_diabetes(return_X_y=True)
MODELS = {
    "tree": hr.DecisionTreeRegressor(max_depth=3),
    "boosting": hr.GradientBoostingRegressor(n_estimators=20),
    "ridge": Ridge(alpha=0.1),
}
FOLDS = RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)


@pytest.fixture(scope="module")
def found():
    return compare(MODELS, X, Y, cv=FOLDS)


def test_scores_are_paired_and_those_of_scikit_learn(found):
    for name, model in MODELS.items():
        assert_array_equal(found.scores[name], theirs(model, X, Y, cv=FOLDS)["test_score"])


def test_the_best_is_first_with_its_mean_and_standard_error(found):
    means = [row["score"] for row in found.table]
    assert means == sorted(means, reverse=True)
    own = found.scores[found.table[0]["model"]]
    assert_allclose(found.table[0]["standard_error"], own.std(ddof=1) / np.sqrt(8))
    assert all(row["fit_time"] > 0 and row["score_time"] > 0 for row in found.table)


def test_sizes_are_those_of_pickles(found):
    sizes = {row["model"]: row["bytes"] for row in found.table}
    model = Ridge(alpha=0.1).fit(X, Y)
    assert size_in_bytes(model) == len(pickle.dumps(model, protocol=5))
    assert sizes["ridge"] == size_in_bytes(model)
    assert sizes["boosting"] > sizes["tree"] > sizes["ridge"]


def test_the_corrected_test_by_hand(found):
    pair = found.pairs[0]
    d = found.scores[pair["first"]] - found.scores[pair["second"]]
    n_test, n_train = len(Y) / 4, 3 * len(Y) / 4
    error = np.sqrt(d.var(ddof=1) * (1 / 8 + n_test / n_train))
    assert_allclose(pair["standard_error"], error)
    assert_allclose(pair["t"], d.mean() / error)
    assert_allclose(pair["p"], 2 * student.sf(abs(d.mean() / error), 7))


def test_without_overlap_the_corrected_test_is_the_paired_t_test():
    random = np.random.default_rng(0)
    one, two = random.normal(size=(2, 12))
    ours, other = corrected_test(one, two, n_train=1.0, n_test=0.0), ttest_rel(one, two)
    assert_allclose((ours.t, ours.p), (other.statistic, other.pvalue))


def test_equal_scores_do_not_differ_and_a_constant_difference_is_certain():
    same = np.array([0.5, 0.6, 0.7])
    assert corrected_test(same, same, 10, 5).p == 1.0
    assert corrected_test(np.full(3, 0.75), np.full(3, 0.5), 10, 5).p == 0.0
    assert np.isnan(corrected_test(same[:1], same[:1], 10, 5).p)


@pytest.mark.slow
def test_the_corrected_test_rejects_a_true_hypothesis_no_more_often_than_it_says():
    # Two constants, of which neither is better: the mean of each half of the training rows.
    random, rejected = np.random.default_rng(0), 0
    for _ in range(2000):
        y = random.normal(size=60)
        scores = []
        for _ in range(5):
            order = random.permutation(60)
            train, test = order[:48], y[order[48:]]
            scores.append(
                [-np.mean((test - y[half].mean()) ** 2) for half in (train[:24], train[24:])]
            )
        one, two = np.array(scores).T
        rejected += corrected_test(one, two, 48, 12).p < 0.05
    assert rejected / 2000 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


def test_holm_by_its_definition():
    random = np.random.default_rng(1)
    for _ in range(20):
        p = random.uniform(size=6) ** 3
        expected, worst = np.empty(6), 0.0
        for rank, place in enumerate(np.argsort(p)):
            worst = max(worst, min(1.0, (6 - rank) * p[place]))
            expected[place] = worst
        assert_allclose(holm(p), expected)
    assert_array_equal(holm([0.01, np.nan]), [0.01, np.nan])
    assert holm([]).shape == (0,)


def test_the_text_has_models_and_pairs(found):
    text = repr(found)
    assert text.splitlines()[0] == "score, 8 folds"
    assert all(name in text for name in MODELS)
    assert "p_holm" in text
    assert len(found.to_frame()) == 3
    assert len(found.pairs_to_frame()) == 3


def test_several_scores_have_columns():
    both = compare({"ridge": Ridge()}, X, Y, scoring=["r2", "neg_mean_absolute_error"], cv=3)
    assert both.name == "r2"
    assert both.table[0]["neg_mean_absolute_error"] < 0
    assert both.pairs == []


def test_pictures(found):
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        row["model"] for row in found.table
    ]
    curve = cross_validate(MODELS["boosting"], X, Y, cv=KFold(3)).curve
    drawn = curve.plot()
    line = drawn.get_lines()[0]
    assert_array_equal(line.get_xdata(), curve.sizes)
    assert_array_equal(line.get_ydata(), curve.mean)
    assert drawn.get_lines()[1].get_xdata()[0] == curve.best
    plt.close("all")


def test_folds_share_the_cores(monkeypatch):
    sizes, asked, begin, threads_for = [], [], Team.__init__, cores.n_threads_for
    monkeypatch.setattr(cores, "n_cores", lambda *_: 4)
    monkeypatch.setattr(Team, "__init__", lambda team, n: sizes.append(n) or begin(team, n))
    # A team may be smaller than asked for, if the other fold is at work just then.
    monkeypatch.setattr(
        "hedgerow.kernels.team.n_threads_for",
        lambda n_jobs: asked.append(threads_for(n_jobs)) or asked[-1],
    )
    big = np.tile(X, (120, 1)), np.tile(Y, 120)
    model = {"boosting": hr.GradientBoostingRegressor(n_estimators=2, n_jobs=-1)}
    compare(model, *big, cv=2)
    assert 2 in asked  # 2 folds on 4 cores, 2 threads each
    assert max(sizes) <= 2
    sizes.clear()
    compare(model, *big, cv=8)
    assert max(sizes) == 1


def test_something_else_than_a_dict_of_models():
    with pytest.raises(TypeError, match="is not a dict of models"):
        compare([Ridge()], X, Y)
