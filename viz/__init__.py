"""How notebooks draw: what seaborn lacks for figures whose headline is their finding.

A figure's cell reads as any user of seaborn would write it::

    viz.theme()
    ax = sns.lineplot(frame, x="n", y="eps", **viz.looks(frame))
    ax.set(xscale="log", yscale="log", xlabel="users n", ylabel="ε at δ = 10⁻⁶")
    viz.label_ends(ax)
    viz.finding(ax, headline, setting, at=[(n, eps, "0.27")])
    viz.save(ax, frame, "01_2_trust", caption="…")

`looks` gives each bound or mechanism its colour, marker and stroke, whatever else is drawn; `finding` states
the result and marks its number; `label_ends`, `shade_impossible`, `arrow` and `bracket` add words; `save`
finds places for all of them, so the order of calls does not matter, and writes PNG, SVG and CSV.  `explore`
redraws such a figure whenever a control moves.
"""

from matplotlib import pyplot as plt

from viz.explore import Panel, choice, complaint, explore, headline_of, image, log_slider, slider
from viz.files import Saved, picture_of, save, unmarked
from viz.looks import dots, look, looks, stretches
from viz.maps import name_colours, ratio_map
from viz.placing import overlapping
from viz.tables import SavedTable, save_table
from viz.theme import BLACK, BLUE, FAMILY, GREEN, GREY, OCHRE, PURPLE, RED, theme
from viz.wishes import arrow, bracket, figure_of, finding, label_ends, shade_impossible
from viz.words import at_least, at_most, digits, span
