"""Load many mutated model files, and use what loads: `python -m tests.storage.fuzz 20000`.

A worker process does the loading, so that a crash or a hang is seen and the next file goes on.
For each file the peak of memory that Python and NumPy allocate in loading is compared with twice
the file, and loading must end within a second. What loads must predict. All this is asked of both
ways to load, `hedgerow.load` and that for prediction alone, which must also say the same.
"""

import json
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import hedgerow
from hedgerow.fitted.files import NotHere, fitted_from
from tests.storage.mutations import mutated
from tests.storage.zoo import answers

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.hedgerow"))
SECONDS = 1.0
# What a few Python objects take, however small the file: the allowance beside twice its size.
ALLOWED_BYTES = 1 << 18


def tried(seed: int, path: Path, measure: bool = True) -> dict[str, Any]:
    """Load the mutated file of a seed, in both ways; return what happened."""
    origin = GOLDEN[seed % len(GOLDEN)]
    way, data = mutated(origin.read_bytes(), seed)
    path.write_bytes(data)
    told: dict[str, Any] = {"seed": seed, "file": origin.stem, "way": way}
    model, whole = loaded(path, hedgerow.load, measure)
    alone, part = loaded(path, fitted_from, measure)
    told |= whole | {name: max(whole[name], part[name]) for name in ("seconds", "bytes")}
    if whole["outcome"] == "loaded" and data == origin.read_bytes():
        told["outcome"] = "same"
    told["problem"] = whole["problem"] or part["problem"]
    if model is not None and not told["problem"]:
        told["problem"] = used(model)
    told["problem"] = told["problem"] or differing(model, alone, whole, part)
    return told


def loaded(path: Path, load: Any, measure: bool) -> tuple[Any, dict[str, Any]]:
    """Load a file in one way; return the model or None, and what it took."""
    told: dict[str, Any] = {"problem": "", "said": "", "bytes": 0}
    if measure:
        tracemalloc.start()
    begun, model = time.perf_counter(), None
    try:
        model, told["outcome"] = load(path), "loaded"
    except hedgerow.ModelFileError as problem:
        told |= {"outcome": "refused", "said": str(problem)}
    except NotHere:
        told["outcome"] = "elsewhere"
    except Exception as problem:
        told |= {"outcome": "raised", "problem": f"{load.__name__} raised {problem!r:.300}"}
    told["seconds"] = time.perf_counter() - begun
    if measure:
        told["bytes"] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        if told["bytes"] > 2 * path.stat().st_size + ALLOWED_BYTES:
            told["problem"] = f"{told['bytes']} bytes for a file of {path.stat().st_size}"
    if told["seconds"] > SECONDS:
        told["problem"] = f"{told['seconds']:.2f} seconds"
    return model, told


def differing(model: Any, alone: Any, whole: dict[str, Any], part: dict[str, Any]) -> str:
    """Say how a model read for prediction alone differs from its estimator, or nothing."""
    if part["outcome"] == "elsewhere":
        return ""
    if model is not None and alone is None:
        return f"only prediction alone refuses it: {part['said']}"
    if alone is None:
        return ""
    if model is None:
        # A parameter that only a fit looks at.
        unlike = (
            "" if "parameter" in whole["said"].lower() else f"only load refuses it: {whole['said']}"
        )
        return unlike or used(alone)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        said, known = answers(alone), answers(model)
    unlike = [name for name, own in said.items() if own.tobytes() != known[name].tobytes()]
    is_same = {"predict"} <= said.keys() and all(
        said[name].dtype == object and said[name].tolist() == known[name].tolist()
        for name in unlike
    )
    return "" if is_same else f"prediction alone says otherwise: {unlike}"


def used(model: Any) -> str:
    """Predict in every way; return what is wrong with the answers, or nothing."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = answers(model)
        except Exception as problem:
            return f"a model that loads raises {problem!r:.300}"
    if any(len(each) != 90 for name, each in found.items() if name.startswith("predict")):
        return "not one answer for each row"
    if hasattr(model, "classes_") and not np.isin(found["predict"], model.classes_).all():
        return "a class that is not there"
    if "apply" in found and found["apply"].min() < 0:
        return "a leaf that is not there"
    return ""


def work(first: int, end: int) -> None:
    """Try seeds, and say of each what happened, one line each."""
    hedgerow.load(GOLDEN[0])  # what is imported for the first model is no work of a file
    with TemporaryDirectory() as folder:
        for seed in range(first, end):
            sys.stdout.write(f"{seed}\n")
            sys.stdout.flush()
            told = tried(seed, Path(folder, "mutated.hedgerow"))
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()


def main(n_files: int, first: int = 0) -> list[dict[str, Any]]:
    """Try so many files; return those that did what no file may do."""
    outcomes: Counter[tuple[str, str]] = Counter()
    bad, next_seed, slowest, largest = [], first, 0.0, 0.0
    while next_seed < first + n_files:
        command = [sys.executable, "-m", "tests.storage.fuzz", "work", str(next_seed)]
        process = subprocess.Popen(
            [*command, str(first + n_files)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        seed = next_seed - 1
        for line in process.stdout:
            if line[0] != "{":
                seed = int(line)
                continue
            told = json.loads(line)
            outcomes[told["way"], told["outcome"]] += 1
            slowest = max(slowest, told["seconds"])
            largest = max(largest, told["bytes"])
            if told["problem"]:
                bad.append(told)
        process.wait()
        if process.returncode:
            bad.append({"seed": seed, "problem": f"the process ended with {process.returncode}"})
        next_seed = seed + 1
    for (way, outcome), count in sorted(outcomes.items()):
        sys.stdout.write(f"{way:16} {outcome:8} {count}\n")
    sys.stdout.write(f"{n_files} files, slowest {slowest:.3f} s, largest {largest:.0f} bytes\n")
    for each in bad[:50]:
        sys.stdout.write(f"BAD {each}\n")
    sys.stdout.write(f"{len(bad)} bad\n")
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "work":
        work(int(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.exit(bool(main(*map(int, sys.argv[1:]))))
