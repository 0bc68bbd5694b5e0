"""An outline: all that a prediction depends on, of any model of trees.

    leaf_t   = the leaf that a row reaches in tree t
    sums     = start + what leaves say, added in the order of the trees
    scores   = sums / divisor
    shown    = link(scores)

Sums are added one after another, in that order: a writer that does the same has the same bits.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Feature(NamedTuple):
    """A column: its name, and its categories in the order of their codes (None: numbers)."""

    name: str
    categories: tuple[Any, ...] | None


class Trees(NamedTuple):
    """Trees one after another, each in preorder: a split's left child follows it.

    offset          int64 [n_trees + 1]   first node of each tree
    right           int64 [n_nodes]       right child, counted over all trees
    feature         int64 [n_nodes]       -1 in a leaf
    threshold       float64 [n_nodes]     a number goes left if it is not above
    missing_left    bool [n_nodes]
    category_start  int64 [n_nodes]       first word of the categories that go left; -1: numbers
    category_words  uint64 [n_words]      code c is bit c % 64 of word c // 64
    values          float64 [n_leaves, width]   what leaves say, in the order of the nodes
    """

    offset: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: Floats
    missing_left: NDArray[np.bool_]
    category_start: NDArray[np.int64]
    category_words: NDArray[np.uint64]
    values: Floats

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.offset) - 1

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.feature < 0

    @property
    def leaf_number(self) -> NDArray[np.int64]:
        """Number of each leaf among all leaves; of other nodes, of the leaf that follows."""
        return np.cumsum(self.is_leaf) - self.is_leaf

    def left_codes(self, node: int, n_categories: int) -> NDArray[np.int64]:
        """Return the codes of the categories that go left, ascending."""
        codes = np.arange(n_categories)
        words = self.category_words[self.category_start[node] + codes // 64]
        return np.flatnonzero((words >> (codes % 64).astype(np.uint64)) & np.uint64(1))


class Speech(NamedTuple):
    """What is made of the sums.

    divisor   scores are sums / divisor
    link      "identity", "exp", "sorted"       each score, its exponential, all in order
              "median"                          of what trees say, weighted by `weights`
              "logistic", "softmax"             probabilities of two classes, of more
              "score"                           of two classes without probabilities: the score
    label     "shown"     the class of the highest probability, of equals the first
              "sums"      the class of the highest sum, of equals the first
              "boundary"  of two classes: the second if the sum is above the boundary
              "leaf"      the last number that a leaf says; those before it are probabilities
    """

    divisor: float = 1.0
    link: str = "identity"
    label: str = "shown"
    boundary: float = 0.0
    weights: Floats | None = None

    @classmethod
    def of_votes(cls, n_classes: int) -> "Speech":
        """Return what AdaBoost makes of f: of two classes it is half the log-odds."""
        if n_classes == 2:
            return cls(0.5, link="logistic", label="boundary")
        return cls(max(n_classes - 1.0, 1.0), link="softmax", label="sums")


class Outline(NamedTuple):
    """A model without its library.

    kind      name of the estimator's class
    features  Feature for each column
    trees     Trees
    start     float64 [n_outputs]   tree t says its numbers of outputs t * width ... % n_outputs
    speech    Speech
    classes   names of the classes, or None if numbers are predicted
    unseen    "missing" or "error": what a category means that was not there at fit
    """

    kind: str
    features: tuple[Feature, ...]
    trees: Trees
    start: Floats
    speech: Speech
    classes: tuple[Any, ...] | None
    unseen: str

    @property
    def n_outputs(self) -> int:
        """Number of sums."""
        return len(self.start)

    @property
    def n_shown(self) -> int:
        """Numbers that a row is given: probabilities of classes, or predictions."""
        return self.n_outputs if self.classes is None else len(self.classes)

    @property
    def has_categories(self) -> bool:
        """Whether some column has categories."""
        return any(each.categories is not None for each in self.features)
