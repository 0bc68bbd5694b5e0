"""Pictures of evaluations: scores by size, and models side by side.

They take arrays; results of `hedgerow.evaluation` have `plot` methods.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.plot.boosting import COLOURS, GREY, tidied
from hedgerow.plot.needs import axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_curve(
    name: str, mean: Any, errors: Any, chosen: Mapping[str, int], *, ax: "Axes | None" = None
) -> "Axes":
    """Draw scores by size with a band of one standard error, and the sizes that are chosen.

    mean, errors : arrays [n_sizes]
    chosen : mapping from a label to a size
    """
    ax = axes_for("curves", ax)
    sizes, mean, errors = np.arange(1, len(mean) + 1), np.asarray(mean), np.nan_to_num(errors)
    ax.fill_between(sizes, mean - errors, mean + errors, color=COLOURS[0], alpha=0.18, linewidth=0)
    ax.plot(sizes, mean, color=COLOURS[0], linewidth=1.8, label="mean of folds")
    for number, (label, size) in enumerate(chosen.items(), 1):
        colour = COLOURS[number % len(COLOURS)]
        ax.axvline(size, color=colour, linestyle="--", linewidth=1.2, label=f"{label}: {size}")
    ax.set_xlabel("rounds or trees")
    ax.set_ylabel(name)
    tidied(ax)
    ax.legend(frameon=False)
    return ax


def draw_comparison(
    name: str, labels: Sequence[str], folds: Any, errors: Any, *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the folds' scores of models side by side, lines between those of one fold.

    folds : array [n_models, n_folds]
    errors : array [n_models], standard errors of the means
    """
    folds = np.asarray(folds)
    ax = axes_for("a comparison", ax, height=1.2 + 0.5 * len(labels))
    places = np.arange(len(labels))[::-1]
    ax.plot(folds, places, color=GREY, linewidth=0.6, alpha=0.5, zorder=1)
    for place, label, own, error, colour in zip(
        places, labels, folds, errors, COLOURS * len(labels), strict=False
    ):
        ax.scatter(own, np.full(len(own), place), color=colour, s=18, alpha=0.6, zorder=2)
        ax.errorbar(own.mean(), place, xerr=np.nan_to_num(error), fmt="D", color=colour,
                    capsize=4, zorder=3, label=label)  # fmt: skip
    ax.set_yticks(places, labels)
    ax.set_ylim(-0.6, len(labels) - 0.4)
    ax.set_xlabel(f"{name} of each fold, mean and standard error")
    tidied(ax)
    return ax
