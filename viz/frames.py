"""A slider panel as HTML that needs no kernel: one picture for each position, for a page of the book."""

import hashlib
import html
import io
import itertools
import json
import math
import string

import matplotlib.pyplot as plt

from viz.files import embedded

COLOURS = 48  # a line plot needs no more; the file is a third as large
CONTROL = string.Template(
    """<label style="display: block">$name
<input type="range" min="0" max="$last" value="$at" data-stops="$stops" aria-valuetext="$text">
<output>$text</output></label>"""
)
PANEL = string.Template(
    """<div class="frames" id="$key">
<form>$controls</form>
<img alt="$alt" style="max-width: 100%; background: white" src="$src">
<script type="application/json">$frames</script>
<script>(() => {
  const panel = document.getElementById("$key"), image = panel.querySelector("img");
  const [pictures, words] = JSON.parse(panel.querySelector("script").textContent);
  const inputs = [...panel.querySelectorAll("input")];
  panel.addEventListener("input", () => {
    let place = 0;
    for (const input of inputs) {
      const stops = JSON.parse(input.dataset.stops), text = stops[input.value];
      input.nextElementSibling.value = text;
      input.setAttribute("aria-valuetext", text);
      place = place * stops.length + Number(input.value);
    }
    image.src = pictures[place];
    image.alt = words[place];
  });
})();</script>
</div>
"""
)


def frames(drawn, controls, largest):
    """Return the panel with about ``largest`` pictures in all.

    ``drawn`` returns PNG bytes and words for the values of the controls.  Where it raises a ValueError there
    is its message instead, but not where the controls stand.
    """
    for most in range(9, 1, -1):
        grids = [_positions(control, most) for control in controls.values()]
        if math.prod(len(options) for options, _ in grids) <= largest:
            break
    pictures, words = [], []
    for chosen in itertools.product(*(options for options, _ in grids)):
        labels, values = zip(*chosen, strict=True)
        said = in_words(controls, labels)
        try:
            picture, finding = drawn(**dict(zip(controls, values, strict=True)))
            pictures.append(embedded(_reduced(picture)))
            words.append(f"{finding} ({said})".strip())
        except ValueError as error:
            if list(values) == [control.value for control in controls.values()]:
                raise
            plt.close("all")
            pictures.append("")
            words.append(f"{said}: {error}")
    shown, place = [], 0
    for control, (options, at) in zip(controls.values(), grids, strict=True):
        labels = [label for label, _ in options]
        place = place * len(options) + at
        stops = json.dumps(labels, ensure_ascii=False)
        given = {"name": control.description, "text": labels[at], "stops": stops}
        given = {key: html.escape(text) for key, text in given.items()}
        shown.append(CONTROL.substitute(last=len(options) - 1, at=at, **given))
    packed = json.dumps([pictures, words], ensure_ascii=False).replace("</", "<\\/")
    given = {"key": "frames-" + hashlib.sha256(packed.encode()).hexdigest()[:12], "frames": packed}
    given |= {"alt": html.escape(words[place]), "src": pictures[place]}
    return PANEL.substitute(controls="".join(shown), **given)


def in_words(controls, labels):
    """Return what the controls say, such as ``"n = 10,000, ε₀ = 2"``."""
    pairs = zip(controls.values(), labels, strict=True)
    return ", ".join(f"{control.description} = {label}" for control, label in pairs)


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


def _reduced(picture):
    """Return PNG bytes in fewer colours."""
    from PIL import Image

    small = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        small, "png", optimize=True
    )
    return small.getvalue()
