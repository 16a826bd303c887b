"""Attack, guarantee and published bounds as dots over one axis: what is valid cannot lie below the attack."""

from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from shufflelib.numerics.validation import instance, real
from viz.ideas.canvas import LABEL, NOTE, WIDTH, canvas, panel
from viz.theme import BLACK, GREY, RED
from viz.words import digits

ROW, CHARACTER = 0.27, 0.07  # inches: height of a row, and width of a letter
MOST = 6


def draw_bracket(lower, upper, *, published=None, finding=None, setting=""):
    """Draw where ε lies: above an attack, below a guarantee; published bounds below the attack are refuted.

    Parameters
    ----------
    lower, upper : float
        What an attack attains, and the certified guarantee.
    published : dict of str to float, optional
        Other bounds by name, at most six; one below ``lower`` is refuted.

    Examples
    --------
    >>> from viz import ideas
    >>> from viz.wishes import wishes
    >>> fig = ideas.draw_bracket(0.25, 0.27, published={"clones 2021": 0.9, "a guess": 0.1})
    >>> wishes(fig).headline
    'ε is between 0.25 and 0.27, so a guess of 0.1 is refuted'
    """
    lower = real(lower, "lower", above=0.0, remedy="an attack attains something")
    upper = real(upper, "upper", at_least=lower, at_most=1e6, remedy="a guarantee lies above the attack")
    published = {} if published is None else published
    instance(published, "published", dict, remedy="pass names with their values")
    if len(published) > MOST:
        raise ValueError(f"published must have at most {MOST} bounds, got {len(published)}; leave some out")
    above = {"above": 0.0, "at_most": 1e6, "remedy": "leave out bounds that do not apply"}
    bounds = {name: real(value, f"published[{name!r}]", **above) for name, value in published.items()}
    rows = sorted(bounds.items(), key=lambda item: -item[1])
    place = sum(value >= upper for _, value in rows)
    rows[place:place] = [("proved: at most", upper), ("an attack: at least", lower)]
    fig, top = canvas(1.3 + ROW * len(rows), finding, _found(lower, upper, bounds), setting)
    spread = max(rows[0][1] / rows[-1][1], 1.5)
    low, high = rows[-1][1] / spread**0.12, rows[0][1] * spread**0.3
    names = 0.2 + max(len(name) for name, _ in rows) * CHARACTER
    ax = panel(fig, names, 0.5, WIDTH - names - 0.1, top - 0.55, xscale="log", xlim=(low, high))
    ax.set(ylim=(len(rows) - 0.4, -0.6), yticks=range(len(rows)), yticklabels=[name for name, _ in rows])
    ax.set_xlabel("ε (logarithmic scale)", fontsize=LABEL)
    ax.tick_params(axis="y", length=0, labelsize=LABEL)
    ax.tick_params(axis="x", labelsize=NOTE)
    wide = LogLocator(subs=(1, 1.5, 2, 3, 5) if high / low < 20 else (1,))
    ax.xaxis.set_major_locator(wide if high / low > 4 else MaxNLocator(4, steps=(1, 2, 5, 10)))
    ax.xaxis.set_major_formatter(lambda value, _: digits(value))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.axvspan(low, lower, facecolor="0.92", edgecolor="0.75", hatch="///", lw=0, zorder=0)
    ax.axvline(lower, color=BLACK, lw=1.2, zorder=1)
    for row, (_, value) in enumerate(rows):
        own, wrong = row in (place, place + 1), value < lower
        colour = RED if wrong else BLACK if own else GREY
        ax.plot(value, row, "X" if wrong else "o", color=colour, ms=7)
        said = digits(value) + ", below the attack: refuted" * wrong
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.9}
        beside = {"textcoords": "offset points", "va": "center", "fontsize": LABEL, "zorder": 4, "bbox": box}
        weight = "bold" if own else "normal"
        ax.annotate(said, (value, row), (9, 0), color=RED if wrong else BLACK, weight=weight, **beside)
    return fig


def _found(lower, upper, bounds):
    inside = f"between {digits(lower)} and {digits(upper)}"
    inside = digits(upper) if digits(lower) == digits(upper) else inside
    wrong = [f"{name} of {digits(value)}" for name, value in bounds.items() if value < lower]
    if not wrong:
        return f"ε is {inside}, proved from both sides"
    return f"ε is {inside}, so {' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} refuted"
