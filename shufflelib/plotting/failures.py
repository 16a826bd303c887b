"""A refuted claim beside the truth, as functions of one parameter, and where the two cross."""

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from shufflelib.plotting.brackets import aligned
from shufflelib.plotting.headings import SETTING, digits, wrapped
from shufflelib.plotting.looks import BLACK, GREY, SHORT, VERMILLION, WIDTH
from shufflelib.plotting.style import style

DECADES = 20.0  # largest over smallest, beyond which an axis is logarithmic
TRUTH = {"≤": "≥", "≥": "≤", "=": "="}  # what refutes a claim
BESIDE = 0.55  # inches of a column that its panel does not have
LINE_HEIGHT = 1.25 * SETTING


def draw_failure(ax, name, curve):
    """Draw a claim in red and the true value in black, crosses where it fails and a ring where it fails most.

    The grey side is where the number cannot be; the title has the two numbers at the ring.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; gets the title, the name of the parameter and scales of its own.
    name : str
        Of the claim.
    curve : object
        The claim's failure curve, with the attributes of a `claims.failure_curve.FailureCurve`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from shufflelib import plotting
    >>> curve = SimpleNamespace(
    ...     parameter="users n",
    ...     quantity="ε at δ = 10⁻⁶",
    ...     at=[10, 100, 1000],
    ...     claimed=[0.9, 0.3, 0.1],
    ...     true=[0.8, 0.4, 0.1],
    ...     fails=[False, True, False],
    ...     worst=1,
    ...     relation="≤",
    ... )
    >>> fig, ax = plotting.figure(width=3.0)
    >>> plotting.draw_failure(ax, "Theorem 2", curve)
    >>> print(ax.get_title(loc="left"))
    Claimed ≤ 0.3, truth ≥ 0.4
    """
    at, claimed, true = (np.asarray(values) for values in (curve.at, curve.claimed, curve.true))
    wrong, worst = np.asarray(curve.fails), curve.worst
    refuted = {"color": VERMILLION, "linewidth": WIDTH["refuted"]}
    with style():
        ax.plot(at, true, color=BLACK, linewidth=WIDTH["certified"] * 0.75)
        ax.plot(at, claimed, **refuted, linestyle=SHORT)
        ax.plot(at[wrong], claimed[wrong], **refuted, linestyle="", marker="x", markersize=4)
        ax.plot(
            at[worst],
            claimed[worst],
            **refuted,
            marker="o",
            markersize=8,
            markerfacecolor="none",
            clip_on=False,
        )
        ax.set_xscale("log" if _wide(at) else "linear")
        ax.set_yscale("log" if _wide(np.r_[claimed, true]) else "linear")
        for axis, scale in ((ax.xaxis, ax.get_xscale()), (ax.yaxis, ax.get_yscale())):
            axis.set_major_locator(LogLocator(numticks=4) if scale == "log" else MaxNLocator(3))
            axis.set_minor_formatter(NullFormatter())
        if curve.relation != "=":
            ends = ax.get_ylim()
            end = ends[0] if curve.relation == "≤" else ends[1]
            ax.fill_between(at, true, end, color=GREY, alpha=0.2, linewidth=0, zorder=1)
            ax.set_ylim(ends)
        ax.set_xlabel(curve.parameter, fontsize=SETTING, labelpad=1)
        _say_failure(ax, name, curve)


def _say_failure(ax, name, curve):
    """Write the two numbers at the ring above a panel, and in grey what they are and whose claim it is."""
    said, found = (digits(values[curve.worst]) for values in (curve.claimed, curve.true))
    pieces = f"Claimed {curve.relation} {said},", f"truth {TRUTH[curve.relation]} {found}"
    room = ax.figure.get_figwidth() / ax.get_subplotspec().get_gridspec().ncols - BESIDE
    quantity = curve.quantity.replace(" = ", "\u00a0=\u00a0")
    about = f"{name}: {quantity}; ring at\u00a0{digits(curve.at[curve.worst])}"
    about = wrapped(about, room, SETTING)
    under = {"xytext": (0, 4), "textcoords": "offset points", "va": "bottom", "annotation_clip": False}
    ax.annotate(about, (0, 1), xycoords="axes fraction", **under, fontsize=SETTING, color="0.35")
    numbers = wrapped(" ".join(one.replace(" ", "\u00a0") for one in pieces), room, SETTING, "bold")
    pad = 6 + LINE_HEIGHT * (about.count("\n") + 1)
    ax.set_title(numbers.replace("\u00a0", " "), loc="left", fontsize=SETTING, fontweight="bold", pad=pad)


def mark_crossings(ax, x, claimed, attained, *, parameter="n", quantity="ε"):
    """Mark in red where a claim crosses the attained value, with the numbers at the crossing.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With both curves drawn; a crossing is interpolated along straight lines on its scales.
    x, claimed, attained : array_like, shape (m,)
        Increasing abscissae, the claim, and what is proved against it; NaN breaks both lines.
    parameter, quantity : str
        Symbols beside the numbers.

    Returns
    -------
    list of tuple of float
        Abscissa and ordinate of each crossing.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> crossings = plotting.mark_crossings(ax, [10, 20, 30], [0.3, 0.2, 0.1], [0.25, 0.25, 0.25])
    >>> [text.get_text() for text in ax.texts]
    ['n = 15, ε = 0.25']
    """
    x, claimed, attained = aligned(x=x, claimed=claimed, attained=attained)
    to_scale, back = ax.transScale, ax.transScale.inverted()
    upper, lower = (to_scale.transform(np.column_stack((x, values))) for values in (claimed, attained))
    over = upper[:, 1] - lower[:, 1]
    known = np.isfinite(over[:-1] * over[1:])
    crossings = []
    for k in np.flatnonzero(known & (over[:-1] * over[1:] <= 0.0) & (over[:-1] != over[1:])):
        share = over[k] / (over[k] - over[k + 1])
        point = tuple(float(v) for v in back.transform((1 - share) * lower[k] + share * lower[k + 1]))
        if point not in crossings:
            crossings.append(point)
    for earlier in [one for one in (*ax.lines, *ax.texts) if one.get_gid() == "crossing"]:
        earlier.remove()
    ring = {"marker": "o", "markersize": 7, "markerfacecolor": "none", "markeredgewidth": 1.4}
    with style():
        for point in crossings:
            ax.plot(*point, color=VERMILLION, **ring, zorder=5, gid="crossing")
            words = f"{parameter} = {point[0]:.3g}, {quantity} = {point[1]:.3g}"
            beside = {"xytext": (-6, -6), "textcoords": "offset points", "ha": "right", "va": "top"}
            ax.annotate(words, point, **beside, color=VERMILLION, gid="crossing")
    return crossings


def mark_shortfall(ax, x, claimed, attained, words, *, side="right"):
    """Mark in red how far a claim is below the attained value, where the two do not cross.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With both curves drawn.
    x, claimed, attained : float
        Where, and both values there.
    words : str
        The numbers, written beside the middle of the arrow.
    side : {'right', 'left'}
        Where the words stand.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> plotting.mark_shortfall(ax, 10, 0.1, 0.3, "claimed 0.1, attained 0.3")
    >>> [text.get_text() for text in ax.texts]
    ['', 'claimed 0.1, attained 0.3']
    """
    to_scale, back = ax.transScale, ax.transScale.inverted()
    ends = to_scale.transform([(x, claimed), (x, attained)])
    away = 6 if side == "right" else -6
    beside = {"xytext": (away, 0), "textcoords": "offset points", "ha": "left" if away > 0 else "right"}
    arrow = {"arrowstyle": "<->", "color": VERMILLION, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    with style():
        ax.annotate("", (x, claimed), xytext=(x, attained), arrowprops=arrow, zorder=5)
        ax.annotate(words, back.transform(ends.mean(axis=0)), **beside, va="center", color=VERMILLION)


def _wide(values):
    """Whether finite values are positive and spread so far that only a logarithmic axis shows them."""
    values = values[np.isfinite(values)]
    return bool(values.min() > 0.0 and values.max() > DECADES * values.min())
