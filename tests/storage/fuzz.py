"""Load many mutated model files, and use what loads: `python -m tests.storage.fuzz 20000`.

A worker process does the loading, so that a crash or a hang is seen and the next file goes on.
For each file the peak of memory that Python and NumPy allocate in loading is compared with twice
the file, and loading must end within a second. What loads must predict.
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
from tests.storage.mutations import mutated
from tests.storage.zoo import answers

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.hedgerow"))
SECONDS = 1.0
# What a few Python objects take, however small the file: the allowance beside twice its size.
ALLOWED_BYTES = 1 << 18


def tried(seed: int, path: Path, measure: bool = True) -> dict[str, Any]:
    """Load the mutated file of a seed; return what happened."""
    origin = GOLDEN[seed % len(GOLDEN)]
    way, data = mutated(origin.read_bytes(), seed)
    path.write_bytes(data)
    told = {"seed": seed, "file": origin.stem, "way": way, "problem": ""}
    if measure:
        tracemalloc.start()
    begun = time.perf_counter()
    try:
        model = hedgerow.load(path)
        told["outcome"] = "same" if data == origin.read_bytes() else "loaded"
    except hedgerow.ModelFileError:
        model, told["outcome"] = None, "refused"
    except Exception as problem:
        model, told["outcome"] = None, "raised"
        told["problem"] = f"load raised {problem!r:.300}"
    told["seconds"] = time.perf_counter() - begun
    if measure:
        told["bytes"] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        if told["bytes"] > 2 * len(data) + ALLOWED_BYTES:
            told["problem"] = f"{told['bytes']} bytes for a file of {len(data)}"
    if told["seconds"] > SECONDS:
        told["problem"] = f"{told['seconds']:.2f} seconds"
    if model is not None and not told["problem"]:
        told["problem"] = used(model)
    return told


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
