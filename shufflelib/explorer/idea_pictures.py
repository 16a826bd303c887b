"""Pictures of ideas that the controls move: possible surveys, the crowd, two worlds."""

import math

import numpy as np

from shufflelib.explorer import plan, questions
from shufflelib.explorer.mechanisms import MECHANISMS
from shufflelib.explorer.pictures import DPI
from shufflelib.explorer.questions import Question
from shufflelib.numerics.certified import Certified
from shufflelib.plotting import ideas
from shufflelib.plotting.headings import digits
from shufflelib.plotting.screen import Screen
from shufflelib.profiles.pairs import Gaussian

RUNS, MOST_ITEMS, CROWD = 20, 10, 90


class Idea:
    """A picture of an idea, drawn anew in the same figure for each setting."""

    needs = questions.epsilon

    def __init__(self):
        self.fig, self.curves = None, []

    def numbers(self, setting):
        """Return the questions about the setting itself."""
        return [Question.of(self.needs, setting)]

    def points(self, setting):
        """Return no further questions."""
        return []

    def waits(self, setting):
        """Never: one number is enough."""
        return False

    def png(self, setting, known):
        """Return the picture as PNG bytes, none where there is nothing to show."""
        drawn = self.draw(setting, known)
        if drawn is None:
            return b""
        self.fig = drawn
        return Screen(drawn, dpi=DPI).png()


class Outcomes(Idea):
    """Twenty surveys that the chosen mechanism may give, over the true shares."""

    needs = questions.recommended
    chosen = None

    def draw(self, setting, known):
        """Draw normal errors; each item is a quarter rarer than the one before."""
        row = plan.chosen_row(setting, known, self.chosen)
        if row is None or setting.task != "histogram":
            return None
        truth = 0.75 ** np.arange(min(setting.d, MOST_ITEMS))
        truth /= truth.sum()
        errors = np.random.default_rng(1).normal(size=(RUNS, truth.size)) * row["standard error"]
        self.curves = [
            {"item": item + 1, "true share": share, "standard error": row["standard error"]}
            for item, share in enumerate(truth)
        ]
        worst = plan.points(float(np.abs(errors).max()))
        finding = f"In {RUNS} surveys no share is off by more than {worst}"
        about = f"dots: surveys of {setting.n:,} users, bars: the truth"
        return ideas.draw_outcomes(truth, truth + errors, finding=finding, setting=about, fig=self.fig)


class Crowd(Idea):
    """Your report among those of others; in colour the ones that may as well be yours."""

    def draw(self, setting, known):
        """Draw as many clones as are expected of any ε₀-LDP mechanism: one in e^ε₀ of the others."""
        if not MECHANISMS[setting.mechanism].has_budget:
            return None
        share = math.exp(-setting.eps0)
        clones = round(share * CROWD)
        reports = [0, *[k % 2 for k in range(clones)], *[2] * (CROWD - clones)]
        self.curves = [{"eps0": setting.eps0, "share of clones": share, "clones": share * (setting.n - 1)}]
        finding = f"About {digits(share * (setting.n - 1), 2)} of {setting.n:,} reports may as well be yours"
        about = (
            f"{CROWD + 1} of them drawn; at ε₀ = {setting.eps0:g} one in {digits(1 / share, 2)} is a clone"
        )
        return ideas.draw_clones(reports, finding=finding, setting=about, fig=self.fig)


class TwoWorlds(Idea):
    """What the analyst sees with either of your values: two normal curves with the same ε and δ."""

    def draw(self, setting, known):
        """Draw N(0, 1) against N(μ, 1), with μ such that both have the certified ε at δ."""
        found = known(Question.of(questions.epsilon, setting))
        if not isinstance(found, Certified) or not 1e-6 < found.upper < 50.0:
            return None
        mu = separation(found.upper, setting.delta)
        x = np.linspace(-4.5, 4.5 + mu, 241)
        p, q = (np.exp(-0.5 * (x - at) ** 2) for at in (mu, 0.0))
        self.curves = [
            {"x": one, "P": two / p.sum(), "Q": three / p.sum()}
            for one, two, three in zip(x, p, q, strict=True)
        ]
        finding = f"Your value shifts what the analyst sees by {digits(mu, 2)} standard deviations"
        about = f"normal curves with the same ε = {digits(found.upper)} at δ = {setting.delta:g}"
        return ideas.draw_delta(
            x, p / p.sum(), q / q.sum(), found.upper, finding=finding, setting=about, fig=self.fig,
            statistic="what the analyst sees, in standard deviations",
        )  # fmt: skip


def separation(eps, delta):
    """Return μ, to three digits, at which μ-Gaussian differential privacy has this ε at δ."""
    low, high = 1e-9, 100.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if Gaussian(middle).delta(eps).upper <= delta else (low, middle)
        if high < 1.0005 * low:
            break
    return low
