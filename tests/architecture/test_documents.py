"""What the documents show is what happens."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

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
    pages = sorted(ROOT.glob("docs/guide/*.md"))
    return [page for page in pages if mark in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", pages_with(">>> "), ids=lambda page: page.stem)
def test_the_examples_of_a_guide_print_what_it_says(page):
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
    assert [(d, t) for d, t in targets if not (d.parent / t).exists()] == []


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
