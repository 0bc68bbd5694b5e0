"""AdaBoost: hedgerow and scikit-learn with the same trees and rounds.

    python benchmarks/macro/adaboost.py --repeats 1
    python benchmarks/macro/adaboost.py --cases stumps --libraries hedgerow

| | stumps | covtype |
|---|---|---|
| algorithm | SAMME, of two classes discrete AdaBoost | SAMME |
| rounds | 200 | 20 |
| trees | depth 1, Gini | depth 3, Gini |

scikit-learn's has one thread, and looks at every distinct value, hedgerow at 255 bins above 10,000
rows.
"""

from argparse import Namespace
from typing import Any, NamedTuple

import sklearn.ensemble
import sklearn.tree
from sklearn.metrics import accuracy_score

import hedgerow
from benchmarks.harness import Contest, held
from benchmarks.libraries import version_of
from benchmarks.macro.forests import Size, problem_of
from benchmarks.options import chosen, options, title


class Rounds(NamedTuple):
    """A table, how many rounds learn it, and how deep their trees are."""

    table: Size | None
    n_rounds: int
    depth: int


CASES = {
    "stumps, 100k x 20": Rounds((100_000, 25_000, 20, 2), 200, 1),
    "SAMME depth 3, covtype": Rounds(None, 20, 3),
}


def contest(name: str, problem: tuple[Any, Any], threads: int, given: Namespace) -> Contest:
    """Return a case with the models that learn it."""
    case = CASES[name]
    n_rounds = given.rounds or case.n_rounds
    tree: dict[str, Any] = {"max_depth": case.depth, "random_state": 0}
    models = {
        "hedgerow": hedgerow.AdaBoostClassifier(
            hedgerow.DecisionTreeClassifier(**tree), n_estimators=n_rounds, n_jobs=threads
        ),
        "scikit-learn": sklearn.ensemble.AdaBoostClassifier(
            sklearn.tree.DecisionTreeClassifier(**tree), n_estimators=n_rounds
        ),
    }
    models = {name: model for name, model in models.items() if name in given.libraries}
    shown = title(f"{name}, {n_rounds} rounds", threads, len(problem[0][0]), given)
    versions = {library: version_of(library) for library in models}
    score = accuracy_score, "accuracy"
    return Contest(shown, *problem, models, *score, versions=versions, threads=threads)


def main() -> None:
    parser = options(__doc__, "adaboost")
    parser.add_argument("--rounds", type=int, help="instead of those of the table above")
    parser.add_argument("--libraries", nargs="+", default=["hedgerow", "scikit-learn"])
    given = parser.parse_args()
    for name in chosen(CASES, given):
        problem = problem_of(CASES[name].table, given.data, given.rows)
        for threads in given.threads if problem else ():
            held(contest(name, problem, threads, given), given.repeats, given.output)


if __name__ == "__main__":
    main()
