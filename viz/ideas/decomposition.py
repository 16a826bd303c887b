"""One report split into where it points, and the mass that the reduction to two values leaves out."""

import math

import numpy as np

from shufflelib.numerics.validation import real
from shufflelib.plotting.headings import digits
from shufflelib.plotting.labels import legible
from shufflelib.plotting.looks import BLUE, ORANGE, VERMILLION
from shufflelib.plotting.style import style
from viz.ideas.canvas import BOLD, FLOOR, LABEL, NOTE, canvas, numbers, panel

HEIGHT = 2.9
LEFT = 1.15
OUTPUTS = range(1, 101)
NARROW, TIGHT = 0.13, 0.07  # shares of the bar below which no number fits, with three digits or with two


def draw_decomposition(alpha, p, *, rest=None, others=None, finding=None, setting="", fig=None):
    """Draw a report of either of two values as a bar of α, αp and what points to neither, 1 − α − αp.

    Parameters
    ----------
    alpha : float
        Probability to point to the other value, above 0.
    p : float
        How many times likelier it is to point to the right one, at least 1; α + αp is at most 1.
    rest : array_like, shape (m,), optional
        Probabilities of the outputs that point to neither, for a user who holds one of the two values.
    others : array_like, shape (m,), optional
        The same for a user who holds a third value; where the two differ is what the reduction leaves out.

    Examples
    --------
    >>> from viz import ideas
    >>> fig = ideas.draw_decomposition(0.25, 3.0)
    >>> fig.get_suptitle().strip()
    'Every report points to one of the two values: nothing is left out'
    """
    alpha, p, rest, others = _checked(alpha, p, rest, others)
    missing = max(0.0, 1.0 - alpha - alpha * p)
    if missing < 1e-12:
        missing = 0.0
    share = f"{100.0 * missing:.2g} %"
    if finding is None and missing:
        finding = f"{share} of the probability points to neither value and is ignored"
    elif finding is None:
        finding = "Every report points to one of the two values: nothing is left out"
    fig, top = canvas(fig, HEIGHT, finding, setting)
    with style():
        ax = panel(fig, 0.0, 0.0, fig.get_figwidth(), top, plain=True)
        wide = fig.get_figwidth() - LEFT - 0.15
        rows = 2 if others is None else 3
        room = top - 0.95
        high = min(0.42, 0.62 * room / rows)
        bottoms = 0.62 + room / rows * (np.arange(rows)[::-1] + 0.5) - high / 2
        heads = ["you hold the\nfirst value", "you hold the\nsecond value", "someone with\na third value"]
        parts = [[alpha * p, alpha, missing], [alpha, alpha * p, missing]]
        inner = [rest, rest, others]
        if others is not None:
            pointing = max(0.0, 1.0 - math.fsum(others))
            parts.append([pointing / 2, pointing / 2, 1.0 - pointing])
        for head, bottom, widths, within in zip(heads[:rows], bottoms, parts, inner[:rows], strict=True):
            _draw_bar(ax, bottom, high, wide, widths, within, alpha, p)
            ax.text(LEFT - 0.1, bottom + high / 2, head, ha="right", va="center", fontsize=NOTE)
        _name_parts(ax, wide, alpha, p, missing, bottoms, high, rest, others)
    return fig


def _checked(alpha, p, rest, others):
    alpha = real(alpha, "alpha", above=0.0, at_most=0.5, remedy="α is the probability of the wrong value")
    p = real(p, "p", at_least=1.0, remedy="p is how many times likelier the right value is")
    missing = 1.0 - alpha - alpha * p
    if missing < -1e-9:
        raise ValueError(f"p must be at most {1 / alpha - 1:.6g} at alpha = {alpha:g}, got {p:g}; α + αp ≤ 1")
    if rest is not None:
        rest = numbers(rest, "rest", OUTPUTS, at_least=0.0, at_most=1.0)
    if others is not None:
        if rest is None:
            raise ValueError(f"rest must be given with others, got {rest}; pass both")
        others = numbers(others, "others", len(rest), at_least=0.0, at_most=1.0)
    return alpha, p, rest, others


def _draw_bar(ax, bottom, high, wide, widths, within, alpha, p):
    """Draw one report: pointing to the first, to the second, to neither; lines between its outputs."""
    left = LEFT
    for part, colour, hatch in zip(widths, (BLUE, ORANGE, FLOOR), (None, None, "////"), strict=True):
        edge = {"edgecolor": "0.5" if hatch else "white", "lw": 0.8, "hatch": hatch}
        ax.barh(bottom, wide * part, left=left, height=high, align="edge", color=colour, **edge)
        if not hatch and part > NARROW:
            ink = "white" if colour == BLUE else "black"
            ax.text(left + wide * part / 2, bottom + high / 2, digits(part), color=ink, **BOLD)
        left += wide * part
    if within is not None and len(within) > 1:
        ends = LEFT + wide * (1.0 - math.fsum(within) + np.r_[0.0, np.cumsum(within)])
        ax.vlines(ends[1:-1], bottom, bottom + high, colors="black", lw=1.6)
        for part, middle in zip(within, (ends[1:] + ends[:-1]) / 2, strict=True):
            if part > TIGHT:
                box = {"facecolor": FLOOR, "edgecolor": "none", "pad": 1}
                number = {"ha": "center", "va": "center", "fontsize": NOTE, "bbox": box}
                ax.text(middle, bottom + high / 2, f"{part:.2f}", **number)


def _name_parts(ax, wide, alpha, p, missing, bottoms, high, rest, others):
    """Write above the first bar what its parts mean, and below the last what happens to the missing mass."""
    over = bottoms[0] + high + 0.06
    how = {"fontsize": LABEL, "va": "bottom"}
    ax.text(LEFT, over, "points to first", color=legible(BLUE), fontweight="bold", **how)
    middle = LEFT + wide * min(max(alpha * p, 0.29), 0.62)
    ax.text(middle, over, "to second", color=legible(ORANGE), fontweight="bold", **how)
    right = LEFT + wide
    if missing:
        several = rest is not None and len(rest) > 1
        outputs = f"to neither: {len(rest)} outputs" if several else "to neither"
        ax.text(right, over, outputs, color="0.3", ha="right", **how)
    below = "αp to the right value, α to the wrong one"
    if not missing:
        words, colour = "1 − α − αp = 0: the reduction is exact", "0.25"
    elif others is not None and not np.allclose(rest, others):
        one = int(np.argmax(np.abs(rest - others)))
        words = f"Not counted: a hatched output has probability {rest[one]:.2f} from you, "
        words += f"{others[one]:.2f} from others"
        colour = VERMILLION
    else:
        words = f"1 − α − αp = {digits(missing)}: treated as if it told the analyst nothing"
        colour = VERMILLION
    ax.text(0.1, 0.34, f"Counted: {below}", fontsize=NOTE, color="0.25", va="bottom")
    ax.text(0.1, 0.1, words, fontsize=NOTE, color=colour, va="bottom")
