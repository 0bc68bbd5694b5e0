"""`hedgerow evaluate`: how good a saved model is for rows whose true values are known."""

from typing import Any

import numpy as np

from hedgerow.cli.fitted import loaded, target_kind, target_of, wanted_columns
from hedgerow.cli.problems import CommandError
from hedgerow.cli.scores import Told, constant, scored_with_errors, told
from hedgerow.cli.sources import Kinds, Source
from hedgerow.cli.targets import is_missing, labels, target_values


def evaluate(path: str, source: Source, target: str | None) -> dict[str, Any]:
    """Return the scores of a model, with standard errors."""
    model = loaded(path)
    known: dict[str, str] = {}
    own: list[str] = []

    def wanted(names: list[str]) -> Kinds:
        known["target"] = target_of(model, source, target, names)
        also = {known["target"]: target_kind(model)}
        kinds = wanted_columns(model, source.file, also, names)
        own[:] = [name for name in kinds if name != known["target"]]
        return kinds

    parts, n_left_out = [], 0
    for frame in source.chunks(wanted):
        y = target_values(frame[known["target"]])
        rows = np.flatnonzero(~is_missing(y))
        n_left_out += len(y) - len(rows)
        if len(rows):
            parts.append(_answers(model, frame.select(own)[rows.tolist()], y[rows], source.file))
    if sum(len(part.y) for part in parts) < 2:
        raise CommandError(
            f"{source.file} has no two rows with a value of {known['target']!r} to judge by."
        )
    answers = Told(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    classes = getattr(model, "classes_", None)
    truth = answers.y if classes is None else classes[answers.y]
    return {
        "command": "evaluate",
        "model": path,
        "class": type(model).__name__,
        "data": source.file,
        "target": known["target"],
        "n_rows": len(answers.y),
        "n_left_out": n_left_out,
        "scores": scored_with_errors(answers),
        "constant": scored_with_errors(constant(classes, truth, answers)),
    }


def _answers(model: Any, X: Any, y: Any, file: str) -> Told:
    if hasattr(model, "classes_"):
        y = labels(y)
    elif y.dtype == object:
        raise CommandError(f"{file}: the target holds texts, but the model predicts numbers.")
    try:
        return told(model, X.to_native(), y)
    except (TypeError, ValueError) as problem:
        raise CommandError(f"{file}: {problem}") from problem
