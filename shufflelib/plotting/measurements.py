"""Simulations and theory: markers with error bars for measured values, dashes for expected ones."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from shufflelib.plotting.looks import VERMILLION
from shufflelib.plotting.style import style


def draw_measured(ax, x, measured, half_width, *, colour, marker):
    """Draw measured values with error bars.

    Parameters
    ----------
    x, measured, half_width : array_like, shape (m,)
        Abscissae, values, and half the height of each bar (say how many standard errors in the caption).
    colour, marker : str
        Look of the series.

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
        how = {"color": colour, "ms": 3.5, "mfc": "white", "elinewidth": 0.9}
        ax.errorbar(x, measured, yerr=half_width, fmt=marker, **how)


def draw_expected(ax, x, expected, *, colour, label=None):
    """Draw expected values from theory as a dashed line.

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
    """Mark one point in orange, with its numbers beside it if there is room.

    Parameters
    ----------
    x, y : float
        The point.
    words : str
        The text beside the point.
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


def draw_runs(ax, runs, *, colour, marker, label):
    """Draw the mean of several runs step by step, and a band from the worst run to the best.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; the first step is 1.
    runs : array_like, shape (r, m)
        One row for each run.
    colour, marker, label : str
        Look of the line, and what it is.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(xlabel="epoch", ylabel="accuracy")
    >>> two = [[0.5, 0.7, 0.8], [0.3, 0.5, 0.8]]
    >>> plotting.draw_runs(ax, two, colour=plotting.BLUE, marker="o", label="without noise")
    >>> ax.get_lines()[0].get_ydata().tolist()
    [0.4, 0.6, 0.8]
    """
    runs = np.asarray(runs, float)
    at = np.arange(1, runs.shape[1] + 1)
    look = {"marker": marker, "markersize": 4, "markerfacecolor": "white", "markevery": max(1, at.size // 6)}
    with style():
        ax.plot(at, runs.mean(axis=0), color=colour, linewidth=1.3, label=label, **look)
        ax.fill_between(at, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.2, linewidth=0)
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
