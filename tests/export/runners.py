"""Exported models at work: what a file says of the rows of a table."""

import ctypes
import json
import runpy
import shutil
import subprocess
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hedgerow import export_model
from hedgerow.export.reading import outline_of

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1")

_NUMBERS = count()


class Said(NamedTuple):
    """Classes and their probabilities or scores, or None and what is predicted."""

    labels: np.ndarray | None
    numbers: np.ndarray


def said_by(model: Any, X: Any) -> Said:
    """Return what the library says."""
    if hasattr(model, "predict_proba"):
        return Said(model.predict(X), model.predict_proba(X))
    if hasattr(model, "classes_"):
        return Said(model.predict(X), model.decision_function(X))
    return Said(None, model.predict(X))


def said_by_export(model: Any, X: Any, to: str, folder: Path) -> Said:
    """Export a model, and return what the file says."""
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    file = folder / f"exported.{ {'onnx': 'onnx', 'c': 'c', 'python': 'py'}[to] }"
    export_model(model, file)
    if to == "python":
        return by_python(file, frame)
    return {"onnx": by_onnx, "c": by_c}[to](model, file, frame)


def by_onnx(model: Any, file: Path, frame: pd.DataFrame) -> Said:
    import onnxruntime  # noqa: PLC0415  (optional)

    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    names = [each.name for each in outline_of(model).features]
    feeds = {}
    for name, own in columns.items():
        given = frame.iloc[:, [names.index(column) for column in own]].astype(object)
        missing = "" if name == "texts" else np.nan
        given = given.where(given.notna(), missing)
        feeds[name] = given.to_numpy(object if name == "texts" else np.float64)
    outputs = [each.name for each in session.get_outputs()]
    told = dict(zip(outputs, session.run(None, feeds), strict=True))
    if "label" in told:
        return Said(told["label"], told.get("probabilities", told.get("score")))
    return Said(None, told["prediction"])


def by_python(file: Path, frame: pd.DataFrame) -> Said:
    exported = runpy.run_path(str(file))
    rows = plain_rows(frame)
    shown = np.array([exported["predict"](row) for row in rows])
    for method in ("predict_proba", "decision_function"):
        if method in exported:
            return Said(shown, np.array([exported[method](row) for row in rows]))
    return Said(None, shown)


def by_c(model: Any, file: Path, frame: pd.DataFrame) -> Said:
    library = file.with_name(f"{next(_NUMBERS)}.so")  # a process loads a name once
    built = [COMPILER, *STRICT, "-shared", "-fPIC", str(file), "-o", str(library), "-lm"]
    subprocess.run(built, check=True, capture_output=True, text=True)
    exported = ctypes.CDLL(str(library))
    exported.exported_code.restype = exported.exported_code_of.restype = ctypes.c_double
    doubles = ctypes.POINTER(ctypes.c_double)
    categories = [each.categories for each in outline_of(model).features]
    cells = np.ascontiguousarray([_codes(exported, categories, row) for row in plain_rows(frame)])
    pointers = [row.ctypes.data_as(doubles) for row in cells]
    is_classifier = hasattr(model, "classes_")
    if not hasattr(model, "predict_proba") and is_classifier:
        exported.exported_decision_function.restype = ctypes.c_double
        scores = [exported.exported_decision_function(pointer) for pointer in pointers]
        numbers = [exported.exported_predict(pointer) for pointer in pointers]
        return Said(model.classes_[numbers], np.array(scores))
    counted = "exported_n_classes" if is_classifier else "exported_n_outputs"
    out = np.empty((len(cells), ctypes.c_int.in_dll(exported, counted).value))
    method = exported.exported_predict_proba if is_classifier else exported.exported_predict
    method.restype = None
    for pointer, row in zip(pointers, out, strict=True):
        method(pointer, row.ctypes.data_as(doubles))
    if is_classifier:
        numbers = [exported.exported_predict(pointer) for pointer in pointers]
        return Said(model.classes_[numbers], out)
    return Said(None, out[:, 0] if out.shape[1] == 1 else out)


def _codes(exported: Any, categories: list[Any], row: list[Any]) -> list[float]:
    """Return a row as the C source asks for it."""
    cells = []
    for feature, (cell, own) in enumerate(zip(row, categories, strict=True)):
        if cell is None:
            cells.append(np.nan)
        elif own is None:
            cells.append(float(cell))
        elif isinstance(cell, str):
            cells.append(exported.exported_code(feature, cell.encode()))
        else:
            cells.append(exported.exported_code_of(feature, ctypes.c_double(cell)))
    return cells


def plain_rows(frame: pd.DataFrame) -> list[list[Any]]:
    """Return rows of Python values; None is missing."""
    plain = frame.astype(object)
    return plain.where(plain.notna(), None).to_numpy(object).tolist()
