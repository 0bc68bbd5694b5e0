"""A graph of ONNX operators that is put together node by node."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_OPSET, _ML_OPSET, _IR = 18, 5, 10


def demand_onnx() -> None:
    """Raise if onnx cannot be imported, saying what it is for."""
    try:
        import onnx  # noqa: F401, PLC0415  (optional)
    except ImportError as error:
        raise ImportError(
            "Exporting to ONNX needs the package onnx, which cannot be imported here. "
            'Install it with: pip install "hedgerow[onnx]"'
        ) from error


class Graph:
    """Nodes, constants, inputs and outputs, each by a name of its own."""

    def __init__(self) -> None:
        demand_onnx()
        import onnx  # noqa: PLC0415  (optional)

        self._onnx: Any = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def add_input(self, name: str, n_columns: int, texts: bool) -> None:
        """Add an input, [n_rows, n_columns], of float64 or texts."""
        kind = self._onnx.TensorProto.STRING if texts else self._onnx.TensorProto.DOUBLE
        shape = ["n_rows", n_columns]
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, shape))

    def add_output(self, name: str, like: NDArray[Any], n_columns: int | None) -> None:
        """Add an output, [n_rows] or [n_rows, n_columns], of the type of an array."""
        kind = self._tensor(like, name).data_type
        shape = ["n_rows"] if n_columns is None else ["n_rows", n_columns]
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, kind, shape))

    def constant(self, value: Any) -> str:
        """Add a constant, and return its name."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._tensor(np.asarray(value), name))
        return name

    def add(self, operator: str, inputs: list[str], n_outputs: int = 1, **options: Any) -> str:
        """Add a node, and return the name of its last output."""
        names = [f"{operator}_{len(self._nodes)}_{k}" for k in range(n_outputs)]
        node = self._onnx.helper.make_node(operator, inputs, names, **options)
        self._nodes.append(node)
        return names[-1]

    def alias(self, name: str, other: str) -> None:
        """Give something another name."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [name], [other]))

    def add_codes(self, column: str, categories: tuple[Any, ...], texts: bool) -> str:
        """Turn a column of categories into their codes; what is none of them is missing."""
        keys = np.array(categories, object) if texts else np.array(categories, np.float64)
        return self.add(
            "LabelEncoder",
            [column],
            domain="ai.onnx.ml",
            keys_tensor=self._tensor(keys, "keys"),
            values_tensor=self._tensor(np.arange(len(keys), dtype=np.float64), "codes"),
            default_tensor=self._tensor(np.array([np.nan]), "missing"),
        )

    def add_trees(self, cells: str, ways: dict[str, Any], first: NDArray[np.int64]) -> str:
        """Add trees that say the numbers of their leaves, counted from the tree's first.

        Returns int64 [n_rows, n_trees], counted over all trees. Numbers of a tree are small, so
        that even a runtime that adds in float32 has them exactly.
        """
        options = {
            name: self._tensor(value, name) if isinstance(value, np.ndarray) else value
            for name, value in ways.items()
        }
        found = self.add("TreeEnsemble", [cells], domain="ai.onnx.ml", **options)
        number = self.add("Cast", [found], to=self._onnx.TensorProto.INT64)
        return self.add("Add", [number, self.constant(first)])

    def file(self, name: str, about: dict[str, str]) -> bytes:
        """Return the bytes of the model, after checking it."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR)
        model.producer_name = "hedgerow"
        helper.set_model_props(model, about)
        self._onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))

    def _tensor(self, array: NDArray[Any], name: str) -> Any:
        """Return an array as ONNX has it."""
        if array.dtype.kind in "OU":
            texts = [str(text).encode() for text in array.ravel()]
            kind = self._onnx.TensorProto.STRING
            return self._onnx.helper.make_tensor(name, kind, array.shape, texts)
        return self._onnx.numpy_helper.from_array(array, name)
