"""From a file to a model that is trained, judged, saved, asked and explained, without Python."""

import gzip
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pyarrow.feather
import pytest

import hedgerow
from hedgerow.cli import libraries
from hedgerow.cli.libraries import Arrow, Polars
from hedgerow.cli.problems import noted
from hedgerow.cli.scores import Told, scored_with_errors
from tests.cli.calls import called, people, written

DROPS = {
    "bought": ["--drop", "id", "--drop", "grade", "--drop", "price"],
    "grade": ["--drop", "id", "--drop", "bought", "--drop", "price"],
    "price": ["--drop", "id", "--drop", "grade", "--drop", "bought"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("main_job")
    written(folder / "people.csv", people())
    return folder


@pytest.fixture(scope="module")
def model(folder):
    """A tree that says who bought."""
    path = folder / "bought.hedgerow"
    options = ["--target", "bought", "--model", "tree", *DROPS["bought"], "-o", path]
    result = called("train", folder / "people.csv", *options)
    assert result.exit_code == 0, result.stderr
    return path


@pytest.fixture(scope="module")
def boosted(folder):
    """A boosted model of prices."""
    path = folder / "price.hedgerow"
    options = ["--target", "price", "--set", "n_estimators=20", *DROPS["price"], "-o", path]
    result = called("train", folder / "people.csv", *options)
    assert result.exit_code == 0, result.stderr
    return path


def reported(*arguments) -> dict:
    result = called(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(params=[Arrow, Polars], ids=["pyarrow", "polars"])
def reader(request, monkeypatch):
    """Each library of tables as if it were the only one."""
    for module in ("sources", "predicting"):
        monkeypatch.setattr(f"hedgerow.cli.{module}.library", request.param)
    return request.param


@pytest.mark.parametrize(
    ("target", "task"),
    [("bought", "classification"), ("grade", "classification"), ("price", "regression")],
)
def test_the_task_is_guessed_from_the_target_and_told(folder, tmp_path, target, task):
    options = ["--target", target, "--model", "tree", *DROPS[target], "-o", tmp_path / "m.hedgerow"]
    result = called("train", folder / "people.csv", *options)
    assert result.exit_code == 0, result.stderr
    assert f"{task} of '{target}', because it h" in result.stdout


@pytest.mark.parametrize("kind", ["boosting", "forest", "extra-trees", "adaboost", "bagging"])
def test_every_kind_of_model_is_trained_judged_and_saved(folder, tmp_path, kind):
    path = tmp_path / "m.hedgerow"
    few = ["--model", kind, "--set", "n_estimators=5"]
    options = ["--target", "price", *few, *DROPS["price"], "-o", path]
    report = reported("train", folder / "people.csv", *options)
    assert report["scores"]["R2"]["score"] > report["constant"]["R2"]["score"]
    assert report["scores"]["RMSE"]["standard_error"] > 0
    assert report["importances"][0]["feature"] == "age"
    assert type(hedgerow.load(path)).__name__ == report["class"]


def test_scores_of_the_rows_held_out_are_those_of_the_saved_model(folder, tmp_path):
    path = tmp_path / "m.hedgerow"
    options = ["--target", "bought", "--model", "tree", *DROPS["bought"], "-o", path]
    report = reported("train", folder / "people.csv", *options)
    assert (report["n_trained"], report["n_judged"]) == (96, 24)
    n_right = report["scores"]["accuracy"]["score"] * 24
    assert n_right == pytest.approx(round(n_right), abs=1e-9)  # a share of the 24 rows


def test_cross_validation_ends_with_a_model_of_all_rows(folder, tmp_path):
    path = tmp_path / "m.hedgerow"
    options = ["--target", "bought", "--model", "tree", "--cv", "3", *DROPS["bought"]]
    report = reported("train", folder / "people.csv", *options, "-o", path)
    assert report["judged_by"] == "3-fold cross-validation"
    assert hedgerow.load(path)._tree.n_rows[0] == report["n_rows"] == 120


def test_boosting_stops_early_unless_told_otherwise(folder, tmp_path, boosted):
    assert hedgerow.load(boosted).early_stopping is True
    options = ["--target", "price", *DROPS["price"], "-o", tmp_path / "m.hedgerow"]
    few = ["--set", "early_stopping=false", "--set", "n_estimators=3"]
    report = reported("train", folder / "people.csv", *options, *few)
    assert report["n_trees"] == 3


def test_a_parameter_of_one_task_waits_for_the_task(folder, tmp_path):
    few = ["-m", "forest", "--set", "n_estimators=3", "--set", "voting=hard"]
    where = ["-o", tmp_path / "m.hedgerow"]
    for target, code in (("bought", 0), ("price", 2)):
        result = called("train", folder / "people.csv", "-t", target, *DROPS[target], *few, *where)
        assert result.exit_code == code, result.stderr
    assert "RandomForestRegressor has no such parameter" in result.stderr


def test_rows_without_a_target_are_left_out_and_counted(tmp_path):
    rows = people()
    rows[3]["price"] = rows[9]["price"] = ""
    data = written(tmp_path / "gaps.csv", rows)
    options = ["--target", "price", "--model", "tree", *DROPS["price"]]
    report = reported("train", data, *options, "-o", tmp_path / "m.hedgerow")
    assert (report["n_rows"], report["n_left_out"]) == (118, 2)


def test_a_column_of_identifiers_is_remarked(folder, tmp_path):
    options = ["--target", "bought", "--model", "tree", "-o", tmp_path / "m.hedgerow"]
    report = reported("train", folder / "people.csv", *options)
    assert "--drop 'id'" in report["notes"][0]


def test_training_goes_on_from_a_checkpoint(folder, tmp_path, boosted):
    options = ["--target", "price", "--set", "n_estimators=20", *DROPS["price"]]
    where = ["-o", tmp_path / "m.hedgerow", "--checkpoint", tmp_path / "checkpoint"]
    for _ in range(2):
        reported("train", folder / "people.csv", *options, *where)
        same = hedgerow.load(tmp_path / "m.hedgerow").fingerprint_
        assert same == hedgerow.load(boosted).fingerprint_
    assert (tmp_path / "checkpoint").stat().st_size > 0


def in_all_forms(folder: Path, tmp_path: Path) -> dict[str, Path]:
    plain = folder / "people.csv"
    frame = polars.read_csv(plain, null_values=["", "NA"])
    forms = {name: tmp_path / f"people.{name}" for name in ("gz", "parquet", "arrow", "feather")}
    forms["gz"].write_bytes(gzip.compress(plain.read_bytes()))
    frame.write_parquet(forms["parquet"], row_group_size=32)
    frame.write_ipc(forms["arrow"])
    pyarrow.feather.write_feather(frame.to_arrow(), forms["feather"], compression="uncompressed")
    for name, delimiter in (("semicolon", ";"), ("tab", "\t"), ("pipe", "|")):
        forms[name] = written(tmp_path / f"{name}.csv", people(), delimiter)
    forms["mark"] = tmp_path / "mark.csv"
    forms["mark"].write_bytes(b"\xef\xbb\xbf" + plain.read_bytes())
    return forms


@pytest.mark.usefixtures("reader")
def test_all_forms_of_a_file_give_the_same_predictions(folder, model, tmp_path):
    expected = called("predict", model, folder / "people.csv", "-p")
    assert expected.exit_code == 0, expected.stderr
    for path in in_all_forms(folder, tmp_path).values():
        result = called("predict", model, path, "-p")
        assert (result.stderr, result.stdout) == ("", expected.stdout), path
    piped = called("predict", model, "-", "-p", stdin=(folder / "people.csv").read_bytes())
    assert piped.stdout == expected.stdout


@pytest.mark.usefixtures("reader")
def test_predictions_are_those_of_python(folder, model, tmp_path):
    fitted = hedgerow.load(model)
    frame = polars.read_csv(folder / "people.csv", null_values=["", "NA"])
    X = frame.select(list(fitted.feature_names_in_))
    for name in ("out.csv", "out.parquet", "out.arrow"):
        out = tmp_path / name
        assert called("predict", model, folder / "people.csv", "-o", out).exit_code == 0
        readers = {".csv": polars.read_csv, ".parquet": polars.read_parquet}
        found = readers.get(out.suffix, polars.read_ipc)(out)
        assert found["prediction"].to_list() == fitted.predict(X).tolist()


@pytest.mark.usefixtures("reader")
def test_dates_and_bools_are_texts_in_every_file(tmp_path):
    rows = [
        {"day": f"2020-01-0{k % 3 + 1}", "fresh": "true" if k % 2 else "false", "price": k % 3}
        for k in range(40)
    ]
    data, path = written(tmp_path / "days.csv", rows), tmp_path / "m.hedgerow"
    reported("train", data, "-t", "price", "-m", "tree", "--holdout", "0", "-o", path)
    assert hedgerow.load(path)._schema.categories == (
        ("2020-01-01", "2020-01-02", "2020-01-03"),
        ("false", "true"),
    )
    assert reported("evaluate", path, data)["scores"]["accuracy"]["score"] == 1


@pytest.mark.usefixtures("reader")
def test_a_line_that_is_too_short_is_named(folder, model, tmp_path):
    lines = (folder / "people.csv").read_text(encoding="utf-8").splitlines()
    data = tmp_path / "short.csv"
    data.write_text("\n".join([*lines[:9], "p8,33", *lines[10:]]), encoding="utf-8")
    for words in (["predict", model, data], ["train", data, "-t", "price"]):
        result = called(*words)
        assert result.exit_code == 1
        assert "short.csv, line 10: there are 2 values, but the header has 7." in result.stderr


def test_warnings_are_one_line(capsys):
    noted(UserWarning("a column\nis empty"), UserWarning, "file.py", 3)
    assert capsys.readouterr().err == "hedgerow: note: a column is empty\n"


def test_a_model_without_trees_says_so(tmp_path):
    data = written(tmp_path / "few.csv", [{"a": k, "y": k % 2} for k in range(6)])
    path = tmp_path / "m.hedgerow"
    report = reported(
        "train", data, "-t", "y", "--task", "regression", "--holdout", "0", "-o", path
    )
    assert report["n_trees"] == 0
    assert "there are no splits" in called("explain", path).stdout
    assert reported("show", path)["tree"]["text"] is None


def test_names_are_printed_as_they_are(tmp_path):
    odd, label = "[/]odd[bold]", "[red]"
    rows = [{"[x]": k % 2, odd: label if k % 2 else "[/]"} for k in range(40)]
    folder = tmp_path / "[b]"
    folder.mkdir()
    data, path = written(folder / "odd.csv", rows), folder / "m.hedgerow"
    few = ["--set", "n_estimators=9", "--set", "early_stopping=false", "-o", path]
    for words in (
        ["train", data, "-t", odd, *few],
        ["evaluate", path, data],
        ["compare", data, "-t", odd, "-m", "tree", "--cv", "2"],
    ):
        result = called(*words)
        assert (result.exit_code, result.stderr) == (0, "")
        assert f"'{odd}'" in result.stdout
    for words in (["show", path], ["explain", path, data], ["explain", path, data, "--row", "2"]):
        result = called(*words)
        assert (result.exit_code, result.stderr) == (0, "")
        assert label in result.stdout


def test_where_predictions_are_is_said_if_they_are_in_a_file(folder, model, tmp_path):
    data, output = folder / "people.csv", tmp_path / "out.csv"
    printed = called("predict", model, data, "-o", output).stdout
    assert printed == f"Predictions of 120 rows of {data} are in {output}.\n"
    assert len(output.read_text(encoding="utf-8").splitlines()) == 121


def test_columns_may_be_copied(folder, model):
    result = called("predict", model, folder / "people.csv", "--keep", "id")
    first, second, *_ = result.stdout.replace('"', "").splitlines()
    assert first == "id,prediction"
    assert second.split(",")[0] == "p0"


@pytest.mark.usefixtures("reader")
def test_blocks_of_any_size_give_the_same_predictions(folder, model, monkeypatch):
    expected = called("predict", model, folder / "people.csv", "-p").stdout
    for size in (61, 500):
        monkeypatch.setattr("hedgerow.cli.text_tables.blocks.__defaults__", (size,))
        assert called("predict", model, folder / "people.csv", "-p").stdout == expected


def test_scores_of_evaluate_are_those_of_python(folder, boosted):
    fitted = hedgerow.load(boosted)
    frame = polars.read_csv(folder / "people.csv", null_values=["", "NA"])
    X = frame.select(list(fitted.feature_names_in_))
    report = reported("evaluate", boosted, folder / "people.csv", "--target", "price")
    assert report["scores"]["R2"]["score"] == pytest.approx(fitted.score(X, frame["price"]))
    error = np.abs(fitted.predict(X) - frame["price"].to_numpy()).mean()
    assert report["scores"]["MAE"]["score"] == pytest.approx(error)


def test_the_standard_error_of_accuracy_is_that_of_a_share():
    rng = np.random.default_rng(3)
    y, right = rng.integers(0, 2, 4000), rng.random(4000) < 0.8
    said = np.where(right, y, 1 - y)[:, None] == np.arange(2)
    found = scored_with_errors(Told(y, said.astype(float)))["accuracy"]
    share = right.mean()
    assert found["score"] == share
    # The jackknife of 20 groups varies by 1 / sqrt(2 * 19) = 16 %: three times that.
    expected = np.sqrt(share * (1 - share) / 4000)
    assert found["standard_error"] == pytest.approx(expected, rel=0.5)


def test_models_are_compared_under_the_same_folds(folder):
    options = ["--target", "price", "--cv", "3", "-m", "tree", "-m", "bagging", *DROPS["price"]]
    report = reported("compare", folder / "people.csv", *options)
    names = [each["model"] for each in report["models"]]
    assert set(names) == {"tree", "bagging", "without features"}
    assert names[-1] == "without features"
    errors = [each["scores"]["RMSE"]["score"] for each in report["models"]]
    assert errors == sorted(errors)
    assert report["models"][0]["behind"]["score"] == 0


def test_a_row_is_explained_by_parts_that_add_up(folder, boosted):
    report = reported("explain", boosted, folder / "people.csv", "--row", "7")
    parts = sum(each["effect"] for each in report["contributions"])
    assert report["start"] + parts == pytest.approx(report["raw"])
    assert report["raw"] == pytest.approx(report["prediction"])  # squared error: no link
    shown = called("explain", boosted, folder / "people.csv", "--row", "7").stdout
    assert "Row 7: the model says" in shown
    assert "age = " in shown


def test_rows_are_summed_up_by_shapley_values(folder, boosted):
    report = reported("explain", boosted, folder / "people.csv")
    assert report["effects"][0]["feature"] == "age"
    assert report["effects"][0]["trend"] > 0.9
    assert "rises with it" in called("explain", boosted, folder / "people.csv").stdout


def test_a_model_is_shown_with_a_tree(model, boosted):
    assert "price" not in called("show", model).stdout
    shown = called("show", boosted)
    assert shown.exit_code == 0, shown.stderr
    assert "|-- age <= " in shown.stdout
    assert "early_stopping=True" in shown.stdout
    report = reported("show", boosted, "--tree", "2", "--depth", "1")
    assert len(report["tree"]["text"].splitlines()) == 3
    assert report["fingerprint"] == hedgerow.load(boosted).fingerprint_


@pytest.mark.parametrize(("name", "to"), [("m.py", None), ("m.txt", "python")])
def test_an_exported_model_predicts_alone(model, tmp_path, name, to):
    output = tmp_path / name
    report = reported("export", model, "-o", output, *([] if to is None else ["--to", to]))
    assert (report["language"], report["bytes"]) == ("python", output.stat().st_size)
    alone = runpy.run_path(str(output))["predict"]
    fitted = hedgerow.load(model)
    rows = [[row[name] for name in fitted.feature_names_in_] for row in people()]
    rows = [row for row in rows if "" not in row][:40]  # which a file leaves empty
    assert len(rows) == 40
    table = polars.DataFrame(rows, schema=list(fitted.feature_names_in_), orient="row")
    assert [alone(row) for row in rows] == fitted.predict(table).tolist()
    assert "as python" in called("export", model, "-o", tmp_path / "again.py").stdout


def test_every_golden_model_can_be_shown():
    for path in sorted((Path(__file__).parents[1] / "golden").glob("*.hedgerow")):
        result = called("show", path)
        assert result.exit_code == 0, (path, result.stderr)


def test_without_a_library_of_tables_the_message_says_what_to_install(folder, model, monkeypatch):
    monkeypatch.setattr(libraries, "find_spec", lambda _name: None)
    result = called("predict", model, folder / "people.csv")
    assert result.exit_code == 1
    assert "pip install pyarrow" in result.stderr


def test_shells_complete_the_commands():
    asked = {"_HEDGEROW_COMPLETE": "complete_bash", "COMP_WORDS": "hedgerow ex", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "hedgerow"]
    env = os.environ | asked
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    assert result.stdout.split() == ["explain", "export"]


def test_help_imports_nothing_that_takes_time():
    code = (
        "import sys; from hedgerow.cli import commands; "
        "print({'numpy', 'numba', 'sklearn', 'polars', 'pyarrow', 'pandas'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(hedgerow.__file__).parent.parent), "PATH": ""},
    )
    assert result.stdout == "set()\n"


PEAK = """
import sys
from pathlib import Path
from typer.testing import CliRunner
from hedgerow.cli.commands import app
result = CliRunner().invoke(app, ["predict", *sys.argv[1:]])
assert result.exit_code == 0, result.stderr
status = Path("/proc/self/status").read_text()
print(status.partition("VmHWM:")[2].split()[0])
"""


# ru_maxrss would do everywhere, but a process begins with that of its parent.
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_predict_of_a_longer_file_takes_no_more_memory(folder, model, tmp_path):
    lines = (folder / "people.csv").read_bytes().splitlines(keepends=True)
    body = b"".join(lines[1:])
    peaks = []
    for n_bytes in (40 << 20, 160 << 20):
        data = tmp_path / f"{n_bytes}.csv"
        data.write_bytes(lines[0] + body * (n_bytes // len(body)))
        arguments = [str(model), str(data), "-o", str(tmp_path / "out.csv")]
        code = [sys.executable, "-c", PEAK, *arguments]
        result = subprocess.run(code, capture_output=True, text=True, check=True)
        peaks.append(int(result.stdout) << 10)
    # The file grows by 120 MiB and its table by more: what allocators keep is less than half.
    assert peaks[1] - peaks[0] < 50 << 20, peaks


@pytest.mark.parametrize("kind", ["boosting", "forest", "tree"])
def test_the_next_commands_that_training_names_work(kind, folder, tmp_path):
    path, data = tmp_path / "model.hedgerow", folder / "people.csv"
    options = ["--target", "price", "--model", kind, *DROPS["price"], "-o", path]
    printed = called("train", data, *options).stdout
    words = [line.split() for line in printed.splitlines() if line.startswith("  hedgerow ")]
    assert len(words) == 2
    for _, *given in words:
        output = str(tmp_path / "predictions.csv")
        named = [output if word == "predictions.csv" else word for word in given]
        result = called(*named)
        assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("settings", [[], ["--cv", "3"]])
def test_a_model_is_judged_beside_one_without_features(settings, folder, tmp_path):
    options = ["--target", "bought", "--model", "tree", *DROPS["bought"], *settings]
    report = reported("train", folder / "people.csv", *options, "-o", tmp_path / "m")
    base = report["constant"]
    assert base["AUC"]["score"] == 0.5
    assert report["scores"]["accuracy"]["score"] > base["accuracy"]["score"] > 0.4
    share = base["accuracy"]["score"]
    assert base["log-loss"]["score"] == pytest.approx(
        -share * np.log(share) - (1 - share) * np.log(1 - share), rel=0.05
    )
