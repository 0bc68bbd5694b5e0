"""A model read for prediction alone says, to the bit, what its estimator says, and is as safe."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.fitted.files import NotHere, fitted_from
from hedgerow.fitted.model import Fitted
from tests.storage.mutations import sealed, split
from tests.storage.zoo import answers, made

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.hedgerow"))
# Their members are learners, which read tables as scikit-learn does.
OF_LEARNERS = {
    "adaboost-drawn",
    "adaboost-learners",
    "bagging-boosting",
    "l1-stumps",
    "stagewise-classes",
    "stagewise-numbers",
}


@pytest.mark.parametrize("name", sorted({*NAMES} - OF_LEARNERS))
def test_it_says_what_the_estimator_says_to_the_bit(name, tmp_path):
    made(name).save(tmp_path / "new")
    for path in (GOLDEN / f"{name}.hedgerow", tmp_path / "new"):
        alone, estimator = fitted_from(path), hr.load(path)
        said, known = answers(alone), answers(estimator)
        assert {"predict"} <= said.keys() <= known.keys()
        assert "predict_proba" in said or not hasattr(estimator, "classes_")
        for method, found in said.items():
            assert found.dtype == known[method].dtype
            assert found.tolist() == known[method].tolist(), method


@pytest.mark.parametrize("name", sorted(OF_LEARNERS))
def test_models_of_learners_are_for_their_estimators(name):
    with pytest.raises(NotHere):
        fitted_from(GOLDEN / f"{name}.hedgerow")


@pytest.mark.parametrize("name", sorted({*NAMES} - OF_LEARNERS))
def test_estimators_have_no_way_of_their_own_to_predict(name):
    alone, estimator = (read(GOLDEN / f"{name}.hedgerow") for read in (fitted_from, hr.load))
    assert type(alone).__name__ == type(estimator).__name__
    assert isinstance(estimator, Fitted)
    (shared,) = type(alone).__bases__
    for method in ("predict", "predict_proba"):
        assert getattr(type(estimator), method, None) is getattr(shared, method, None)


def test_reading_and_predicting_import_no_scikit_learn():
    file = GOLDEN / "forest-numbers.hedgerow"
    code = (
        "import sys, numpy as np; from hedgerow.fitted.files import fitted_from; "
        f"model = fitted_from({str(file)!r}); "
        "model.predict(np.array([[1.0, 'blau', 2.0, 3]], object)); "
        "print([name for name in ('sklearn', 'scipy.stats', 'pandas') if name in sys.modules])"
    )
    quiet = [sys.executable, "-W", "ignore", "-c", code]
    assert subprocess.run(quiet, capture_output=True, text=True, check=True).stdout == "[]\n"


def changed(name, **values):
    """Return a golden file with other parameters, and its checksum made right."""
    header, body = split((GOLDEN / f"{name}.hedgerow").read_bytes())
    told = json.loads(header["__metadata__"]["model"])
    pairs = told["fields"]["parameters"]["dict"]
    told["fields"]["parameters"]["dict"] = [
        [key, values.pop(key, value)] for key, value in pairs
    ] + [[key, value] for key, value in values.items()]
    header["__metadata__"]["model"] = json.dumps(told)
    return sealed(header, body)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("tree-numbers", {"unseen": "sometimes"}),
        ("tree-classes", {"criterion": "beauty"}),
        ("forest-votes", {"voting": "loud"}),
        ("forest-votes", {"voting": {"tuple": []}}),
        ("boosting-two", {"unseen": "average"}),
        ("boosting-two", {"n_jobs": 0}),
        ("boosting-two", {"n_jobs": 1.5}),
        ("boosting-two", {"n_jobs": 10**9}),
    ],
)
def test_parameters_that_prediction_looks_at_are_checked(name, values, tmp_path):
    (tmp_path / "bad").write_bytes(changed(name, **values))
    with pytest.raises(hr.ModelFileError, match="cannot be loaded"):
        fitted_from(tmp_path / "bad")


def test_other_parameters_never_reach_the_model(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(changed("boosting-two", predict=5, _values="mine", max_depth=-3))
    alone = fitted_from(path)
    same = fitted_from(GOLDEN / "boosting-two.hedgerow")
    assert not {"predict", "_values", "max_depth"} & vars(alone).keys()
    np.testing.assert_array_equal(answers(alone)["predict"], answers(same)["predict"])
    with pytest.raises(hr.ModelFileError):
        hr.load(path)


def test_a_model_that_is_not_fitted_is_refused(tmp_path):
    header, body = split((GOLDEN / "tree-classes.hedgerow").read_bytes())
    told = json.loads(header["__metadata__"]["model"])
    told["fields"]["attributes"]["dict"] = []
    bare = {"__metadata__": header["__metadata__"] | {"model": json.dumps(told)}}
    (tmp_path / "bare").write_bytes(sealed(bare, b""))
    for read in (fitted_from, hr.load):
        with pytest.raises(hr.ModelFileError, match="not fitted"):
            read(tmp_path / "bare")
    assert len(body) > 0


def test_a_part_of_a_model_is_refused(tmp_path):
    header, body = split((GOLDEN / "bagging-classes.hedgerow").read_bytes())
    told = json.loads(header["__metadata__"]["model"])
    attributes = dict(told["fields"]["attributes"]["dict"])
    metadata = header["__metadata__"] | {
        "model": json.dumps(attributes["_ensemble"]),
        "class": "BaggedClassTrees",
    }
    kept = {k: v for k, v in header.items() if k.startswith("model.attributes._ensemble")}
    begin = min(each["data_offsets"][0] for each in kept.values())
    for each in kept.values():
        each["data_offsets"] = [place - begin for place in each["data_offsets"]]
    end = max(each["data_offsets"][1] for each in kept.values())
    (tmp_path / "part").write_bytes(
        sealed({"__metadata__": metadata} | kept, body[begin : begin + end])
    )
    for read in (fitted_from, hr.load):
        with pytest.raises(hr.ModelFileError):
            read(tmp_path / "part")
