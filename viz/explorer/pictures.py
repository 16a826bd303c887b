"""Pictures of answers: seaborn, a headline with its number, a colour and a shape for each meaning."""

import io
import math

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

import viz
from viz.explorer import words

CHANCE = np.linspace(0.0, 1.0, 201)
SHUFFLED, ALONE, GUESS = "exact", "local budget", "perfect privacy"
SAID = {GUESS: "guessing", ALONE: "no shuffler", SHUFFLED: "shuffled: at most"}


def axes(height=3.4, **layout):
    """Return axes that pyplot does not know, so that no cell of the notebook draws into them."""
    return Figure(figsize=(6.2, height), **layout).add_subplot()


def png(ax):
    """Return the figure of axes as PNG bytes, drawn once and hardly compressed."""
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, dpi=130, pil_kwargs={"compress_level": 1})
    return buffer.getvalue()


class Attacker:
    """What an attacker catches at each share of false alarms: one figure, whose lines move."""

    def __init__(self):
        blank = pd.DataFrame([{"bound": name, "x": x, "y": x} for name in SAID for x in (0.0, 1.0)])
        self.ax = sns.lineplot(blank, x="x", y="y", ax=axes(), **viz.looks(blank))
        self.lines = dict(zip(SAID, self.ax.lines, strict=False))
        self.ax.legend([self.lines[name] for name in SAID], SAID.values(), loc="lower right")
        self.ax.set(xlabel="false alarms (%)", ylabel="caught (%)", xlim=(0, 100), ylim=(-9, 101))
        (self.dot,) = self.ax.plot([], [], "o", color=viz.RED, markersize=7)
        self.said = self.ax.annotate("", (0, 0), (9, -3), textcoords="offset points", va="center")
        self.ax.figure.subplots_adjust(0.1, 0.15, 0.98, 0.97)

    def draw(self, setting, epsilon, missed):
        """Draw what (ε, δ) allows, and the share that is proved; return axes, headline and numbers."""
        budgets = {SHUFFLED: (epsilon.upper, setting.delta), ALONE: (setting.alone, 0.0), GUESS: (0.0, 0.0)}
        rows = []
        for name, budget in budgets.items():
            caught = [100.0 * words.most_caught(chance, *budget) for chance in CHANCE]
            self.lines[name].set_data(100.0 * CHANCE, caught)
            rows += [(SAID[name], 100.0 * x, y) for x, y in zip(CHANCE, caught, strict=True)]
        most, here = words.caught(missed), 100.0 * setting.fpr
        said = f"{words.rounded(most, up=True, to=3)} %"
        self.dot.set_data([here], [most])
        self.said.xy, _ = (here, most), self.said.set_text(said)
        self.said.set_ha("right" if here > 80 else "left")
        return (
            self.ax,
            f"An attacker who accepts {here:g} % false alarms catches at most {said}",
            pd.DataFrame(rows, columns=["which", "false alarms (%)", "caught (%)"]),
        )


TRUST, NO_TRUST = "a trusted curator", "a shuffler"
NEEDS = {NO_TRUST: ("o", viz.BLUE), TRUST: ("s", viz.BLACK)}


def plan(setting, found, name):
    """Draw the standard error of each mechanism, the smallest first, beside a trusted curator's."""
    rows = [(name(row), 100 * row["standard error"], NO_TRUST) for row in found]
    rows += [("A trusted curator", rows[0][1] / found[0]["x central"], TRUST)]
    frame = pd.DataFrame(rows, columns=["mechanism", "points", "needs"])
    frame = frame[frame["points"] < 1000]
    about = f"{setting.n:,} users, ε = {setting.eps:g} at δ = {viz.digits(setting.delta)}"
    ax = _spots(frame, "points", "mechanism", "needs", NEEDS, about)
    ax.get_legend().remove()
    ax.set(xlabel="standard error (percentage points)")
    least = words.points(found[0]["standard error"])
    ax.annotate(f"± {least}", (rows[0][1], 0), (8, 0), textcoords="offset points", va="center")
    return ax, f"{rows[0][0]} is off by ± {least}", frame


WORTH = {
    "proved here": ("o", viz.BLACK),
    "published": ("s", viz.BLUE),
    "below an attack: no guarantee": ("X", viz.RED),
}


def bounds(setting, found):
    """Draw every bound on one ε: what lies left of the attack is no guarantee."""
    low, high = found[0].eps, found[1].eps
    rows = [
        (one.bound.name, one.eps, list(WORTH)[0 if at < 2 else 2 if one.eps < low else 1])
        for at, one in enumerate(found)
        if 0.0 < one.eps < math.inf
    ]
    frame = pd.DataFrame(rows, columns=["bound", "eps", "worth"])
    about = f"{setting.randomizer()}, {setting.n:,} users, δ = {viz.digits(setting.delta)}"
    ax = _spots(frame, "eps", "bound", "worth", WORTH, about, height=4.4, s=60)
    ax.set(xlabel="central ε")
    if len(frame):
        sns.move_legend(ax, "lower center", bbox_to_anchor=(0.2, 1.06), ncols=3, title="", columnspacing=1)
    return ax, f"Proved here: ε is at most {words.rounded(high, up=True)}", frame


def _spots(frame, x, y, by, looks, about, *, height=3.4, s=70):
    """Draw one mark a row, lines to the names and plain ticks; looks are markers and colours by meaning."""
    seen = {name: look for name, look in looks.items() if name in set(frame[by])}
    how = {"hue_order": seen, "style_order": seen, "s": s, "ax": axes(height, layout="constrained")}
    how["markers"] = {name: marker for name, (marker, _) in seen.items()}
    how["palette"] = {name: colour for name, (_, colour) in seen.items()}
    ax = sns.scatterplot(frame, x=x, y=y, hue=by, style=by, **how)
    ax.set(xscale="log", ylabel="")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: viz.digits(value, 1)))
    ax.minorticks_off()
    ax.grid(axis="y", linewidth=0.4)
    ax.set_title(about, fontsize=9)
    return ax
