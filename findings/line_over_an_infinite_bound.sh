#!/bin/sh
# seaborn 0.13.2: a line runs straight through the place where a bound is infinite, and means leave it out.
#
# Guess: `lineplot` breaks where y is infinite or missing, as matplotlib's own `plot` of the same columns does; and
# `barplot`, which draws means, shows an infinite one or none.
# Seen: the row is dropped and its neighbours are joined, so that a bound which holds nothing at n = 1000 looks as if
# it were 1.25 there; `barplot` draws the mean of the other rows.  No warning.
# Effect: a published bound that is infinite outside its theorem's range looks valid there, as long as it is finite
# on both sides; averages over settings are those of the settings where the bound worked.
#
# Output seen:
#   matplotlib  3.0 2.0 inf 0.5 0.1
#   lineplot    3.0 2.0 0.5 0.1
#   barplot     mean 1.40
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq seaborn==0.13.2 matplotlib==3.10.7 pandas==2.3.3 numpy==2.1.3
MPLBACKEND=agg "$folder/venv/bin/python" -W error::UserWarning - <<'PYTHON'
import numpy as np
import pandas
import seaborn
from matplotlib import pyplot

users = [10, 100, 1000, 10_000, 100_000]
bounds = pandas.DataFrame({"n": users, "eps": [3.0, 2.0, np.inf, 0.5, 0.1], "bound": "one"})
plain = pyplot.subplots()[1].plot(bounds["n"], bounds["eps"])[0].get_ydata()
drawn = seaborn.lineplot(bounds, x="n", y="eps", ax=pyplot.subplots()[1]).lines[0].get_ydata()
(bar,) = seaborn.barplot(bounds, x="bound", y="eps", errorbar=None, ax=pyplot.subplots()[1]).patches
print("matplotlib ", *plain)
print("lineplot   ", *drawn)
print(f"barplot     mean {bar.get_height():.2f}")
assert np.isinf(plain[2])
assert list(drawn) == [3.0, 2.0, 0.5, 0.1], "the line has a gap now"
assert abs(bar.get_height() - 1.4) < 1e-9
PYTHON
