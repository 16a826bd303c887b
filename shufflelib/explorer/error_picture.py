"""The error that a local budget costs, and the budgets that meet a target."""

import math

import numpy as np

from shufflelib import plotting
from shufflelib.explorer import questions
from shufflelib.explorer.pictures import Picture, over_budgets


class Error(Picture):
    """Expected error of a histogram against the local budget, and the budgets that meet the target."""

    def __init__(self):
        super().__init__(xscale="log", yscale="log", ylabel="error of a share")
        over_budgets(self.ax)
        with plotting.style():
            (self.error,) = self.ax.plot([], [], color=plotting.BLUE, lw=1.6)
            self.edges = {
                "meet": self.ax.axvline(1.0, color=plotting.GREEN, lw=2.0),
                "miss": self.ax.axvline(1.0, color="0.4", lw=1.2, ls="--"),
            }
            place = {
                "transform": self.ax.get_xaxis_transform(),
                "fontsize": 7,
                "clip_on": True,
                "in_layout": False,
            }
            self.labels = {
                name: self.ax.text(1.0, height, "", bbox={"fc": "white", "ec": "none", "pad": 1}, **place)
                for name, height in (("meet", 0.03), ("miss", 0.11))
            }

    def questions(self, setting):
        """Return what meets the target."""
        return [(questions.largest, setting)]

    def finding(self, setting, known):
        """Return the error at the setting."""
        if "d" not in setting.parameters:
            return "This mechanism does not estimate a histogram."
        error = plotting.digits(100.0 * questions.rare_item_error(setting), 2)
        return f"At ε₀ = {setting.eps0:.3g} the error of a rare item's share is {error} % of the users."

    def draw(self, setting, known):
        """Draw the error, the largest budget proved to meet the target, and the one proved to miss it."""
        self.curves = []
        if "d" in setting.parameters:
            x = np.geomspace(0.1, 10.0, 41)
            y = np.array([questions.rare_item_error(setting.but(eps0=float(eps0))) for eps0 in x])
            self.curves = [{"eps0": one, "error": error} for one, error in zip(x, y, strict=True)]
            self.error.set_data(x, y)
            here = questions.rare_item_error(setting)
            self._mark(setting.eps0, (here, here))
            self.ax.set_ylim(10.0 ** math.floor(math.log10(y.min())), 10.0 ** math.ceil(math.log10(y.max())))
        else:
            self.error.set_data([], [])
            self._mark(setting.eps0, (math.nan, math.nan))
        found = known(questions.largest, setting)
        for name, edge in (("meet", "answer"), ("miss", "fails")):
            budget = getattr(found, edge, None)
            line, label = self.edges[name], self.labels[name]
            for artist in (line, label):
                artist.set_visible(budget is not None and 0.09 < budget < 11.0)
            if line.get_visible():
                line.set_xdata([budget, budget])
                safe = (math.floor if name == "meet" else math.ceil)(1000 * budget) / 1000
                label.set(x=budget, text=f" proved to {name} the target: {safe:.3f} ")
                label.set_ha("right" if budget > 1.0 else "left")
