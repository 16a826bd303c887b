"""Curves and maps on axes, each bound in its own look."""

import numpy as np

from shufflelib.plotting.looks import WIDTH, look
from shufflelib.plotting.style import style

ON_TOP = {"certified": 3, "refuted": 4}  # crosses stay visible where two lines coincide


def draw_curves(ax, curves):
    """Draw curves, or redraw those that the axes already show, each in its own look.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    curves : iterable of Curve
        At most one per bound.

    Raises
    ------
    KeyError
        If a bound has no look.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(xlabel="local budget", ylabel="central budget")
    >>> plotting.draw_curves(ax, [plotting.curve("certified upper", [0.5, 1.0], [0.019, 0.044])])
    >>> [line.get_label() for line in ax.get_lines()]
    ['certified upper']
    """
    drawn = {line.get_label(): line for line in ax.get_lines()}
    with style():
        for one in curves:
            how = look(one.bound)
            if one.bound in drawn:
                drawn[one.bound].set_data(one.x, one.y)
                continue
            ax.plot(
                one.x,
                one.y,
                label=one.bound,
                color=how.colour,
                linestyle=how.dash,
                linewidth=WIDTH[how.kind],
                marker=how.marker or None,
                markersize=4,
                markerfacecolor="white",
                markevery=max(1, one.x.size // 8),
                zorder=ON_TOP.get(how.kind, 2),
            )
        ax.relim()
        ax.autoscale_view()


def draw_error_map(ax, x, y, errors, *, limit):
    """Colour a signed error over a grid, orange above zero, purple and hatched below.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; the x axis keeps its scale, the cells are centred on the grid.
    x, y : array_like, shapes (m,) and (k,)
        Increasing centres.
    errors : array_like, shape (k, m)
        Of either sign; NaN cells stay empty.
    limit : float
        Size at which the colours end, the same for all panels of a figure.

    Returns
    -------
    matplotlib.collections.QuadMesh
        For the figure's ``colorbar``.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> shades = plotting.draw_error_map(ax, [1, 2], [10, 20], [[-0.5, 0.2], [0.0, 0.1]], limit=0.5)
    >>> shades.get_clim()
    (-0.5, 0.5)
    """
    errors = np.asarray(errors, float)
    with style(), np.errstate(invalid="ignore"):
        known = np.ma.masked_invalid(errors)
        looks = {"cmap": "PuOr_r", "vmin": -limit, "vmax": limit, "shading": "nearest", "rasterized": True}
        drawn = ax.pcolormesh(x, y, known, **looks)
        below = np.ma.masked_where(~(errors < 0.0), np.ones(errors.shape))
        ax.pcolor(x, y, below, shading="nearest", facecolor="none", lw=0, hatch="////", edgecolor="black")
        return drawn
