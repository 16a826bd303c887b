"""What an analyst will see: many possible histograms as dots over the true one."""

import numpy as np

from shufflelib.plotting.headings import at_most
from shufflelib.plotting.labels import legible
from shufflelib.plotting.looks import BLUE
from shufflelib.plotting.style import style
from viz.ideas.canvas import LABEL, NOTE, canvas, labels, numbers, panel

HEIGHT = 3.0
ITEMS, RUNS = range(2, 17), range(1, 1001)  # that fit into the picture


def draw_outcomes(truth, outcomes, *, names=None, finding=None, setting="", fig=None):
    """Draw possible estimates of a histogram as dots over the true shares, each one run of the protocol.

    Parameters
    ----------
    truth : array_like, shape (d,)
        True shares; two to sixteen items.
    outcomes : array_like, shape (runs, d)
        Estimated shares, one row for each run; twenty are easily seen.
    names : iterable of str, optional
        Of the items.

    Examples
    --------
    >>> from viz import ideas
    >>> fig = ideas.draw_outcomes([0.5, 0.3, 0.2], [[0.52, 0.27, 0.21], [0.47, 0.34, 0.19]])
    >>> fig.get_suptitle().strip()
    'In 2 runs no share is off by more than 4 points'
    """
    truth = numbers(truth, "truth", ITEMS, at_least=0.0, at_most=1.0)
    outcomes = numbers(outcomes, "outcomes", RUNS, len(truth), at_least=-1e6, at_most=1e6)
    names = labels(names, "names", len(truth))
    runs = len(outcomes)
    worst = 100.0 * float(np.abs(outcomes - truth).max()) * (1.0 - 1e-12)  # the subtraction rounds
    if finding is None:
        finding = f"In {runs} runs no share is off by more than {at_most(worst, 2)} points"
    fig, top = canvas(fig, HEIGHT, finding, setting)
    with style():
        ax = panel(fig, 0.62, 0.48, fig.get_figwidth() - 0.72, top - 0.66)
        x = np.arange(len(truth))
        ax.bar(x, 100.0 * truth, width=0.8, color="0.85", lw=0)
        ax.hlines(100.0 * truth, x - 0.4, x + 0.4, colors="0.25", lw=1.6, zorder=4)
        spread = np.linspace(-0.32, 0.32, runs) if runs > 1 else np.zeros(1)
        across = (x[None, :] + spread[:, None]).ravel()
        ax.plot(across, 100.0 * outcomes.ravel(), "o", color=BLUE, ms=3.2, alpha=0.75, mew=0, zorder=5)
        ax.axhline(0.0, color="0.2", lw=0.8)
        low, high = 100.0 * min(outcomes.min(), 0.0), 100.0 * max(outcomes.max(), truth.max())
        ax.set(xlim=(-0.6, len(x) - 0.4), ylim=(1.1 * low, 1.28 * high))
        ax.set_xticks(x, names, fontsize=LABEL if len(x) <= 10 else NOTE)
        ax.tick_params(axis="x", length=0)
        ax.tick_params(axis="y", labelsize=NOTE)
        ax.set_ylabel("share of people (%)", fontsize=LABEL)
        ax.spines["bottom"].set_visible(False)
        dot = f"each dot: one possible answer ({runs} runs)"
        corner = {"transform": ax.transAxes, "ha": "right", "va": "top", "fontsize": NOTE}
        ax.text(0.995, 1.0, dot, color=legible(BLUE), fontweight="bold", **corner)
        ax.text(0.995, 0.915, "grey bar: the truth", color="0.3", **corner)
    return fig
