"""Pictures of boosting: errors and their bounds, margins, weights of rows, decision regions.

They take arrays; `hedgerow.plot_training_error` and its like take fitted models.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.plot.needs import axes_for, demand_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
_MARKERS = "os^Dv<>"
GREY = "#888888"
_PANEL = 2.6  # inches
_ALL = 1.05  # margins are within 1, and a curve at the end of an axis could not be seen
_LEAST_DOT, _LARGEST_DOT = 12.0, 170.0  # square points


def draw_training_error(
    errors: Any, product: Any = None, exponential: Any = None, *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the training error after each round, and its bounds.

    errors, product, exponential : arrays [n_rounds]
        As `hedgerow.theory.training_error_bounds` returns the last two; None leaves one out.
    """
    ax = axes_for("errors", ax)
    curves = (("training error", errors, "-", COLOURS[0]),
              ("product bound", product, "--", COLOURS[1]),
              ("exponential bound", exponential, ":", COLOURS[2]))  # fmt: skip
    for label, values, style, colour in curves:
        if values is not None:
            rounds = np.arange(1, len(values) + 1)
            ax.plot(rounds, values, style, color=colour, label=label, linewidth=1.8)
    ax.set_xlabel("round")
    ax.set_ylabel("share of rows")
    ax.set_ylim(bottom=0.0)
    _whole_ticks(ax)
    tidied(ax)
    ax.legend(frameon=False)
    return ax


def draw_margins(
    distributions: Mapping[str, tuple[Any, Any]], *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the share of rows whose margin is at most so large, a curve for each entry.

    distributions : mapping from a label to (margin, share)
        As `hedgerow.theory.margin_distribution` returns them.
    """
    ax = axes_for("margins", ax)
    for number, (label, (margin, share)) in enumerate(distributions.items()):
        x = np.concatenate([[-_ALL], margin, [_ALL]])
        y = np.concatenate([[0.0], share, [1.0]])
        colour = COLOURS[number % len(COLOURS)]
        ax.step(x, y, where="post", color=colour, label=label, linewidth=1.6)
    ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle="--")
    ax.set_xlim(-_ALL, _ALL)
    ax.set_ylim(0.0, 1.02)
    ax.set_xlabel("margin")
    ax.set_ylabel("share of rows at or below")
    tidied(ax)
    ax.legend(frameon=False, loc="upper left")
    return ax


def draw_row_weights(weights: Any, n_hardest: int = 8, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the weights of the hardest rows over the rounds: those of the largest mean weight.

    weights : array [n_rounds, n_rows]
        Weights that each round's learner was fitted with; each round's add up to 1.
    n_hardest : int
        How many rows; those that are always alike have one curve.
    """
    ax = axes_for("weights", ax)
    w = np.asarray(weights, np.float64)
    rounds = np.arange(1, len(w) + 1)
    for number, rows in enumerate(_hardest(w, n_hardest)):
        colour = COLOURS[number % len(COLOURS)]
        style = ("-", "--", ":")[number // len(COLOURS) % 3]
        label = f"row{'s' * (len(rows) > 1)} {', '.join(map(str, rows[:3]))}"
        label += ", ..." * (len(rows) > 3)
        ax.plot(rounds, w[:, rows[0]], style, color=colour, linewidth=1.4, label=label)
    even = 1.0 / w.shape[1]
    ax.axhline(even, color=GREY, linewidth=0.8, linestyle="--", label="all alike")
    ax.set_xlabel("round")
    ax.set_ylabel("weight")
    ax.set_ylim(bottom=0.0)
    _whole_ticks(ax)
    tidied(ax)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _hardest(weights: Floats, n_hardest: int) -> list[list[int]]:
    """Return the rows of the largest mean weight, those with the same curve together."""
    hardest = np.argsort(-weights.mean(axis=0), kind="stable")[:n_hardest]
    curves: dict[bytes, list[int]] = {}
    for row in hardest.tolist():
        curves.setdefault((weights[:, row] + 0.0).round(12).tobytes(), []).append(row)
    return list(curves.values())


class Panel(NamedTuple):
    """The decision regions of one stage.

    title    str
    codes    int [n_down, n_across]   class of each point of the grid, the first row lowest
    weights  float64 [n_points] or None   of the rows, shown as the sizes of their dots
    """

    title: str
    codes: NDArray[np.int64]
    weights: Floats | None


class Plane(NamedTuple):
    """What panels share: ranges of two features, names, and rows with their classes."""

    extent: tuple[float, float, float, float]  # left, right, bottom, top
    names: tuple[str, str]
    points: Floats  # [n_points, 2]
    codes: NDArray[np.int64]
    classes: Sequence[Any]


def draw_regions(panels: Sequence[Panel], plane: Plane) -> "list[Axes]":
    """Draw the decision regions of stages side by side, with the rows on top of them."""
    demand_matplotlib("regions")
    import matplotlib.pyplot as plt  # noqa: PLC0415  (optional)
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    n_across = min(len(panels), 4)
    n_down = math.ceil(len(panels) / n_across)
    size = (_PANEL * n_across, _PANEL * n_down + 0.5)
    figure, grid = plt.subplots(
        n_down,
        n_across,
        figsize=size,
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    colours = ListedColormap([COLOURS[k % len(COLOURS)] for k in range(len(plane.classes))])
    drawn = list(grid.flat)
    for ax, panel in zip(drawn, panels, strict=False):
        ax.imshow(
            panel.codes, origin="lower", extent=plane.extent, aspect="auto", cmap=colours,
            vmin=-0.5, vmax=len(plane.classes) - 0.5, alpha=0.3, interpolation="nearest",
        )  # fmt: skip
        _draw_points(ax, plane, panel.weights)
        ax.set_title(panel.title, fontsize="medium")
    for ax in drawn[len(panels) :]:
        ax.set_axis_off()
    figure.supxlabel(plane.names[0], fontsize="medium")
    figure.supylabel(plane.names[1], fontsize="medium")
    handles, labels = drawn[0].get_legend_handles_labels()
    legend = figure.legend(
        handles, labels, frameon=False, ncols=len(labels), loc="outside upper center"
    )
    for handle in legend.legend_handles:
        handle.set_sizes([30.0])  # type: ignore[union-attr]
    return drawn[: len(panels)]


def _draw_points(ax: "Axes", plane: Plane, weights: Floats | None) -> None:
    """Draw rows as dots, those of a larger weight larger."""
    size = np.full(len(plane.points), 22.0)
    if weights is not None:
        share = weights / max(float(weights.max()), 1e-300)
        size = _LEAST_DOT + (_LARGEST_DOT - _LEAST_DOT) * share
    for code, name in enumerate(plane.classes):
        own = plane.codes == code
        ax.scatter(
            plane.points[own, 0], plane.points[own, 1], size[own], label=str(name),
            color=COLOURS[code % len(COLOURS)], marker=_MARKERS[code % len(_MARKERS)],
            edgecolors="white", linewidths=0.6,
        )  # fmt: skip


def _whole_ticks(ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  (optional)

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def tidied(ax: "Axes") -> None:
    """Take away the lines that frame nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
