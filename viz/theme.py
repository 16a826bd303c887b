"""One theme for every figure: seaborn's ticks, this project's colours, and sizes that a page can hold."""

import seaborn as sns
from matplotlib.path import Path

BLACK, BLUE, RED, GREEN = "#000000", "#0068b0", "#c24a00", "#007d5b"
PURPLE, OCHRE, GREY, FAMILY = "#9c3f8c", "#6b4a00", "#707070", "#949494"
WIDTH = 7.0  # inches, at most: text then has one size on every page
INVISIBLE = Path([(0, 0), (1, 1)], [Path.MOVETO, Path.MOVETO])  # seaborn refuses "" beside filled markers
RC = {
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "figure.figsize": (6.4, 3.6),
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "hatch.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.title_fontsize": 9,
    "lines.markersize": 5,
    "mathtext.default": "regular",
    "patch.edgecolor": "black",  # seaborn's white makes hatches invisible
    "patch.force_edgecolor": False,
    "svg.hashsalt": "shufflelib",
    "xtick.labelsize": 10,  # an exponent is set at 0.7 of this
    "xtick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.labelsize": 10,
    "ytick.major.width": 0.6,
    "ytick.minor.width": 0.4,
}


def theme():
    """Set the theme for every figure drawn after it; colours without a name follow the palette.

    Examples
    --------
    >>> import matplotlib, viz
    >>> with matplotlib.rc_context():
    ...     viz.theme()
    ...     matplotlib.rcParams["axes.titlesize"]
    9.0
    """
    sns.set_theme(style="ticks", palette=[BLUE, RED, GREEN, PURPLE, OCHRE, GREY], rc=RC)
