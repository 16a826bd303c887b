"""Curves and maps on axes, their legend, and which of them are certified."""

import textwrap

import numpy as np

from shufflelib.plotting.looks import LINE, SAYS, WIDTH, look
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


def draw_map(ax, x, y, values, *, limits):
    """Colour a positive quantity over a grid by its decimal logarithm.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; the x axis keeps its scale, the cells are centred on the grid.
    x, y : array_like, shapes (m,) and (k,)
        Increasing centres.
    values : array_like, shape (k, m)
        Positive, NaN where the theorem does not apply: such cells stay empty.
    limits : tuple of float
        Values at the two ends of the colours, the same for all panels of a figure.

    Returns
    -------
    matplotlib.collections.QuadMesh
        For the figure's ``colorbar``.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> ratios = [[0.5, 2.0], [1.0, 4.0]]
    >>> shades = plotting.draw_map(ax, [1, 2], [10, 20], ratios, limits=(0.1, 10.0))
    >>> shades.get_clim()
    (-1.0, 1.0)
    """
    with style(), np.errstate(invalid="ignore"):
        shades, ends = np.log10(np.asarray(values, float)), np.log10(limits)
        return _cells(ax, x, y, shades, ends, "cividis")


def draw_error_map(ax, x, y, errors, *, limit):
    """Colour a signed error over a grid, orange above zero and purple below, and hatch what is below.

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
        drawn = _cells(ax, x, y, errors, (-limit, limit), "PuOr_r")
        below = np.ma.masked_where(~(errors < 0.0), np.ones(errors.shape))
        ax.pcolor(x, y, below, shading="nearest", facecolor="none", lw=0, hatch="////", edgecolor="black")
        return drawn


def _cells(ax, x, y, shades, ends, colours):
    """Colour the cells of a grid, and leave unknown ones empty."""
    low, high = ends
    return ax.pcolormesh(
        x,
        y,
        np.ma.masked_invalid(shades),
        cmap=colours,
        vmin=low,
        vmax=high,
        shading="nearest",
        rasterized=True,
    )


def legend_once(fig, *, columns=None):
    """List all bounds of a figure once, where direct labels would take too much room.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Whose panels show the bounds.
    columns : int, optional
        Above the panels in so many columns; by default one column beside them.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, axes = plotting.figure(1, 2)
    >>> for ax in axes:
    ...     plotting.draw_curves(ax, [plotting.curve("EFMRTT'19", [0.25, 0.5], [0.12, 0.23])])
    >>> plotting.legend_once(fig)
    >>> [text.get_text() for text in fig.legends[0].get_texts()]
    ["EFMRTT'19"]
    """
    for earlier in list(fig.legends):
        earlier.remove()
    shown = {line.get_label(): line for ax in fig.axes for line in ax.get_lines()}
    names = [bound for bound in LINE if bound in shown]
    beside = {"loc": "outside right upper"}
    above = {"loc": "outside upper center", "ncols": columns, "columnspacing": 1.2, "borderaxespad": 0.2}
    with style():
        fig.legend(
            [shown[bound] for bound in names],
            names,
            **(beside if columns is None else above),
            handlelength=3.5 if columns is None else 2.8,
            labelspacing=0.3,
        )


def state_kinds(fig):
    """Write under the figure which of its curves are certified, and what the others are.

    Returns
    -------
    str
        The line that was written.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> plotting.draw_curves(ax, [plotting.curve("EFMRTT'19", [0.25, 0.5], [0.12, 0.23])])
    >>> plotting.state_kinds(fig)
    "Nothing here is certified. As published (dashed): EFMRTT'19."
    """
    shown = {line.get_label() for ax in fig.axes for line in ax.get_lines()}
    groups = {kind: [bound for bound in LINE if bound in shown and LINE[bound].kind == kind] for kind in SAYS}
    parts = [f"{SAYS[kind]}: {'; '.join(bounds)}" for kind, bounds in groups.items() if bounds]
    if not groups["certified"]:
        parts.insert(0, "Nothing here is certified")
    line = ". ".join(parts) + "."
    with style():
        lines = textwrap.wrap(line, int(19 * fig.get_figwidth()))
        fig.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=6.5, color="0.3")
    return line
