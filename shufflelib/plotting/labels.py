"""Labels of curves, in the curves' colours, moved apart where they would overlap."""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.transforms import ScaledTranslation
from scipy.optimize import isotonic_regression

from shufflelib.plotting.looks import LINE
from shufflelib.plotting.style import STYLE, erase, style

CONTRAST = 3.0  # of a label's colour with white, so that light colours stay legible
GROUP = "direct label"
LINE_HEIGHT = 1.3  # of a label, in font sizes


def label_directly(ax, words=None):
    """Label each line at its end; labels that would overlap are moved apart.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With curves already drawn; a line that is neither a bound nor in ``words`` stays unnamed.
    words : dict of str to str, optional
        What to write instead of a line's label, at most one line break; empty leaves the line unnamed.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> plotting.draw_curves(ax, [plotting.curve("EFMRTT'19", [0.25, 0.5], [0.12, 0.23])])
    >>> plotting.label_directly(ax)
    >>> [text.get_text() for text in ax.texts]
    ["EFMRTT'19"]
    """
    words = words or {}
    erase(ax, GROUP)
    with style():
        ax.figure.draw_without_rendering()
        beside = ax.transAxes + ScaledTranslation(8 / 72, 0, ax.figure.dpi_scale_trans)
        for line, point in _ends(ax, words):
            name = words.get(line.get_label(), line.get_label())
            arrow = {"linewidth": 0.4, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0}
            how = {"xytext": (1.0, _height(ax, point)), "textcoords": beside, "annotation_clip": False}
            _name(ax, name, point, line, arrow, **how, gid=GROUP)
    _place(ax)


def move_apart(fig):
    """Move the labels at the ends of lines apart, in panels as high as they are now.

    A headline takes height away, so this is done again after one is written, and before a figure is saved.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> from shufflelib.plotting.labels import move_apart
    >>> fig, ax = plotting.figure()
    >>> plotting.draw_curves(ax, [plotting.curve("EFMRTT'19", [0.25, 0.5], [0.12, 0.23])])
    >>> plotting.label_directly(ax)
    >>> _ = ax.set_ylim(0, 0.46)
    >>> move_apart(fig)
    >>> round(ax.texts[0].xyann[1], 3)
    0.5
    """
    labelled = [ax for ax in fig.axes if any(text.get_gid() == GROUP for text in ax.texts)]
    if labelled:
        with style():
            fig.draw_without_rendering()
        for ax in labelled:
            _place(ax)


def _place(ax):
    """Give the labels of a panel their heights."""
    labels = [text for text in ax.texts if text.get_gid() == GROUP]
    labels = sorted(labels, key=lambda label: _height(ax, label.xy))
    heights = _apart(ax, [_height(ax, label.xy) for label in labels], [one.get_text() for one in labels])
    for label, height in zip(labels, heights, strict=True):
        label.xyann = (1.0, float(height))


def label_along(ax, words):
    """Label lines beside a point on each, where their ends meet or lie outside the panel.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With curves already drawn.
    words : dict of str to tuple
        For a line's label: the words, the abscissa of the point, and the distance of the words from it,
        to the right and up, in points.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure()
    >>> plotting.draw_curves(ax, [plotting.curve("exact", [0.0, 0.5, 1.0], [1.0, 0.4, 0.0])])
    >>> plotting.label_along(ax, {"exact": ("truth", 0.25, (12, 6))})
    >>> ax.texts[0].get_text(), [round(float(part), 3) for part in ax.texts[0].xy]
    ('truth', [0.25, 0.7])
    """
    lines = {line.get_label(): line for line in ax.get_lines()}
    erase(ax, "label along")
    with style():
        for label, (name, x, offset) in words.items():
            at, values = (np.asarray(part, float) for part in lines[label].get_data())
            side = {"ha": "left" if offset[0] >= 0 else "right", "xytext": offset, "zorder": 6}
            arrow = {"linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
            how = side | {"textcoords": "offset points", "gid": "label along"}
            _name(ax, name, (x, np.interp(x, at, values)), lines[label], arrow, **how)


def _name(ax, name, point, line, arrow, **how):
    """Write a name in the colour of a line, with a thin line to a point on it."""
    colour = legible(line.get_color())
    arrow = {"arrowstyle": "-", "color": colour} | arrow
    ax.annotate(name, point, color=colour, va="center", arrowprops=arrow, **how)


def _ends(ax, words):
    """Yield each line with a name, and its last point."""
    for line in ax.get_lines():
        points = line.get_xydata()
        drawn = np.isfinite(points).all(axis=1) & ((points[:, 1] > 0) | (ax.get_yscale() != "log"))
        points = points[drawn]
        name = line.get_label()
        if words.get(name, name if name in LINE else "") and len(points):
            yield line, points[-1]


def _height(ax, point):
    """Return the height of a point as a share of the panel's, at most its edge.

    Rounded, so that the order of two lines that end at one point depends on no last digit.
    """
    height = ax.transAxes.inverted().transform(ax.transData.transform(point))[1]
    return round(min(max(height, 0.0), 1.0), 6)


def _apart(ax, heights, names):
    """Return the heights nearest to those given at which names do not overlap and stay beside the panel."""
    if not names:
        return []
    inches = ax.get_window_extent().height / ax.figure.dpi
    sizes = np.array([LINE_HEIGHT * (name.count("\n") + 1) for name in names])
    sizes *= STYLE["font.size"] / 72 / inches
    steps = np.cumsum(sizes) - sizes / 2
    free = isotonic_regression(heights - steps).x
    lowest, highest = -sizes[0] / 2, 1.0 + sizes[-1] / 2 - sizes.sum()
    return (np.clip(free, lowest, highest) if lowest < highest else free) + steps


def legible(colour):
    """Return a colour, darkened as far as text on white needs.

    Examples
    --------
    >>> from shufflelib.plotting.labels import legible
    >>> legible("black"), legible("#e69f00") == "#e69f00"
    ((0.0, 0.0, 0.0), False)
    """
    shade = np.array(to_rgb(colour))
    while _contrast(shade) < CONTRAST:
        shade = 0.95 * shade
    return tuple(float(part) for part in shade)


def _contrast(shade):
    """Return the contrast with white, as the WCAG define it."""
    linear = np.where(shade <= 0.04045, shade / 12.92, ((shade + 0.055) / 1.055) ** 2.4)
    return 1.05 / (float(linear @ (0.2126, 0.7152, 0.0722)) + 0.05)
