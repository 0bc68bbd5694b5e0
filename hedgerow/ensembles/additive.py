"""Additive models: a start value and trees whose values are added to it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.one_row import OneRow
from hedgerow.kernels.arranging import Arranged, arrange, empty_arrangement
from hedgerow.kernels.barn import Barn
from hedgerow.kernels.codes import Codes, Records
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.grove import Grove, Scorer, scorer_of, scratch_for
from hedgerow.kernels.predict import Paths
from hedgerow.kernels.routes import Router
from hedgerow.kernels.scorer import add_stages, add_trees
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import N_NODES, N_WORDS, NODE, Nodes, empty_nodes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """f(x) = start + sum of trees.

    Attributes
    ----------
    start : float64 [n_outputs]
    grove : Grove
        The trees; their values are multiplied by the learning rate already, their weights
        are sums of Hessians.
    gradient : float64 [n_nodes]
        Sum of the gradients of each node's rows.
    gain : float64 [n_nodes]
        What each split gained; 0 in leaves.
    """

    start: Floats
    grove: Grove
    gradient: Floats
    gain: Floats

    @property
    def n_outputs(self) -> int:
        """Number of scores of a row."""
        return len(self.start)

    @property
    def n_rounds(self) -> int:
        """Number of rounds; each has a tree for each output."""
        return len(self.grove.output) // self.n_outputs

    @cached_property
    def _scorer(self) -> Scorer:
        return scorer_of(self.grove)

    @cached_property
    def _one_row(self) -> OneRow:
        return OneRow(self._scorer, self.n_outputs)

    @property
    def paths(self) -> Paths:
        """What walks need of all trees; children are counted over all of them."""
        return self._scorer.paths

    def __getstate__(self) -> dict[str, object]:
        made = ("_scorer", "_one_row")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def raw(
        self,
        values: Floats,
        team: Team,
        n_rounds: int | None = None,
        offset: Floats | float = 0.0,
    ) -> Floats:
        """Return the scores of rows, float64 [n_rows, n_outputs], after some rounds or all.

        offset, float64 [n_rows, n_outputs], is added to the start, before the trees.
        """
        out = self._started(len(values), offset)
        self.add(values, team, 0, self.n_rounds if n_rounds is None else n_rounds, out)
        return out

    def _started(self, n_rows: int, offset: Floats | float) -> Floats:
        out = np.empty((n_rows, self.n_outputs))
        np.add(self.start, offset, out=out)
        return out

    def raw_of_one(self, row: Floats, offset: Floats | float) -> Floats | None:
        """Return what `raw` does of one row, [1, n_features], sooner; None if others do it now."""
        out = self._started(1, offset)
        return out if self._one_row.add(row, out) else None

    def add(self, values: Floats, team: Team, first: int, end: int, out: Floats) -> None:
        """Add the rounds first .. end to the scores of rows."""
        trees = first * self.n_outputs, end * self.n_outputs
        scratch = scratch_for(self._scorer, team.n_threads, *out.shape)
        team.run(add_trees, values, self._scorer, scratch, *trees, out)

    def stages(self, values: Floats, team: Team, first: int, end: int, out: Floats) -> Floats:
        """Add as `add` does; return the scores after each round, [n_rounds, n_rows, n_outputs].

        Values are replaced by numbers of cuts only once.
        """
        trees, noted = (first * self.n_outputs, end * self.n_outputs), (end - first, *out.shape)
        stages, scratch = np.empty(noted), scratch_for(self._scorer, team.n_threads, *out.shape)
        team.run(add_stages, values, self._scorer, scratch, *trees, out, stages)
        return stages

    def first(self, n_rounds: int) -> "AdditiveModel":
        """Return the model of the first rounds."""
        n_trees = n_rounds * self.n_outputs
        end, grove = int(self.grove.offset[n_trees]), self.grove
        kept = {name: getattr(grove, name)[:end] for name in _OF_NODES}
        offset, output = grove.offset[: n_trees + 1], grove.output[:n_trees]
        starts = kept["category_start"]
        last = int(starts.max(initial=-1))
        later = grove.category_start[end:]
        n_words = int(np.min(later[later >= 0], initial=len(grove.category_words)))
        words = grove.category_words[: n_words if last >= 0 else 0]
        shorter = Grove(offset=offset, output=output, category_words=words, **kept)
        return AdditiveModel(self.start, shorter, self.gradient[:end], self.gain[:end])

    def then(self, later: "AdditiveModel") -> "AdditiveModel":
        """Return the model of these rounds and later ones; the start is that of this one."""
        own, more = self.grove, later.grove
        starts = np.where(
            more.category_start >= 0, more.category_start + len(own.category_words), -1
        )
        shifted = more._replace(offset=more.offset[1:] + own.offset[-1], category_start=starts)
        pairs = zip(own, shifted, strict=True)
        grove = Grove(*(np.concatenate([np.asarray(one), np.asarray(two)]) for one, two in pairs))
        gradient = np.concatenate([self.gradient, later.gradient])
        return AdditiveModel(self.start, grove, gradient, np.concatenate([self.gain, later.gain]))

    def fingerprint(self) -> str:
        """SHA-256 of everything that prediction depends on."""
        digest = hashlib.sha256(np.ascontiguousarray(self.start).tobytes())
        for array in self.grove:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


_OF_NODES = tuple(
    name for name in Grove._fields if name not in ("offset", "output", "category_words")
)


class Sheaf(NamedTuple):
    """A tree as it was grown: its table of nodes, sets of categories, and value, G, H of nodes.

    The table is as bytes, [n_nodes, ..]: NumPy copies records field by field, twenty times slower.
    """

    table: NDArray[np.uint8]
    words: NDArray[np.int64]
    columns: Floats


class Harvest:
    """Trees as they were grown, by number, kept until all are."""

    def __init__(self) -> None:
        self._sheaves: dict[int, Sheaf] = {}
        self._bytes: tuple[Records | None, NDArray[np.uint8]] = None, np.empty((0, 0), np.uint8)

    def __len__(self) -> int:
        return len(self._sheaves)

    def take(self, number: int, nodes: Nodes, columns: Floats) -> None:
        """Keep a tree; columns, float64 [3, n_nodes], are value, G and H of each node."""
        table, as_bytes = self._bytes  # of the newest tree: most are grown in one place
        if table is not nodes.table:
            as_bytes = np.asarray(nodes.table).view(np.uint8).reshape(len(nodes.table), -1)
            self._bytes = nodes.table, as_bytes
        words = nodes.words[: int(nodes.counters[N_WORDS])].copy()
        kept = as_bytes[: columns.shape[1]].copy()
        self._sheaves[number] = Sheaf(kept, words, columns.copy())

    def gather(self, barn: Barn, n_trees: int) -> None:
        """Keep the first trees of a season, as they lie in the barn."""
        first = barn.first[: n_trees + 1].tolist()
        table = barn.table.view(np.uint8)
        for (node, word), (next_node, next_word) in pairwise(first):
            columns = barn.columns[3 * node : 3 * next_node].reshape(3, -1)
            sheaf = Sheaf(table[node:next_node], barn.words[word:next_word], columns)
            self._sheaves[len(self._sheaves)] = sheaf

    def stretch(self, trees: Iterable[int], factor: float) -> None:
        """Multiply the values of some trees."""
        for tree in trees:
            self._sheaves[tree].columns[0] *= factor

    def add(self, tree: int, codes: Codes, raw: Floats, team: Team) -> None:
        """Add what a tree adds to the scores of all rows, float64 [n_rows], found by codes."""
        self._route(tree, self._sheaves[tree].columns[0], codes, raw, team)

    def _route(self, tree: int, values: Floats, codes: Codes, raw: Floats, team: Team) -> None:
        """Add to each row's score the value of the node of a tree that the row ends in."""
        table, words, _ = self._sheaves[tree]
        grown = {"table": _records(table), "words": words}
        nodes = empty_nodes(1, len(raw), 1, 1)._replace(**grown)
        nodes.counters[N_NODES] = len(table)
        Router(team).add(codes, nodes, values, raw)

    def keys(self, codes: Codes, n_rows: int, most: int, team: Team) -> Floats:
        """Return a whole number below `most` for each row: that of rows in the same leaves.

        Of as many trees as there are numbers for; the first one's leaves come in order.
        """
        keys, n_keys = np.zeros(n_rows), 1
        for tree, (table, _, _) in self._sheaves.items():
            n_keys *= len(table)
            if n_keys > most:
                break
            keys *= len(table)
            self._route(tree, np.arange(float(len(table))), codes, keys, team)
        return keys

    def model(
        self, table: BinnedTable, start: Floats, n_trees: int, first_tree: int = 0
    ) -> AdditiveModel:
        """Put together the model of the trees first_tree .. n_trees."""
        sheaves = [self._sheaves[tree] for tree in range(first_tree, n_trees)]
        tables, words = [each.table for each in sheaves], [each.words for each in sheaves]
        first = np.concatenate([[0], np.cumsum([len(each) for each in tables], dtype=np.int64)])
        sizes = np.array([len(each) for each in words], np.int64)
        joined = np.concatenate([np.empty((0, NODE.itemsize), np.uint8), *tables])
        n_nodes, n_words = int(first[-1]), int(sizes.sum())
        arranged = empty_arrangement(n_nodes, n_words)
        all_words = np.concatenate([*words, np.zeros(1, np.int64)])
        words_of = table.codes.features.n_categories // 64 + 1
        stack = np.empty((2, n_nodes + 1), np.int64)
        starts = np.cumsum(sizes) - sizes
        records = _records(joined)
        n_used = arrange(records, first, all_words, starts, words_of, arranged, stack)
        none = np.empty((3, 0))
        columns = np.concatenate([none, *(each.columns for each in sheaves)], axis=1)
        value, G, weight = np.ascontiguousarray(columns[:, arranged.place])
        gains = np.ascontiguousarray(records.gain[arranged.place])
        kept = {n: getattr(arranged, n) for n in Arranged._fields if n != "place"}
        kept["category_words"] = arranged.category_words[:n_used]
        output = np.arange(len(tables), dtype=np.int32) % np.int32(len(start))
        grove = Grove(offset=first, weight=weight, value=value, output=output, **kept)
        return AdditiveModel(start, grove, G, gains)


def _records(table: NDArray[np.uint8]) -> Records:
    """Return a table of nodes that is given as bytes."""
    return with_fields(table.reshape(-1).view(NODE))
