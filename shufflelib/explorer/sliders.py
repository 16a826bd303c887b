r"""Slider panels: a drawing function, a few controls, and a picture that follows them.

The drawing function is the one that makes the static figure.  It draws into a figure that it
keeps, so that a new position costs a `set_data` and not a new figure:

.. code-block:: python

    fig, ax = figure()

    def draw(n, delta):
        draw_curves(ax, amplification_curves(n=n, delta=delta))
        return fig

    explore(draw, n=log_slider(1e2, 1e7), delta=log_slider(1e-12, 1e-3))

ipywidgets is imported only when a control is made, so the module loads without it.  These are the panels of
the notebooks; the page on which every control moves every number is `shufflelib.explorer`.
"""

import math
import os
from functools import lru_cache

import numpy as np


def log_slider(low, high, value=None, *, per_decade=9):
    """Return a slider over round numbers (two significant digits) evenly spaced in the logarithm.

    Parameters
    ----------
    low, high : float
        Ends of the range, both positive; whole numbers if ``low`` is at least 1.
    value : float, optional
        Where it starts: the nearest round number; the middle of the range by default.
    per_decade : int
        Positions in a factor of ten.

    Returns
    -------
    ipywidgets.SelectionSlider
        Its value is an int or a float, never a string.

    Examples
    --------
    >>> from shufflelib.explorer.sliders import log_slider
    >>> [value for _, value in log_slider(10, 1000, per_decade=3).options]
    [10, 22, 46, 100, 220, 460, 1000]
    """
    import ipywidgets

    if not 0 < low < high < math.inf:
        raise ValueError(f"log_slider needs 0 < low < high, got low={low!r}, high={high!r}")
    kind = int if low >= 1 else float
    positions = 1 + round(per_decade * math.log10(high / low))
    grid = sorted({kind(float(f"{stop:.2g}")) for stop in np.geomspace(low, high, positions)})
    start = math.sqrt(low * high) if value is None else value
    nearest = min(grid, key=lambda stop: abs(math.log(stop / start)))
    options = [(_shown(stop), stop) for stop in grid]
    return ipywidgets.SelectionSlider(options=options, value=nearest, **_layout())


def slider(low, high, value=None, *, step=0.1):
    """Return a slider over an interval, evenly spaced; it starts in the middle by default.

    Examples
    --------
    >>> from shufflelib.explorer.sliders import slider
    >>> slider(0.5, 4.5).value
    2.5
    """
    import ipywidgets

    start = (low + high) / 2 if value is None else value
    return ipywidgets.FloatSlider(value=start, min=low, max=high, step=step, **_layout())


def choice(options, value=None):
    """Return a menu of options: a list, or a mapping from what is shown to what is passed on.

    Examples
    --------
    >>> from shufflelib.explorer.sliders import choice
    >>> choice({"two options": 2, "ten options": 10}, value=10).value
    10
    """
    import ipywidgets

    pairs = options.items() if hasattr(options, "items") else options
    menu = ipywidgets.Dropdown(options=list(pairs), **_layout())
    if value is not None:
        menu.value = value
    return menu


def explore(draw, /, **controls):
    """Return a panel whose picture is redrawn whenever a control moves.

    Parameters
    ----------
    draw : callable
        Takes the controls' values by name and returns a figure, the same one each time.
    **controls : ipywidgets.Widget
        Anything with a ``value``: `log_slider`, `slider`, `choice`, or a widget of your own.

    Returns
    -------
    ipywidgets.VBox
        Its children: the controls, a line that repeats their values, the picture.  Where the environment
        variable ``SHUFFLELIB_FRAMES`` is set (a run that nobody watches), an `IPython.display.HTML` instead:
        `frames`, which step without a kernel.

    Notes
    -----
    Pictures are kept by their values, so going back costs nothing.  Where ``draw`` raises a
    ValueError (outside a theorem's regime) the line says so and the picture is hidden: a panel
    never shows a picture that belongs to other values.

    Examples
    --------
    >>> from shufflelib.published import closed_form
    >>> from shufflelib import plotting
    >>> from shufflelib.explorer.sliders import explore, log_slider
    >>> fig, ax = plotting.figure(width=2.0)
    >>> def draw(n):
    ...     eps = closed_form.over(closed_form.erlingsson19, eps0=[0.25, 0.5], n=n, delta=1e-6)
    ...     plotting.draw_curves(ax, [plotting.curve("EFMRTT'19", [0.25, 0.5], eps)])
    ...     return fig
    >>> panel = explore(draw, n=log_slider(1000, 10**7, value=10_000))
    >>> panel.children[1].value
    'n=10,000'
    """
    import ipywidgets

    if os.environ.get("SHUFFLELIB_FRAMES"):
        from IPython.display import HTML

        from shufflelib.explorer.frames import frames

        return HTML(frames(draw, controls, _shown))

    @lru_cache(maxsize=256)
    def picture(*values):
        return _drawn(draw, controls, values)

    image = ipywidgets.Image(format="png")
    line = ipywidgets.Label()

    def redraw(_change=None):
        values = _values(controls)
        line.value = _caption(controls, values)
        try:
            image.value = picture(*values)
            image.layout.visibility = "visible"
        except ValueError as error:
            line.value += f": {error}"
            image.layout.visibility = "hidden"

    for name, control in controls.items():
        control.description = control.description or name
        control.observe(redraw, names="value")
    redraw()
    return ipywidgets.VBox([ipywidgets.VBox(list(controls.values())), line, image])


def _values(controls):
    return tuple(control.value for control in controls.values())


def _caption(controls, values):
    return ", ".join(f"{name}={_shown(value)}" for name, value in zip(controls, values, strict=True))


def _drawn(draw, controls, values):
    from shufflelib.plotting import png

    return png(draw(**dict(zip(controls, values, strict=True))))


def _layout():
    import ipywidgets

    return {"layout": ipywidgets.Layout(width="28em"), "style": {"description_width": "7em"}}


def _shown(value):
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) and value < 10**6 else f"{value:.3g}"
