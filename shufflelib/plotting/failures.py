"""How far refuted claims are from the true value."""

import numpy as np
from matplotlib.ticker import LogLocator

from shufflelib.plotting.brackets import aligned
from shufflelib.plotting.headings import SETTING, digits, wrapped
from shufflelib.plotting.looks import BLACK, GREY, VERMILLION
from shufflelib.plotting.style import style

TRUTH = {"≤": "≥", "≥": "≤", "=": "="}  # what refutes a claim
GROUPS = {
    "≤": "claimed as upper bounds: wrong where too small",
    "≥": "claimed as lower bounds: wrong where too large",
    "=": "claimed to be equal: wrong beside the line",
}
NAMED = 2.6  # inches for what is claimed


def draw_failures(ax, curves):
    r"""Draw refuted claims as multiples of the truth, a row each: crosses where wrong, a ring at the worst.

    The side on which a bound is wrong is grey; hollow dots are where the same claim is right; an arrow stands
    for the ring where one of the two numbers is not positive.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw, half an inch high for each row; scales and ticks are set here.
    curves : dict of str to object
        For each claim its failure curve, with the attributes of a `claims.failure_curve.FailureCurve`.

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
    ...     factor=4 / 3,
    ...     relation="≤",
    ... )
    >>> fig, ax = plotting.figure(height=1.5)
    >>> plotting.draw_failures(ax, {"Theorem 2": curve})
    >>> [text.get_text() for text in ax.texts]
    ['claimed as upper bounds: wrong where too small', 'claimed ≤ 0.3\ntruth ≥ 0.4', 'the truth']
    """
    ends = _ends_of(curves.values())
    with style():
        ax.set(xscale="log", xlim=ends, xlabel="← too small      claimed ÷ true      too large →")
        ax.xaxis.set_major_locator(LogLocator(numticks=6))
        beside = {"transform": ax.get_yaxis_transform(), "va": "center"}
        row, names = 0.0, {}
        for relation, heading in GROUPS.items():
            group = {name: one for name, one in curves.items() if one.relation == relation}
            if not group:
                continue
            ax.text(0.0, row + 0.1, heading, color="0.25", **beside, backgroundcolor="white")
            if relation != "=":
                wrong = (ends[0], 1.0) if relation == "≤" else (1.0, ends[1])
                rows = [row + 0.45, row + len(group) + 0.5]
                ax.fill_betweenx(rows, *wrong, color=GREY, alpha=0.2, linewidth=0, zorder=1)
            for name, one in sorted(group.items(), key=lambda item: -item[1].factor):
                row += 1.0
                _draw_row(ax, row, one)
                names[row] = _about(name, one)
            row += 1.2
        ax.axvline(1.0, color=BLACK, linewidth=1.5, zorder=2)
        ax.annotate("the truth", (1.0, 1.0), xycoords=ax.get_xaxis_transform(), ha="center", va="bottom")
        ax.set_yticks(list(names), names.values())
        ax.set_ylim(row - 0.6, -0.4)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)


def _about(name, curve):
    """Return in two or three lines which claim a row shows, about what, and where it is most wrong."""
    where = digits(curve.at[curve.worst])
    about = f"{name}: {curve.quantity}; ring\u00a0at {curve.parameter}: {where}"
    for joined in (" = ", ": "):
        about = about.replace(joined, joined.replace(" ", "\u00a0"))
    return wrapped(about.replace(":\u00a0", ": ", 1), NAMED, SETTING)


def _ends_of(curves):
    """Return the least and the largest multiple that a row can show, one decade beyond what is known."""
    known = [x for one in curves for x in _multiples(one) if 0.0 < x < np.inf]
    return min(*known, 1.0) / 5, max(*known, 1.0) * 5


def _multiples(curve):
    """Return claimed over true; 0 or infinity where a number is not positive."""
    claimed, true = aligned(claimed=curve.claimed, true=curve.true)
    beyond = np.where(claimed < true, 0.0, np.inf)
    beyond[claimed == true] = 1.0
    beyond[np.isnan(claimed + true)] = np.nan
    return np.divide(claimed, true, where=(claimed > 0.0) & (true > 0.0), out=beyond)


def _draw_row(ax, row, curve):
    """Draw one claim: a mark for each value of its parameter, and the two numbers where it is most wrong."""
    low, high = ax.get_xlim()
    multiples = _multiples(curve)
    x = np.clip(multiples, 1.3 * low, high / 1.3)
    wrong, worst = np.asarray(curve.fails), curve.worst
    right = ~wrong & np.isfinite(x)
    y = np.full(x.shape, row)
    shape = {0.0: "<", np.inf: ">"}.get(multiples[worst], "o")
    ring = {
        "marker": shape,
        "markersize": 9,
        "markerfacecolor": "none",
        "color": VERMILLION,
        "markeredgewidth": 1.2,
    }
    ax.plot(x[right], y[right], "o", color=BLACK, markersize=3, markerfacecolor="white", markeredgewidth=0.6)
    ax.plot(x[wrong], y[wrong], "x", color=VERMILLION, markersize=4, markeredgewidth=0.8, zorder=3)
    ax.plot(x[worst], row, **ring, zorder=4)
    said, found = (digits(values[worst]).replace("-", "−") for values in (curve.claimed, curve.true))
    words = f"claimed {curve.relation} {said}\ntruth {TRUTH[curve.relation]} {found}"
    beside = {"transform": ax.get_yaxis_transform(), "va": "center"}
    ax.text(1.02, row, words, **beside)


def mark_shortfall(ax, x, claimed, attained, words, *, side="right"):
    """Mark in orange how far a claim is below the attained value, where the two do not cross.

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
