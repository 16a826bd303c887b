"""δ as an area: by how much the distribution with your value exceeds e^ε times the one without it."""

import math

import numpy as np
from matplotlib.ticker import MaxNLocator

from shufflelib.numerics.validation import real, weights
from viz.ideas.canvas import LABEL, NOTE, WIDTH, canvas, numbers, panel
from viz.theme import BLUE, OCHRE, RED
from viz.words import digits

HEIGHT = 3.2
AROUND = 0.75  # of the excess's width, shown on either side
VALUES = range(2, 100_001)
TICKS = [1, 2, 2.5, 5, 10]  # of matplotlib's automatic locator; whole numbers where counts are drawn
PLACE = 0.75  # of a curve's peak, where its name stands
ROOM = 0.35  # of the width, for a name beside the curves


def draw_delta(x, p, q, eps, *, statistic="what the analyst counts", finding=None, setting=""):
    """Draw two distributions of what the analyst sees, the second raised by e^ε, and shade the excess: δ.

    Parameters
    ----------
    x : array_like, shape (m,)
        Increasing values of a statistic, equally far apart.
    p, q : array_like, shape (m,)
        Their probabilities in the two neighbouring worlds.
    eps : float
        ε, not negative.
    statistic : str
        Name of the horizontal axis.

    Examples
    --------
    >>> from viz import ideas
    >>> from viz.wishes import wishes
    >>> fig = ideas.draw_delta([0, 1, 2], [0.25, 0.5, 0.25], [0.5, 0.4, 0.1], 0.2)
    >>> wishes(fig).headline
    'Beyond a factor of 1.22 = eᵋ, an excess of δ = 0.139 remains'
    """
    x = numbers(x, "x", VALUES)
    gaps = np.diff(x)
    if not (gaps > 0).all() or not np.allclose(gaps, gaps[0]):
        raise ValueError(f"x must increase in equal steps, got {x.size} values; sort them or count all")
    p, q = weights(p, "p", x.size), weights(q, "q", x.size)
    eps = real(eps, "eps", at_least=0.0, at_most=700.0, remedy="at a negative ε exchange p and q")
    raised = math.exp(eps) * q
    excess = np.maximum(p - raised, 0.0)
    said, factor = digits(math.fsum(excess)), digits(math.exp(eps))
    found = f"Beyond a factor of {factor} = eᵋ, an excess of δ = {said} remains"
    fig, top = canvas(HEIGHT, finding, found, setting)
    low, high = _window(p, q, excess)
    ceiling = 1.1 * max(p[low:high].max(), min(raised[low:high].max(), 2.0 * p.max()))
    ax = panel(fig, 0.72, 0.52, WIDTH - 0.87, top - 0.56)
    ends = np.r_[2 * x[0] - x[1], x, 2 * x[-1] - x[-2]]
    p0, raised0, excess0 = (np.r_[0.0, values, 0.0] for values in (p, raised, excess))
    ax.fill_between(ends, raised0, raised0 + excess0, step="mid", lw=0, color=RED, alpha=0.75)
    ax.step(ends, raised0, color=OCHRE, lw=1.8, ls=(0, (4, 1.2)), where="mid")
    ax.step(ends, p0, color=BLUE, lw=1.8, where="mid")
    right = float(x @ p) / p.sum() >= float(x @ raised) / raised.sum()
    half, room = gaps[0] / 2, ROOM * (x[high - 1] - x[low] + gaps[0])
    limits = x[low] - half - (0.0 if right else room), x[high - 1] + half + (room if right else 0.0)
    ax.set(xlim=limits, ylim=(0.0, 1.15 * ceiling))
    ax.set_ylabel("probability", fontsize=LABEL)
    ax.set_xlabel(statistic, fontsize=LABEL)
    ax.tick_params(labelsize=NOTE)
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_locator(MaxNLocator("auto", steps=TICKS, integer=(x % 1.0 == 0.0).all()))
    ax.set_xticks([tick for tick in ax.get_xticks() if x[low] <= tick <= x[high - 1]])
    shown = slice(low, high)
    height = _name_curves(ax, x[shown], p[shown], raised[shown], factor, right)
    height += -0.33 if height > 0.45 else 0.33
    _name_area(ax, x[shown], raised[shown], excess[shown], said, right, height)
    return fig


def _window(p, q, excess):
    """Return the ends of what is shown: around the excess, or all that is likely if no excess is near."""
    seen = np.flatnonzero(np.maximum(p, q) > 1e-3 * max(p.max(), q.max()))
    low, high = max(seen[0] - 1, 0), min(max(seen[-1] + 2, 2), p.size)
    over = np.flatnonzero(excess > 1e-3 * excess.max())
    if not over.size or max(over[-1], seen[-1]) - min(over[0], seen[0]) > 2 * (seen[-1] - seen[0]):
        return low, high
    beside = max(3, math.ceil(AROUND * (over[-1] - over[0])))
    return max(over[0] - beside, min(low, over[0])), min(over[-1] + beside + 1, max(high, over[-1] + 1))


def _name_curves(ax, x, p, raised, factor, right):
    """Name your curve beside its slope, the raised one at the other side's top; return the first's height."""
    height = PLACE * min(p.max(), ax.get_ylim()[1])
    across = np.flatnonzero(np.maximum(p, raised) >= height)
    at = x[across[-1]] + (x[1] - x[0]) / 2 if right else x[across[0]] - (x[1] - x[0]) / 2
    beside = {"xytext": (12 if right else -12, 12), "ha": "left" if right else "right", "va": "center"}
    ax.annotate(
        "with your\nvalue", (at, height), textcoords="offset points", fontsize=LABEL, color=BLUE, **beside
    )
    corner = {"transform": ax.transAxes, "ha": "left" if right else "right", "va": "top", "fontsize": LABEL}
    words = f"with another value, eᵋ = {factor} times as high"
    ax.text(0.01 if right else 0.99, 1.0, words, color=OCHRE, **corner)
    return height / ax.get_ylim()[1]


def _name_area(ax, x, raised, excess, said, right, height):
    """Say what the area is."""
    look = {"fontsize": LABEL, "color": RED}
    if excess.sum() == 0.0:
        words = f"δ = {said}: no excess" if said == digits(0.0) else f"δ = {said}: too far out to be seen"
        ax.text(
            1.0 if right else 0.0, 0.9, words, transform=ax.transAxes, ha="right" if right else "left", **look
        )
        return
    top = int(excess.argmax())
    ax.annotate(
        f"δ = {said}\nis the filled\narea", (x[top], raised[top] + excess[top] / 2),
        (0.99 if right else 0.01, height), textcoords="axes fraction", va="center", weight="bold",
        ha="right" if right else "left", arrowprops={"arrowstyle": "-", "lw": 0.7, "color": RED}, **look,
    )  # fmt: skip
