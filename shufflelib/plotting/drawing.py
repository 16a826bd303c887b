"""Curves and maps on axes, each bound in its own look."""

import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap

from shufflelib.plotting.looks import WIDTH, look
from shufflelib.plotting.style import style

HATCH, ZERO = "////", 1e-12  # of errors below zero; size up to which an error is none
ON_TOP = {"certified": 3, "refuted": 4}  # crosses stay visible where two lines coincide


def draw_curves(ax, curves):
    """Draw curves, or redraw those that the axes already show, each in its own look.

    A certified bound is drawn as steps that are proved everywhere if its curve says what is known between its
    points, else as its points.

    Parameters
    ----------
    curves : iterable of Curve
        At most one per bound.

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
            x, y = one.line
            if one.bound in drawn:
                drawn[one.bound].set_data(x, y)
                continue
            alone = how.kind == "certified" and not one.known
            first = int((how.side == "upper") == (one.known == "falls"))  # corner at a computed point
            every = max(1, one.x.size // 8)
            ax.plot(
                x,
                y,
                label=one.bound,
                color=how.colour,
                linestyle="none" if alone else how.dash,
                linewidth=WIDTH[how.kind],
                marker=how.marker or ("o" if alone else None),
                markersize=4 if how.marker else 3,
                markerfacecolor="white" if how.marker else None,
                markevery=(first, 2 * every) if one.known else 1 if alone else every,
                zorder=ON_TOP.get(how.kind, 2),
            )
        ax.relim()
        ax.autoscale_view()


def draw_error_map(ax, x, y, errors, *, edges):
    """Colour a signed error over a grid, orange above zero, purple and hatched below.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; the x axis keeps its scale, the cells are centred on the grid.
    x, y : array_like, shapes (m,) and (k,)
        Increasing centres.
    errors : array_like, shape (k, m)
        Of either sign; only exact zeros are white; NaN cells stay empty.
    edges : sequence of float
        Increasing sizes at which the colour changes, the same for all panels of a figure.

    Returns
    -------
    matplotlib.collections.QuadMesh
        For `draw_error_bar`.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> shades = plotting.draw_error_map(ax, [1, 2], [10, 20], [[-0.5, 0.2], [0.0, 0.1]], edges=[0.1, 0.3])
    >>> shades.norm.boundaries.round(3).tolist()
    [-0.3, -0.1, -0.0, 0.0, 0.1, 0.3]
    """
    errors, edges = np.asarray(errors, float), np.asarray(edges, float)
    sizes = np.r_[ZERO, edges]
    steps = matplotlib.colormaps["PuOr_r"](
        np.linspace(0.15, 0.85, 2 * sizes.size + 1)
    )  # none too dark to hatch
    norm = BoundaryNorm(np.r_[-sizes[::-1], sizes], len(steps), extend="both")
    looks = {"cmap": ListedColormap(steps), "norm": norm, "shading": "nearest", "rasterized": True}
    with style(), np.errstate(invalid="ignore"):
        known = np.ma.masked_invalid(errors)
        drawn = ax.pcolormesh(x, y, known, **looks)
        below = np.ma.masked_where(~(errors < 0.0), np.ones(errors.shape))
        ax.pcolor(x, y, below, shading="nearest", facecolor="none", lw=0, hatch=HATCH, edgecolor="black")
        return drawn


def draw_error_bar(shades, axes, words, *, label):
    """Draw the scale of error maps beside them, hatched like the maps below zero.

    Parameters
    ----------
    shades : matplotlib.collections.QuadMesh
        Of one of the maps.
    axes : matplotlib.axes.Axes or sequence of them
        Beside which to draw.
    words : dict of float to str
        What to write at which error.
    label : str
        What the error is.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> shades = plotting.draw_error_map(ax, [1, 2], [10, 20], [[-5, 2], [0, 10]], edges=[1, 3])
    >>> bar = plotting.draw_error_bar(shades, ax, {-3: "−3 %", 0: "exact", 3: "+3 %"}, label="error")
    >>> [tick.get_text() for tick in bar.ax.get_yticklabels()]
    ['−3 %', 'exact', '+3 %']
    """
    with style():
        bar = shades.figure.colorbar(shades, ax=axes, label=label)
        bar.set_ticks(list(words), labels=words.values())
        bar.ax.tick_params(which="both", length=0)
        bar.ax.axhspan(bar.vmin, -ZERO, facecolor="none", lw=0, hatch=HATCH, edgecolor="black")
        return bar
