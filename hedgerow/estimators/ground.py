"""What a boosted model is grown on: one binned table, its targets, weights and offsets."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.data.table import Schema, Table
from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.boosting import Boosting, BoostingRules
from hedgerow.ensembles.stage import CLASSES, Stage
from hedgerow.estimators.cart import Sample
from hedgerow.kernels.team import Team

Rows = NDArray[np.int64]
ALL: Rows = np.zeros(0, np.int64)


class Ground:
    """One binned table for every model of a fit; its rows are those that count."""

    def __init__(
        self,
        table: Table,
        binned: BinnedTable,
        sample: Sample,
        rules: BoostingRules,
        offset: Floats | None,
        team: Team,
    ) -> None:
        """Take a table; offset is float64 [n_outputs, rows of the table]."""
        self._table, self.binned, self.sample, self.rules = table, binned, sample, rules
        self.team, self._given_offset = team, offset
        self.n_table_rows = table.n_rows
        self._read_sample()

    def _read_sample(self) -> None:
        """Set targets and offsets: those of the sample's rows, in its order."""
        offset = self._given_offset
        targets = self.sample.targets
        is_class = targets.dtype in CLASSES
        self.y = np.ascontiguousarray(targets, targets.dtype if is_class else np.float64)
        self.offset = None if offset is None else np.ascontiguousarray(self.own(offset.T).T)

    def n_outputs(self, loss: Any) -> int:
        """Return how many raw scores a row has: those of the loss, for each column of y."""
        return int(loss.n_outputs * self.y[0].size)

    def own(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return what belongs to the rows that count, of something with a number per row."""
        return numbers if self.sample.rows is None else numbers[self.sample.rows]

    @cached_property
    def values(self) -> Floats:
        """The table as numbers, float64 [n_rows, n_features]."""
        schema = Schema.of(self._table.names, self.binned.categories)
        return self.own(schema.matrix(self._table, "missing"))

    def columns(self) -> Iterator[Floats]:
        """Yield one column of `values` after another: float32 tables take half of that memory."""
        if "values" in self.__dict__ or self._table.keeps_codes:
            yield from self.values.T
            return
        schema = Schema.of(self._table.names, self.binned.categories)
        yield from map(self.own, schema.columns(self._table, "missing"))

    def some(self, places: Rows) -> "Ground":
        """Return the ground of some of the rows, in any order."""
        given = self.sample.some(places), self.rules, self._given_offset
        return Ground(self._table, self.binned.some(places, self.team), *given, self.team)

    def moved(self, order: Rows) -> "Ground":
        """Return the ground of all rows in another order: this one, if its codes are its own.

        The sample moves too, so that nothing is there twice, whoever else holds it.
        """
        if self._table.keeps_codes:  # for others
            return self.some(order)
        assert "values" not in self.__dict__
        self.binned.move(order, self.team)
        self.sample.move(order)
        self._read_sample()
        return self

    def boosting(self, rows: Rows, loss: Any, team: Team) -> Boosting:
        """Begin a model that is grown from some rows, or from all if `rows` is empty."""
        stage = Stage(self.y, self.sample.plain, self.sample.factors, loss, rows)
        stage.row_numbers = self.sample.rows
        if self.offset is not None:
            stage.begin_beside(self.offset, team)
        return Boosting(self.binned, stage, self.rules, team)

    def offset_of(self, rows: Rows) -> Floats | float:
        """Return the offsets of some rows, float64 [n_rows, n_outputs], or 0."""
        return 0.0 if self.offset is None else self.offset[:, rows].T
