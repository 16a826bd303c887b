"""Sliders on a page without a kernel: pictures drawn beforehand, through which a few lines of script step."""

import base64
import hashlib
import html
import io
import itertools
import json

from PIL import Image

from shufflelib.plotting import png
from shufflelib.plotting.showing import finding_of

MOST = 30  # pictures of one panel
COLOURS = 48  # a line plot needs no more; the file is a third as large
PANEL = """<div class="frames" id="{key}">
<form>{controls}</form>
<img alt="{alt}" style="max-width: 100%; background: white" src="{src}">
<script type="application/json">{frames}</script>
<script>(() => {{
  const panel = document.getElementById("{key}"), image = panel.querySelector("img");
  const [pictures, words] = JSON.parse(panel.querySelector("script").textContent);
  const inputs = [...panel.querySelectorAll("input")];
  panel.addEventListener("input", () => {{
    let place = 0;
    for (const input of inputs) {{
      const stops = JSON.parse(input.dataset.stops), text = stops[input.value];
      input.nextElementSibling.value = text;
      input.setAttribute("aria-valuetext", text);
      place = place * stops.length + Number(input.value);
    }}
    image.src = pictures[place];
    image.alt = words[place];
  }});
}})();</script>
</div>"""
CONTROL = """<label style="display: block">{name}
<input type="range" min="0" max="{last}" value="{at}" data-stops="{stops}" aria-valuetext="{text}">
<output>{text}</output></label>"""


def positions(control, most):
    """Return the positions of a control at which pictures are drawn, and the place of its value among them.

    Parameters
    ----------
    control : ipywidgets.Widget
        One with ``options`` (a menu, a slider over round numbers), or with ``min`` and ``max``.
    most : int
        At most so many positions, at least 2; a menu keeps all of its options.

    Examples
    --------
    >>> from shufflelib.explorer.frames import positions
    >>> from shufflelib.explorer.sliders import choice, log_slider, slider
    >>> positions(log_slider(10, 1000, 220, per_decade=3), 4)
    ([10, 46, 220, 1000], 2)
    >>> positions(slider(0.0, 4.0, 1.0, step=0.5), 5)
    ([0.0, 1.0, 2.0, 3.0, 4.0], 1)
    >>> positions(choice({"two options": 2, "ten options": 10}, value=10), 5)
    ([2, 10], 1)
    """
    if hasattr(control, "options"):
        stops = [option[1] if isinstance(option, tuple) else option for option in control.options]
        if type(control).__name__ == "Dropdown":
            return stops, stops.index(control.value)
    else:
        steps = round((control.max - control.min) / control.step)
        stops = [control.min + step * control.step for step in range(steps + 1)]
    spread = {round(place * (len(stops) - 1) / (most - 1)) for place in range(most)}
    start = min(range(len(stops)), key=lambda place: abs(stops[place] - control.value))
    nearest = min(spread - {0, len(stops) - 1}, key=lambda place: abs(place - start), default=start)
    if start not in spread:
        spread = spread - {nearest} | {start}
    chosen = sorted(spread)
    return [type(control.value)(stops[place]) for place in chosen], chosen.index(start)


def frames(draw, controls, text):
    """Return the panel as HTML: one picture for each position of the controls, the first at their values.

    Parameters
    ----------
    draw : callable
        As for `explore`.
    controls : Mapping
        Name to control; together they take at most 30 positions.
    text : callable
        Turns the value of a control into text.

    Returns
    -------
    str
        HTML that needs no server: pictures inside, a few lines of script, words for screen readers.

    Raises
    ------
    ValueError
        If nothing can be drawn at the controls' values; elsewhere the words say why there is no picture.
    """
    most = {1: 9, 2: 5, 3: 3}.get(len(controls), 2)
    grids = [positions(control, most) for control in controls.values()]
    while len(list(itertools.product(*(stops for stops, _ in grids)))) > MOST and most > 2:
        most -= 1
        grids = [positions(control, most) for control in controls.values()]
    pictures, words = [], []
    start = tuple(stops[at] for stops, at in grids)
    for values in itertools.product(*(stops for stops, _ in grids)):
        asked = dict(zip(controls, values, strict=True))
        said = ", ".join(f"{name} = {text(value)}" for name, value in asked.items())
        try:
            fig = draw(**asked)
            pictures.append(_embedded(png(fig, dpi=110)))
            words.append(" ".join(filter(None, [finding_of(fig), f"({said})"])))
        except ValueError as error:
            if values == start:
                raise
            pictures.append("")
            words.append(f"{said}: {error}")
    shown, place = [], 0
    for (name, control), (stops, at) in zip(controls.items(), grids, strict=True):
        options = [one for one in getattr(control, "options", ()) if isinstance(one, tuple)]
        names = {value: name for name, value in options}
        texts = [names.get(stop) or text(stop) for stop in stops]
        place = place * len(stops) + at
        given = {"last": len(stops) - 1, "at": at, "text": html.escape(texts[at])}
        stops = html.escape(json.dumps(texts, ensure_ascii=False))
        shown.append(CONTROL.format(name=html.escape(control.description or name), stops=stops, **given))
    packed = json.dumps([pictures, words], ensure_ascii=False).replace("</", "<\\/")
    key = "frames-" + hashlib.sha256(packed.encode()).hexdigest()[:12]
    alt = html.escape(words[place])
    return PANEL.format(key=key, controls="".join(shown), alt=alt, src=pictures[place], frames=packed)


def _embedded(picture):
    small = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        small, "png", optimize=True
    )
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()
