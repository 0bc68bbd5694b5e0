"""A model in a file is the model: same class, parameters, answers and bytes."""

import copy
import dataclasses
import errno
import io
import os
import pickle
import stat
import threading
import tracemalloc
from datetime import date
from typing import NamedTuple

import joblib
import numba
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from safetensors import safe_open
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

import hedgerow as hr
from hedgerow.losses import custom_loss
from hedgerow.storage import writing
from tests.storage.zoo import MAKERS, answers, labels, made, mixed, numbers, rows_for, targets

QUICK = [name for name in MAKERS if name not in ("tree-costs", "tree-outputs", "boosting-outputs")]
SOME = ["tree-classes", "forest-numbers", "boosting-classes", "adaboost-real", "l1-stumps"]


def agree(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert_array_equal(one[name], other[name], err_msg=name, strict=True)


def arrays_of(value, way=""):
    """Yield all arrays that a value holds, with their names."""
    if isinstance(value, np.ndarray):
        yield way, value
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for name, each in value._asdict().items():
            yield from arrays_of(each, f"{way}.{name}")
    elif isinstance(value, (list, tuple)):
        for place, each in enumerate(value):
            yield from arrays_of(each, f"{way}.{place}")
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from arrays_of(getattr(value, field.name), f"{way}.{field.name}")
    elif hasattr(value, "get_params"):
        for name, each in sorted(vars(value).items()):
            yield from arrays_of(each, f"{way}.{name}")


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.filterwarnings("ignore")
def test_a_loaded_model_is_the_model(name, tmp_path):
    model = made(name)
    model.save(tmp_path / "model")
    loaded = hr.load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert repr(loaded.get_params()) == repr(model.get_params())
    assert vars(loaded).keys() == vars(model).keys()
    agree(answers(loaded), answers(model))


@pytest.mark.parametrize("name", QUICK)
def test_a_loaded_model_is_saved_as_the_same_bytes(name, tmp_path):
    made(name).save(tmp_path / "one")
    hr.load(tmp_path / "one", memory_map=True).save(tmp_path / "two")
    made(name).save(tmp_path / "three")
    first = (tmp_path / "one").read_bytes()
    assert first == (tmp_path / "two").read_bytes()
    assert first == (tmp_path / "three").read_bytes()


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("memory_map", [False, True])
def test_kernels_see_the_same_types_of_arrays_so_that_nothing_is_compiled(
    name, memory_map, tmp_path
):
    model = made(name)
    model.save(tmp_path / "model")
    loaded = hr.load(tmp_path / "model", memory_map=memory_map)
    given, found = dict(arrays_of(model)), dict(arrays_of(loaded))
    assert given.keys() == found.keys()
    assert len(given) > 3
    for where, array in given.items():
        assert array.dtype == found[where].dtype, where
        if array.dtype.kind in "bifuV":
            assert numba.typeof(array) == numba.typeof(found[where]), where


@pytest.mark.parametrize("memory_map", [False, True])
@pytest.mark.parametrize("kind", [hr.RandomForestClassifier, hr.GradientBoostingClassifier])
def test_loading_takes_less_memory_than_twice_the_file(kind, memory_map, tmp_path):
    X = np.random.default_rng(0).normal(size=(3000, 5))
    y = np.arange(3000) % 3
    kind(n_estimators=80).fit(X, y).save(tmp_path / "model")
    n_bytes = (tmp_path / "model").stat().st_size
    hr.load(tmp_path / "model")
    tracemalloc.start()
    model = hr.load(tmp_path / "model", memory_map=memory_map)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_bytes > 500_000
    assert len(model.classes_) == 3
    assert peak < (1 if memory_map else 2) * n_bytes + 250_000


def test_a_mapped_file_is_never_written_to(tmp_path):
    made("boosting-classes").save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    model = hr.load(tmp_path / "model", memory_map=True)
    model._model.grove.value[:] = 0.0
    assert (tmp_path / "model").read_bytes() == before


@pytest.mark.parametrize("name", SOME)
def test_other_programs_read_the_arrays(name, tmp_path):
    model = made(name)
    model.save(tmp_path / "model")
    with safe_open(tmp_path / "model", framework="np") as file:
        assert file.metadata()["format"] == "hedgerow model"
        assert file.metadata()["class"] == type(model).__name__
        found = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  not a dict
    assert found
    if name == "boosting-classes":
        assert_array_equal(found["model.attributes._model.grove.left"], model._model.grove.left)


def test_the_order_of_rows_and_the_number_of_threads_leave_no_trace_in_a_file(tmp_path):
    X, y, order = mixed(), labels(), np.random.default_rng(0).permutation(60)
    model = hr.GradientBoostingClassifier(n_estimators=5, n_jobs=2)
    model.fit(X, y).set_params(n_jobs=None).save(tmp_path / "one")
    model.set_params(n_jobs=1).fit(X.iloc[order], y[order])
    model.set_params(n_jobs=None).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.filterwarnings("ignore")
def test_pickle_joblib_deepcopy_and_clone_know_models_that_were_loaded(name, tmp_path):
    made(name).save(tmp_path / "model")
    loaded = hr.load(tmp_path / "model")
    expected = loaded.predict(rows_for(loaded), **_beside(loaded))
    buffer = io.BytesIO()
    joblib.dump(loaded, buffer)
    buffer.seek(0)
    for same in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded), joblib.load(buffer)):
        assert_array_equal(same.predict(rows_for(same), **_beside(same)), expected)
        same.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert not hasattr(clone(loaded), "n_features_in_")
    assert repr(clone(loaded).get_params()) == repr(loaded.get_params())


def _beside(model):
    return {"offset": np.zeros(90)} if getattr(model, "_has_offset", False) else {}


def test_a_hundred_rounds_saved_and_a_hundred_more_are_two_hundred(tmp_path):
    X, y = mixed(200), targets(200)
    whole = hr.GradientBoostingRegressor(n_estimators=200, learning_rate=0.1, max_leaf_nodes=4)
    half = clone(whole).set_params(n_estimators=100).fit(X, y)
    half.save(tmp_path / "half")
    later = hr.load(tmp_path / "half").set_params(warm_start=True, n_estimators=200).fit(X, y)
    later.set_params(warm_start=False).save(tmp_path / "later")
    whole.fit(X, y).save(tmp_path / "whole")
    assert (tmp_path / "later").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_forest_that_was_saved_half_grown_is_the_same_when_it_is_whole(tmp_path):
    X, y = mixed(200), labels(200)
    hr.RandomForestClassifier(5).fit(X, y).save(tmp_path / "half")
    later = hr.load(tmp_path / "half").set_params(warm_start=True, n_estimators=9).fit(X, y)
    later.set_params(warm_start=False).save(tmp_path / "later")
    hr.RandomForestClassifier(9).fit(X, y).save(tmp_path / "whole")
    assert (tmp_path / "later").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_tree_of_a_forest_is_saved_by_itself(tmp_path):
    forest = made("forest-classes")
    forest.estimators_[1].save(tmp_path / "tree")
    alone = hr.load(tmp_path / "tree")
    assert alone.fingerprint_ == forest.estimators_[1].fingerprint_


def test_categories_and_classes_of_every_plain_kind_come_back_as_they_were(tmp_path):
    X = pd.DataFrame(
        {
            "text": pd.Categorical(["a", "ü", "\u2028"] * 4),
            "whole": pd.Categorical([1, 2**60, -3] * 4),
            "truth": pd.Categorical([True, False, True] * 4),
            "parts": pd.Categorical([0.5, -1e300, 2.25] * 4),
            "bytes": pd.Categorical([b"\xff", b"\x00\xfe", b"\xff"] * 4),
        }
    )
    model = hr.DecisionTreeClassifier().fit(X, np.array(["two", "\u2028", "ü"] * 4))
    model.save(tmp_path / "model")
    loaded = hr.load(tmp_path / "model")
    assert loaded._schema == model._schema
    kinds = [[type(each) for each in own] for own in loaded._schema.categories]
    assert kinds == [[type(each) for each in own] for own in model._schema.categories]
    assert_array_equal(loaded.predict(X), model.predict(X), strict=True)


class Cubic(NamedTuple):
    n_outputs: int = 1

    def loss(self, y, f):
        return abs(f - y) ** 3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: hr.BaggingRegressor(Ridge(), 2), "Ridge.*never code.*one of the library's own"),
        (lambda: hr.AdaBoostRegressor(Ridge(), n_estimators=2), "Ridge.*joblib.*only your own"),
        (lambda: hr.StagewiseRegressor(Ridge(), n_estimators=2), "Ridge"),
        (lambda: hr.StagewiseRegressor(dictionary=[np.ravel], n_estimators=1), "dictionary"),
        (
            lambda: hr.GradientBoostingRegressor(callbacks=[print], n_estimators=1),
            r"builtin_function.*does not need it.*set_params\(callbacks=",
        ),
        (
            lambda: hr.RandomForestRegressor(2, random_state=np.random.RandomState(0)),
            r"RandomState.*set_params\(random_state=",
        ),
    ],
    ids=["bagging", "adaboost", "stagewise", "dictionary", "callbacks", "random state"],
)
@pytest.mark.filterwarnings("ignore:AdaBoostRegressor stopped")
def test_what_is_not_for_files_is_refused_with_a_reason(make, said, tmp_path):
    model = make().fit(numbers()[:, :1], targets())
    with pytest.raises(hr.ModelFileError, match=said):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_loss_of_the_users_own_is_refused_with_a_reason(tmp_path):
    model = hr.GradientBoostingRegressor(loss=Cubic(), n_estimators=2).fit(numbers(), targets())
    assert custom_loss(Cubic())
    with pytest.raises(hr.ModelFileError, match=r"loss is a .*Cubic.*one of the library's own"):
        model.save(tmp_path / "model")


def test_categories_that_are_no_plain_values_are_refused_by_name(tmp_path):
    X = pd.DataFrame({"day": pd.Categorical([date(2020, 1, 1), date(2021, 1, 1)] * 5)})
    model = hr.DecisionTreeRegressor().fit(X, np.arange(10.0))
    with pytest.raises(hr.ModelFileError, match=r"datetime.date.*Convert the column"):
        model.save(tmp_path / "model")


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        hr.DecisionTreeRegressor().save(tmp_path / "model")


class Strange(hr.DecisionTreeRegressor):
    pass


def test_a_class_of_the_users_own_is_not_saved(tmp_path):
    with pytest.raises(hr.ModelFileError, match="Strange"):
        Strange().fit([[0], [1]], [0, 1]).save(tmp_path / "model")


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("number", "said"), [(errno.ENOSPC, "disk is full"), (errno.EIO, "Input/output")]
)
def test_a_file_that_cannot_be_written_leaves_the_old_one(
    failing, number, said, tmp_path, monkeypatch
):
    model, path = made("tree-classes"), tmp_path / "model"
    model.save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(writing.os, failing, fail)
    with pytest.raises(OSError, match=said) as raised:
        made("forest-classes").save(path)
    assert raised.value.errno == number
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["model"]


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no directory .*missing.*Make it first"):
        made("tree-classes").save(tmp_path / "missing" / "model")
    with pytest.raises(IsADirectoryError, match="name of a file in it"):
        made("tree-classes").save(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_to_is_named(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match="may not write"):
            made("tree-classes").save(tmp_path / "model")
    finally:
        tmp_path.chmod(0o700)


def test_a_new_file_may_be_read_by_others_as_the_old_one_was(tmp_path):
    path = tmp_path / "model"
    made("tree-classes").save(path)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o640)
    made("tree-classes").save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_to_a_file_stays_a_link(tmp_path):
    made("tree-classes").save(tmp_path / "model")
    (tmp_path / "newest").symlink_to(tmp_path / "model")
    made("l1-stumps").save(tmp_path / "newest")
    assert (tmp_path / "newest").is_symlink()
    assert type(hr.load(tmp_path / "model")) is hr.L1BoostClassifier


def test_readers_see_the_old_file_or_the_new_one_while_it_is_saved(tmp_path):
    path, models = tmp_path / "model", [made("tree-classes"), made("l1-stumps")]
    models[0].save(path)
    ended = threading.Event()

    def save():
        while not ended.is_set():
            for model in models:
                model.save(path)

    writer = threading.Thread(target=save)
    writer.start()
    try:
        seen = {type(hr.load(path)) for _ in range(300)}
    finally:
        ended.set()
        writer.join()
    assert seen <= {type(each) for each in models}
