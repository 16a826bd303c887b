"""All bounds in one setting: a line for each bound, the certified bracket shaded across all of them."""

import math

from matplotlib.ticker import LogLocator, NullLocator

from shufflelib.plotting.looks import GREY, look
from shufflelib.plotting.style import style

REMARK = {"asymptotic": "a limit", "refuted": "refuted elsewhere"}


def draw_answers(ax, values, *, theory=None, numerical=()):
    """Draw one mark for each bound on a logarithmic axis, its number beside it.

    Marks are filled where the bound is certified, hollow where it is as published; a refuted one is refuted
    here if it lies below "certified lower", else elsewhere.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; bounds run from top to bottom in the order given.
    values : dict of str to float
        Value of each bound, by its name in `LINE`; NaN where it does not apply.
    theory : tuple of float, optional
        Ends of the theory gap, shaded in grey.
    numerical : sequence of tuple of float, optional
        Intervals of the numerical gap, hatched.

    Examples
    --------
    >>> import math
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(xlabel="ε")
    >>> values = {"certified upper": 0.13, "clones FMT'21, closed form": 0.57, "EFMRTT'19": math.nan}
    >>> plotting.draw_answers(ax, values)
    >>> [text.get_text() for text in ax.texts]
    ['does not apply', '0.57', '0.13']
    """
    rows = list(reversed(values))
    with style():
        ax.set_xscale("log")
        for row, name in enumerate(rows):
            _draw_row(ax, row, name, values[name], values.get("certified lower", 0.0))
        if theory is not None and theory[1] > theory[0] > 0.0:
            ax.axvspan(*theory, color=GREY, alpha=0.25, lw=0, zorder=0, gid="theory gap")
        for low, high in numerical:
            ax.axvspan(
                low, high, facecolor="none", edgecolor="black", hatch="////", lw=0.4, gid="numerical gap"
            )
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(-0.7, len(rows) - 0.3)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.grid(axis="y", color="0.92", lw=0.6, zorder=0)
        known = [value for value in values.values() if value > 0.0]
        if known:
            ax.set_xlim(min(known) / 1.5, max(known) * 1.5 * (max(known) / min(known)) ** 0.5)


def _draw_row(ax, row, name, value, attained):
    how = look(name)
    beside = {"va": "center", "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.5}}
    if math.isnan(value):
        ax.text(0.02, row, "does not apply", transform=ax.get_yaxis_transform(), **beside)
        return
    full = how.kind == "certified"
    colour = how.colour
    ax.plot(
        [value],
        [row],
        marker=how.marker or "|",
        color=colour,
        markersize=6 if full else 5,
        markerfacecolor=colour if full else "white",
        markeredgewidth=1.8 if full else 1.0,
        linestyle="none",
        label=name,
        zorder=3,
    )
    remark = "refuted here" if how.kind == "refuted" and value < attained else REMARK.get(how.kind, "")
    number = f"{value:.4g}  {remark}".rstrip()
    ax.annotate(number, (value, row), xytext=(7, 0), textcoords="offset points", **beside)
