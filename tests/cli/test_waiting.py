"""Nobody waits for what a command does not need: which modules it imports."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow
from hedgerow.garbage import none_looked_for
from tests.cli.calls import people, written

HEAVY = (
    "sklearn",
    "scipy.stats",
    "scipy.linalg",
    "pandas",
    "matplotlib",
    "numba.np.linalg",  # Numba has prepared to compile
    "narwhals",
    "pyarrow.compute",
    "rich.console",
)
GOLDEN = Path(__file__).parents[1] / "golden"


def imported(*arguments, watched=HEAVY):
    """Run a command in a process of its own; return what it printed and the modules it had."""
    code = (
        "import atexit, sys\n"
        f"watched = {watched!r}\n"
        "atexit.register(lambda: sys.stderr.write(\n"
        "    repr([name for name in watched if name in sys.modules])))\n"
        "from hedgerow.cli import main\n"
        f"sys.argv = ['hedgerow', *{[str(each) for each in arguments]!r}]\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout, ended.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of texts and numbers, trained by file, and rows for them."""
    pyarrow, csv = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.csv")
    folder = tmp_path_factory.mktemp("waiting")
    rows = written(folder / "people.csv", people())
    options = csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
    table = csv.read_csv(rows, convert_options=options)
    X = table.select(["age", "town", "height"])
    pytest.importorskip("pyarrow.parquet").write_table(X, folder / "people.parquet")
    labels, prices = (table[name].to_pylist() for name in ("bought", "price"))
    hedgerow.GradientBoostingClassifier(n_estimators=3).fit(X, labels).save(folder / "boosting")
    hedgerow.RandomForestClassifier(3).fit(X, labels).save(folder / "forest")
    hedgerow.DecisionTreeRegressor(max_depth=2).fit(X, prices).save(folder / "tree")
    assert isinstance(table, pyarrow.Table)
    for model in ("boosting", "forest", "tree"):
        hedgerow.load(folder / model).predict(X)  # kernels are kept from here on
    return folder


@pytest.mark.parametrize("data", ["people.csv", "people.parquet"])
@pytest.mark.parametrize("model", ["boosting", "forest", "tree"])
def test_predicting_imports_none_of_the_heavy_libraries(folder, model, data):
    printed, modules = imported("predict", folder / model, folder / data)
    assert modules == "[]"
    said = hedgerow.load(folder / model).predict(
        pytest.importorskip("pyarrow.parquet").read_table(folder / "people.parquet")
    )
    lines = printed.replace('"', "").splitlines()
    assert lines[0] == "prediction"
    assert [type(said[0].item())(line) for line in lines[1:]] == said.tolist()


def test_probabilities_and_copied_columns_import_none_either(folder):
    given = ("--probabilities", "--keep", "town", "--output", folder / "out.parquet")
    _, modules = imported("predict", folder / "forest", folder / "people.parquet", *given)
    assert modules == "[]"


def test_a_model_of_learners_is_predicted_from_the_old_way(tmp_path):
    rows = [{"a": k, "b": k % 3, "c": k % 5} for k in range(8)]
    data = written(tmp_path / "rows.csv", rows)
    model = GOLDEN / "adaboost-learners.hedgerow"
    printed, modules = imported("predict", model, data, watched=("sklearn",))
    assert modules.endswith("['sklearn']")
    said = hedgerow.load(model).predict([[float(v) for v in row.values()] for row in rows])
    assert [float(line) for line in printed.splitlines()[1:]] == said.tolist()


def test_help_imports_not_even_numpy():
    printed, modules = imported("--help", watched=("numpy", "numba", "pyarrow", *HEAVY[:-1]))
    assert "predict" in printed
    assert modules == "[]"


@pytest.mark.parametrize("is_on", [True, False])
def test_garbage_is_looked_for_again_as_before(is_on):
    before = gc.isenabled()
    (gc.enable if is_on else gc.disable)()
    try:
        with none_looked_for():
            assert not gc.isenabled()
        assert gc.isenabled() is is_on
    finally:
        (gc.enable if before else gc.disable)()


def test_a_command_ends_without_looking_for_garbage_but_does_what_is_left_to_do():
    code = (
        "import atexit, gc, sys\n"
        "def last():\n"
        "    print('handled')\n"
        "    gc.callbacks.append(lambda *_: print('looked'))\n"
        "atexit.register(last)\n"
        "from hedgerow.cli import main\n"
        "sys.argv = ['hedgerow', '--version']\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == f"hedgerow {hedgerow.__version__}\nhandled\n"
