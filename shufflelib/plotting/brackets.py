"""Brackets as a shade or in words, and the region that an attack rules out."""

import numpy as np
from matplotlib.collections import LineCollection

from shufflelib.numerics.between import between
from shufflelib.numerics.validation import shown
from shufflelib.plotting.looks import GREY
from shufflelib.plotting.style import erase, style

BAR = 3.0  # points


def shade_bracket(ax, x, lower, upper, *, known=""):
    """Shade what lies between the best proved lower and upper bound, replacing an earlier shade.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    x, lower, upper : array_like, shape (m,)
        Abscissae and both bounds.
    known : {'', 'falls', 'rises'}
        What the quantity does between the points, as for `curve`; where nothing is known there is a bar at
        each point.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> plotting.shade_bracket(ax, [0.5, 1.0], [0.015, 0.03], [0.019, 0.044])
    >>> [shade.get_gid() for shade in ax.collections]
    ['bracket']
    """
    erase(ax, "bracket")
    ax.relim()  # the limits forget the earlier shade
    x, lower, upper = aligned(x=x, lower=lower, upper=upper)
    lower, upper = (np.where(np.isfinite(end), end, np.nan) for end in (lower, upper))
    ends = between(x, lower, upper, known) if known else (x, lower, upper)
    with style():
        _shade(ax, *ends, known, alpha=0.25, gid="bracket")
        ax.autoscale_view()


def _shade(ax, x, bottom, top, known, **look):
    """Shade between two heights: everywhere if they are corners of proved lines, else in bars."""
    look |= {"color": GREY, "zorder": 1}
    if known:
        ax.fill_between(x, bottom, top, linewidth=0, **look)
    else:
        ends = np.stack([np.broadcast_to(end, x.shape) for end in (x, bottom, x, top)], axis=-1)
        ax.add_collection(LineCollection(ends.reshape(-1, 2, 2), linewidths=BAR, **look), autolim=False)


def gap_in_words(lower, upper):
    """Return in words how far apart the bounds of a bracket are at most, for the label of a curve.

    Parameters
    ----------
    lower, upper : array_like, shape (m,)
        The two bounds; pairs without a positive lower or a finite upper bound are left out.

    Returns
    -------
    str
        Two significant digits, rounded up.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> plotting.gap_in_words([0.1, 0.2], [0.10001, 0.20001])
    'both bounds, 0.01 % apart'
    """
    lower, upper = aligned(lower=lower, upper=upper)
    known = (lower > 0.0) & np.isfinite(upper)
    if not known.any():
        return "no bracket"
    gap = 100.0 * float(np.max(upper[known] / lower[known] - 1.0))
    if gap < 1e-6:
        return "both bounds, less than 10⁻⁶ % apart"
    digit = 10.0 ** (np.floor(np.log10(gap)) - 1)
    return f"both bounds, {float(np.ceil(gap / digit - 1e-9) * digit):.2g} % apart"


def shade_impossible(ax, x, attack, words, *, at=(0.05, 0.1), known=""):
    """Shade the region below an attack, where no valid bound can be, and label it.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With its curves already drawn: the vertical limits stay as they are.
    x, attack : array_like, shape (m,)
        Abscissae, and what the attack attains there.
    words : str
        What the shade means.
    at : tuple of float
        Lower left corner of the words, in fractions of the panel.
    known : {'', 'falls', 'rises'}
        What the attacked quantity does between the points, as for `shade_bracket`.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> plotting.draw_curves(ax, [plotting.curve("certified upper", [1, 2], [0.3, 0.2])])
    >>> plotting.shade_impossible(ax, [1, 2], [0.3, 0.2], "no bound can be here: an attack")
    >>> [text.get_text() for text in ax.texts]
    ['no bound can be here: an attack']
    """
    x, attack = aligned(x=x, attack=attack)
    erase(ax, "impossible")
    with style():
        low, high = ax.get_ylim()
        ax.set_ylim(low, high)
        if known:
            x, attack, _ = between(x, attack, attack, known)
        _shade(ax, x, low, attack, known, alpha=0.2, gid="impossible")
        ax.text(*at, words, transform=ax.transAxes, color="0.25", gid="impossible")


def aligned(**values):
    """Return numbers or lists of them, NaN allowed, as arrays of one shape; errors name the argument.

    Examples
    --------
    >>> from shufflelib.plotting.brackets import aligned
    >>> [one.tolist() for one in aligned(x=[1, 2], attack=[0.3, 0.2])]
    [[1.0, 2.0], [0.3, 0.2]]
    """
    arrays = []
    for name, given in values.items():
        try:
            array = np.asarray(given, float)
        except (TypeError, ValueError):
            raise TypeError(f"{name} must be a list of numbers, got {shown(given)}; pass an array") from None
        length = (arrays or [array.ravel() if array.ndim > 1 else array])[0].shape
        if array.shape != length or array.size == 0:
            wanted = f"shape {length}" if array.size else "at least one number"
            raise ValueError(f"{name} must have {wanted}, got shape {array.shape}; pass one for each place")
        arrays.append(array)
    return arrays
