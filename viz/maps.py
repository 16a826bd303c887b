"""Maps of a ratio over two parameters, on real axes; for `FacetGrid.map_dataframe` or alone."""

import matplotlib.pyplot as plt
from matplotlib.colors import BoundaryNorm, ListedColormap

from viz.wishes import figure_of, wishes

EDGES = (1e-9, 0.1, 0.5, 1.0, 2.0, 10.0, 1e9)
SHADES = ListedColormap(["#5b3f95", "#8f83bd", "#c9c6e2", "#fbe3bf", "#f0a64f", "#bd6100"])
TICKS = {0.1: "÷ 10", 0.5: "÷ 2", 1.0: "equal", 2.0: "× 2", 10.0: "× 10"}


def ratio_map(data, x, y, value, ax=None, **_):
    """Draw value over two columns as a map, hatched where it is below one.

    Parameters
    ----------
    data : pandas.DataFrame
        One row a cell.
    x, y, value : str
        Columns; the value is claimed ÷ true.
    ax : matplotlib.axes.Axes, optional
        By default the current ones, as for `FacetGrid.map_dataframe`.
    """
    ax = ax or plt.gca()
    grid = data.pivot(index=y, columns=x, values=value)
    norm = BoundaryNorm(EDGES, SHADES.N)
    shades = ax.pcolormesh(
        grid.columns, grid.index, grid, cmap=SHADES, norm=norm, shading="nearest", rasterized=True
    )
    below = grid < 1.0
    ax.contourf(grid.columns, grid.index, below, levels=[0.5, 1.5], colors="none", hatches=["////"])
    wishes(ax).bar = (shades, "", TICKS)
    return ax


def name_colours(place, words):
    """Draw the colour bar of `ratio_map` beside all panels."""
    asked = wishes(figure_of(place))
    asked.bar = (asked.bar[0], words, asked.bar[2])
