"""Compiled kernels are kept between processes, never stale, and never in the way.

Each test runs processes of its own with a copy of the room `kernels`, to which a small
kernel and its formula, in two files, are added. It compiles in a fraction of a second.
"""

import os
import pickle
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from llvmlite import binding

from hedgerow.kernels import cache
from hedgerow.kernels.cache import CheckedFile, cache_root, private_directory
from hedgerow.losses import Huber

PACKAGE = Path(cache.__file__).parent.parent
ANNOUNCEMENT = "hedgerow: compiling kernels"

FORMULA = """
from typing import NamedTuple

class Scaled(NamedTuple):
    factor: float

    def score(self, sums, first=0):
        return 10.0 * self.factor * sums[first]
"""
KERNELS = """
from hedgerow.kernels.jit import kernel

@kernel
def judge(criterion, sums):
    return criterion.score(sums)

@kernel
def largest(sums):
    return max(sums[0], sums[1])
"""
SCRIPT = """
import numpy as np
from hedgerow.kernels.small_formula import Scaled
from hedgerow.kernels.small_kernels import judge, largest

sums = np.array([1.0, 2.0])
print(judge(Scaled(1.0), sums), largest(sums))
if hasattr(judge, "stats"):
    print(sum(sum(f.stats.cache_hits.values()) for f in (judge, largest)), "loaded")
"""

LINKING = """
import numba

@numba.njit
def outer(sums):
    return largest(sums)

try:
    print(outer(sums))
except Exception as error:
    print(str(error).splitlines()[0])
"""


class NamedBase(NamedTuple):
    factor: float


class House:
    """A copy of the kernels somewhere, and a cache somewhere else."""

    def __init__(self, package: Path, cache: Path) -> None:
        self.package, self.cache = package, cache

    def run(self, script: str = SCRIPT, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a script in a new process, which must succeed."""
        outer = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "HEDGEROW_"))}
        own = {
            "HEDGEROW_CACHE_DIR": str(self.cache),
            "PYTHONPATH": str(self.package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-P", "-c", script]  # -P: not from the current directory
        result = subprocess.run(
            command,
            env=outer | own | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert result.returncode == 0, result.stderr
        return result

    def files(self, pattern: str) -> list[Path]:
        return sorted(self.cache.rglob(pattern))

    def of_kernel(self, name: str, ending: str) -> Path:
        (file,) = self.files(f"*.{name}-*.{ending}")
        return file


def copied_kernels(place: Path) -> Path:
    package = place / "copy" / "hedgerow"
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE / "kernels", package / "kernels", ignore=skipped)
    (package / "__init__.py").touch()
    (package / "kernels" / "small_formula.py").write_text(FORMULA)
    (package / "kernels" / "small_kernels.py").write_text(KERNELS)
    return package


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The house, its first process, and what that process wrote."""
    place = tmp_path_factory.mktemp("house")
    house = House(copied_kernels(place), place / "cache")
    return house, house.run()


@pytest.fixture
def house(first, tmp_path):
    """A house that nobody has used."""
    return House(first[0].package, tmp_path / "cache")


@pytest.fixture
def used(first, tmp_path):
    """A house whose cache was filled by another process."""
    shutil.copytree(first[0].cache, tmp_path / "cache")
    return House(first[0].package, tmp_path / "cache")


def test_the_second_process_loads_what_the_first_compiled(first):
    house, result = first
    assert result.stdout == "10.0 2.0\n0 loaded\n"
    second = house.run()
    assert second.stdout == "10.0 2.0\n2 loaded\n"
    assert second.stderr == ""


def test_kernels_are_loaded_before_numba_has_prepared_to_compile(used):
    script = SCRIPT + "import sys; print('numba.np.linalg' in sys.modules)\n"
    assert used.run(script).stdout == "10.0 2.0\n2 loaded\nFalse\n"
    used.of_kernel("largest", "nbi").unlink()
    assert used.run(script).stdout == "10.0 2.0\n1 loaded\nTrue\n"


def test_a_kernel_that_was_loaded_cannot_be_linked_and_says_so(used):
    script = SCRIPT + LINKING
    lines = used.run(script).stdout.splitlines()
    assert lines[:2] == ["10.0 2.0", "2 loaded"]
    assert "cannot be called by another one" in lines[2]
    used.of_kernel("largest", "nbi").unlink()
    assert used.run(script).stdout.splitlines()[2] == "2.0"


def test_of_the_code_of_a_kernel_only_its_own_names_are_kept():
    code = """
        declare void @other()
        @there = external global i64
        @"here.$1" = global i64 7
        define i64 @"own.$2"(i64 %x) { ret i64 %x }
        define i64 @part(i64 %x) { ret i64 %x }
    """
    own = "here.$1", "own.$2", "there", "never"
    bitcode = cache._names_only(binding.parse_assembly(code).as_bitcode(), own)
    kept = binding.parse_bitcode(bitcode)
    assert not list(kept.functions)
    assert {each.name for each in kept.global_variables} == {"here.$1", "own.$2"}
    assert not any(each.is_declaration for each in kept.global_variables)


def test_the_first_process_announces_once_and_not_where_results_go(first):
    _, result = first
    assert result.stderr.count(ANNOUNCEMENT) == 1
    assert result.stderr.count("\n") == 1
    assert result.stdout == "10.0 2.0\n0 loaded\n"


def test_a_formula_edited_in_another_file_gives_the_new_number(tmp_path):
    house = House(copied_kernels(tmp_path), tmp_path / "cache")
    assert house.run().stdout == "10.0 2.0\n0 loaded\n"
    formula = house.package / "kernels" / "small_formula.py"
    formula.write_text(FORMULA.replace("10.0", "20.0"))
    assert house.run().stdout == "20.0 2.0\n0 loaded\n"


@pytest.mark.slow
def test_an_edited_criterion_gives_another_tree(tmp_path):
    house = House(tmp_path / "hedgerow", tmp_path / "cache")
    shutil.copytree(PACKAGE, house.package, ignore=shutil.ignore_patterns("__pycache__"))
    script = (
        "from hedgerow import DecisionTreeClassifier\n"
        "tree = DecisionTreeClassifier(max_depth=1).fit([[1], [2], [2], [3]], [0, 0, 1, 1])\n"
        "print(tree.tree_.impurity[0])\n"
    )
    assert house.run(script).stdout == "0.5\n"
    criteria = house.package / "kernels" / "criteria.py"
    text = criteria.read_text()
    edited, n_edits = re.subn(
        r"(class Gini.*?def score.*?return )", r"\g<1>3.0 * ", text, flags=re.S
    )
    assert n_edits == 1
    criteria.write_text(edited)
    assert house.run(script).stdout != "0.5\n"


@pytest.mark.parametrize("ending", ["nbc", "nbi"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "garbage"])
def test_a_damaged_entry_is_replaced_with_one_warning(used, ending, damage):
    file = used.of_kernel("judge", ending)
    whole = file.read_bytes()
    file.write_bytes({"truncated": whole[:-9], "empty": b"", "garbage": b"no pickle"}[damage])
    damaged = used.run()
    assert damaged.stdout == "10.0 2.0\n1 loaded\n"
    assert damaged.stderr.count("RuntimeWarning") == 1
    assert damaged.stderr.count("damaged entry") == 1
    after = used.run()
    assert after.stdout == "10.0 2.0\n2 loaded\n"
    assert after.stderr == ""


def test_several_damaged_entries_are_one_warning(used):
    for file in used.files("*.nbc"):
        file.write_bytes(b"")
    damaged = used.run()
    assert damaged.stdout == "10.0 2.0\n0 loaded\n"
    assert damaged.stderr.count("RuntimeWarning") == 1


def test_a_changed_byte_is_noticed_before_the_binary_is_loaded(used):
    file = used.of_kernel("judge", "nbc")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert "is damaged" in used.run().stderr


def test_what_cannot_even_be_removed_makes_no_call_fail(used):
    file = used.of_kernel("judge", "nbi")
    file.unlink()
    file.mkdir()
    blocked = used.run()
    assert blocked.stdout == "10.0 2.0\n1 loaded\n"
    assert blocked.stderr.count("RuntimeWarning") == 1


def test_an_impossible_cache_directory_costs_one_warning(house):
    house.cache.write_text("a file, not a directory")
    result = house.run()
    assert result.stdout == "10.0 2.0\n0 loaded\n"
    assert result.stderr.count("RuntimeWarning") == 1
    assert "HEDGEROW_CACHE_DIR" in result.stderr


def test_kernels_are_never_kept_anywhere_else(used):
    place = used.of_kernel("judge", "nbc").parent
    shutil.rmtree(place)
    place.write_text("in the way")
    result = used.run()
    assert result.stdout == "10.0 2.0\n0 loaded\n"
    assert result.stderr.count("RuntimeWarning") == 1
    assert list(used.package.rglob("*.nb?")) == []


def test_the_settings_of_numba_do_not_move_our_cache(house, tmp_path):
    house.run(
        NUMBA_CACHE_DIR=str(tmp_path / "other"), NUMBA_CACHE_LOCATOR_CLASSES="InTreeCacheLocator"
    )
    assert len(house.files("*.nbc")) == 2
    assert list(house.package.rglob("*.nb?")) == []
    assert not (tmp_path / "other").exists()


def test_only_the_owner_may_enter_the_cache(house):
    house.run()
    (directory,) = house.cache.iterdir()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_directory_that_others_may_write_is_refused(used):
    (directory,) = used.cache.iterdir()
    directory.chmod(0o777)
    result = used.run()
    assert result.stdout == "10.0 2.0\n0 loaded\n"
    assert result.stderr.count("RuntimeWarning") == 1
    assert "can be written by other users" in result.stderr


def test_a_cache_in_a_directory_that_anybody_may_rearrange_is_refused(house):
    house.cache.mkdir()
    house.cache.chmod(0o777)
    assert "can be written by other users" in house.run().stderr
    house.cache.chmod(0o1777)  # like /tmp: nobody can move what belongs to others
    assert "can be written by other users" not in house.run().stderr


def test_a_link_planted_in_place_of_the_cache_is_not_followed(used, tmp_path):
    (directory,) = used.cache.iterdir()
    directory.rename(tmp_path / "elsewhere")
    directory.symlink_to(tmp_path / "elsewhere")
    result = used.run()
    assert result.stdout == "10.0 2.0\n0 loaded\n"
    assert "not a directory of this user's own" in result.stderr


def test_what_is_in_a_read_only_cache_is_loaded(used):
    # Superusers can write everywhere, so that chmod is not enough to make a place read-only.
    read_only = """
import builtins

def refuse(file, mode="r", *arguments, plain=open, **options):
    if "w" in mode:
        raise OSError(30, "Read-only file system")
    return plain(file, mode, *arguments, **options)

builtins.open = refuse
"""
    result = used.run(read_only + SCRIPT)
    assert result.stdout == "10.0 2.0\n2 loaded\n"
    assert result.stderr == ""
    used.of_kernel("judge", "nbc").unlink()
    result = used.run(read_only + SCRIPT)
    assert result.stdout == "10.0 2.0\n1 loaded\n"
    assert result.stderr.count("RuntimeWarning") == 1
    assert "Read-only file system" in result.stderr


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root gives files away")
def test_kernels_of_root_are_trusted_and_those_of_others_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "_warned", False)
    directory = private_directory()
    assert directory is not None
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    assert private_directory() == directory
    os.chown(directory, 54_321, -1)
    with pytest.warns(RuntimeWarning, match="not a directory of this user's own"):
        assert private_directory() is None


def test_a_user_whose_new_files_are_writable_by_the_group_has_a_cache(house):
    script = "import os; os.umask(0o002)" + SCRIPT
    house.run(script)
    assert house.run(script).stdout == "10.0 2.0\n2 loaded\n"


def test_without_the_jit_there_is_no_cache(house):
    result = house.run(NUMBA_DISABLE_JIT="1")
    assert result.stdout == "10.0 2.0\n"
    assert result.stderr == ""
    assert not house.cache.exists()


def test_an_installation_that_cannot_be_written_is_not_written(tmp_path):
    house = House(copied_kernels(tmp_path), tmp_path / "cache")
    paths = [house.package, *house.package.rglob("*")]
    before = {path: path.stat().st_mtime_ns for path in paths}
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    house.run()
    assert house.run().stdout == "10.0 2.0\n2 loaded\n"
    for path in paths:  # for whoever clears the temporary directory
        path.chmod(0o755)
    after = [house.package, *house.package.rglob("*")]
    assert {path: path.stat().st_mtime_ns for path in after} == before


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("HEDGEROW_CACHE_DIR", str(tmp_path / "mine"))
    assert cache_root() == tmp_path / "mine"
    monkeypatch.delenv("HEDGEROW_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_root() == tmp_path / "caches" / "hedgerow"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "hedgerow"


def test_a_user_without_a_home_is_warned_and_not_stopped(monkeypatch):
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("HEDGEROW_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(RuntimeWarning, match="home directory"):
        assert private_directory() is None


def test_a_binary_of_other_types_is_not_loaded(tmp_path):
    # Two processes that compile one kernel for different types at the same moment may both
    # choose the first free file: the index of one then names the binary of the other.
    file = CheckedFile(str(tmp_path), "kernel", "stamp")
    file.save("float64", "binary for float64")
    file._save_index({"int64": file._data_name(1)})
    assert file.load("int64") is None
    file.save("int64", "binary for int64")
    assert file.load("int64") == "binary for int64"


def test_nothing_is_unpickled_before_its_digest_is_checked(tmp_path):
    class Trap:
        def __reduce__(self):
            return (tmp_path.joinpath("sprung").touch, ())

    file = CheckedFile(str(tmp_path), "kernel", "stamp")
    file.save("key", "binary")
    Path(file._data_path(file._data_name(1))).write_bytes(b"\0" * 32 + pickle.dumps(Trap()))
    with pytest.raises(ValueError, match="damaged"):
        file.load("key")
    assert not (tmp_path / "sprung").exists()


OUTSIDE = """
from typing import NamedTuple
import numpy as np
from hedgerow.kernels.small_kernels import judge

class Mine(NamedTuple):
    factor: float

    def score(self, sums, first=0):
        return FORMULA

class Around(NamedTuple):
    inner: Mine

    def score(self, sums, first=0):
        return self.inner.score(sums)

print(judge(Mine(2.0), np.array([3.0])), judge(Around(Mine(2.0)), np.array([3.0])))
"""


def test_a_class_from_outside_is_compiled_anew_in_every_process(house):
    for formula, result in (("self.factor * sums[0]", "6.0"), ("self.factor + sums[0]", "5.0")):
        assert house.run(OUTSIDE.replace("FORMULA", formula)).stdout.split() == [result, result]
    assert house.files("*judge*.nbc") == []


def test_a_class_made_by_our_own_code_is_from_outside():
    named = [type("Scaled", (NamedBase,), {"__module__": "hedgerow.losses.regression"}), NamedBase]
    for kind in named:
        assert not cache.is_ours(SimpleNamespace(instance_class=kind, types=()))
    inner = SimpleNamespace(instance_class=NamedBase)
    assert cache.is_ours(SimpleNamespace(instance_class=Huber, types=()))
    assert not cache.is_ours(SimpleNamespace(instance_class=Huber, types=(inner,)))
