"""One style for all figures, applied without touching global state."""

from contextlib import contextmanager
from contextvars import ContextVar

import matplotlib.style
from matplotlib.figure import Figure

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "mathtext.fontset": "cm",
    "text.usetex": False,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.xmargin": 0.02,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "white",
    "figure.constrained_layout.w_pad": 0.06,
    "figure.constrained_layout.h_pad": 0.06,
    "svg.hashsalt": "shufflelib",
}
_APPLIED = ContextVar("applied", default=False)


@contextmanager
def style():
    """Apply the project's Matplotlib style inside a ``with`` block, ignoring the user's settings.

    A block inside another one changes nothing.

    Examples
    --------
    >>> import matplotlib
    >>> from shufflelib import plotting
    >>> before = matplotlib.rcParams["font.size"]
    >>> with plotting.style():
    ...     matplotlib.rcParams["font.size"]
    8.0
    >>> matplotlib.rcParams["font.size"] == before
    True
    """
    if _APPLIED.get():
        yield
        return
    applied = _APPLIED.set(True)
    try:
        with matplotlib.style.context(["default", STYLE]):
            yield
    finally:
        _APPLIED.reset(applied)


def erase(place, group):
    """Remove what was drawn on axes or a figure under the name of a group (matplotlib's gid)."""
    for artist in [one for one in place.get_children() if one.get_gid() == group]:
        artist.remove()


def figure(rows=1, columns=1, *, width=7.0, height=None, sharex=False, sharey=False, titles=(), **each):
    """Return a new figure and its axes in the project's style.

    Parameters
    ----------
    rows, columns : int
        Panels of the figure.
    width, height : float
        Inches: 3.4 fills a column and 7.0 a page; the height follows from the panels.
    sharex, sharey : bool or str
        Passed to ``Figure.subplots``.
    titles : iterable of str
        One per panel, in reading order.
    **each
        Properties of every panel: ``xlabel=``, ``ylabel=``, ``xscale=``, ``yscale=``, ...

    Returns
    -------
    tuple
        The figure, and one axes or an array of axes.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, axes = plotting.figure(1, 2, titles=("Laplace", "Gaussian"), xlabel="users $n$", xscale="log")
    >>> [ax.get_title() for ax in axes]
    ['Laplace', 'Gaussian']
    """
    with style():
        size = (width, height or 0.4 + rows * 0.62 * width / columns)
        canvas = Figure(figsize=size, layout="constrained")
        axes = canvas.subplots(rows, columns, sharex=sharex, sharey=sharey)
        for ax in canvas.axes:
            ax.set(**each)
            if sharex or sharey:
                ax.label_outer()
        for ax, title in zip(canvas.axes, titles, strict=False):
            ax.set_title(title)
        return canvas, axes
