"""The command `hedgerow` does what it says, and its exit code tells whether it did."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli import commands, compiling, kernels_kept
from hedgerow.cli.warmup import steps
from hedgerow.kernels import announcing, cache
from hedgerow.kernels.cache import sources_digest

OTHER = "0123456789abcdef"  # the digest of no version


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty place for kernels, and a process that has not said anything about it yet."""
    monkeypatch.setenv("HEDGEROW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr(cache, "_warned", False)
    monkeypatch.setattr(announcing, "_announced", False)
    return tmp_path / "cache"


@pytest.fixture
def quick_steps(root, monkeypatch):
    """Compilation that takes no time: each step leaves one kernel behind."""

    def step(name: str) -> None:
        (root / sources_digest() / f"{name}.nbc").write_bytes(b"1234567")

    def in_this_process(names: list[str]) -> Iterator[str]:
        for name in names:
            step(name)
            yield name

    monkeypatch.setattr(kernels_kept, "steps", lambda: dict.fromkeys(("gini", "squared error")))
    monkeypatch.setattr(kernels_kept, "compiled", in_this_process)


def called(*arguments: str):
    return CliRunner().invoke(commands.app, list(arguments), prog_name="hedgerow")


def filled(directory: Path, n_bytes: int) -> Path:
    directory.mkdir(parents=True)
    (directory / "kernel.nbc").write_bytes(b"x" * n_bytes)
    return directory


def test_it_knows_its_version():
    result = called("--version")
    assert result.stdout == f"hedgerow {hedgerow.__version__}\n"
    assert result.exit_code == 0


@pytest.mark.parametrize("arguments", [["prune"], ["warmup", "--quickly"], ["cache", "everything"]])
def test_misuse_ends_with_2(arguments):
    result = called(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("hedgerow: ")
    assert result.stderr.endswith("--help`.\n")
    assert len(result.stderr.splitlines()) == 1


def test_help_lists_the_commands():
    result = called("--help")
    assert result.exit_code == 0
    assert "warmup" in result.stdout
    assert "cache" in result.stdout


@pytest.mark.usefixtures("quick_steps")
def test_warmup_ends_with_how_many_how_long_and_where(root):
    result = called("warmup")
    assert result.exit_code == 0
    assert result.stdout.startswith("2 kernels are ready, 2 of them compiled now, in 0.")
    assert result.stdout.endswith(f" s: {root / sources_digest()}\n")


@pytest.mark.usefixtures("quick_steps")
def test_warmup_tells_machines(root):
    report = json.loads(called("warmup", "--json").stdout)
    assert (report["n_kernels"], report["n_compiled"]) == (2, 2)
    assert report["directory"] == str(root / sources_digest())


@pytest.mark.usefixtures("quick_steps")
def test_warmup_has_nothing_to_do_the_second_time():
    called("warmup")
    assert "2 kernels are ready, none of them compiled now" in called("warmup").stdout


@pytest.mark.usefixtures("quick_steps")
def test_warmup_shows_a_bar_only_to_somebody_who_watches(monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert called("warmup").stderr == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, as far as rich is concerned
    assert "squared error" in called("warmup").stderr


@pytest.mark.usefixtures("quick_steps")
def test_warmup_is_not_announced_by_the_kernels(capsys):
    called("warmup")
    announcing.announce(None)
    assert capsys.readouterr().err == ""


def test_steps_are_taken_by_processes_of_their_own(monkeypatch):
    taken = []

    class Told(compiling.ProcessPoolExecutor):
        def submit(self, _task, _names):
            taken.append(super().submit(os.getpid))
            return taken[-1]

    monkeypatch.setattr(compiling, "ProcessPoolExecutor", Told)
    names = [f"step {number}" for number in range(9)]
    assert sorted(compiling.compiled(names)) == names
    assert len({os.getpid()} | {future.result() for future in taken}) == 4  # 4, 4 and 1 steps


def test_a_step_that_fails_is_told():
    with pytest.raises(KeyError, match="no such step"):
        list(compiling.compiled(["no such step"]))


def test_warmup_fails_if_kernels_cannot_be_kept(root):
    root.write_text("a file, not a directory")
    with pytest.warns(RuntimeWarning, match="cannot be used"):
        result = called("warmup")
    assert result.exit_code == 1
    assert "Set HEDGEROW_CACHE_DIR" in result.stderr
    assert result.stdout == ""


@pytest.mark.usefixtures("root")
def test_warmup_fails_if_nothing_was_kept(monkeypatch):
    monkeypatch.setattr(kernels_kept, "compiled", lambda _names: iter(["gini"]))
    result = called("warmup")
    assert result.exit_code == 1
    assert "is the disk full?" in result.stderr


def test_warmup_fails_without_a_compiler(root, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    result = called("warmup")
    assert result.exit_code == 1
    assert "NUMBA_DISABLE_JIT" in result.stderr
    assert not root.exists()


def test_warmup_knows_every_criterion():
    models = [step.args[0] for step in steps().values() if len(step.args) == 3]
    for kind in (hedgerow.DecisionTreeClassifier, hedgerow.DecisionTreeRegressor):
        (options,) = kind._parameter_constraints["criterion"]
        warmed = {model.criterion for model in models if type(model) is kind}
        assert warmed == options.options - {"log_loss"}  # another name of entropy


def test_warmup_knows_every_loss():
    models = [step.args[0] for step in steps().values() if len(step.args) == 3]
    for kind in (hedgerow.GradientBoostingClassifier, hedgerow.GradientBoostingRegressor):
        options, *_ = kind._parameter_constraints["loss"]
        assert {model.loss for model in models if type(model) is kind} == options.options


def test_cache_says_where_it_is_and_how_large(root):
    filled(root / sources_digest(), 2_300_000)
    filled(root / OTHER, 400_000)
    result = called("cache")
    assert result.exit_code == 0
    first, *rest = result.stdout.splitlines()
    assert first == str(root)
    assert sorted(" ".join(line.split()) for line in rest) == sorted(
        [
            f"{sources_digest()} 1 kernels 2.3 MB this version",
            f"{OTHER} 1 kernels 0.4 MB another version",
        ]
    )


def test_cache_that_is_not_there_is_not_made(root):
    result = called("cache", "--clear")
    assert result.exit_code == 0
    assert "nothing yet" in result.stdout
    assert not root.exists()


def test_clearing_removes_other_versions_and_nothing_else(root):
    ours = filled(root / sources_digest(), 10)
    other = filled(root / OTHER, 400_000)
    photographs = filled(root / "photographs", 10)
    linked = filled(root.parent / "linked", 10)
    (root / OTHER[::-1]).symlink_to(linked)
    result = called("cache", "--clear")
    assert result.exit_code == 0
    assert "Removed 1 other version, 0.4 MB." in result.stdout
    assert not other.exists()
    assert all(path.exists() for path in (ours, photographs, linked / "kernel.nbc"))


def test_a_cache_that_cannot_be_read_ends_with_1(root):
    root.write_text("a file, not a directory")
    result = called("cache")
    assert result.exit_code == 1
    assert str(root) in result.stderr


def in_a_process(arguments: list[str], cache_dir: Path) -> subprocess.CompletedProcess[str]:
    outer = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "HEDGEROW_"))}
    package = {"PYTHONPATH": str(Path(hedgerow.__file__).parent.parent)}
    return subprocess.run(
        [sys.executable, *arguments],
        env=outer | package | {"HEDGEROW_CACHE_DIR": str(cache_dir)},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )


def test_it_runs_as_a_module(tmp_path):
    result = in_a_process(["-m", "hedgerow", "--version"], tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"hedgerow {hedgerow.__version__}\n"


ABORTS = """
import atexit, os, sys, threading, time
from hedgerow import cli

class Torn:
    def __del__(self):
        os.abort()

def work():
    time.sleep(0.2)
    print("done")

kept = Torn()
atexit.register(print, "handled")
threading.Thread(target=work).start()
sys.argv = ["hedgerow", *sys.argv[1:]]
cli.main()
"""


@pytest.mark.parametrize(("option", "code"), [("--version", 0), ("--versoin", 2)])
def test_a_library_that_aborts_when_it_is_taken_apart_changes_no_exit_code(tmp_path, option, code):
    result = in_a_process(["-c", ABORTS, option], tmp_path)
    assert result.returncode == code, result.stderr
    assert result.stdout.split()[-2:] == ["done", "handled"]


@pytest.mark.slow
def test_after_warmup_no_fit_compiles(tmp_path):
    warm = in_a_process(["-m", "hedgerow", "warmup"], tmp_path)
    assert (warm.returncode, warm.stderr) == (0, "")
    fits = Path(__file__).with_name("many_fits.py")
    result = in_a_process([str(fits)], tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "compiled: []\n"
