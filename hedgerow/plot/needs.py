"""What pictures need: matplotlib, which is optional."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def demand_matplotlib(what: str) -> None:
    """Raise if matplotlib cannot be imported, saying what it is for."""
    try:
        import matplotlib.pyplot  # noqa: F401, PLC0415  (optional: models are fitted without it)
    except ImportError as error:
        raise ImportError(
            f"Drawing {what} needs matplotlib, which cannot be imported here. "
            'Install it with: pip install "hedgerow[plot]"'
        ) from error


def axes_for(what: str, ax: "Axes | None", width: float = 6.0, height: float = 4.0) -> "Axes":
    """Return the axes that were given, or new ones in a figure of this size in inches."""
    demand_matplotlib(what)
    import matplotlib.pyplot as plt  # noqa: PLC0415  (optional)

    if ax is not None:
        return ax
    return plt.subplots(figsize=(width, height), layout="constrained")[1]
