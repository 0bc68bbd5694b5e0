"""The house keeps its rules: budgets, contracts, and the names it shows to users."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hedgerow
from hedgerow.kernels.cache import _COMPILED_ROOMS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "hedgerow"
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))
KERNELS = [module for module in MODULES if module.startswith("hedgerow/kernels/")]

MAX_LINES = 300
MAX_KERNEL_LINES = 260  # on the way to 200
MAX_KERNEL_ARGUMENTS = 9
BANNED_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
PUBLIC_NAMES = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CheckpointError",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRanker",
    "GradientBoostingRegressor",
    "L1BoostClassifier",
    "ModelFileError",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StagewiseClassifier",
    "StagewiseRegressor",
    "__version__",
    "export_dot",
    "export_json",
    "export_model",
    "export_text",
    "load",
    "mean_ndcg",
    "plot_margins",
    "plot_regions",
    "plot_row_weights",
    "plot_training_error",
    "plot_tree",
    "threads",
]


def parsed(module: str) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"), filename=module)


@pytest.mark.parametrize("module", MODULES)
def test_a_file_is_short_enough_to_read(module):
    n_lines = len((ROOT / module).read_text(encoding="utf-8").splitlines())
    assert n_lines <= (MAX_KERNEL_LINES if module in KERNELS else MAX_LINES)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_says_what_it_is_for(module):
    assert ast.get_docstring(parsed(module)), f"{module} has no docstring"


def test_no_file_is_named_after_nothing():
    named_after_nothing = [m for m in MODULES if BANNED_NAMES & set(Path(m).with_suffix("").parts)]
    assert named_after_nothing == []


def test_only_the_command_line_prints():
    printing = [
        f"{module}:{node.lineno}"
        for module in MODULES
        if not module.startswith("hedgerow/cli")
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert printing == []


@pytest.mark.parametrize("module", KERNELS)
def test_a_kernel_has_at_most_nine_arguments(module):
    functions = [node for node in ast.walk(parsed(module)) if isinstance(node, ast.FunctionDef)]
    crowded = [f.name for f in functions if len(f.args.args) > MAX_KERNEL_ARGUMENTS]
    assert crowded == []


def test_all_that_is_compiled_is_in_the_rooms_whose_digest_names_the_cache():
    outside = [
        module
        for module in MODULES
        if Path(module).parts[1] not in _COMPILED_ROOMS
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.ImportFrom) and node.module == "hedgerow.kernels.jit"
    ]
    assert outside == []


def test_each_room_looks_down_and_never_up():
    # As a process of its own: it imports nothing of ours, and its warnings are not ours.
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_users_see_these_names_and_no_others():
    assert sorted(hedgerow.__all__) == PUBLIC_NAMES
    assert [name for name in PUBLIC_NAMES if not hasattr(hedgerow, name)] == []


def test_the_package_and_its_metadata_have_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert hedgerow.__version__ == project["version"]
