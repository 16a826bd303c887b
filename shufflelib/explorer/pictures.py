"""The pictures of the page: each keeps its figure, and draws what is known of a setting so far.

A picture names the questions it shows; a `Known` answers them.  Nothing is drawn for a question without an
answer, so a picture never shows numbers of another setting.
"""

import math
import threading
from abc import ABC, abstractmethod

import numpy as np

from shufflelib import plotting
from shufflelib.explorer import questions
from shufflelib.explorer.text import rounded
from shufflelib.plotting.saving import svg
from shufflelib.plotting.screen import quick_png

USERS = tuple(10**k for k in range(2, 13))
BUDGETS = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
ENDS = ("certified lower", "certified upper")
NAMED = {
    "certified upper": "certified",
    "blanket, specific": "blanket,\nformula",
    "stronger clones FMT'23, pair": "stronger clones,\ncomputed",
    "EFMRTT'19": "first bound,\n2019",
    "local budget": "without\na shuffler",
}
WIDTH, HEIGHT, DPI = 4.4, 3.2, 200
DRAWING = threading.Lock()  # a picture draws into a figure that it keeps, with the style of all figures


class Picture(ABC):
    """A figure with one panel, drawn again for each setting.

    ``curves`` is what was drawn last, as `shufflelib.plotting.save_figure` takes it; ``headed`` says whether
    the picture contains its finding.
    """

    headed = False

    def __init__(self, **each):
        self.fig, self.ax = plotting.figure(width=WIDTH, height=HEIGHT)
        self.curves = []
        self.ax.set(**each)
        with plotting.style():
            (self.here,) = self.ax.plot([], [], "o", color=plotting.VERMILLION, ms=6, zorder=5)
            self.line = self.ax.axvline(1.0, color=plotting.VERMILLION, lw=0.8, zorder=1)
            (self.span,) = self.ax.plot([], [], color=plotting.VERMILLION, lw=2.5, zorder=4)

    @abstractmethod
    def questions(self, setting):
        """Return pairs of a question and a setting, the most important first."""

    def applies(self, setting):
        """Return whether there is anything to draw for a setting."""
        return True

    @abstractmethod
    def draw(self, setting, known):
        """Draw what is known of a setting."""

    def finding(self, setting, known):
        """Return what the picture shows in one sentence, for those who do not see it."""
        return ""

    def values(self, setting, known):
        """Return places from left to right, as shares of the picture's width, each with the values there."""
        return []

    def png(self, setting, known):
        """Return the picture as PNG bytes."""
        self.draw(setting, known)
        return quick_png(self.fig, dpi=DPI)

    def svg(self, setting, known):
        """Return the picture as SVG bytes."""
        self.draw(setting, known)
        return svg(self.fig)

    def _mark(self, x, ends):
        """Mark the setting, and the answer's lower and upper bound if they are known."""
        self.line.set_xdata([x, x])
        low, high = ends
        known = math.isfinite(high)
        self.here.set_data([x] if known else [], [high] if known else [])
        self.span.set_data([x, x] if known else [], [low, high] if known else [])

    def _show(self, curves):
        self.curves = curves
        plotting.draw_curves(self.ax, curves)
        low, high = curves[:2]
        plotting.shade_bracket(self.ax, low.x, low.lower, high.upper)

    def _decades(self, least):
        """Let the heights end at whole powers of ten, so that they rarely change."""
        drawn = [one.y[one.y > 0.0] for one in self.curves]
        drawn = np.concatenate([*drawn, [0.1]])
        low, high = math.floor(np.log10(drawn.min())), math.ceil(np.log10(drawn.max()))
        self.ax.set_ylim(10.0 ** max(low, least), 1.5 * 10.0 ** max(high, low + 1))


def answers(ask, settings, known):
    """Return lower and upper bounds of many answers, NaN where none is known."""
    ends = [questions.scalar(known(ask, one)) for one in settings]
    low, high = np.array(ends, float).reshape(-1, 2).T
    return low, high


class _Epsilons(Picture):
    """ε at δ by every bound along one parameter."""

    parameter = known = ""  # what is varied, and what ε does between its values

    def __init__(self, **each):
        super().__init__(xscale="log", yscale="log", ylabel=r"central $\varepsilon$", **each)
        # room for the names at the right, which no layout takes away again
        self.fig.set_size_inches(WIDTH + 0.6, HEIGHT)
        self.fig.set_layout_engine("none")
        self.ax.set_position((0.13, 0.15, 0.61, 0.78))

    @abstractmethod
    def settings(self, setting):
        """Return one setting for each value of the parameter."""

    def questions(self, setting):
        """Return the certified bounds and all others, the nearest values of the parameter first."""
        asks = (questions.epsilon, questions.published) if setting.one_round else (questions.epsilon,)
        here = math.log(getattr(setting, self.parameter))
        settings = (setting, *self.settings(setting))
        nearest = sorted(settings, key=lambda one: abs(math.log(getattr(one, self.parameter)) - here))
        return [(ask, one) for one in nearest for ask in asks]

    def draw(self, setting, known):
        """Draw every bound, the bracket, and the bracket of the current setting."""
        settings = self.settings(setting)
        x = np.array([getattr(one, self.parameter) for one in settings], float)
        low, high = answers(questions.epsilon, settings, known)
        curves = [
            plotting.curve(end, x, y, known=self.known) for end, y in zip(ENDS, (low, high), strict=True)
        ]
        published = [known(questions.published, one) if one.one_round else None for one in settings]
        for bound in questions.OTHERS:
            values = [_number(one, bound.name) for one in published]
            known_between = self.known if plotting.look(bound.name).kind == "certified" else ""
            curves.append(plotting.curve(bound.name, x, values, known=known_between))
        local = [_finite(one.budget * one.rounds) for one in settings]
        curves.append(plotting.curve("local budget", x, local))
        self.curves = curves
        self._decades(-12)
        shown = [
            one if one.known else plotting.curve(one.bound, one.x, np.where(one.y > 0.0, one.y, np.nan))
            for one in curves
        ]
        named = {one.bound: NAMED[one.bound] for one in shown if one.bound in NAMED}
        plotting.draw_literature(self.ax, shown, named, shade="no guarantee: an attack")
        current = questions.scalar(known(questions.epsilon, setting))
        self._mark(getattr(setting, self.parameter), current if settings else (math.nan, math.nan))

    def finding(self, setting, known):
        """Return ε here and at the next larger value of the parameter."""
        found = known(questions.epsilon, setting)
        if not self.settings(setting):
            return "This mechanism has no local budget to choose."
        if not hasattr(found, "upper"):
            return ""
        words = f"{self._at(setting)} ε is at most {rounded(found.upper, up=True)}"
        here = getattr(setting, self.parameter)
        more = [one for one in self.settings(setting) if getattr(one, self.parameter) > 1.5 * here]
        later = known(questions.epsilon, more[0]) if more else None
        if not hasattr(later, "upper"):
            return f"{words}."
        return f"{words}, {self._at(more[0]).lower()} at most {rounded(later.upper, up=True)}."

    def values(self, setting, known):
        """Return all bounds at each value of the parameter, smallest first."""
        by_value = {getattr(one, self.parameter): one for one in (*self.settings(setting), setting)}
        low, high = np.log(self.ax.get_xlim())
        box = self.ax.get_position()
        return [
            (box.x0 + box.width * (math.log(value) - low) / (high - low), words)
            for value, one in sorted(by_value.items())
            if (words := self._bounds(one, known)) and self.settings(setting)
        ]

    def _bounds(self, setting, known):
        found = known(questions.epsilon, setting)
        if not hasattr(found, "upper"):
            return ""
        published = known(questions.published, setting) if setting.one_round else None
        sizes = {one.name: _number(published, one.name) for one in questions.OTHERS}
        sizes |= {"certified upper": found.upper, "local budget": _finite(setting.budget * setting.rounds)}
        words = [
            f"{NAMED.get(name, name).replace(chr(10), ' ')} {rounded(size, up=True, to=3)}"
            + " (below an attack)" * (size < found.lower)
            for name, size in sorted(sizes.items(), key=lambda one: one[1])
            if not math.isnan(size)
        ]
        return f"{self._at(setting)}: {'; '.join(words)}."

    @abstractmethod
    def _at(self, setting):
        """Say the value of the parameter."""


def _finite(value):
    return value if value < math.inf else math.nan


def _number(published, name):
    value = published.get(name) if isinstance(published, dict) else None
    return value if isinstance(value, float) else math.nan


class OverUsers(_Epsilons):
    """ε at δ against the number of users."""

    parameter, known = "n", "falls"  # reports of more users can be added to those of fewer

    def __init__(self):
        super().__init__(xlabel="users $n$")
        self.ax.set_xlim(60, 2e12)
        self.ax.minorticks_off()

    def _at(self, setting):
        return f"With {setting.n:,} users"

    def settings(self, setting):
        """Return one setting for each power of ten, every second one where rounds are composed."""
        return [setting.but(n=n) for n in USERS[:: 1 if setting.one_round else 2]]


def over_budgets(ax):
    """Let an axis run over local budgets."""
    ax.set_xlabel(r"local budget $\varepsilon_0$")
    ax.set(xlim=(0.09, 11.0), xticks=[0.1, 0.3, 1.0, 3.0, 10.0])
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()


class OverBudgets(_Epsilons):
    """ε at δ against the local budget."""

    parameter = "eps0"

    def __init__(self):
        super().__init__()
        over_budgets(self.ax)

    def applies(self, setting):
        """Return whether the mechanism has a budget."""
        return bool(self.settings(setting))

    def _at(self, setting):
        return f"At ε₀ = {setting.eps0:.3g}"

    def settings(self, setting):
        """Return the settings with other budgets; none where the mechanism has no budget."""
        if "eps0" not in setting.parameters:
            return []
        return [setting.but(eps0=eps0) for eps0 in BUDGETS[:: 1 if setting.one_round else 3]]


class TradeOff(Picture):
    """Missed users against false alarms."""

    def __init__(self):
        super().__init__(xlabel="false alarms", ylabel="missed users")

    def questions(self, setting):
        """Return the point asked for, then the whole curve."""
        return [(questions.missed, setting), (questions.tradeoff, setting)]

    def finding(self, setting, known):
        """Return the point asked for."""
        found = known(questions.missed, setting)
        if not hasattr(found, "lower"):
            return ""
        most = rounded(100.0 * (1.0 - found.lower), up=True, to=3)
        return f"At {100 * setting.fpr:g} % false alarms an attacker catches at most {most} %."

    def draw(self, setting, known):
        """Draw the certified band, the diagonal, and the curve of the local budget alone."""
        x = np.array(questions.FALSE_ALARMS)
        _, low, high = np.broadcast_arrays(x, *questions.scalar(known(questions.tradeoff, setting)))
        curves = [plotting.curve(ENDS[0], x, low), plotting.curve(ENDS[1], x, high)]
        fine = np.linspace(0.0, 1.0, 201)
        curves.append(plotting.curve("perfect privacy", fine, 1.0 - fine))
        spent = min(setting.budget * setting.rounds, 700.0)
        local = np.maximum(1.0 - math.exp(spent) * fine, math.exp(-spent) * (1.0 - fine))
        local = np.maximum(local, 0.0) if setting.budget < math.inf else np.full(fine.shape, np.nan)
        curves.append(plotting.curve("local budget", fine, local))
        self._show(curves)
        current = questions.scalar(known(questions.missed, setting))
        self._mark(setting.fpr, current)
        self.ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))


class Renyi(Picture):
    """Rényi divergence against its order."""

    def __init__(self):
        super().__init__(xscale="log", yscale="log", xlabel=r"order $\lambda$", ylabel="Rényi divergence")
        self.ax.set(xlim=(1.0, 300.0), xticks=[1.0, 3.0, 10.0, 30.0, 100.0, 300.0])
        self.ax.xaxis.set_major_formatter("{x:g}")
        self.ax.minorticks_off()

    def questions(self, setting):
        """Return the order asked for, then the whole curve."""
        return [(questions.renyi, setting), (questions.renyi_curve, setting)]

    def finding(self, setting, known):
        """Return the order asked for."""
        found = known(questions.renyi, setting)
        if not hasattr(found, "upper"):
            return ""
        return f"At order {setting.order:g} the divergence is at most {rounded(found.upper, up=True)}."

    def draw(self, setting, known):
        """Draw the certified band and the local budget, which no order exceeds."""
        x = np.array(questions.ORDERS)
        _, low, high = np.broadcast_arrays(x, *questions.scalar(known(questions.renyi_curve, setting)))
        budget = _finite(setting.budget * setting.rounds)
        curves = [plotting.curve(ENDS[0], x, low), plotting.curve(ENDS[1], x, high)]
        curves.append(plotting.curve("local budget", [1.0, 300.0], [budget, budget]))
        self._show(curves)
        current = questions.scalar(known(questions.renyi, setting))
        self._mark(setting.order, current)
        self._decades(-30)
