"""What the pictures of ideas share: a page in inches below a headline, looks of dots, checks of data."""

import numpy as np
from matplotlib.figure import Figure

from shufflelib.numerics.validation import instance, reals, shown
from viz.placing import write_head
from viz.theme import BLUE, GREEN, GREY, OCHRE, PURPLE, RED
from viz.wishes import finding, wishes

WIDTH = 5.0  # inches, so that text stays legible where a page shows the picture half as wide as itself
LABEL, NOTE = 9.0, 8.5  # points of text
BOLD = {"ha": "center", "va": "center", "fontsize": LABEL, "fontweight": "bold"}
QUIET = {"ha": "center", "va": "top", "fontsize": NOTE, "color": "0.25"}
INK, PALE = "#222222", "#b8b8b8"
SHARED = {"color": "0.88", "edgecolor": "0.4", "hatch": "////", "lw": 0.5}  # what does not depend on you
COLOURS, MARKERS = (BLUE, RED, GREEN, PURPLE, OCHRE, GREY), "os^DvP"


def canvas(height, said, found, setting):
    """Return a new figure headed by what is said, else by what is found, and the inches left below."""
    fig = Figure(figsize=(WIDTH, height))
    said = found if said is None else said
    for text, name in ((said, "finding"), (setting, "setting")):
        instance(text, name, str, remedy="pass a text, empty for none")
    finding(fig, said, setting)
    top = height * (1.0 - write_head(fig, wishes(fig)))
    for text in list(fig.texts):  # written anew when the figure is saved
        text.remove()
    return fig, top


def mark(ax, x, y, words):
    """Mark the number of the headline at a point."""
    asked = wishes(ax)
    finding(ax, asked.headline, asked.setting, at=[(x, y, words)])


def panel(fig, left, bottom, width, height, *, plain=False, **each):
    """Return axes at a place given in inches; plain ones show nothing and count in inches themselves."""
    wide, high = fig.get_size_inches()
    ax = fig.add_axes((left / wide, bottom / high, width / wide, height / high))
    if plain:
        ax.set_axis_off()
        ax.set(xlim=(0.0, width), ylim=(0.0, height))
    ax.set(**each)
    return ax


def page(height, said, found, setting):
    """Return plain axes over all that is free below the headline of a new figure, and their height."""
    fig, top = canvas(height, said, found, setting)
    return panel(fig, 0.0, 0.0, WIDTH, top, plain=True), top


def dots(ax, x, y, categories, *, size=7.0, color=None, zorder=5):
    """Draw dots of so many points in the looks of their categories, or in one colour."""
    x, y, categories = (np.asarray(values) for values in (x, y, categories))
    for kind in np.unique(categories):
        here = categories == kind
        marker = MARKERS[kind]
        area = (size * (0.88 if marker in "sD" else 1.0)) ** 2
        ax.scatter(x[here], y[here], s=area, marker=marker, color=color or COLOURS[kind], lw=0, zorder=zorder)


def smooth(share):
    """Return a share of a way, slow at both of its ends."""
    return share * share * (3.0 - 2.0 * share)


def numbers(values, name, *shape, **domain):
    """Return an array of finite numbers; each axis of the shape is a length or a range of lengths."""
    array = reals(values, name, **domain)
    axes = [axis if isinstance(axis, range) else range(axis, axis + 1) for axis in shape]
    if array.ndim != len(axes) or not all(size in axis for size, axis in zip(array.shape, axes, strict=True)):
        wanted = " × ".join(f"{axis[0]} to {axis[-1]}" if len(axis) > 1 else f"{axis[0]}" for axis in axes)
        raise ValueError(
            f"{name} must hold {wanted} numbers, got shape {array.shape}; pass one for each place"
        )
    return array


def whole_numbers(values, name, size, *, below):
    """Return an array of whole numbers from 0; booleans count as 0 and 1."""
    if isinstance(values, np.ndarray) and values.dtype == bool:
        values = values.astype(int)
    array = numbers(values, name, size, at_least=0, at_most=below - 1)
    if np.any(array != np.floor(array)):
        raise ValueError(f"{name} must hold whole numbers, got {shown(values)}; count from 0")
    return array.astype(int)


def labels(names, name, size, *, more=False):
    """Return names of places, by default their numbers from 1."""
    if names is None:
        return [str(place + 1) for place in range(size)]
    given = [] if isinstance(names, str | bytes) or not np.iterable(names) else list(names)
    if len(given) < size or (len(given) > size and not more):
        raise ValueError(f"{name} must be {size} texts, got {shown(names)}; pass one for each place")
    return [instance(one, name, str, remedy="pass a text, empty for none") for one in given]
