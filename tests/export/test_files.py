"""What exported files are like: whole, equal for equal models, safe to read, easy to call."""

import json
import runpy
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import hedgerow as hr
from tests.export.runners import COMPILER, STRICT, said_by_export
from tests.storage import zoo


@pytest.mark.parametrize("ending", ["onnx", "c", "py"])
def test_equal_models_have_equal_bytes(ending, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        hr.export_model(zoo.made("boosting-classes"), tmp_path / name / f"model.{ending}")
    one, two = ((tmp_path / name / f"model.{ending}").read_bytes() for name in ("one", "two"))
    assert one == two


@pytest.mark.parametrize("ending", ["onnx", "c", "py"])
def test_a_loaded_model_is_exported_as_the_one_that_was_saved(ending, tmp_path):
    model = zoo.made("forest-classes")
    model.save(tmp_path / "model.hedgerow")
    file, written = tmp_path / f"model.{ending}", []
    for each in (model, hr.load(tmp_path / "model.hedgerow")):
        hr.export_model(each, file)
        written.append(file.read_bytes())
    assert written[0] == written[1]


def test_python_sources_take_rows_by_name_and_import_nothing(tmp_path):
    model = zoo.made("tree-classes")
    hr.export_model(model, tmp_path / "model.py")
    source = (tmp_path / "model.py").read_text(encoding="utf-8")
    assert {line for line in source.splitlines() if line.startswith(("import", "from"))} == {
        "from math import exp, inf"
    }
    exported = runpy.run_path(str(tmp_path / "model.py"))
    row = {"height": 3.0, "colour": "blau", "gap": None, "size": 2}
    frame = zoo.mixed().iloc[:1].copy()
    frame.loc[0] = [3.0, "blau", np.nan, 2]
    assert exported["predict"](row) == model.predict(frame)[0]
    with pytest.raises(ValueError, match="a row has 4 cells, and 2 were given"):
        exported["predict"]([1.0, "blau"])
    with pytest.raises(TypeError, match="height is a number, and 'tall' was given"):
        exported["predict"](row | {"height": "tall"})


def test_python_sources_refuse_unseen_categories_if_the_model_does(tmp_path):
    model = hr.DecisionTreeClassifier(unseen="error").fit([["a"], ["b"]], ["no", "yes"])
    hr.export_model(model, tmp_path / "model.py")
    predict = runpy.run_path(str(tmp_path / "model.py"))["predict"]
    assert predict(["b"]) == "yes"
    with pytest.raises(ValueError, match="x0 has the category 'c', which was not there at fit"):
        predict(["c"])


def test_python_sources_predict_csv_files(tmp_path):
    model, rows = zoo.made("boosting-classes"), zoo.mixed(30)
    hr.export_model(model, tmp_path / "model.py")
    given = rows.to_csv(index=False)
    command = [sys.executable, "-I", str(tmp_path / "model.py")]
    told = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == model.predict(rows).tolist()


def test_names_of_columns_and_classes_cannot_become_code(tmp_path):
    name = '*/ int x; /* " \\ \n"""; raise SystemExit # %s {0} model_ SHOWN_BY'
    X = pd.DataFrame({name: pd.Categorical([name, "b"] * 5)})
    model = hr.DecisionTreeClassifier().fit(X, [name, "no"] * 5)
    hr.export_model(model, tmp_path / "model.py")
    assert runpy.run_path(str(tmp_path / "model.py"))["predict"]([name]) == name
    hr.export_model(model, tmp_path / "model.c")
    if COMPILER:
        built = [COMPILER, *STRICT, "-c", "model.c", "-o", "model.o"]
        subprocess.run(built, check=True, cwd=tmp_path)


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_names_that_stand_in_sources_are_names_like_others(tmp_path):
    words = np.array(["model_code", "FEATURES_HERE", "N_TREES", "exported_"])
    X = pd.DataFrame({"model_": np.tile(words, 5)})
    model = hr.DecisionTreeClassifier().fit(X, X["model_"])
    assert said_by_export(model, X, "c", tmp_path).labels.tolist() == X["model_"].tolist()


def test_a_file_name_cannot_become_code(tmp_path):
    file = tmp_path / '""" or exit(3).py'
    hr.export_model(zoo.made("tree-outputs"), file)
    assert len(runpy.run_path(str(file))["predict"]([1.0, None, 2.0])) == 2


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_functions_of_c_sources_have_the_name_of_the_file(tmp_path):
    hr.export_model(zoo.made("tree-classes"), tmp_path / "7 churn-é.c")
    hr.export_model(zoo.made("tree-numbers").set_params(unseen="missing"), tmp_path / "price.c")
    source = """
    #include <math.h>
    #include <stdio.h>
    int model_7_churn___predict(const double *);
    void price_predict(const double *, double *);
    double price_code(int, const char *);
    int main(void)
    {
        double out, x[4] = {3.0, 0.0, NAN, 2.0};
        x[1] = price_code(1, "blau");
        price_predict(x, &out);
        printf("%d %d", model_7_churn___predict(x) >= 0, isfinite(out) && x[1] == 1.0);
        return 0;
    }
    """
    (tmp_path / "main.c").write_text(source)
    files = ["main.c", "7 churn-é.c", "price.c"]
    subprocess.run([COMPILER, *STRICT, *files, "-o", "run", "-lm"], check=True, cwd=tmp_path)
    ran = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True)
    assert ran.stdout == "1 1"


def test_onnx_files_say_what_they_are_and_which_columns_they_take(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    hr.export_model(zoo.made("forest-classes"), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    about = session.get_modelmeta().custom_metadata_map
    assert about["library"] == f"hedgerow {hr.__version__}"
    assert about["class"] == "RandomForestClassifier"
    assert json.loads(about["columns"]) == {
        "numbers": ["height", "gap", "size"],
        "texts": ["colour"],
    }
    assert [(each.name, each.type, each.shape) for each in session.get_inputs()] == [
        ("numbers", "tensor(double)", ["n_rows", 3]),
        ("texts", "tensor(string)", ["n_rows", 1]),
    ]
    assert [(each.name, each.type, each.shape) for each in session.get_outputs()] == [
        ("label", "tensor(string)", ["n_rows"]),
        ("probabilities", "tensor(double)", ["n_rows", 3]),
    ]


@pytest.mark.parametrize("n_rows", [0, 1, 2])
@pytest.mark.parametrize("name", ["forest-votes", "boosting-ranks", "boosting-quantiles"])
def test_onnx_files_take_any_number_of_rows(name, n_rows, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, X = zoo.made(name), zoo.numbers(3)[:n_rows]
    hr.export_model(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    told = session.run(None, {"numbers": X})[0]
    assert len(told) == n_rows
    assert told.tolist() == (model.predict(X).tolist() if n_rows else [])
