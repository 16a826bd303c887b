"""Attack, truth and guarantee on a number line, with published bounds as ticks and refuted ones crossed."""

import math

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator

from shufflelib.numerics.validation import instance, real
from shufflelib.plotting.brackets import gap_in_words
from shufflelib.plotting.headings import digits, width
from shufflelib.plotting.labels import legible
from shufflelib.plotting.looks import BLUE, GREY, VERMILLION
from shufflelib.plotting.style import style
from viz.ideas.canvas import NOTE, canvas, panel

HEIGHT = 2.9
MARGIN, BELOW, BAND, ROW = 0.15, 0.82, 0.3, 0.165  # inches
SEEN = 0.02  # share of the line from which on a bracket is visible


def draw_bracket(lower, upper, *, published=None, finding=None, setting="", fig=None):
    """Draw where the truth lies: above an attack, below a guarantee; bounds below the attack are crossed.

    Parameters
    ----------
    lower, upper : float
        What an attack attains, and the certified guarantee.
    published : dict of str to float, optional
        Other bounds by name, at most six; one below ``lower`` is refuted.

    Examples
    --------
    >>> from viz import ideas
    >>> fig = ideas.draw_bracket(0.25, 0.27, published={"clones 2021": 0.9, "a guess": 0.1})
    >>> fig.get_suptitle().strip()
    'Certified: 0.25 ≤ ε ≤ 0.27; the attack refutes a guess'
    """
    lower = real(lower, "lower", above=0.0, remedy="an attack attains something")
    upper = real(upper, "upper", at_least=lower, at_most=1e6, remedy="a guarantee lies above the attack")
    published = _checked(published)
    refuted = [name for name, value in published.items() if value < lower]
    if finding is None:
        finding = _found(lower, upper, refuted)
    fig, top = canvas(fig, HEIGHT, finding, setting)
    flags = {name: (value, _flag(name, value, lower)) for name, value in published.items()}
    inches = fig.get_figwidth() - 2 * MARGIN
    low, high = _limits(lower, upper, flags, inches)
    with style():
        tall = top - BELOW - 0.02
        ax = panel(fig, MARGIN, BELOW, inches, tall, xscale="log", xlim=(low, high), ylim=(0.0, tall))
        ax.set(yticks=[], xlabel="ε (logarithmic scale)")
        ax.spines["left"].set_visible(False)
        ax.xaxis.set_major_locator(FixedLocator(_ticks(low, high)))
        ax.xaxis.set_major_formatter(lambda value, _: digits(value))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_label_coords(0.5, (0.14 - BELOW) / tall, transform=ax.transAxes)
        ax.tick_params(labelsize=NOTE)
        ax.xaxis.label.set(fontsize=NOTE, va="center")
        _draw_sides(ax, lower, upper, inches)
        _draw_flags(ax, flags, lower, inches)
    return fig


def _flag(name, value, lower):
    """Return what is written at a bound, and how many inches that takes."""
    text = f"{name}: {digits(value)}" + (", refuted" if value < lower else "")
    return text, width(text, NOTE) + 0.1


def _limits(lower, upper, flags, inches):
    """Return ends of the line between which everything finds room."""
    values = [lower, upper, *(value for value, _ in flags.values())]
    span = max(max(values) / min(values), 1.5)
    low = math.log(min(values) / span**0.22)
    high = math.log(max(values) * span**0.25)
    for value, (_, wide) in flags.values():
        high = max(high, low + (math.log(value) - low) * inches / (inches - wide))
    return math.exp(low), math.exp(high)


def _checked(published):
    if published is None:
        return {}
    instance(published, "published", dict, remedy="pass names with their values")
    above = {"above": 0.0, "at_most": 1e6, "remedy": "leave out bounds that do not apply"}
    return {name: real(value, f"published[{name!r}]", **above) for name, value in published.items()}


def _found(lower, upper, refuted):
    inside = f"{digits(lower)} ≤ ε ≤ {digits(upper)}"
    if digits(lower) == digits(upper):
        inside = f"ε = {digits(upper)}"
    if not refuted:
        return f"Certified: {inside}"
    return f"Certified: {inside}; the attack refutes {' and '.join(refuted)}"


def _ticks(low, high):
    """Return four to ten round numbers between two limits."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(np.arange(10, 100, 2) / 10)):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 4:
            break
    return ticks[:: max(1, -(-len(ticks) // 8))]


def _draw_sides(ax, lower, upper, inches):
    """Shade where the truth cannot be, draw the bracket in which it lies, and say below which is which."""
    low, high = ax.get_xlim()
    share = BAND / ax.get_ylim()[1]
    ax.axvspan(low, lower, ymax=share, color=GREY, alpha=0.45, lw=0)
    ax.axvspan(upper, high, ymax=share, color=BLUE, alpha=0.3, lw=0)
    ax.axvspan(lower, upper, ymax=share, color="black", lw=2.5)
    wide = math.log(upper / lower) / math.log(high / low)
    said = "black: the true value is in here" if wide > SEEN else f"black: {gap_in_words(lower, upper)}"
    row = {"transform": ax.transAxes, "fontsize": NOTE, "va": "center"}
    per_inch = 1.0 / ax.get_ylim()[1]
    at = (math.log(upper * lower) / 2 - math.log(low)) / math.log(high / low)
    side = {"ha": "left"} if at < 0.4 else {"ha": "right"} if at > 0.6 else {"ha": "center"}
    ax.text(min(max(at, 0.0), 1.0), -0.32 * per_inch, said, fontweight="bold", **side, **row)
    ax.text(0.0, -0.5 * per_inch, "grey: ruled out by an attack", color="0.3", ha="left", **row)
    ax.text(1.0, -0.5 * per_inch, "blue: the guarantee holds", color=legible(BLUE), ha="right", **row)


def _draw_flags(ax, flags, lower, inches):
    """Draw bounds as ticks, each with a flag to the right, in rows in which no staff crosses a flag."""
    low, high = np.log(ax.get_xlim())
    placed = []
    for value, (text, wide) in sorted(flags.values(), key=lambda one: one[0], reverse=True):
        at = inches * (math.log(value) - low) / (high - low)
        row = 1 + max((other for other, start in placed if start < at + wide), default=-1)
        placed.append((row, at))
        up = BAND + 0.06 + ROW * row
        colour = VERMILLION if value < lower else "0.2"
        ax.plot([value, value], [0.0, up + ROW - 0.03], color=colour, lw=0.9)
        ax.plot(value, BAND / 2, "x" if value < lower else "|", color=colour, ms=10, mew=2.2, zorder=6)
        beside = {"xytext": (3, 0), "textcoords": "offset points", "va": "bottom"}
        ax.annotate(text, (value, up), fontsize=NOTE, color=colour, **beside)
