"""Maps of a ratio over two parameters, on real axes; for `FacetGrid.map_dataframe` or alone."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap

from viz.wishes import figure_of, wishes

SHADES = ListedColormap(["#5b3f95", "#8f83bd", "#c9c6e2", "#fbe3bf", "#f0a64f", "#bd6100"])


def ratio_map(x, y, value, *, data, ax=None, steps=(2, 10), **_):
    """Draw value over two columns as a map, hatched where it is below one.

    Parameters
    ----------
    x, y, value : str
        Columns; the value is claimed ÷ true.
    data : pandas.DataFrame
        One row a cell.
    ax : matplotlib.axes.Axes, optional
        By default the current ones, as for `FacetGrid.map_dataframe`.
    steps : tuple of float
        The two factors at which the shade changes, on either side of one.
    """
    ax = ax or plt.gca()
    grid = data.pivot(index=y, columns=x, values=value)
    small, large = steps
    edges = (1e-9, 1 / large, 1 / small, 1.0, small, large, 1e9)
    names = (f"÷ {large:,}", f"÷ {small:,}", "equal", f"× {small:,}", f"× {large:,}")
    ticks = dict(zip(edges[1:-1], names, strict=True))
    norm = BoundaryNorm(edges, SHADES.N)
    shades = ax.pcolormesh(
        grid.columns, grid.index, grid, cmap=SHADES, norm=norm, shading="nearest", rasterized=True
    )
    below = np.ma.masked_array(grid, ~(grid < 1.0))
    clear = {"cmap": ListedColormap(["none"]), "ec": "black", "lw": 0}
    ax.pcolor(grid.columns, grid.index, below, shading="nearest", hatch="////", **clear)
    wishes(ax).bar = (shades, "", ticks)
    return ax


def name_colours(place, words):
    """Draw the colour bar of `ratio_map` beside all panels."""
    asked = wishes(figure_of(place))
    asked.bar = (asked.bar[0], words, asked.bar[2])
