"""What a notebook shows of an estimator: scikit-learn's diagram, and the tree below it."""

from typing import Any

from sklearn.base import BaseEstimator

from hedgerow.trees.export import export_html
from hedgerow.trees.labels import TreeNames
from hedgerow.trees.tree import Tree


class ShowsItsTree(BaseEstimator):
    """An estimator whose HTML ends with its tree, once there is one."""

    _tree: Tree

    def _names(self) -> TreeNames:
        raise NotImplementedError

    def _tree_html(self) -> str:
        return export_html(self._tree, self._names()) if hasattr(self, "_tree") else ""

    def _repr_html_inner(self) -> str:
        return f"{super()._repr_html_inner()}{self._tree_html()}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # not with set_config(display="text")
            bundle["text/html"] += self._tree_html()
        return bundle
