"""The memory of a large forest: 1,000 trees of full depth, a million rows, fitted and asked.

    python benchmarks/macro/forest_memory.py
    python benchmarks/macro/forest_memory.py --trees 20 --rows 100000

Prints, and keeps in results/forest_memory.jsonl, the most memory that the process had after each
step, bytes a node, and times; a limit of 8 GiB is set, so that a fit beyond it fails.
"""

import argparse
import json
import resource
import time
from pathlib import Path

import hedgerow
from benchmarks.harness import console
from benchmarks.macro.boosting import collisions
from benchmarks.records import RESULTS, revision

LIMIT = 8 * 2**30


def peak() -> float:
    """Return the most memory that this process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS / "forest_memory.jsonl")
    given = parser.parse_args()
    X, y = collisions(given.rows + given.rows // 10, 28, 2)
    X_test, y_test, X, y = X[given.rows :], y[given.rows :], X[: given.rows], y[: given.rows]
    hedgerow.RandomForestClassifier(2, n_jobs=1).fit(X[:2000], y[:2000]).predict(X[:9])
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    found = {"version": revision(), "trees": given.trees, "rows": given.rows, "before": peak()}
    model = hedgerow.RandomForestClassifier(given.trees, random_state=0, n_jobs=given.threads)
    begun = time.perf_counter()
    model.fit(X, y)
    found |= {"fit_seconds": time.perf_counter() - begun, "after_fit": peak()}
    begun = time.perf_counter()
    found["accuracy"] = float((model.predict(X_test) == y_test).mean())
    found |= {"predict_seconds": time.perf_counter() - begun, "after_predict": peak()}
    forest = model._model
    found |= {"nodes": forest.n_nodes, "bytes_a_node": forest.bytes_used / forest.n_nodes}
    console.print(found)
    with given.output.open("a") as file:
        file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
