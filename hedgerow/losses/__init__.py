"""Losses: what a model is fitted to minimise, as scalar formulas that kernels compile."""

from hedgerow.losses.automatic import WithDerivatives, with_derivatives
from hedgerow.losses.classification import Bernoulli, Exponential, Multinomial
from hedgerow.losses.custom import Callback, custom_loss
from hedgerow.losses.positive import Gamma, Poisson, Tweedie
from hedgerow.losses.quantiles import Quantiles
from hedgerow.losses.ranking import LambdaRank, Pairwise, RankingLoss
from hedgerow.losses.regression import AbsoluteError, Huber, Quantile, SquaredError

__all__ = [
    "AbsoluteError",
    "Bernoulli",
    "Callback",
    "Exponential",
    "Gamma",
    "Huber",
    "LambdaRank",
    "Multinomial",
    "Pairwise",
    "Poisson",
    "Quantile",
    "Quantiles",
    "RankingLoss",
    "SquaredError",
    "Tweedie",
    "WithDerivatives",
    "custom_loss",
    "with_derivatives",
]
