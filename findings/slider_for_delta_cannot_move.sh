#!/bin/sh
# ipywidgets 8.1.9: the slider that `interact` makes for a small number has two places, one of them negative.
#
# Guess: `interact(f, delta=1e-6)` makes a slider around 1e-6 that can be moved, as `delta=0.5` does.
# Seen: it goes from -1e-6 to 3e-6, but in steps of 0.1, a number that does not depend on the value: no step fits
# inside, and what it shows beside it, "0.00", stays the same wherever it stands.  For 0.5 the same step gives 21 places.
# Effect: a panel for ε(δ) seems not to react to δ; at the left end δ is negative, and the function fails.
#
# Output seen:
#   0.5:   from -0.5 to 1.5, 20 steps of 0.1 fit
#   1e-06: from -1e-06 to 3e-06, 0 steps of 0.1 fit, shown as 0.00
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq ipywidgets==8.1.9
"$folder/venv/bin/python" - <<'PYTHON'
from ipywidgets import interactive

fit = {}
for value in (0.5, 1e-6):
    (slider, _) = interactive(lambda delta: None, delta=value).children
    fit[value] = int((slider.max - slider.min) / slider.step + 1e-9)
    shown = format(slider.value, slider.readout_format)
    print(f"{value:g}: from {slider.min:g} to {slider.max:g}, {fit[value]} steps of {slider.step} fit, shown as {shown}")
assert slider.min < 0 and shown == "0.00"
assert fit == {0.5: 20, 1e-6: 0}, "the step depends on the value now"
PYTHON
