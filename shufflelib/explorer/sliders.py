"""Slider panels in notebooks: a drawing function, a few controls, and a picture that follows them.

ipywidgets is imported only when a control is made, so the module loads without it.
"""

import base64
import hashlib
import html
import io
import itertools
import json
import math
import os
from functools import lru_cache

import numpy as np

from shufflelib.explorer.templates import fill
from shufflelib.plotting import png
from shufflelib.plotting.showing import finding_of

COLOURS = 48  # a line plot needs no more; the file is a third as large


def log_slider(low, high, value=None, *, per_decade=9):
    """Return a slider over numbers of two digits, evenly spaced in the logarithm from ``low`` to ``high``.

    Its values are whole numbers if ``low`` is at least 1; it starts near ``value``, by default in the middle.

    Examples
    --------
    >>> from shufflelib.explorer.sliders import log_slider
    >>> [value for _, value in log_slider(10, 1000, per_decade=3).options]
    [10, 22, 46, 100, 220, 460, 1000]
    """
    if not 0 < low < high < math.inf:
        raise ValueError(f"log_slider needs 0 < low < high, got low={low!r}, high={high!r}")
    kind = int if low >= 1 else float
    positions = 1 + round(per_decade * math.log10(high / low))
    grid = sorted({kind(float(f"{stop:.2g}")) for stop in np.geomspace(low, high, positions)})
    return _over(grid, math.sqrt(low * high) if value is None else value)


def slider(low, high, value=None, *, step=0.1):
    """Return a slider over an interval, evenly spaced; it starts in the middle by default.

    Examples
    --------
    >>> from shufflelib.explorer.sliders import slider
    >>> slider(0.5, 4.5).value
    2.5
    """
    grid = [float(low + step * place) for place in range(round((high - low) / step) + 1)]
    return _over(grid, (low + high) / 2 if value is None else value)


def _over(grid, start):
    shown = [(f"{stop:,}" if isinstance(stop, int) and stop < 10**6 else f"{stop:.3g}") for stop in grid]
    nearest = min(grid, key=lambda stop: abs(stop - start))
    return _control("SelectionSlider", zip(shown, grid, strict=True), nearest)


def _control(kind, options, value):
    import ipywidgets

    looks = {"layout": {"width": "28em"}, "style": {"description_width": "7em"}}
    return getattr(ipywidgets, kind)(options=list(options), value=value, **looks)


def choice(options, value=None):
    """Return a menu of options: a list, or a mapping from what is shown to what is passed on.

    Examples
    --------
    >>> from shufflelib.explorer.sliders import choice
    >>> choice({"two options": 2, "ten options": 10}, value=10).value
    10
    """
    options = options if hasattr(options, "items") else {str(option): option for option in options}
    start = next(iter(options.values())) if value is None else value
    return _control("Dropdown", options.items(), start)


def explore(draw, /, **controls):
    """Return a panel whose picture is redrawn whenever a control moves.

    Parameters
    ----------
    draw : callable
        Takes the controls' values by name and returns a figure, the same one each time.  Where it fails, for
        instance outside a theorem's regime, the panel shows the error instead of a picture.
    **controls : ipywidgets.Widget
        `log_slider`, `slider` or `choice`.

    Returns
    -------
    ipywidgets.VBox
        Its children: the controls, a line that repeats their values, the picture.  Where the environment
        variable ``SHUFFLELIB_FRAMES`` is a number, an `IPython.display.HTML` of about so many pictures
        instead, which needs no kernel.

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
    'n = 10,000'
    """
    import ipywidgets

    if frames := os.environ.get("SHUFFLELIB_FRAMES"):
        from IPython.display import HTML

        return HTML(_frames(draw, controls, int(frames)))

    picture = lru_cache(maxsize=256)(lambda **asked: png(draw(**asked)))
    image, line = ipywidgets.Image(format="png"), ipywidgets.Label()

    def redraw(_change=None):
        said = _in_words(controls, [control.label for control in controls.values()])
        try:
            image.value = picture(**{name: control.value for name, control in controls.items()})
            line.value, image.layout.visibility = said, "visible"
        except Exception as error:  # whatever it is, the old picture must not stay under new values
            line.value, image.layout.visibility = f"{said}: {_complaint(error)}", "hidden"

    for name, control in controls.items():
        control.description = name
        control.observe(redraw, names="value")
    redraw()
    return ipywidgets.VBox([ipywidgets.VBox(list(controls.values())), line, image])


def _frames(draw, controls, largest):
    """Return the panel as HTML that needs no kernel: a picture for each position, about ``largest`` in all.

    Where ``draw`` raises a ValueError there is its message instead, but not where the controls stand.
    """
    for most in range(9, 1, -1):
        grids = [_positions(control, most) for control in controls.values()]
        if math.prod(len(options) for options, _ in grids) <= largest:
            break
    pictures, words = [], []
    for chosen in itertools.product(*(options for options, _ in grids)):
        said = _in_words(controls, [label for label, _ in chosen])
        values = [value for _, value in chosen]
        try:
            fig = draw(**dict(zip(controls, values, strict=True)))
            pictures.append(_embedded(png(fig, dpi=110)))
            words.append(f"{finding_of(fig)} ({said})".strip())
        except ValueError as error:
            if values == [control.value for control in controls.values()]:
                raise
            pictures.append("")
            words.append(f"{said}: {error}")
    shown, place = [], 0
    for name, (options, at) in zip(controls, grids, strict=True):
        labels = [label for label, _ in options]
        place = place * len(options) + at
        given = {"name": name, "text": labels[at], "stops": json.dumps(labels, ensure_ascii=False)}
        given = {key: html.escape(text) for key, text in given.items()}
        shown.append(fill("frames_control.html", last=len(options) - 1, at=at, **given))
    packed = json.dumps([pictures, words], ensure_ascii=False).replace("</", "<\\/")
    key = "frames-" + hashlib.sha256(packed.encode()).hexdigest()[:12]
    alt = html.escape(words[place])
    return fill("frames.html", key=key, controls="".join(shown), alt=alt, src=pictures[place], frames=packed)


def _positions(control, most):
    """Return the options at which pictures are drawn, and the place of the control's value among them.

    A menu keeps all of its options, a slider at most ``most``.
    """
    options, start = control.options, control.index
    if len(options) <= most or type(control).__name__ == "Dropdown":
        return options, start
    spread = {round(place * (len(options) - 1) / (most - 1)) for place in range(most)}
    nearest = min(spread, key=lambda place: abs(place - start))
    chosen = sorted(spread - {nearest} | {start})
    return tuple(options[place] for place in chosen), chosen.index(start)


def _complaint(error):
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _in_words(names, labels):
    return ", ".join(f"{name} = {label}" for name, label in zip(names, labels, strict=True))


def _embedded(picture):
    from PIL import Image

    small = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        small, "png", optimize=True
    )
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()
