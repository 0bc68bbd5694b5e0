"""Write golden files of the models that have none: `python -m tests.storage.make_golden`.

Files that are there are never written again: they are what earlier versions wrote, and every later
version must load them.
"""

import json
import sys
from pathlib import Path

import numpy as np

from tests.storage.zoo import MAKERS, answers, made

GOLDEN = Path(__file__).parents[1] / "golden"


def plain(answer: np.ndarray) -> list:
    return np.asarray(answer).tolist()


def main() -> None:
    """Write what is missing."""
    GOLDEN.mkdir(exist_ok=True)
    for name in MAKERS:
        path = GOLDEN / f"{name}.hedgerow"
        if path.exists():
            continue
        model = made(name)
        model.save(path)
        told = {how: plain(answer) for how, answer in answers(model).items() if _is_short(how)}
        path.with_suffix(".json").write_text(json.dumps(told) + "\n", encoding="utf-8")
        sys.stdout.write(f"{path.name}\n")


def _is_short(how: str) -> bool:
    return how in ("predict", "predict_proba", "decision_function", "apply", "predict_quantiles")


if __name__ == "__main__":
    main()
