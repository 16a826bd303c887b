"""δ as an area: by how much the distribution with your value exceeds e^ε times the one without it."""

import math

import numpy as np
from matplotlib.ticker import MaxNLocator

from shufflelib.numerics.validation import real, weights
from viz.ideas.canvas import BOLD, LABEL, NOTE, WIDTH, canvas, numbers, panel
from viz.theme import BLUE, GREY, OCHRE, RED
from viz.words import digits

HEIGHT = 3.5
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
    if finding is None:
        finding = f"Beyond a factor of {factor} = eᵋ, an excess of δ = {said} remains"
    fig, top = canvas(HEIGHT, finding, setting)
    seen = _support(p, q, excess)
    x, p, raised, excess = x[seen], p[seen], raised[seen], excess[seen]
    ceiling = 1.1 * max(p.max(), min(raised.max(), 2.0 * p.max()))
    wide = WIDTH - 0.5
    ax, low = panel(fig, 0.35, 1.28, wide, top - 1.32), panel(fig, 0.35, 0.52, wide, 0.66)
    ends = np.r_[2 * x[0] - x[1], x, 2 * x[-1] - x[-2]]
    p0, raised0, excess0 = (np.r_[0.0, values, 0.0] for values in (p, raised, excess))
    shade = {"step": "mid", "lw": 0, "color": RED, "alpha": 0.75}
    ax.fill_between(ends, raised0, raised0 + excess0, **shade)
    ax.step(ends, raised0, color=OCHRE, lw=1.8, ls=(0, (4, 1.2)), where="mid")
    ax.step(ends, p0, color=BLUE, lw=1.8, where="mid")
    low.fill_between(ends, 0.0, excess0, **shade)
    ax.set(ylim=(0.0, ceiling), yticks=[])
    ax.set_ylabel("probability", fontsize=LABEL)
    ax.tick_params(labelbottom=False)
    low.set(ylim=(0.0, 1.1 * excess.max() or 1.0), yticks=[])
    low.set_xlabel(statistic, fontsize=LABEL)
    low.tick_params(labelsize=NOTE)
    limits = _name_curves(ax, x, p, raised, factor, ceiling)
    for one in (ax, low):
        one.set_xlim(limits)
        one.spines["left"].set_visible(False)
    low.xaxis.set_major_locator(MaxNLocator("auto", steps=TICKS, integer=(x % 1.0 == 0.0).all()))
    ticks = [tick for tick in low.get_xticks() if x[0] <= tick <= x[-1]]
    for one in (ax, low):
        one.set_xticks(ticks)
    if excess.max() > 0.0:  # the same places above and below
        over = x[excess > 0.0]
        for place in (over[0] - gaps[0] / 2, over[-1] + gaps[0] / 2):
            low.axvline(place, ymax=2.0, color=GREY, lw=0.7, ls=":", clip_on=False, zorder=0)
    _name_area(low, x, excess, said, ceiling * 0.66 / (top - 1.32))
    return fig


def _support(p, q, excess):
    """Return the slice that holds all but a thousandth of the highest probabilities, and a near excess."""
    seen = np.flatnonzero(np.maximum(p, q) > 1e-3 * max(p.max(), q.max()))
    both = np.union1d(seen, np.flatnonzero(excess > 1e-3 * excess.max()))
    if both[-1] - both[0] <= 2 * (seen[-1] - seen[0]):
        seen = both
    return slice(max(seen[0] - 1, 0), max(seen[-1] + 2, 2))


def _name_curves(ax, x, p, raised, factor, ceiling):
    """Name the curves beside their slopes, and return limits of the axis with room for the names."""
    right = float(x @ p) / p.sum() >= float(x @ raised) / raised.sum()
    half = (x[1] - x[0]) / 2
    for y, words, colour, side in (
        (p, "with your\nvalue", BLUE, right),
        (raised, f"with another value,\n{factor} times as high", OCHRE, not right),
    ):
        height = PLACE * min(y.max(), ceiling)
        across = np.flatnonzero(np.maximum(p, raised) >= height)
        at = x[across[-1]] + half if side else x[across[0]] - half
        beside = {"xytext": (12 if side else -12, 12), "ha": "left" if side else "right", "va": "center"}
        ax.annotate(words, (at, height), textcoords="offset points", fontsize=LABEL, color=colour, **beside)
    slopes = np.flatnonzero(np.maximum(p, raised) >= PLACE * min(p.max(), raised.max(), ceiling))
    left, right = x[slopes[0]] - half, x[slopes[-1]] + half
    wide = max(x[-1] - x[0], (right - left) / (1.0 - 2 * ROOM))
    return min(x[0] - 2 * half, left - ROOM * wide), max(x[-1] + 2 * half, right + ROOM * wide)


def _name_area(ax, x, excess, said, same_scale):
    """Say what the area is, and how much higher than above it is drawn."""
    if excess.sum() == 0.0:
        words = f"δ = {said}: no excess" if said == digits(0.0) else f"δ = {said}: too far out to be seen"
        ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", fontsize=LABEL, color=RED)
        return
    right = float(x @ excess / excess.sum()) >= (x[0] + x[-1]) / 2
    times = same_scale / ax.get_ylim()[1]
    drawn = f"\n({digits(times, 2)} times as high as above)" if times >= 1.5 else ""
    look = BOLD | {"ha": "left" if right else "right", "color": RED, "transform": ax.transAxes}
    ax.text(0.0 if right else 1.0, 0.55, f"δ = {said} is the filled area{drawn}", **look)
