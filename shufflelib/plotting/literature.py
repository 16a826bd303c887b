"""A few bounds with labels, and all others of the literature in grey."""

from shufflelib.plotting.brackets import shade_impossible
from shufflelib.plotting.drawing import draw_curves
from shufflelib.plotting.labels import label_directly
from shufflelib.plotting.looks import GREY
from shufflelib.plotting.style import erase, style

SHADE = "no guarantee can be here:\nan attack"
GREY_LINES = "grey: other published\nbounds and limits"


def draw_family(ax, curves, words):
    """Draw many bounds in grey with a single label; the CSV distinguishes them.

    To name single ones, `label_directly` knows them as "grey: " and the bound.

    Parameters
    ----------
    curves : iterable of Curve
        The members.
    words : str
        The label, for instance "earlier bounds, 2019–2023".

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> earlier = [plotting.curve("EFMRTT'19", [1, 2], [0.8, 0.3])]
    >>> plotting.draw_family(ax, earlier, "earlier bounds, 2019–2023")
    >>> ax.texts[0].get_text(), ax.get_lines()[0].get_color() == plotting.GREY
    ('earlier bounds, 2019–2023', True)
    """
    erase(ax, "family")
    curves = list(curves)
    with style():
        for one in curves:
            ax.plot(
                one.x, one.y, color=GREY, linewidth=0.7, zorder=1.5, gid="family", label=f"grey: {one.bound}"
            )
        if curves:
            corner = {"transform": ax.transAxes, "ha": "right", "va": "top"}
            ax.text(0.98, 0.95, words, color="0.35", gid="family", **corner)


def draw_literature(ax, curves, named, *, shade=SHADE):
    r"""Draw the named bounds in their own looks, all others in grey, and shade what an attack rules out.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw, with logarithmic axes; "certified lower" bounds the shade.
    curves : iterable of Curve
        One per bound.
    named : dict of str to str
        Bounds in `LINE`, at most five, each with the words to write at the end of its line; all
        empty where another panel of the figure has the words.
    shade : str
        What to write into the shade.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(xscale="log", yscale="log")
    >>> ends = {"certified lower": [0.1, 0.03], "certified upper": [0.1, 0.03], "EFMRTT'19": [0.8, 0.3]}
    >>> curves = [plotting.curve(name, [1e3, 1e4], eps) for name, eps in ends.items()]
    >>> named = {"certified upper": "certified", "EFMRTT'19": "first bound, 2019"}
    >>> plotting.draw_literature(ax, curves, named)
    >>> [text.get_text() for text in ax.texts]
    ['no guarantee can be here:\nan attack', 'certified', 'first bound, 2019']
    """
    curves = {one.bound: one for one in curves}
    attack = curves.pop("certified lower")
    draw_family(
        ax,
        [one for name, one in curves.items() if name not in named],
        GREY_LINES if any(named.values()) else "",
    )
    draw_curves(ax, [curves[name] for name in named])
    shade_impossible(ax, attack.x, attack.y, shade, known=attack.known)
    label_directly(ax, named)
