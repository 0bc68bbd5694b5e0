"""Binning alone: from a table of numbers to codes, as each library does before its first tree.

    python benchmarks/macro/binning.py --repeats 15

| | what is timed | bins |
|---|---|---|
| hedgerow | bin_table: exact quantiles of all rows | 255 |
| LightGBM | Dataset.construct: quantiles of a sample of 200,000 rows | 255 |
| XGBoost | QuantileDMatrix: a sketch of quantiles | 255 |
| scikit-learn | its _BinMapper: quantiles of a sample of 200,000 rows | 255 |
| CatBoost | Pool.quantize: quantiles of a sample | 254 borders |

The answer that is checked is how many bins the first feature has.
"""

from argparse import Namespace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

from benchmarks.harness import Contest, held
from benchmarks.libraries import version_of
from benchmarks.macro.boosting import collisions, there
from benchmarks.options import chosen, options, title
from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.kernels.team import hired

CASES = {"1M x 28": (1_000_000, 28), "100k x 100": (100_000, 100)}
MAX_BINS = 255


class Binning:
    """One library's way from a table to codes; `predict` is the number of bins it chose."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def predict(self, X: Any) -> int:  # noqa: ARG002  it is asked after `fit`
        return self.n_bins()


class Hedgerow(Binning):
    def fit(self, X: Any, y: Any) -> Self:  # noqa: ARG002
        with hired(self.threads, float(X.size)) as team:
            self.made = bin_table(read_table(X), Recipe(MAX_BINS), team)
        return self

    def n_bins(self) -> int:
        return int(self.made.codes.features[0].n_bins)


class LightGBM(Binning):
    def fit(self, X: Any, y: Any) -> Self:
        given = {"max_bin": MAX_BINS, "num_threads": self.threads, "verbosity": -1}
        self.made = import_module("lightgbm").Dataset(X, y, params=given).construct()
        return self

    def n_bins(self) -> int:
        return int(self.made.feature_num_bin(0))


class XGBoost(Binning):
    def fit(self, X: Any, y: Any) -> Self:
        matrix = import_module("xgboost").QuantileDMatrix
        self.made = matrix(X, y, max_bin=MAX_BINS, nthread=self.threads)
        return self

    def n_bins(self) -> int:
        starts, _ = self.made.get_quantile_cut()
        return int(starts[1] - starts[0])


class ScikitLearn(Binning):
    def fit(self, X: Any, y: Any) -> Self:  # noqa: ARG002
        self.made = _BinMapper(n_bins=MAX_BINS + 1, random_state=0, n_threads=self.threads)
        self.made.fit_transform(X)
        return self

    def n_bins(self) -> int:
        return int(self.made.n_bins_non_missing_[0])


class CatBoost(Binning):
    def fit(self, X: Any, y: Any) -> Self:
        pool = import_module("catboost").Pool(X, y, thread_count=self.threads)
        pool.quantize(border_count=MAX_BINS - 1, task_type="CPU")
        self.made = pool
        return self

    def n_bins(self) -> int:
        with TemporaryDirectory() as folder:
            file = Path(folder, "borders")
            self.made.save_quantization_borders(str(file))
            return 1 + sum(line.startswith("0\t") for line in file.read_text().splitlines())


WAYS: dict[str, Any] = {
    "hedgerow": Hedgerow,
    "LightGBM": LightGBM,
    "XGBoost": XGBoost,
    "scikit-learn": ScikitLearn,
    "CatBoost": CatBoost,
}


def contest(name: str, threads: int, given: Namespace) -> Contest:
    n_rows, n_features = CASES[name]
    n_rows = min(given.rows or n_rows, n_rows)
    table = collisions(n_rows, n_features, 2)
    libraries = there(list(WAYS))
    return Contest(
        title(name, threads, n_rows, given),
        table,
        (table[0][:1], table[1][:1]),
        {library: WAYS[library](threads) for library in libraries},
        chosen_bins,
        "bins",
        steps=("fit",),
        versions={library: version_of(library) for library in libraries},
        threads=threads,
    )


def chosen_bins(y: Any, n_bins: int) -> float:  # noqa: ARG001
    """Demand that a column of many values has about as many bins as were asked for."""
    assert 0.8 * MAX_BINS <= n_bins <= MAX_BINS + 1, n_bins
    return float(n_bins)


def main() -> None:
    given = options(__doc__, "binning").parse_args()
    for name in chosen(CASES, given):
        for threads in given.threads:
            held(contest(name, threads, given), given.repeats, given.output)


if __name__ == "__main__":
    main()
