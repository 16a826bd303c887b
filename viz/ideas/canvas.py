"""What the pictures of ideas share: a canvas in inches, a headline, looks of categories, checks of data."""

import numpy as np
from matplotlib.figure import Figure

from shufflelib.numerics.validation import instance, reals, shown
from shufflelib.plotting.headings import headline
from shufflelib.plotting.looks import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION
from shufflelib.plotting.style import style

WIDTH = 5.0  # inches, so that 8 points stay legible where a page shows the picture half as wide as itself
LABEL, NOTE = 9.0, 8.0  # points of text
BOLD = {"ha": "center", "va": "center", "fontsize": LABEL, "fontweight": "bold"}
QUIET = {"ha": "center", "va": "top", "fontsize": NOTE, "color": "0.25"}
INK, PALE, FLOOR = "#222222", "#b8b8b8", "#d9d9d9"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION)
MARKERS = ("o", "s", "^", "D", "v", "P")


def canvas(fig, height, finding, setting):
    """Return an empty figure with its headline, and the inches left below it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure or None
        A figure to draw into, cleared first; None makes one.
    height : float
        Inches, of a new figure.
    finding, setting : str
        The headline and the grey line under it.

    Returns
    -------
    tuple
        The figure, and the height in inches that is free below the headline.

    Examples
    --------
    >>> from viz.ideas.canvas import canvas
    >>> fig, top = canvas(None, 3.0, "Twelve people, five changed answers", "a coin each")
    >>> fig.axes, 2.0 < top < 3.0
    ([], True)
    """
    if fig is None:
        with style():
            fig = Figure(figsize=(WIDTH, height))
    instance(fig, "fig", Figure, remedy="pass an earlier picture to draw into it again, or None")
    fig.clear()
    words(finding, "finding")
    words(setting, "setting")
    headline(fig, finding, setting)
    lines = fig.get_suptitle().strip().count("\n") + 1
    return fig, float(fig.get_figheight()) - 0.16 - 0.155 * lines - 0.19


def panel(fig, left, bottom, width, height, *, plain=False, **each):
    """Return axes at a place given in inches; plain ones show nothing and count in inches themselves.

    Examples
    --------
    >>> from viz.ideas.canvas import canvas, panel
    >>> fig, top = canvas(None, 3.0, "One finding", "")
    >>> panel(fig, 0.0, 0.0, 5.0, top, plain=True).get_xlim() == (0.0, 5.0)
    True
    """
    wide, high = fig.get_size_inches()
    with style():
        ax = fig.add_axes((left / wide, bottom / high, width / wide, height / high))
        if plain:
            ax.set_axis_off()
            ax.set(xlim=(0.0, width), ylim=(0.0, height))
        ax.set(**each)
    return ax


def look_of(category):
    """Return colour and marker of a category, counted from 0.

    Examples
    --------
    >>> from viz.ideas.canvas import look_of
    >>> look_of(0)
    ('#0072b2', 'o')
    """
    return COLOURS[category % len(COLOURS)], MARKERS[category % len(MARKERS)]


def dots(ax, x, y, categories, *, size=7.0, **how):
    """Draw dots in the looks of their categories.

    Examples
    --------
    >>> from viz.ideas.canvas import canvas, dots, panel
    >>> fig, top = canvas(None, 3.0, "One finding", "")
    >>> ax = panel(fig, 0.0, 0.0, 5.0, top, plain=True)
    >>> dots(ax, [1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [0, 1, 0])
    >>> len(ax.get_lines())
    2
    """
    x, y, categories = (np.asarray(values) for values in (x, y, categories))
    edges = {"markeredgecolor": "white", "markeredgewidth": 0.5} | how
    for category in np.unique(categories):
        colour, marker = look_of(int(category))
        chosen = categories == category
        ax.plot(
            x[chosen],
            y[chosen],
            linestyle="none",
            marker=marker,
            color=colour,
            markersize=size * (0.88 if marker in "sD" else 1.0),
            **edges,
        )


def words(text, name):
    """Return a text; raise an error that names the argument if it is none.

    Examples
    --------
    >>> from viz.ideas.canvas import words
    >>> words("δ = 10⁻⁶", "setting")
    'δ = 10⁻⁶'
    """
    return instance(text, name, str, remedy="pass a text, empty for none")


def whole_numbers(values, name, size, *, below):
    """Return a one-dimensional array of whole numbers from 0; errors name the argument.

    Examples
    --------
    >>> from viz.ideas.canvas import whole_numbers
    >>> whole_numbers([0, 2, 1], "values", range(1, 41), below=3).tolist()
    [0, 2, 1]
    """
    array = numbers(values, name, size, at_least=0, at_most=below - 1)
    if np.any(array != np.floor(array)):
        raise ValueError(f"{name} must hold whole numbers, got {shown(values)}; count from 0")
    return array.astype(int)


def numbers(values, name, *shape, **domain):
    """Return an array of finite numbers; errors name the argument.

    Each axis of the shape is a length or a range of lengths.

    Examples
    --------
    >>> from viz.ideas.canvas import numbers
    >>> numbers([0.5, 2], "heights", range(1, 10)).tolist()
    [0.5, 2.0]
    """
    array = reals(values, name, **domain)
    axes = [axis if isinstance(axis, range) else range(axis, axis + 1) for axis in shape]
    if array.ndim != len(axes) or not all(size in axis for size, axis in zip(array.shape, axes, strict=True)):
        wanted = " × ".join(f"{axis[0]} to {axis[-1]}" if len(axis) > 1 else f"{axis[0]}" for axis in axes)
        raise ValueError(
            f"{name} must hold {wanted} numbers, got shape {array.shape}; pass one for each place"
        )
    return array


def flags(values, name, size):
    """Return an array of so many booleans, given as such or as 0 and 1; errors name the argument.

    Examples
    --------
    >>> from viz.ideas.canvas import flags
    >>> flags([True, 0], "from_floor", 2).tolist()
    [True, False]
    """
    if isinstance(values, np.ndarray) and values.dtype == bool:
        values = values.astype(int)
    elif isinstance(values, list | tuple):
        values = [int(one) if isinstance(one, bool | np.bool_) else one for one in values]
    return whole_numbers(values, name, size, below=2).astype(bool)


def labels(names, name, size, *, more=False):
    """Return one text for each of so many places, or more where allowed; errors name the argument.

    Examples
    --------
    >>> from viz.ideas.canvas import labels
    >>> labels(None, "names", 2), labels(("yes", "no"), "names", 2)
    (['1', '2'], ['yes', 'no'])
    """
    if names is None:
        return [str(place + 1) for place in range(size)]
    given = [] if isinstance(names, str | bytes) or not np.iterable(names) else list(names)
    if len(given) < size or (len(given) > size and not more):
        raise ValueError(f"{name} must be {size} texts, got {shown(names)}; pass one for each place")
    return [words(one, name) for one in given]
