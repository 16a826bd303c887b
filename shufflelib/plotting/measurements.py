"""Simulations beside their theory: markers with bars for what was measured, dashes for what was expected."""

import numpy as np

from shufflelib.plotting.looks import VERMILLION
from shufflelib.plotting.style import style


def draw_measured(ax, x, measured, half_width, *, colour, marker, label=None):
    """Draw measured values with the bars of their uncertainty.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    x, measured, half_width : array_like, shape (m,)
        Abscissae, values, and half the height of each bar (say how many standard errors in the caption).
    colour, marker, label : str
        Look of the series and its entry in the legend, if it has one.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(xlabel="users $n$", ylabel="error")
    >>> at = [1000, 10_000]
    >>> plotting.draw_measured(ax, at, [0.03, 0.01], [0.002, 0.001], colour=plotting.BLUE, marker="o")
    >>> ax.containers[0].has_yerr
    True
    """
    with style():
        ax.errorbar(
            x,
            measured,
            yerr=half_width,
            fmt=marker,
            color=colour,
            ms=3.5,
            mfc="white",
            elinewidth=0.9,
            label=label,
        )


def draw_expected(ax, x, expected, *, colour, label=None):
    """Draw the values that theory expects, dashed.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(xlabel="users $n$", ylabel="error")
    >>> plotting.draw_expected(ax, [1000, 10_000], [0.032, 0.01], colour=plotting.BLUE, label="expected")
    >>> ax.get_lines()[0].get_linestyle()
    '--'
    """
    with style():
        ax.plot(x, np.asarray(expected, float), color=colour, dashes=(5, 2), lw=1.0, label=label)


def draw_point(ax, x, y, words="", *, offset=(8, 0)):
    """Mark one point in red, with its numbers beside it if there is room.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    x, y : float
        The point.
    words : str
        What to read there.
    offset : tuple of float
        Distance of the words from the point, to the right and up, in points.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(xlabel="false alarms", ylabel="misses")
    >>> plotting.draw_point(ax, 0.1, 0.26, "misses 26%")
    >>> ax.texts[0].get_text(), ax.texts[0].xy
    ('misses 26%', (0.1, 0.26))
    """
    beside = {"xytext": offset, "textcoords": "offset points", "ha": "left" if offset[0] >= 0 else "right"}
    with style():
        ax.plot(x, y, "o", color=VERMILLION, markersize=5, zorder=5)
        ax.annotate(words, (x, y), **beside, va="center", color=VERMILLION, zorder=6)
