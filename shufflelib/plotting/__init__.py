"""Figures: one style, a fixed look for each bound, and files that are identical on every run.

This is the only place that imports matplotlib.  It never touches global state: figures are built
without pyplot, and the style holds only inside `style()`, which every function here enters.

`figure` makes the axes, `curve` gives a bound its look, `draw_curves` and its companions put it on
the axes, `save_figure` writes the files, and `show_figure` also shows the picture with a caption.  For
words, `headline` states the finding, with numbers that `at_most`, `at_least` and `span` round to the safe
side; `label_directly` and `label_along` name curves, `gap_in_words` says how narrow a bracket is,
`shade_impossible` shades where no bound can be, `mark_shortfall` shows where a claim fails.  Everywhere
``ax`` are the axes to draw on; a bound without a look in `LINE` raises a KeyError.
"""

from shufflelib.plotting.answers import draw_answers
from shufflelib.plotting.brackets import gap_in_words, shade_bracket, shade_impossible
from shufflelib.plotting.drawing import draw_curves, draw_error_bar, draw_error_map
from shufflelib.plotting.failures import draw_failures, mark_shortfall
from shufflelib.plotting.headings import at_least, at_most, digits, headline, span
from shufflelib.plotting.labels import label_along, label_directly
from shufflelib.plotting.literature import draw_family, draw_literature
from shufflelib.plotting.looks import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LINE,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    WIDTH,
    Curve,
    Look,
    curve,
    look,
)
from shufflelib.plotting.measurements import draw_expected, draw_measured, draw_point, draw_runs
from shufflelib.plotting.saving import Saved, png, save_figure, save_table
from shufflelib.plotting.showing import Shown, show_figure
from shufflelib.plotting.style import figure, style
