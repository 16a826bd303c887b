"""The pictures of the page: each keeps its figure, and draws what is known of a setting so far.

A picture names the questions it shows; ``known`` returns an answer, or None while there is none.  Nothing is
drawn for a question without an answer, so a picture never shows numbers of another setting.
"""

import math
from abc import ABC, abstractmethod

import numpy as np

from shufflelib import plotting
from shufflelib.explorer import questions
from shufflelib.explorer.mechanisms import MECHANISMS
from shufflelib.explorer.questions import Question
from shufflelib.plotting.screen import Screen

USERS = tuple(10**k for k in range(2, 13))
BUDGETS = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
ENDS = ("certified lower", "certified upper")
WIDTH, HEIGHT, DPI = 4.0, 3.0, 150


class Picture(ABC):
    """A figure with one panel, drawn again for each setting.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a figure of its own.
    **each
        Properties of the axes.

    Attributes
    ----------
    curves : list of Curve or of Mapping
        What is drawn, as `shufflelib.plotting.save_figure` takes it.
    """

    def __init__(self, ax=None, **each):
        self.ax = plotting.figure(width=WIDTH, height=HEIGHT)[1] if ax is None else ax
        self.curves, self._screen = [], None
        self.ax.set(**each)
        with plotting.style():
            (self.here,) = self.ax.plot([], [], "o", color=plotting.VERMILLION, ms=6, zorder=5)
            self.line = self.ax.axvline(1.0, color=plotting.VERMILLION, lw=0.8, zorder=1)
            (self.span,) = self.ax.plot([], [], color=plotting.VERMILLION, lw=2.5, zorder=4)

    @abstractmethod
    def numbers(self, setting):
        """Return the questions about the setting itself."""

    def points(self, setting):
        """Return the questions of the curves, the nearest first."""
        return []

    def waits(self, setting):
        """Whether the questions wait for a button, because their answers take long."""
        return setting.rounds > 1

    @abstractmethod
    def draw(self, setting, known):
        """Draw what is known of a setting."""

    def png(self, setting, known):
        """Return the picture as PNG bytes."""
        self.draw(setting, known)
        if self._screen is None:
            self._screen = Screen(self.ax.figure, dpi=DPI)
        return self._screen.png()

    def _mark(self, x, ends):
        """Mark where the controls are; the answer's two ends only if it is known."""
        self.line.set_xdata([x, x])
        low, high = ends
        known = math.isfinite(high)
        self.here.set_data([x] if known else [], [high] if known else [])
        self.span.set_data([x, x] if known else [], [low, high] if known else [])

    def _show(self, curves):
        self.curves = curves
        plotting.draw_curves(self.ax, curves)
        low, high = (next((one for one in curves if one.bound == end), None) for end in ENDS)
        if low is not None:
            plotting.shade_bracket(self.ax, low.x, low.lower, high.upper)

    def _decades(self, least):
        """Let the heights end at whole powers of ten, so that they rarely change."""
        drawn = [one.y[one.y > 0.0] for one in self.curves]
        drawn = np.concatenate([*drawn, [0.1]])
        low, high = math.floor(np.log10(drawn.min())), math.ceil(np.log10(drawn.max()))
        self.ax.set_ylim(10.0 ** max(low, least), 10.0 ** max(high, low + 1))


def answers(ask, settings, known):
    """Return both ends of many answers, NaN where none is known."""
    ends = [questions.scalar(known(Question.of(ask, one))) for one in settings]
    low, high = np.array(ends, float).reshape(-1, 2).T
    return low, high


class _Epsilons(Picture):
    """ε at δ by every bound along one parameter."""

    parameter = ""

    @abstractmethod
    def settings(self, setting):
        """Return one setting for each value of the parameter."""

    def waits(self, setting):
        """Never: the numbers of this picture are what the page is for."""
        return False

    def numbers(self, setting):
        """Return the certified ends, then all other bounds."""
        asks = (questions.epsilon, questions.published) if setting.one_round else (questions.epsilon,)
        return [Question.of(ask, setting) for ask in asks]

    def points(self, setting):
        """Return the same for all values of the parameter."""
        settings = sorted(self.settings(setting), key=lambda one: self._distance(one, setting))
        return [question for one in settings for question in self.numbers(one)]

    def _distance(self, one, setting):
        return abs(math.log(getattr(one, self.parameter) / getattr(setting, self.parameter)))

    def draw(self, setting, known):
        """Draw every bound, the bracket, and the bracket of the current setting."""
        settings = self.settings(setting)
        x = np.array([getattr(one, self.parameter) for one in settings], float)
        low, high = answers(questions.epsilon, settings, known)
        curves = [plotting.curve(ENDS[0], x, low), plotting.curve(ENDS[1], x, high)]
        published = [
            known(Question.of(questions.published, one)) if one.one_round else None for one in settings
        ]
        for bound in questions.OTHERS:
            values = [_number(one, bound.name) for one in published]
            curves.append(plotting.curve(bound.name, x, values))
        if setting.one_round:
            local = [one.eps0 if MECHANISMS[one.mechanism].has_budget else math.nan for one in settings]
            curves.append(plotting.curve("local budget", x, local))
        self._show(curves)
        current = questions.scalar(known(Question.of(questions.epsilon, setting)))
        self._mark(getattr(setting, self.parameter), current if settings else (math.nan, math.nan))
        self._decades(-12)


def _number(published, name):
    value = published.get(name) if isinstance(published, dict) else None
    return value if isinstance(value, float) else math.nan


class OverUsers(_Epsilons):
    """ε at δ against the number of users."""

    parameter = "n"

    def __init__(self, ax=None):
        super().__init__(ax, xscale="log", yscale="log", xlabel="users $n$", ylabel=r"central $\varepsilon$")
        self.ax.set_xlim(60, 2e12)
        self.ax.minorticks_off()

    def settings(self, setting):
        """Return one setting for each power of ten, every second one where rounds are composed."""
        return [setting.but(n=n) for n in USERS[:: 1 if setting.one_round else 2]]


def _over_budgets(ax):
    """Let an axis run over local budgets."""
    ax.set_xlabel(r"local budget $\varepsilon_0$")
    ax.set(xlim=(0.09, 11.0), xticks=[0.1, 0.3, 1.0, 3.0, 10.0])
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()


class OverBudgets(_Epsilons):
    """ε at δ against the local budget."""

    parameter = "eps0"

    def __init__(self, ax=None):
        super().__init__(ax, xscale="log", yscale="log", ylabel=r"central $\varepsilon$")
        _over_budgets(self.ax)

    def settings(self, setting):
        """Return the settings with other budgets; none where the mechanism has no budget."""
        if not MECHANISMS[setting.mechanism].has_budget:
            return []
        return [setting.but(eps0=eps0) for eps0 in BUDGETS[:: 1 if setting.one_round else 3]]


class TradeOff(Picture):
    """Missed users against false alarms."""

    def __init__(self, ax=None):
        super().__init__(
            ax, xlabel="false alarms", ylabel="missed users", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02)
        )

    def numbers(self, setting):
        """Return the point asked for."""
        return [Question.of(questions.missed, setting)]

    def points(self, setting):
        """Return the whole curve, which is one question."""
        return [Question.of(questions.tradeoff, setting)]

    def draw(self, setting, known):
        """Draw the certified band, the diagonal, and the curve of the local budget alone."""
        x = np.array(questions.FALSE_ALARMS)
        found = known(Question.of(questions.tradeoff, setting))
        low, high = _ends(found, x)
        curves = [plotting.curve(ENDS[0], x, low), plotting.curve(ENDS[1], x, high)]
        fine = np.linspace(0.0, 1.0, 201)
        curves.append(plotting.curve("perfect privacy", fine, 1.0 - fine))
        if MECHANISMS[setting.mechanism].has_budget:
            spent = min(setting.eps0 * setting.rounds, 700.0)
            local = np.maximum(1.0 - math.exp(spent) * fine, math.exp(-spent) * (1.0 - fine))
        else:
            local = np.full(fine.shape, np.nan)
        curves.append(plotting.curve("local budget", fine, np.maximum(local, 0.0)))
        self._show(curves)
        current = questions.scalar(known(Question.of(questions.missed, setting)))
        self._mark(setting.fpr, current)
        self.ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))


def _ends(found, x):
    nothing = np.full(x.shape, np.nan)
    return (found.lower, found.upper) if hasattr(found, "lower") else (nothing, nothing)


class Renyi(Picture):
    """Rényi divergence against its order."""

    def __init__(self, ax=None):
        super().__init__(ax, xscale="log", yscale="log", xlabel=r"order $\lambda$", ylabel="Rényi divergence")
        self.ax.set(xlim=(1.0, 300.0), xticks=[1.0, 3.0, 10.0, 30.0, 100.0, 300.0])
        self.ax.xaxis.set_major_formatter("{x:g}")
        self.ax.minorticks_off()

    def numbers(self, setting):
        """Return the order asked for."""
        return [Question.of(questions.renyi, setting)]

    def points(self, setting):
        """Return the whole curve, which is one question."""
        return [Question.of(questions.renyi_curve, setting)]

    def draw(self, setting, known):
        """Draw the certified band and the local budget, which no order exceeds."""
        x = np.array(questions.ORDERS)
        low, high = _ends(known(Question.of(questions.renyi_curve, setting)), x)
        budget = setting.eps0 * setting.rounds if MECHANISMS[setting.mechanism].has_budget else math.nan
        curves = [plotting.curve(ENDS[0], x, low), plotting.curve(ENDS[1], x, high)]
        curves.append(plotting.curve("local budget", [1.0, 300.0], [budget, budget]))
        self._show(curves)
        current = questions.scalar(known(Question.of(questions.renyi, setting)))
        self._mark(setting.order, current)
        self._decades(-30)


class Error(Picture):
    """Expected error of a histogram against the local budget, and the budgets that meet the target."""

    def __init__(self, ax=None):
        super().__init__(ax, xscale="log", yscale="log", ylabel="error of a share")
        _over_budgets(self.ax)
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

    def waits(self, setting):
        """Always: calibration has a button of its own."""
        return True

    def numbers(self, setting):
        """Return what meets the target."""
        return [Question.of(questions.largest, setting), Question.of(questions.fewest, setting)]

    def draw(self, setting, known):
        """Draw the error, the largest budget proved to meet the target, and the one proved to miss it."""
        self.curves = []
        if MECHANISMS[setting.mechanism].histogram:
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
        found = known(Question.of(questions.largest, setting))
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
