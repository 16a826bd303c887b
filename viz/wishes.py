"""What a figure is to say: noted when asked for, placed when it is saved, so that order does not matter."""

import weakref
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shufflelib.numerics.validation import shown


@dataclass
class Wishes:
    """What was asked for one figure."""

    headline: str = ""
    setting: str = ""
    marks: list = field(default_factory=list)  # (axes, x, y, words, whether to draw a ring)
    ends: dict = field(default_factory=dict)  # axes, or None for all -> (names to words, words for grey)
    shades: list = field(default_factory=list)  # (axes or None, name of the line, words, below)
    bar: tuple | None = None  # the mapped picture, and what its colours mean
    names: dict = field(default_factory=dict)  # look of a line -> its name, read from the legend


_asked = weakref.WeakKeyDictionary()


def figure_of(place):
    """Return the figure of axes, of a seaborn grid or of a figure."""
    figure = place if isinstance(place, Figure) else getattr(place, "figure", None)
    if not isinstance(figure, Figure):
        raise TypeError(
            f"place must be axes, a grid or a figure, got {shown(place)}; pass what seaborn returned, or the "
            "figure of several axes"
        )
    return figure


def wishes(place):
    """Return the wishes of a figure."""
    return _asked.setdefault(figure_of(place), Wishes())


def finding(place, headline, setting, at=()):
    """Write the finding above the figure, the setting in grey below it, and mark the finding's number.

    Parameters
    ----------
    place : Axes, FacetGrid or Figure
        What seaborn returned.
    headline : str
        A sentence with its number; broken into lines where the figure is too narrow.
    setting : str
        Mechanism, budget and δ.
    at : sequence of tuple
        For each number of the headline ``(x, y, words)``, or ``(x, y, words, panel)`` with the axes or the
        number of a panel: a ring at the point, the words beside it.

    Examples
    --------
    >>> import seaborn as sns, viz
    >>> ax = sns.lineplot(x=[1, 10], y=[2.0, 0.5])
    >>> viz.finding(ax, "Ten people leave a quarter", "an example", at=[(10, 0.5, "a quarter")])
    >>> viz.plt.close()
    """
    fig, asked = figure_of(place), wishes(place)
    asked.headline, asked.setting = headline, setting
    asked.marks = [one for one in asked.marks if not one[-1]]
    for x, y, words, *panel in at:
        asked.marks.append((_axes(fig, place, *panel), x, y, words, True))


def label_ends(place, words=None, rest=""):
    """Name each line at its end instead of in a legend: in every panel, or in the axes given.

    Parameters
    ----------
    place : Axes, FacetGrid or Figure
        What seaborn returned.
    words : dict of str to str, optional
        What to write instead of a name; empty leaves the line unnamed.  One of no line or look is refused.
    rest : str
        What to write once for the grey family.

    Notes
    -----
    Names are read from seaborn's legend, which is removed; `save` refuses a figure without one.
    """
    only = place if isinstance(place, Axes) else None
    wishes(place).ends[only] = dict(words or {}), rest


def shade_impossible(place, line, words="", *, below=True):
    """Shade the side of a line on which no valid bound can be, in every panel, or in the axes given.

    Parameters
    ----------
    place : Axes, FacetGrid or Figure
        What seaborn returned.
    line : str
        The line's name, usually the attack.
    words : str
        What the shade means, written once.
    below : bool
        The side.
    """
    only = place if isinstance(place, Axes) else None
    wishes(place).shades.append((only, line, words, below))


def bracket(ax, x, low, high, words):
    """Draw a double arrow between two heights at x, with words beside it."""
    arrow(ax, (x, low), (x, high), words, "<->")


def arrow(ax, tail, head, words="", style="->"):
    """Draw an arrow from what is compared with to what is found, with words beside its middle."""
    shape = {"arrowstyle": style, "lw": 0.9, "shrinkA": 0, "shrinkB": 0, "color": "black"}
    ends = [(float(ax.convert_xunits(x)), float(ax.convert_yunits(y))) for x, y in (tail, head)]
    ax.annotate("", ends[1], ends[0], arrowprops=shape, zorder=7)
    middle = ax.transScale.inverted().transform(ax.transScale.transform(ends).mean(axis=0))
    if words:
        wishes(ax).marks.append((ax, *map(float, middle), words, False))


def _axes(fig, place, panel=None):
    if isinstance(panel, Axes):
        return panel
    if panel is None and isinstance(place, Axes):
        return place
    if panel is not None and panel not in range(len(fig.axes)):
        raise ValueError(f"panel must be one of 0 to {len(fig.axes) - 1}, got {panel!r}; or pass the axes")
    return fig.axes[panel or 0]
