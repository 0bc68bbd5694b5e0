"""AdaBoost: rounds of a weak learner, each on rows that weigh more the worse they are known.

    f(x) = sum over rounds m of the vector that round m says, K numbers that add up to 0

    discrete, SAMME   beta_m (1 for the class that it names, -1 / (K - 1) for others)
                      beta_m = (K - 1)^2 / K alpha_m
                      alpha_m = rate (log((1 - e_m) / e_m) + log(K - 1))
    real              rate (K - 1) (log p_k - mean over j of log p_j)

One convention: alpha_m, the `estimator_weights_`, has no 1/2, as in notes 0, pages 13 and 23,
notes 3, (14.17) and scikit-learn. What it multiplies in f has: of two classes beta = alpha / 2
and f is half the log-odds, notes 0, page 12, and notes 2. Weights are
exp(-Y'f / K); whether they are renormalised, and what they begin with, changes neither e nor the
trees.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.row_weights import Counts, Floats, RowWeights, logs_of
from hedgerow.kernels.exponential import exp

PERFECT, CHANCE = "perfect", "chance"
SURE = 52 * 0.6931471805599453  # log-odds of a learner that was never wrong: those of 2^52 to 1
_NO_FALL = 1.0 - 2.0**-40


class Told(NamedTuple):
    """What a learner says of the rows.

    places  int32 [n_rows]            rows at the same place are told the same
    sums    int64 [n_places, K]       steps of each class there
    votes   int64 [n_places]          the class that they are said to have
    shares  float64 [n_places, K]     how likely each class is said to be; None: as `sums` show
    model   the fitted learner
    """

    places: NDArray[np.int32]
    sums: Counts
    votes: Counts
    shares: Floats | None
    model: Any


class Round(NamedTuple):
    """A learner with its weighted error e and its weight alpha."""

    model: Any
    error: float
    alpha: float


class Algorithm(Protocol):
    """How a round is judged, and what it adds to f."""

    def scores(self, told: Told, alpha: float) -> Floats:
        """Return what f becomes more by, float64 [n_places, K]."""

    def alpha(self, right: int, wrong: int) -> float:
        """Return the weight of a learner, of the steps of rows that it has right and wrong."""

    def sure(self, earlier: list[float]) -> float:
        """Return the weight of a learner that is always right, after others of these weights."""

    def stops(self, told: Told, right: int, wrong: int) -> bool:
        """Tell whether a learner is no better than chance."""


class Discrete(NamedTuple):
    """Learners name a class: SAMME, of two classes the first AdaBoost.

    Notes 0, pages 13 and 23; Freund and Schapire (1997); Zhu and others (2009).
    """

    n_classes: int
    rate: float

    def scores(self, told: Told, alpha: float) -> Floats:
        """Return what f becomes more by: (K - 1) (alpha [k is named] - alpha / K)."""
        K = self.n_classes
        said = np.full((len(told.votes), K), -(K - 1) * (alpha / K))
        said[np.arange(len(said)), told.votes] = (K - 1) * (alpha - alpha / K)
        return said

    def alpha(self, right: int, wrong: int) -> float:
        """Return rate (log((1 - e) / e) + log(K - 1))."""
        odds, others = logs_of(np.array([right / wrong, max(self.n_classes - 1.0, 1.0)]))
        return float(self.rate * (odds + others))

    def sure(self, earlier: list[float]) -> float:
        """Return so much that all earlier ones together do not outvote it: alpha were infinite."""
        return SURE + sum(map(abs, earlier))

    def stops(self, told: Told, right: int, wrong: int) -> bool:  # noqa: ARG002  of votes alone
        """Tell whether e >= 1 - 1 / K, in whole numbers."""
        return right * self.n_classes <= right + wrong


class Real(NamedTuple):
    """Learners say how likely each class is: notes 0, page 11a, with the formula of page 17 for K.

    A leaf's shares are smoothed by half a row's weight spread over the classes, so that leaves of
    one class are finite: Schapire and Singer (1999), section 4.2. n_rows: of training.
    """

    n_classes: int
    rate: float
    n_rows: int

    def scores(self, told: Told, alpha: float) -> Floats:
        """Return what f becomes more by: alpha (K - 1) (log p_k - mean of log p_j)."""
        logs = logs_of(self._shares(told))
        if self.n_classes == 2:
            half = alpha * (0.5 * (logs[:, 1] - logs[:, 0]))
            return np.column_stack([-half, half])
        # Added up class by class: numpy's sums of few and of many numbers differ in their order.
        total = np.zeros(len(logs))
        for k in range(self.n_classes):
            total += logs[:, k]
        mean = total / self.n_classes
        return np.asarray(alpha * (self.n_classes - 1) * (logs - mean[:, None]))

    def _shares(self, told: Told) -> Floats:
        least = 1.0 / (2.0 * self.n_rows * self.n_classes)
        if told.shares is not None:
            return np.asarray((told.shares + least) / (1.0 + self.n_classes * least))
        # Not divided by their sum: it would be the same for all classes of a place.
        return np.asarray(told.sums.astype(np.float64) + least * float(told.sums.sum()))

    def alpha(self, right: int, wrong: int) -> float:  # noqa: ARG002  it is in the leaves
        """Return the rate: what a round is worth is in what it says."""
        return float(self.rate)

    def sure(self, earlier: list[float]) -> float:  # noqa: ARG002  as any other
        """Return the rate."""
        return float(self.rate)

    def stops(self, told: Told, right: int, wrong: int) -> bool:
        """Tell whether the exponential loss, Z = sum of w exp(-f_y / (K - 1)), does not fall."""
        factors = exp(self.scores(told, 1.0) / -(self.n_classes - 1.0))
        return float((told.sums * factors).sum()) >= _NO_FALL * float(right + wrong)


class AdaBoost:
    """Rounds that are added one after another.

    teach(number) fits the learner of a round to rows as heavy as `weights` says.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        weights: RowWeights,
        teach: Callable[[int], Told],
        earlier: list[Round],
    ) -> None:
        self._algorithm, self._teach = algorithm, teach
        self.weights, self.rounds, self.stopped = weights, list(earlier), ""
        self.last: tuple[Told, Floats] | None = None  # what the newest round said

    def next_round(self) -> bool:
        """Add a round; return whether another one may follow. `stopped` says why not."""
        told = self._teach(len(self.rounds))
        right = int(told.sums[np.arange(len(told.sums)), told.votes].sum())
        wrong = int(told.sums.sum()) - right
        if wrong == 0:
            self._add(told, 0.0, self._algorithm.sure([each.alpha for each in self.rounds]))
            # What a real round says of a row may still be outvoted by those before it.
            self.stopped = PERFECT if (self.weights.margins >= 0.0).all() else ""
            return not self.stopped
        if self._algorithm.stops(told, right, wrong):
            self.stopped = CHANCE
            return False
        self._add(told, wrong / (right + wrong), self._algorithm.alpha(right, wrong))
        return True

    def _add(self, told: Told, error: float, alpha: float) -> None:
        scores = self._algorithm.scores(told, alpha)
        self.rounds.append(Round(told.model, error, alpha))
        self.last = told, scores
        self.weights.add(told.places, scores)

    def run(self, n_rounds: int, go_on: Callable[["AdaBoost"], bool]) -> None:
        """Add rounds until there are so many, one is the last, or `go_on` says so.

        An interrupt keeps the rounds that are done; before the first, it goes on to the caller.
        """
        goes_on = True
        try:
            while goes_on and len(self.rounds) < n_rounds:
                n_before = len(self.rounds)
                goes_on = self.next_round()
                if len(self.rounds) > n_before:
                    goes_on = go_on(self) and goes_on
        except KeyboardInterrupt:
            if not self.rounds:
                raise
