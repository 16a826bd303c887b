"""A picture of a plan: the error with the shuffler, with a trusted curator, and with neither."""

import math

from shufflelib.calibration.recommendation import TASKS, frequency_error, standard_errors
from shufflelib.plotting.headings import digits
from shufflelib.plotting.ideas.canvas import LABEL, NOTE, canvas, panel
from shufflelib.plotting.looks import BLACK, BLUE, ORANGE
from shufflelib.plotting.style import style

HEIGHT = 1.9  # inches
TRUTH = {"histogram": 10.0, "mean": 50.0}  # percent
SHUFFLED, CURATOR, LOCAL = "with the shuffler", "trusted curator", "no shuffler"
LOOKS = {CURATOR: (BLACK, "s"), SHUFFLED: (BLUE, "o"), LOCAL: (ORANGE, "^")}


def staying(setting):
    """Return the number of users who report after all."""
    return math.floor(setting.n * (1.0 - setting.dropout) * (1.0 + 1e-12))


def errors(setting, row):
    """Return three standard errors at the same guarantee, for a row of `shufflelib.recommend`.

    Of a trusted curator's Gaussian noise, of the row's mechanism with the shuffler, and of the best mechanism
    with one report a user and no shuffler, whose ε₀ is the target divided by the rounds.  They are errors of
    the true share in `TRUTH`, or of the mean of values that are spread evenly.
    """
    candidates = TASKS[setting.task]
    alone = [one for one in candidates.values() if one.finds == "eps0"]
    return {
        CURATOR: row["standard error"] / row["x central"],
        SHUFFLED: error_at(setting, candidates[row["mechanism"]], row["value"]),
        LOCAL: min(error_at(setting, one, setting.eps / setting.rounds) for one in alone),
    }


def error_at(setting, one, value, share=None):
    """Return the standard error of a candidate with the value found, at a true share, by default `TRUTH`."""
    mechanism, n = one.build(value, setting.items.get("d")), staying(setting)
    if setting.task == "mean":
        return standard_errors(mechanism, n)[0]
    share = TRUTH[setting.task] / 100.0 if share is None else share
    return frequency_error(mechanism, share, n, n * value if one.finds == "messages" else 0)


def shown_as(setting, share):
    """Write a true share with one standard error.

    Examples
    --------
    >>> from shufflelib.explorer import Setting
    >>> from shufflelib.explorer.plan_pictures import shown_as
    >>> shown_as(Setting(), 0.00812)
    '10 % ± 0.81'
    """
    return f"{TRUTH[setting.task]:g} % ± {digits(100.0 * share, 2)}"


def draw_errors(setting, row, *, fig=None):
    """Draw one true value and, for each of the three estimates, one standard error to either side."""
    found, truth = errors(setting, row), TRUTH[setting.task]
    what = "share" if setting.task == "histogram" else "mean"
    finding = f"A true {what} of {truth:g} % is shown as {shown_as(setting, found[SHUFFLED])}"
    about = (
        f"bars: one standard error; ε = {digits(setting.eps)} at δ = {digits(setting.delta)} for all three"
    )
    fig, top = canvas(fig, HEIGHT, finding, about)
    with style():
        ax = panel(fig, 1.35, 0.48, fig.get_figwidth() - 2.3, top - 0.58)
        ax.axvline(truth, color="0.75", lw=0.8, zorder=1)
        for height, (name, share) in enumerate(found.items()):
            colour, marker = LOOKS[name]
            points = 100.0 * share
            ax.errorbar(truth, -height, xerr=points, fmt=marker, color=colour, ms=5, lw=1.8, capsize=3)
            beside = {"transform": ax.get_yaxis_transform(), "fontsize": LABEL, "va": "center"}
            ax.text(1.03, -height, f"± {digits(points, 2)}", **beside)
        ax.set(ylim=(-2.6, 0.6))
        ax.set_yticks([0, -1, -2], list(found), fontsize=LABEL)
        ax.tick_params(axis="x", labelsize=NOTE)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("what the analyst is shown (%)", fontsize=LABEL)
        ax.spines["left"].set_visible(False)
    return fig
