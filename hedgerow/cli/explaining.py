"""`hedgerow explain`: what a model looks at, and why it predicts what it predicts."""

from typing import Any

import numpy as np

from hedgerow.cli.fitted import feature_names, importances, loaded, wanted_columns
from hedgerow.cli.problems import CommandError, UsageError
from hedgerow.cli.showing import plain
from hedgerow.cli.sources import Source

_MOST_ROWS = 2_000  # that are explained: the first ones


def explain(path: str, source: Source | None, row: int | None) -> dict[str, Any]:
    """Return importances; of rows Shapley values, of one row all of them."""
    if row is not None and source is None:
        raise UsageError("--row is a row of DATA: pass the file, too.")
    if row is not None and row < 1:
        raise UsageError(f"--row {row}: rows are counted from 1.")
    model = loaded(path)
    report = {
        "command": "explain",
        "model": path,
        "class": type(model).__name__,
        "measure": _measure(model),
        "importances": importances(model),
    }
    if source is None:
        if not report["importances"]:
            raise CommandError(f"{path} is a {type(model).__name__}, which has no importances.")
        return report
    if not hasattr(model, "shap_values"):
        raise CommandError(
            f"{path} is a {type(model).__name__}, whose score is no sum of trees, so it has no "
            "exact Shapley values. Leave the data out to see importances."
        )
    frame = _rows(model, source, row)
    if row is None:
        return report | _summary(model, frame)
    return report | {"row": row} | _one(model, frame)


def _measure(model: Any) -> str:
    if hasattr(model, "importances"):
        return "shares of what splits took off the loss"
    return "shares of the impurity that splits removed"


def _rows(model: Any, source: Source, row: int | None) -> Any:
    """Return the row, or the first rows."""
    import narwhals

    chunks, n_rows, kept = source.chunks(lambda n: wanted_columns(model, source.file, {}, n)), 0, []
    for frame in chunks:
        if row is not None and n_rows + len(frame) >= row:
            return frame[row - 1 - n_rows : row - n_rows]
        n_rows += len(frame)
        if row is None:
            kept.append(frame)
            if n_rows >= _MOST_ROWS:
                break
    if row is not None:
        raise CommandError(f"{source.file} has {n_rows:,} rows, so there is no row {row}.")
    if not n_rows:
        raise CommandError(f"{source.file} has no rows.")
    return narwhals.concat(kept)[:_MOST_ROWS]


def _unit(model: Any, name: Any = None) -> str:
    """Return what Shapley values are parts of; name: of a class, None: of the second of two."""
    if not hasattr(model, "classes_"):
        return _unit_of_numbers(model)
    if not hasattr(model, "decision_function"):
        noun = "probability"
    elif len(model.classes_) > 2:
        noun = "score"
    else:
        noun = "log-odds" if hasattr(model, "importances") else "half the log-odds"
    if name is None and len(model.classes_) > 2:
        return {"probability": "probabilities of classes", "score": "scores of classes"}[noun]
    return f"{noun} of {model.classes_[-1] if name is None else name}"


def _unit_of_numbers(model: Any) -> str:
    """Return what the scores of a model of numbers are: its predictions, if there is no link."""
    from hedgerow.losses import Gamma, Poisson, Tweedie

    if isinstance(getattr(model, "_loss", None), Poisson | Gamma | Tweedie):
        return "logarithm of the prediction"
    is_ranker = type(model).__name__.endswith("Ranker")
    return "score of relevance" if is_ranker else "in the unit of the target"


def _summary(model: Any, frame: Any) -> dict[str, Any]:
    values = model.shap_values(frame.to_native())
    if values.ndim > 2 and len(getattr(model, "classes_", ())) == 2:
        values = values[..., 1]  # what the second class gains, the first one loses
    sizes = np.abs(values).mean(axis=0)
    by_feature = sizes if sizes.ndim == 1 else sizes.sum(axis=1)
    names = feature_names(model)
    effects = [
        {
            "feature": names[place],
            "mean_size": float(by_feature[place]),
            "trend": _trend(frame[frame.columns[place]], values[:, place]),
        }
        for place in np.argsort(-by_feature, kind="stable")
        if by_feature[place] > 0
    ]
    return {
        "n_rows": len(frame),
        "is_beginning": len(frame) == _MOST_ROWS,
        "unit": _unit(model),
        "effects": effects,
    }


def _trend(column: Any, effects: Any) -> float | None:
    """Return the rank correlation of a number and its effect; None of categories."""
    from scipy.stats import rankdata

    if not column.dtype.is_numeric() or effects.ndim > 1:
        return None
    x = np.array([np.nan if value is None else value for value in column.to_list()], float)
    known = ~np.isnan(x)
    ranks = [rankdata(each[known]) for each in (x, effects)]
    if known.sum() < 3 or min(each.std() for each in ranks) == 0:
        return None
    return float(np.corrcoef(*ranks)[0, 1])


def _one(model: Any, frame: Any) -> dict[str, Any]:
    X = frame.to_native()
    prediction = np.asarray(model.predict(X))[0]
    values, start = model.shap_values(X)[0], np.asarray(model.expected_value())
    share, unit = None, _unit(model)
    if hasattr(model, "classes_"):
        number = model.classes_.tolist().index(prediction.item())
        share = float(model.predict_proba(X)[0, number])
        if values.ndim > 1:
            values, start, unit = values[:, number], start[number], _unit(model, prediction)
    elif values.ndim > 1:
        raise CommandError("a row of several outputs cannot be explained as one list.")
    names = feature_names(model)
    order = np.argsort(-np.abs(values), kind="stable")
    return {
        "prediction": plain(prediction),
        "probability": share,
        "unit": unit,
        "start": float(start),
        "contributions": [
            {
                "feature": names[place],
                "value": _cell(frame[frame.columns[place]][0]),
                "effect": float(values[place]),
            }
            for place in order
        ],
        "raw": float(start + values.sum()),
    }


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return int(value) if isinstance(value, float) and value == int(value) else plain(value)
