"""The door of this room: one call that writes a model in another language."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hedgerow.export.c_source import c_source
from hedgerow.export.kinds import demand_writable
from hedgerow.export.onnx_file import onnx_bytes
from hedgerow.export.outline import Outline
from hedgerow.export.python_source import python_source
from hedgerow.export.reading import outline_of
from hedgerow.storage.writing import write_whole

# What each format is made by, of an outline and the name of the file.
FORMATS: dict[str, Callable[[Outline, Path], bytes]] = {
    "onnx": lambda outline, _: onnx_bytes(outline),
    "c": lambda outline, file: c_source(outline, _identifier(file.stem)).encode(),
    "python": lambda outline, file: python_source(outline, file.name).encode(),
}
ENDINGS = {".onnx": "onnx", ".c": "c", ".py": "python"}


def export_model(model: Any, path: Any, to: str | None = None) -> None:
    """Write a fitted model as a file that predicts without this library.

    Classes are those of `predict`, exactly; numbers and probabilities agree to rounding (1e-6,
    most often to the last bit): thresholds keep their 64 bits and trees are added in their order.

    Parameters
    ----------
    model : fitted estimator
        DecisionTree*, RandomForest*, ExtraTrees*, GradientBoosting* (with every loss of the
        library), Bagging*, AdaBoost* and Stagewise* of the library's own trees, and
        L1BoostClassifier of stumps, which has a score instead of probabilities.
    path : str or path
        The file. It is whole or not there, as with `save`.
    to : {"onnx", "c", "python"} or None
        None: by the ending of the file, .onnx, .c or .py.

        "onnx" needs the package onnx (`pip install "hedgerow[onnx]"`), and a runtime with
        TreeEnsemble of ai.onnx.ml 5, such as onnxruntime 1.21 or newer. "c" is one file of C99
        whose functions begin with the name of the file. "python" is a module without imports
        beyond the standard library.

    Raises
    ------
    TypeError, ValueError
        If the model cannot be exported; it says why, and what to do.
    ImportError
        If onnx is not there.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, runpy, tempfile
    >>> import hedgerow
    >>> X = [[4.0, "red"], [2.0, "blue"], [None, "blue"], [1.0, "red"]]
    >>> tree = hedgerow.DecisionTreeClassifier().fit(X, ["yes", "no", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tree.py")
    ...     hedgerow.export_model(tree, file)
    ...     exported = runpy.run_path(str(file))
    >>> exported["predict"]([3.0, "red"]), exported["predict_proba"]([1.0, "blue"])
    ('yes', [1.0, 0.0])
    """
    file = Path(os.fspath(path))
    chosen = ENDINGS.get(file.suffix.lower()) if to is None else to
    if not isinstance(chosen, str) or chosen not in FORMATS:
        given = f"path={str(path)!r} ends in none of {', '.join(ENDINGS)}" if to is None else ""
        raise ValueError(
            f"{given or f'to={to!r} is no format of exports'}. Pass to='onnx', 'c' or 'python'."
        )
    outline = outline_of(model)
    demand_writable(outline)
    write_whole(file, [memoryview(FORMATS[chosen](outline, file))])


def _identifier(stem: str) -> str:
    """Return a name that C accepts, like that of the file."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return name if name[:1].isalpha() else f"model_{name}"
