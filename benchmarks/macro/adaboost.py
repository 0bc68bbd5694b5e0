"""AdaBoost: hedgerow and scikit-learn with the same trees and rounds.

    python benchmarks/macro/adaboost.py --repeats 1
    python benchmarks/macro/adaboost.py --cases stumps --libraries hedgerow

| | stumps | covtype |
|---|---|---|
| algorithm | SAMME, of two classes discrete AdaBoost | SAMME |
| rounds | 200 | 20 |
| trees | depth 1, Gini | depth 3, Gini |
| threads | 2; scikit-learn's has one | 2; one |

scikit-learn looks at every distinct value, hedgerow at 255 bins above 10,000 rows.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import sklearn.ensemble
import sklearn.tree
from sklearn.metrics import accuracy_score

import hedgerow
from benchmarks.datasets import DATA
from benchmarks.harness import ENOUGH, RESULTS, Contest, held
from benchmarks.libraries import version_of
from benchmarks.macro.forests import Case, problem_of


class Rounds(NamedTuple):
    """A table, how many rounds learn it, and how deep their trees are."""

    table: tuple[int, int, int, int] | None
    n_rounds: int
    depth: int


CASES = {
    "stumps, 100k x 20": Rounds((100_000, 25_000, 20, 2), 200, 1),
    "SAMME depth 3, covtype": Rounds(None, 20, 3),
}


def contest(name: str, given: argparse.Namespace) -> Contest | None:
    """Return a case with the models that learn it."""
    case = CASES[name]
    problem = problem_of(Case("", case.table, 0, {}), given.data, given.rows)
    if problem is None:
        return None
    n_rounds = given.rounds or case.n_rounds
    tree: dict[str, Any] = {"max_depth": case.depth, "random_state": 0}
    models = {
        "hedgerow": hedgerow.AdaBoostClassifier(
            hedgerow.DecisionTreeClassifier(**tree), n_estimators=n_rounds, n_jobs=given.threads
        ),
        "scikit-learn": sklearn.ensemble.AdaBoostClassifier(
            sklearn.tree.DecisionTreeClassifier(**tree), n_estimators=n_rounds
        ),
    }
    models = {name: model for name, model in models.items() if name in given.libraries}
    title = f"{name}, {n_rounds} rounds, {given.threads} threads"
    versions = {library: version_of(library) for library in models}
    return Contest(title, *problem, models, accuracy_score, "accuracy", versions=versions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=ENOUGH, help="runs of each model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="instead of those of the table above")
    parser.add_argument("--cases", nargs="+", default=[""], help="whose names contain one of these")
    parser.add_argument("--libraries", nargs="+", default=["hedgerow", "scikit-learn"])
    parser.add_argument("--rows", type=int, help="train on fewer rows, to see that it runs")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=RESULTS / "adaboost.jsonl")
    given = parser.parse_args()
    for name in CASES:
        if any(part in name for part in given.cases):
            problem = contest(name, given)
            if problem is not None:
                held(problem, given.repeats, given.output)


if __name__ == "__main__":
    main()
