"""A few bounds named where they end, all others of the literature in grey, and the finding as headline."""

from shufflelib.plotting.drawing import draw_curves, label_directly
from shufflelib.plotting.looks import GREY
from shufflelib.plotting.style import style

SHADE = "no guarantee can be here:\nan attack attains the black line"
GREY_LINES = "grey: other published\nbounds and limits"


def headline(ax, finding, setting):
    """Write above a panel what it shows, and in grey below that the setting it holds in.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        The upper left panel of the figure.
    finding : str
        A whole sentence with its number.
    setting : str
        Mechanism, budget and δ, in one line.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> plotting.headline(ax, "A thousand users turn ε₀ = 2 into ε = 0.27", "randomized response, δ = 1e-6")
    >>> ax.get_title(loc="left")
    'A thousand users turn ε₀ = 2 into ε = 0.27'
    """
    with style():
        ax.set_title(finding, loc="left", fontsize=9.5, fontweight="bold", pad=20)
        above = {"xy": (0, 1), "xycoords": "axes fraction", "xytext": (0, 8), "textcoords": "offset points"}
        ax.annotate(setting, **above, fontsize=8, color="0.35")


def draw_literature(ax, curves, named):
    r"""Draw the named bounds in their own looks and all others in grey, and shade what an attack rules out.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw, with logarithmic axes; "certified lower" bounds the shade.
    curves : iterable of Curve
        One per bound.
    named : dict of str to str
        Bounds in `LINE`, at most five, each with the words to write at the end of its line.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(xscale="log", yscale="log")
    >>> ends = {"certified lower": [0.1, 0.03], "certified upper": [0.1, 0.03], "EFMRTT'19": [0.8, 0.3]}
    >>> curves = [plotting.curve(name, [1e3, 1e4], eps) for name, eps in ends.items()]
    >>> named = {"certified upper": "certified", "EFMRTT'19": "first bound, 2019"}
    >>> plotting.draw_literature(ax, curves, named)
    >>> [text.get_text() for text in ax.texts]
    ['no guarantee can be here:\nan attack attains the black line', 'certified', 'first bound, 2019']
    """
    curves = {one.bound: one for one in curves}
    attack = curves.pop("certified lower")
    others = [one for name, one in curves.items() if name not in named]
    with style():
        for one in others:
            ax.plot(one.x, one.y, color=GREY, linewidth=0.7, zorder=1.5)
        draw_curves(ax, [curves[name] for name in named])
        ax.set_ylim(ax.get_ylim())
        ax.fill_between(attack.x, ax.get_ylim()[0], attack.y, color=GREY, alpha=0.2, linewidth=0, zorder=1)
        ax.text(0.05, 0.1, SHADE, transform=ax.transAxes, color="0.25")
        if others:
            ax.text(0.98, 0.95, GREY_LINES, transform=ax.transAxes, color="0.35", ha="right", va="top")
    label_directly(ax, named)
