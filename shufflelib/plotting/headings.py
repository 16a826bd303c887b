"""The words above a figure: the finding, and in grey the setting."""

import re

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import is_math_text
from matplotlib.figure import FigureBase
from matplotlib.font_manager import FontProperties
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path

from shufflelib.numerics.certified import written
from shufflelib.numerics.validation import instance, shown
from shufflelib.plotting.labels import move_apart
from shufflelib.plotting.style import STYLE, erase, style

FINDING, SETTING = 9.5, 8.0  # points
WORD = re.compile(r"(?:\$[^$]*\$|[^ ])+")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MARGIN = 0.9  # inches beside a panel, taken by its axis and its label


def headline(place, finding, setting):
    """Write a headline with the finding above a panel or a figure, and the setting in grey below it.

    Parameters
    ----------
    place : matplotlib.axes.Axes or matplotlib.figure.Figure
        A figure of one panel takes the headline on its axes, a figure of several on itself.
    finding : str
        A whole sentence with its number, broken into lines where the figure is too narrow.
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
    if not isinstance(place, Axes | FigureBase):
        raise TypeError(f"place must be axes or a figure, got {shown(place)}; pass what `figure` returns")
    for name, words in (("finding", finding), ("setting", setting)):
        instance(words, name, str, remedy="pass a sentence, empty for none")
    whole = isinstance(place, FigureBase)
    fig = place if whole else place.figure
    erase(place, "setting")
    room = fig.get_figwidth() - (0.1 if whole else MARGIN)
    with style():
        lines = wrapped(finding, room, FINDING, "bold")
        under = {"fontsize": SETTING, "color": "0.35", "gid": "setting", "annotation_clip": False}
        if whole:
            bold = {"fontsize": FINDING, "fontweight": "bold"}
            title = fig.suptitle(f"{lines}\n ", x=0.01, ha="left", **bold)
            fig.add_artist(Annotation(setting, (0, 0), xycoords=title, va="bottom", **under))
        else:
            place.set_title(lines, loc="left", fontsize=FINDING, fontweight="bold", pad=20)
            place.annotate(
                setting, (0, 1), xycoords="axes fraction", xytext=(0, 8), textcoords="offset points", **under
            )
    move_apart(fig)


def digits(value, significant=3):
    """Format a number for people: few digits, powers of ten with raised exponents.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> [plotting.digits(value) for value in (0.02123, 9.361e-5, 1e-6, 1900.0)]
    ['0.0212', '9.36·10⁻⁵', '10⁻⁶', '1900']
    """
    value = float(f"{value:.{significant}g}")
    if value == 0.0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.{max(significant, 5)}g}"
    mantissa, power = f"{value:.{significant - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{'' if mantissa == '1' else mantissa + '·'}10{str(int(power)).translate(RAISED)}"


def at_most(value, significant=3):
    """Format a number as `digits` does, rounded up, for what is said to be at most that.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> plotting.at_most(8.31, 2), plotting.at_most(119.21)
    ('8.4', '120')
    """
    return digits(float(written(value, up=True, digits=significant)), significant)


def at_least(value, significant=3):
    """Format a number as `digits` does, rounded down, for what is said to be at least that.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> plotting.at_least(8.39, 2), plotting.at_least(119.21)
    ('8.3', '119')
    """
    return digits(float(written(value, up=False, digits=significant)), significant)


def span(values, significant=3):
    """Format the smallest and the largest of some numbers, NaN left out, each rounded outward.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> plotting.span([2.534, 0.769, 1.0], 2)
    '0.76 to 2.6'
    """
    return f"{at_least(np.nanmin(values), significant)} to {at_most(np.nanmax(values), significant)}"


def wrapped(text, inches, size, weight="normal"):
    r"""Break a text into lines no wider than so many inches; its own line breaks stay.

    Examples
    --------
    >>> from shufflelib.plotting.headings import wrapped
    >>> wrapped("one two three", 0.6, 8.0)
    'one two\nthree'
    """
    with style():
        return "\n".join(_broken(line, inches, size, weight) for line in text.split("\n"))


def _broken(line, inches, *font):
    lines, end = [], -float("inf")
    space = width("a a", *font) - width("aa", *font)
    for word in WORD.findall(line):
        wide = width(word, *font)
        if lines and end + space + wide <= inches:
            lines[-1] += f" {word}"
            end += space + wide
        else:
            lines.append(word)
            end = wide
    return "\n".join(lines)


def width(text, size, weight="normal"):
    """Return how many inches a line of text takes."""
    font = FontProperties(family=STYLE["font.family"], size=size, weight=weight)
    with style():
        return text_to_path.get_text_width_height_descent(text, font, bool(is_math_text(text)))[0] / 72.0
