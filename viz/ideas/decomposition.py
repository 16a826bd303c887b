"""Reports split by which of two values they look like, and the part that a reduction to these two ignores."""

import math

import numpy as np

from shufflelib.numerics.validation import real
from viz.ideas.canvas import BOLD, LABEL, NOTE, SHARED, WIDTH, numbers, page
from viz.theme import BLUE, OCHRE, RED
from viz.words import digits

LEFT, RIGHT = 1.25, WIDTH - 0.15  # inches: the bars lie between them
HIGH, STEP, BASE = 0.4, 0.66, 0.5
OUTPUTS = range(1, 101)
NARROW = 0.1  # share of the bar below which no number fits


def draw_decomposition(alpha, p, *, rest=None, others=None, output="one output", finding=None, setting=""):
    """Draw reports of the holders of two values as bars: like the first, like the second, like neither.

    Parameters
    ----------
    alpha : float
        Probability α of a report like the other of the two values, above 0.
    p : float
        How many times likelier a report like the right one is, at least 1; α + αp is at most 1.
    rest : array_like, shape (m,), optional
        Probabilities of the outputs like neither, for a user who holds one of the two values.
    others : array_like, shape (m,), optional
        The same for a user who holds a third value; where the two differ is what the reduction leaves out.
    output : str
        Name of the output that differs most.

    Examples
    --------
    >>> from viz import ideas
    >>> from viz.wishes import wishes
    >>> fig = ideas.draw_decomposition(0.25, 3.0)
    >>> wishes(fig).headline
    'Every report looks like one of the two values: nothing is ignored'
    """
    alpha, p, rest, others = _checked(alpha, p, rest, others)
    missing = max(0.0, 1.0 - alpha - alpha * p)
    missing = 0.0 if missing < 1e-12 else missing
    share = f"{100.0 * missing:.2g} %"
    differ = others is not None and not np.allclose(rest, others)
    found = "Every report looks like one of the two values: nothing is ignored"
    if differ or missing:
        found = f"A reduction to two values ignores {share} of your report"
        found += ", where others' reports differ" * differ
    rows = [("you, with the\nfirst value", [alpha * p, alpha], missing)]
    rows += [("you, with the\nsecond value", [alpha, alpha * p], missing)]
    if others is not None:
        rest_of_others = math.fsum(others)
        both = max(0.0, 1.0 - rest_of_others) / 2
        rows += [("someone with\na third value", [both, both], rest_of_others)]
    ax, _ = page(BASE + STEP * len(rows) + 0.85, finding, found, setting)
    bottoms = BASE + STEP * np.arange(len(rows))[::-1]
    for (name, parts, neither), bottom in zip(rows, bottoms, strict=True):
        ax.text(LEFT - 0.1, bottom + HIGH / 2, name, ha="right", va="center", fontsize=NOTE)
        _draw_bar(ax, bottom, parts, neither)
    over, wide = bottoms[0] + HIGH + 0.06, RIGHT - LEFT
    bold = {"fontsize": LABEL, "va": "bottom", "weight": "bold"}
    ax.text(LEFT, over, "like the first", color=BLUE, **bold)
    ax.text(LEFT + wide * alpha, bottoms[1] + HIGH + 0.03, "like the second", color=OCHRE, **bold)
    if missing:
        ax.text(RIGHT, over, f"like neither, ignored: {share}", color="0.3", ha="right", **bold)
    if differ:
        _join(ax, rest, others, output, bottoms)
    elif missing:
        ax.text(RIGHT, BASE - 0.12, "hatched: treated as if it told nothing", color=RED, ha="right", va="top",
                fontsize=NOTE)  # fmt: skip
    return ax.figure


def _checked(alpha, p, rest, others):
    alpha = real(alpha, "alpha", above=0.0, at_most=0.5, remedy="α is the probability of the wrong value")
    p = real(p, "p", at_least=1.0, remedy="p is how many times likelier the right value is")
    if alpha + alpha * p > 1.0 + 1e-9:
        raise ValueError(f"p must be at most {1 / alpha - 1:.6g} at alpha = {alpha:g}, got {p:g}; α + αp ≤ 1")
    if rest is not None:
        rest = numbers(rest, "rest", OUTPUTS, at_least=0.0, at_most=1.0)
    if others is not None:
        if rest is None:
            raise ValueError(f"rest must be given with others, got {rest}; pass both")
        others = numbers(others, "others", len(rest), at_least=0.0, at_most=1.0)
    return alpha, p, rest, others


def _draw_bar(ax, bottom, parts, neither):
    """Draw one report: like the first, like the second, like neither."""
    left, wide = LEFT, RIGHT - LEFT
    for part, colour in zip(parts, (BLUE, OCHRE), strict=True):
        ax.barh(bottom, wide * part, left=left, height=HIGH, align="edge", color=colour, edgecolor="white")
        if part > NARROW:
            ax.text(left + wide * part / 2, bottom + HIGH / 2, digits(part, 2), color="white", **BOLD)
        left += wide * part
    ax.barh(bottom, wide * neither, left=left, height=HIGH, align="edge", **SHARED)


def _ends(within):
    """Return where the outputs like neither end, in inches."""
    return RIGHT - (RIGHT - LEFT) * (math.fsum(within) - np.cumsum(within))


def _join(ax, rest, others, output, bottoms):
    """Frame the output whose probability differs most, from you and from others, and say what is ignored."""
    one = int(np.argmax(np.abs(rest - others)))
    wide, middles = RIGHT - LEFT, []
    for within, bottom, name in ((rest, bottoms[1], ""), (others, bottoms[2], f"{output}: ")):
        end = _ends(within)[one]
        x = np.array([-within[one] * wide, 0.0, 0.0, -within[one] * wide, -within[one] * wide]) + end
        ax.plot(x, bottom + HIGH * np.array([0, 0, 1, 1, 0]), color=RED, lw=2.2, zorder=6)
        box = {"facecolor": "0.92", "edgecolor": "none", "pad": 1}
        words = f"{name if within[one] > len(name) / 50 else ''}{digits(within[one], 2)}"
        middles.append(end - within[one] * wide / 2)
        ax.text(middles[-1], bottom + HIGH / 2, words, **BOLD, color=RED, bbox=box)
    look = {"color": RED, "ha": "right", "fontsize": NOTE, "weight": "bold"}
    ax.text(RIGHT, bottoms[1] + HIGH + 0.03, output, va="bottom", **look)
    x, gap = middles[0], (bottoms[1] - 0.02, bottoms[2] + HIGH + 0.02)
    ax.annotate("", (x, gap[1]), (x, gap[0]), arrowprops={"arrowstyle": "->", "color": RED, "lw": 1.6})
    more, less = others[one], rest[one]
    times = f"× {digits(more / less, 2)}" if less and more else "only here" if more else "never"
    ax.text(x - 0.08, sum(gap) / 2, times, va="center", **look)
    ax.text(RIGHT, BASE - 0.14, "a reduction to two values treats these two alike", va="top", **look)
