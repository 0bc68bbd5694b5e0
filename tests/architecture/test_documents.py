"""What the documents show is what happens."""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hedgerow
from benchmarks.table import replaced, table
from hedgerow import DecisionTreeClassifier, load
from hedgerow.cli.commands import app

ROOT = Path(__file__).parents[2]


def test_the_example_of_the_readme_prints_what_the_readme_says(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n+```\n(.*?)```", readme, re.S).groups()
    names: dict[str, object] = {}
    exec(code, names)
    model = names["tree"]
    assert isinstance(model, DecisionTreeClassifier)
    assert capsys.readouterr().out == f"{printed}{model.fingerprint_}\n"


@pytest.mark.slow
def test_the_example_of_boosting_runs(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, _, code = re.findall(r"```python\n(.*?)```", readme, re.S)
    exec(code, {"__name__": "readme"})
    assert 1 <= int(capsys.readouterr().out) <= 1000


@pytest.mark.slow
def test_the_example_of_forests_runs():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, code, _ = re.findall(r"```python\n(.*?)```", readme, re.S)
    names: dict[str, object] = {"__name__": "readme"}
    exec(code, names)
    model, table = names["forest"], names["X"]
    assert model.oob_curve_[0] < model.oob_curve_[9] < model.oob_curve_[99]
    assert (model.standard_errors(table[:2]) > 0).all()


def pages_with(mark: str) -> list[Path]:
    pages = sorted([ROOT / "docs" / "index.md", *ROOT.glob("docs/guide/*.md")])
    return [page for page in pages if mark in page.read_text(encoding="utf-8")]


def by_time(page: Path) -> Any:
    """Return a page as a parameter: one compiles a loss of its own, and fits many models."""
    slow = [pytest.mark.slow] if page.stem == "gradient-boosting" else []
    return pytest.param(page, marks=slow, id=page.stem)


@pytest.mark.parametrize("page", [by_time(page) for page in pages_with(">>> ")])
def test_the_examples_of_a_guide_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for what they write
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=options)
    assert tried
    assert not failed


@pytest.mark.parametrize("page", pages_with("$ hedgerow "), ids=lambda page: page.stem)
def test_the_commands_of_a_guide_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests" / "data_files" / "iris.parquet", tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert blocks
    for line, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.M):
        result = CliRunner().invoke(app, shlex.split(line)[1:], prog_name="hedgerow")
        found = result.stdout + result.stderr
        assert doctest.OutputChecker().check_output(printed, found, options), f"{line}\n{found}"


def test_every_file_that_a_document_points_to_is_there():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("changes/*.md")]
    targets = [
        (document, target)
        for document in documents
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8"))
    ]
    assert targets
    absent = [(d, t) for d, t in targets if not (d.parent / t).exists()]
    assert [(d, t) for d, t in absent if not is_drawn(d, t)] == []


def is_drawn(page: Path, picture: str) -> bool:
    """Tell whether an example of a page draws a picture: `make docs` runs it."""
    return f'savefig("{Path(picture).name}"' in page.read_text(encoding="utf-8")


def test_every_page_of_the_guide_has_examples_and_is_in_the_table_of_contents():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    with_examples = {*pages_with(">>> "), *pages_with("$ hedgerow ")}
    for page in ROOT.glob("docs/guide/*.md"):
        assert page in with_examples, page
        assert f"\nguide/{page.stem}\n" in index, page


def test_every_public_name_is_in_the_reference():
    pages = [page.read_text(encoding="utf-8") for page in ROOT.glob("docs/reference/*.md")]
    described = set(re.findall(r"\{described\} hedgerow\.(\S+)", "".join(pages)))
    public = {name for name in hedgerow.__all__ if name != "__version__"}
    for room in ("evaluation", "losses", "theory"):
        public |= {f"{room}.{name}" for name in import_module(f"hedgerow.{room}").__all__}
    assert described == public - {"theory.SURROGATES"}  # values, which `surrogate` finds by name


def test_the_table_of_the_readme_is_made_of_the_stored_results():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert replaced(readme, table()) == readme


def test_a_row_of_the_table_is_the_newest_run_and_says_if_runs_were_few(tmp_path):
    machine = {"cpu": "C", "cores": 2, "system": "S", "python": "3", "numpy": "1", "numba": "2"}
    record = {
        "contest": "binary, 2 x 2, 1 thread",
        "machine": machine | {"scikit-learn": "4"},
        "when": "2026-01-02T03:04:05+00:00",
        "scores": {"hedgerow": 0.25, "A": 0.5, "B": 0.75},
        "seconds": {
            "hedgerow": {"fit": [2.0, 1.0, 30.0]},
            "A": {"fit": [8.0, 8.0, 8.0]},
            "B": {"fit": [6.0, 5.0, 5.0]},
        },
    }
    older = record | {"seconds": {"hedgerow": {"fit": [9.0]}, "A": {"fit": [1.0]}}}
    alone = record | {"seconds": {"hedgerow": {"fit": [9.0]}}}
    lines = "\n".join(json.dumps(each) for each in (older, record, alone))
    (tmp_path / "boosting.jsonl").write_text(lines, encoding="utf-8")
    (row,) = [line for line in table(tmp_path).splitlines() if line.startswith("| boosting")]
    assert row == (
        "| boosting: binary, 2 x 2, 1 thread | fit | 2 s | 5 s, B | 2.5 (few runs: 3) | "
        "at least 2 | log-loss 0.2500, 0.7500 | 2026-01-02 [1] |"
    )
    many = record | {"seconds": {n: {"fit": [1.0] * 15} for n in ("hedgerow", "A")}}
    (tmp_path / "boosting.jsonl").write_text(json.dumps(many), encoding="utf-8")
    assert "few runs" not in table(tmp_path).split("\n\n")[0]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    source = shutil.copytree(ROOT / "docs", tmp_path / "docs")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
    result = subprocess.run(
        [*command, source, tmp_path / "site"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "site" / "reference" / "forests.html").read_text(encoding="utf-8")
    assert "hedgerow.RandomForestClassifier.shap_values" in page
    assert (tmp_path / "site" / "_images" / "margins.png").exists()


@pytest.mark.slow
def test_the_demo_runs_and_leaves_a_model(tmp_path):
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    assert "the same predictions, bit for bit" in result.stdout
    assert load(tmp_path / "demo.hedgerow").n_features_in_ == 14
    assert len((tmp_path / "demo_predictions.csv").read_text().splitlines()) == 12_212
