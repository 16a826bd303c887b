"""Slider panels in notebooks: a drawing function, a few controls, and a picture that follows them."""

import html
import math
import os
from functools import lru_cache
from types import FunctionType

import ipywidgets
import matplotlib.pyplot as plt
from IPython.display import HTML, Javascript, display

from viz.files import embedded, picture_of
from viz.frames import frames, in_words
from viz.wishes import figure_of, wishes

SYMBOLS = {"eps0": "ε₀", "eps": "ε", "delta": "δ", "sigma": "σ", "theta": "θ"}
LEADING = {1: (1,), 2: (1, 3), 3: (1, 2, 5), 9: range(1, 10)}
SIZE = {"layout": {"width": "28em", "max_width": "100%"}, "style": {"description_width": "7em"}}
IMAGE = '<img alt="{alt}" style="width: {width}px; max-width: 100%; background: white" src="{src}">'
# A slider of ipywidgets has no name and says the number of its stop; only the page can tell it better.
SAY_NAMES_AND_VALUES = """(() => {
  const set = (node, key, value) => node.getAttribute(key) === value || node.setAttribute(key, value);
  const say = () => {
    for (const handle of document.querySelectorAll(".widget-slider .noUi-handle")) {
      const slider = handle.closest(".widget-slider");
      set(handle, "aria-label", slider.querySelector(".widget-label").textContent);
      set(handle, "aria-valuetext", slider.querySelector(".widget-readout").textContent);
    }
    for (const field of document.querySelectorAll(".widget-text input[title]"))
      set(field, "aria-label", field.title);
    for (const line of document.querySelectorAll(".viz-status")) set(line, "role", "status");
  };
  window.vizNames ??= new MutationObserver(say);
  const what = {subtree: true, childList: true, characterData: true, attributeFilter: ["aria-valuetext"]};
  window.vizNames.observe(document.body, what);
  say();
})();"""


class Panel(ipywidgets.VBox):
    """Widgets below each other, whose sliders tell a screen reader their names and values."""

    def _repr_mimebundle_(self, **how):
        display(Javascript(SAY_NAMES_AND_VALUES))
        return super()._repr_mimebundle_(**how)


def log_slider(low, high, value=None, *, per_decade=9):
    """Return a slider over round numbers from ``low`` to ``high``, about evenly spaced in the logarithm.

    There are 1, 2, 3 or 9 per decade, whole numbers if ``low`` is at least 1.  It starts near ``value``, by
    default in the middle.

    Examples
    --------
    >>> import viz
    >>> [value for _, value in viz.log_slider(10, 1000, per_decade=3).options]
    [10, 20, 50, 100, 200, 500, 1000]
    """
    if not 0 < low < high < math.inf:
        raise ValueError(f"log_slider needs 0 < low < high, got low={low!r}, high={high!r}")
    if per_decade not in LEADING:
        raise ValueError(f"per_decade must be one of {', '.join(map(str, LEADING))}, got {per_decade!r}")
    stops = decades(math.floor(math.log10(low)), math.ceil(math.log10(high)), LEADING[per_decade])
    kind = int if low >= 1 else float
    grid = sorted({kind(stop) for stop in {low, high, *stops} if low <= stop <= high})
    return _over(grid, math.sqrt(low * high) if value is None else value)


def decades(low, high, digits):
    """Return leading digits times powers of ten from 10^low to 10^high; whole numbers from 10^0 on."""
    found = [f"{digit}e{power}" for power in range(low, high) for digit in digits] + [f"1e{high}"]
    return tuple(int(float(stop)) if low >= 0 else float(stop) for stop in found)


def slider(low, high, value=None, *, step=0.1):
    """Return a slider over an interval, evenly spaced; it starts in the middle by default.

    Examples
    --------
    >>> import viz
    >>> viz.slider(0.5, 4.5).value
    2.5
    """
    grid = [float(low + step * place) for place in range(round((high - low) / step) + 1)]
    return _over(grid, (low + high) / 2 if value is None else value)


def _over(grid, start):
    shown = [(f"{stop:,}" if isinstance(stop, int) and stop < 10**6 else f"{stop:.3g}") for stop in grid]
    nearest = min(grid, key=lambda stop: abs(stop - start))
    return ipywidgets.SelectionSlider(options=list(zip(shown, grid, strict=True)), value=nearest, **SIZE)


def choice(options, value=None):
    """Return a menu of options: a list, or a mapping from what is shown to what is passed on.

    Examples
    --------
    >>> import viz
    >>> viz.choice({"two options": 2, "ten options": 10}, value=10).value
    10
    """
    options = options if hasattr(options, "items") else {str(option): option for option in options}
    start = next(iter(options.values())) if value is None else value
    return ipywidgets.Dropdown(options=list(options.items()), value=start, **SIZE)


def explore(draw, /, **controls):
    """Return a panel whose picture is redrawn whenever a control moves.

    Parameters
    ----------
    draw : callable
        Takes the controls' values by name and returns what seaborn returned, with a `finding`, or a figure.
        It sees the names of its notebook as they are now, whatever later cells bind them to.  Where it fails,
        for instance outside a theorem's regime, the panel shows the error instead of a picture.
    **controls : ipywidgets.Widget
        `log_slider`, `slider` or `choice`.  A name such as ``eps0`` is shown as its symbol.

    Returns
    -------
    Panel
        Its children: the controls, a line that repeats their values, the picture.  Where the environment
        variable ``SHUFFLELIB_FRAMES`` is a number, an `IPython.display.HTML` of about so many pictures
        instead, which needs no kernel.

    Examples
    --------
    >>> import seaborn as sns, viz
    >>> def draw(n):
    ...     ax = sns.lineplot(x=[1, n], y=[2.0, 0.5])
    ...     viz.finding(ax, f"{n:,} people leave ε = 0.5", "an example")
    ...     return ax
    >>> panel = viz.explore(draw, n=viz.log_slider(1000, 10**7, value=10_000))
    >>> panel.children[1].value
    'n = 10,000'
    """
    draw = _as_now(draw)
    for name, control in controls.items():
        control.description = SYMBOLS.get(name, name)

    @lru_cache(maxsize=64)
    def drawn(**values):
        return _picture(draw(**values))

    if most := os.environ.get("SHUFFLELIB_FRAMES"):
        return HTML(frames(lambda **values: drawn(**values)[:2], controls, int(most)))

    line, shown = status(), ipywidgets.HTML()

    def redraw(_change=None):
        labels = [control.options[control.index][0] for control in controls.values()]
        said = html.escape(in_words(controls, labels))
        try:
            picture, finding, width = drawn(**{name: control.value for name, control in controls.items()})
            line.value, shown.value = said, image(picture, f"{finding} ({said})", width)
        except Exception as error:  # whatever it is, the old picture must not stay under new values
            plt.close("all")
            line.value, shown.value = f"{said}: {html.escape(complaint(error))}", ""

    for control in controls.values():
        control.observe(redraw, names="value")
    redraw()
    return Panel([ipywidgets.VBox(list(controls.values())), line, shown])


def status():
    """Return an empty line whose changes a screen reader says."""
    return ipywidgets.HTML().add_class("viz-status")


def image(picture, alt, width):
    """Return PNG bytes as HTML, so many pixels wide where there is room, with an alternative text.

    Examples
    --------
    >>> import viz
    >>> viz.image(b"", "a < b", 600)[:21]
    '<img alt="a &lt; b" s'
    """
    return IMAGE.format(alt=html.escape(alt), width=width, src=embedded(picture))


def complaint(error):
    """Return the words of an error; one that is no ValueError also has a name.

    Examples
    --------
    >>> import viz
    >>> viz.complaint(KeyError("ax"))
    "KeyError: 'ax'"
    """
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _picture(place):
    """Return a figure as PNG bytes, its headline, and its width in pixels; and close it."""
    fig = figure_of(place)
    picture = picture_of(fig, dpi=150)
    plt.close(fig)
    return picture, headline_of(fig), round(100 * fig.get_figwidth())


def headline_of(place):
    """Return the headline of a figure on one line; empty if it has none.

    Examples
    --------
    >>> import seaborn as sns, viz
    >>> ax = sns.lineplot(x=[1, 10], y=[2.0, 0.5])
    >>> viz.finding(ax, "Ten people leave a quarter", "an example")
    >>> viz.headline_of(ax)
    'Ten people leave a quarter'
    >>> viz.plt.close()
    """
    fig = figure_of(place)
    titles = [wishes(fig).headline, fig.get_suptitle(), *(ax.get_title(loc="left") for ax in fig.axes)]
    return next((" ".join(one.split()) for one in titles if one.strip()), "")


def _as_now(draw):
    """Return a notebook's function, and its other functions that this may call, with their names as now."""
    if not isinstance(draw, FunctionType):
        return draw
    names = dict(draw.__globals__)

    def bound(function):
        code = function.__code__, names, function.__name__, function.__defaults__, function.__closure__
        copy = FunctionType(*code)
        copy.__kwdefaults__ = function.__kwdefaults__
        return copy

    for name, thing in draw.__globals__.items():
        if isinstance(thing, FunctionType) and thing.__globals__ is draw.__globals__:
            names[name] = bound(thing)
    return bound(draw)
