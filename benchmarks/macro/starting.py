"""How soon a new process has its first model: imports, and fits with and without kept kernels.

    python benchmarks/macro/starting.py --repeats 15
    python benchmarks/macro/starting.py --cases import warm

| | what is timed, each in a process of its own |
|---|---|
| import | `import hedgerow`, or the library: inside the process, Python itself not counted |
| import, estimators | the class of boosted models: hedgerow imports what is asked for |
| warm start | from the start of Python to a fitted model of 1,000 x 10, and its predictions |
| cold start | the same with an empty directory of kernels (HEDGEROW_CACHE_DIR) |
| cold start, compiled | the same, and nothing is interpreted (HEDGEROW_INTERPRET=0) |

The process says how many of its rows it knows. Bytecode is kept, as after an installation.
"""

import json
import os
import subprocess
import sys
import time
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.harness import console
from benchmarks.libraries import version_of
from benchmarks.options import chosen, options
from benchmarks.records import ROOT, facts, kept, load
from benchmarks.units import duration

ESTIMATORS = {
    "hedgerow": ("hedgerow", "GradientBoostingClassifier", "n_jobs=2"),
    "LightGBM": ("lightgbm", "LGBMClassifier", "n_jobs=2, verbosity=-1"),
    "XGBoost": ("xgboost", "XGBClassifier", "n_jobs=2"),
    "scikit-learn": ("sklearn.ensemble", "HistGradientBoostingClassifier", ""),
    "CatBoost": (
        "catboost",
        "CatBoostClassifier",
        "iterations=100, thread_count=2, verbose=False, allow_writing_files=False",
    ),
}
IMPORT = """
import time
begun = time.perf_counter()
{work}
print(time.perf_counter() - begun)
"""
FIT = """
import numpy as np
random = np.random.default_rng(0)
X = random.normal(size=(1000, 10))
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
from {module} import {name}
known = ({name}({given}).fit(X, y).predict(X) == y).mean()
assert known > 0.9, known
"""
CASES = ("import", "import, estimators", "warm start", "cold start", "cold start, compiled")
# Nobody compiles beside a cold start: he would still be at work when the next one begins.
INTERPRET = {"cold start": "alone"}


def script(case: str, library: str) -> str:
    """Return the program that is timed."""
    module, name, given = ESTIMATORS[library]
    if case == "import":
        return IMPORT.format(work=f"import {module}")
    if case.startswith("import"):
        return IMPORT.format(work=f"from {module} import {name}")
    return FIT.format(module=module, name=name, given=given)


def seconds_of(case: str, library: str) -> float:
    """Run a program in a process of its own; return the seconds that are asked for."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(ROOT)
    with TemporaryDirectory() as empty:
        environment["HEDGEROW_INTERPRET"] = INTERPRET.get(case, "0")
        if case.startswith("cold start"):
            environment["HEDGEROW_CACHE_DIR"] = empty
        command = [sys.executable, "-c", script(case, library)]
        begun = time.perf_counter()
        said = subprocess.run(
            command, check=True, env=environment, cwd=empty, capture_output=True, text=True
        ).stdout
        waited = time.perf_counter() - begun
    return round(float(json.loads(said)) if case.startswith("import") else waited, 4)


def measured(case: str, repeats: int) -> dict[str, dict[str, list[float]]]:
    """Run the libraries in turns, after a run that writes bytecode and kernels.

    Only hedgerow has a cold start: the others are compiled when they are installed.
    """
    libraries = [name for name in ESTIMATORS if version_of(name)]
    if case.startswith("cold start"):
        libraries = ["hedgerow"]
        repeats = 1 if case.endswith("compiled") else repeats  # it takes a minute
    else:
        for library in libraries:
            seconds_of(case, library)
    found: dict[str, dict[str, list[float]]] = {name: {"start": []} for name in libraries}
    for turn in range(repeats):
        first = turn % len(libraries)
        for library in libraries[first:] + libraries[:first]:
            found[library]["start"].append(seconds_of(case, library))
    return found


def show(record: dict[str, Any]) -> None:
    times = {name: own["start"] for name, own in record["seconds"].items()}
    shown = [f"{name} {duration(min(each))}" for name, each in times.items()]
    console.print(f"{record['contest']}: {', '.join(shown)} (minima)", soft_wrap=True)


def main() -> None:
    given = options(__doc__, "starting").parse_args()
    for case in chosen(CASES, given):
        record = facts(case)
        record["seconds"] = measured(case, given.repeats)
        record["load_after"] = load()
        show(record)
        kept(record, given.output)


if __name__ == "__main__":
    main()
