"""A first model waits for what it needs, and what it need not wait for is there when asked."""

import gc
import subprocess
import sys
from importlib import import_module

import pytest

from hedgerow.estimators.postponed import postponed

FIRST_MODEL = """
import numpy as np
from hedgerow import {name}
X = np.random.default_rng(0).normal(size=(60, 3))
model = {name}({size}).fit(X, X[:, 0] > 0)
model.predict(X)
"""
NOT_NEEDED = ("scipy.stats", "pandas", "pyarrow", "sklearn.metrics", "sklearn.tree")
NOT_NEEDED += ("scipy.special", "narwhals", "numpy.f2py", "numpy.testing")


def said(code):
    """Run a program in a process of its own; return what it prints."""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout.strip()


@pytest.mark.parametrize("name", ["GradientBoostingClassifier", "GradientBoostingRegressor"])
def test_a_first_model_does_not_wait_for_what_it_does_not_use(name):
    shown = f"import sys\nprint([each for each in {NOT_NEEDED} if each in sys.modules])"
    assert said(FIRST_MODEL.format(name=name, size="n_estimators=2") + shown) == "[]"


def test_after_a_model_the_modules_are_imported_as_ever():
    pytest.importorskip("pandas")
    shown = """
import pandas, scipy.stats, sys, sklearn.utils.fixes as fixes
assert pandas.__file__ and type(pandas) is type(sys) and sys.modules["pandas"] is pandas
assert fixes.pd.DataFrame is pandas.DataFrame
assert scipy.stats is sys.modules["scipy.stats"] and type(scipy.stats) is type(sys)
assert fixes._mode([1, 2, 2]).mode == 2
frame = pandas.DataFrame(X, columns=["a", "b", "c"])
print((model.fit(frame, X[:, 0] > 0).predict(frame) == (X[:, 0] > 0)).all())
"""
    name = "GradientBoostingClassifier"
    code = FIRST_MODEL.format(name=name, size="n_estimators=20, min_samples_leaf=1")
    assert said(code + shown) == "True"


def test_a_stand_in_speaks_for_its_module(tmp_path, monkeypatch):
    (tmp_path / "a_slow_one").mkdir()
    (tmp_path / "a_slow_one" / "__init__.py").write_text("answer = 42\n")
    (tmp_path / "a_slow_one" / "part.py").write_text("answer = 43\n")
    monkeypatch.syspath_prepend(tmp_path)
    with postponed("a_slow_one", "one_that_is_not_installed", "gc"):
        kept = import_module("a_slow_one")
        assert "answer" not in vars(kept)
        with pytest.raises(ImportError):
            import_module("one_that_is_not_installed")
        assert import_module("gc") is gc
    assert "a_slow_one" not in sys.modules
    assert kept.answer == 42
    assert sys.modules["a_slow_one"] is not kept
    del sys.modules["a_slow_one"]
    with postponed("a_slow_one"):
        assert import_module("a_slow_one.part").answer == 43  # who asks meanwhile has the module
    assert vars(sys.modules["a_slow_one"])["answer"] == 42
    for name in ("a_slow_one", "a_slow_one.part"):
        del sys.modules[name]


def test_a_stand_in_is_found_in_its_package_until_it_steps_aside(tmp_path, monkeypatch):
    (tmp_path / "a_package").mkdir()
    (tmp_path / "a_package" / "__init__.py").write_text("__all__ = ['part']\n")
    (tmp_path / "a_package" / "part.py").write_text("answer = 43\n")
    monkeypatch.syspath_prepend(tmp_path)
    with postponed("a_package", "a_package.part"):
        taken: dict[str, object] = {}
        exec("import a_package.part as part", taken)
        assert "answer" not in vars(taken["part"])
    assert not {"a_package", "a_package.part"} & {*sys.modules}
    assert taken["part"].answer == 43
    package = sys.modules["a_package"]
    assert vars(package)["part"] is sys.modules["a_package.part"]
    del sys.modules["a_package.part"], package.part
    with postponed("a_package.part"):
        exec("from a_package import *", taken)
        assert "answer" not in vars(taken["part"])
    assert "part" not in vars(package)
    assert taken["part"].answer == 43
    for name in ("a_package", "a_package.part"):
        del sys.modules[name]


def test_garbage_is_looked_for_again_after_an_import():
    code = "import gc, hedgerow; hedgerow.GradientBoostingRegressor; print(gc.isenabled())"
    assert said(code) == "True"
    assert said("import gc; gc.disable()\n" + code) == "False"
