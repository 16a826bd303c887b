"""Pictures of ideas that follow the controls: the area that is δ, the crowd, possible surveys."""

import functools
import math
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from shufflelib import plotting
from shufflelib.calibration.recommendation import TASKS
from shufflelib.explorer import plan, plan_pictures, questions
from shufflelib.explorer.pictures import Picture
from shufflelib.explorer.text import bound, rounded
from shufflelib.plotting import ideas
from shufflelib.plotting.ideas import outcomes
from shufflelib.plotting.ideas.canvas import canvas
from shufflelib.shuffling.personal.score_sums import score_distribution

PEOPLE = 100  # shown of the crowd
RUNS, MOST_ITEMS = 20, 10  # surveys that are drawn, and their items
GRID = 600  # values of the statistic
WIDE = 9.0  # standard deviations on each side
EXACT = 60.0  # standard deviation up to which the counts are exact


class Looks(NamedTuple):
    """Probabilities that a report is likelier under your value, and under the other one.

    Of your report, of your report if you held the other value, and of anybody else's.
    """

    yours: tuple
    switched: tuple
    others: tuple


@functools.lru_cache(maxsize=256)
def looks(randomizer):
    """Return these probabilities for the two inputs easiest to tell apart; all others hold one value.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> from shufflelib.explorer.idea_pictures import looks
    >>> chances = looks(randomizers.generalized_rr(eps0=1.0, d=4))
    >>> [round(float(chance), 3) for chance in chances.yours + chances.others]
    [0.475, 0.175, 0.175, 0.175]
    """
    attacks = [_chances(attack) for pair in randomizer.input_pairs() for attack in pair.attacks]
    return max(attacks, key=_signal)


def _signal(chances):
    """Return how much your report moves the count, in standard deviations of another user's report."""
    (own, other), (up, down) = (np.subtract(*one) for one in chances[:2]), chances.others
    return (own - other) / math.sqrt(max(up + down - (up - down) ** 2, 1e-12))


def _chances(attack):
    first, second, mass = attack.r0_over_w, attack.r1_over_w, attack.w
    sides = first > second, second > first
    own, other = (tuple(float(ratios[side] @ mass[side]) for side in sides) for ratios in (first, second))
    own = own[0] + attack.r0_outside, own[1]
    other = other[0], other[1] + attack.r1_outside
    return Looks(own, other, tuple(float(mass[side].sum()) for side in sides))


def difference(chances, n):
    """Return values of "reports that look like yours minus those that look like the other", and P and Q.

    Exact while the standard deviation is small; beyond, the others' sum is taken to be normal.
    """
    others = n - 1
    mean = others * (chances.others[0] - chances.others[1])
    sd = math.sqrt(max(others * (sum(chances.others) - (chances.others[0] - chances.others[1]) ** 2), 1e-9))
    if sd <= EXACT:
        crowd = score_distribution(*np.array(chances.others)[:, None], np.array([others]))
        masses = np.pad(np.maximum(crowd.masses, 0.0), 2)
        x = crowd.first + np.arange(-1, crowd.masses.size + 1)
        density = lambda shift: masses[1 - shift : masses.size - 1 - shift]  # noqa: E731
    else:
        x = mean + sd * np.linspace(-WIDE, WIDE, GRID)
        density = lambda shift: norm.pdf(x - shift, mean, sd)  # noqa: E731
    moved = [density(1), density(-1), density(0)]
    p, q = (
        sum(weight * one for weight, one in zip((*own, 1.0 - sum(own)), moved, strict=True))
        for own in (chances.yours, chances.switched)
    )
    return x, p / p.sum(), q / q.sum()


class _Idea(Picture):
    """A picture of an idea, drawn anew for each setting into the same figure."""

    def __init__(self):
        self.fig, self.curves = None, []

    headed = True


class Worlds(_Idea):
    """What the analyst counts with your value, and e^ε times that without it; the excess is δ."""

    def questions(self, setting):
        """Return the certified ε of one round."""
        return [(questions.epsilon, setting.but(rounds=1, rate=1.0))]

    def draw(self, setting, known):
        """Draw both, at the certified ε of one round."""
        found = known(*self.questions(setting)[0])
        x, p, q = difference(looks(setting.randomizer()), setting.n)
        self.curves = [
            {"count": float(k), "with your value": float(a), "with another value": float(b)}
            for k, a, b in zip(x, p, q, strict=True)
        ]
        eps = min(found.upper, 700.0) if hasattr(found, "upper") else 0.0
        said = rounded(eps, up=True) if hasattr(found, "upper") else "0"
        self.fig = ideas.draw_delta(
            x,
            p,
            q,
            eps,
            statistic="reports that look like yours minus reports that look like the other value",
            finding=self.finding(setting, known),
            setting=f"one round of {setting.n:,} people, ε = {said}; all others hold one value",
            fig=self.fig,
        )

    def finding(self, setting, known):
        """Return how far one count sticks out."""
        found = known(*self.questions(setting)[0])
        if not hasattr(found, "upper") or not math.isfinite(found.upper):
            return ""
        times = f"{bound(math.exp(found.upper), up=True, digits=4)} times the orange one"
        return f"At most {plotting.digits(setting.delta)} of the blue hill sticks out of {times}"


class Crowd(_Idea):
    """A hundred of the people whose reports are shuffled: those that look like yours, and the rest."""

    def questions(self, setting):
        """Return nothing: it shows the mechanism alone."""
        return []

    def draw(self, setting, known):
        """Draw a hundred people in the proportions that are expected."""
        mine, other = looks(setting.randomizer()).others
        people = min(PEOPLE, setting.n)
        counts = [round((people - 1) * mine), round((people - 1) * other)]
        reports = np.repeat([0, 1, 2], [*counts, people - 1 - sum(counts)])
        reports = np.r_[0, np.random.default_rng(0).permutation(reports)]
        self.curves = [{"looks like": name, "of a hundred others": 100 * share} for name, share in (
            ("your value", mine), ("the other value", other), ("neither", 1.0 - mine - other))]  # fmt: skip
        self.fig = ideas.draw_clones(
            reports,
            names=("like your value", "like the other"),
            finding=self.finding(setting, known),
            setting=f"{people} of {setting.n:,} people; your report is ringed",
            fig=self.fig,
        )

    def finding(self, setting, known):
        """Return how many reports look like yours."""
        others, randomizer = setting.n - 1, setting.randomizer()
        if randomizer.eps0 == 0.0:
            return f"All of the other {others:,} reports look like yours"
        mine = others * looks(randomizer).others[0]
        about = f"{others:,}" if mine > 0.99 * others else plotting.digits(mine, 2)
        return f"About {about} of the other {others:,} reports look like yours"


class _OfPlan(_Idea):
    """A picture of the mechanism that is open in the plan."""

    def questions(self, setting):
        """Return the table of all mechanisms."""
        return [(questions.recommended, setting)]


class Outcomes(_OfPlan):
    """Twenty surveys that the chosen mechanism may give, over the true shares."""

    def applies(self, setting):
        """Return whether the plan is for a histogram."""
        return setting.task == "histogram"

    def draw(self, setting, known):
        """Draw normal errors, for each share with its own standard error."""
        row = plan.chosen_row(setting, known)
        if row is None or setting.task != "histogram":
            self.fig = blank(self.fig, "no histogram" if row else "computing …", outcomes.HEIGHT)
            return
        truth, errors = _shares(setting, row)
        self.curves = [
            {"item": item + 1, "true share": share, "standard error": error}
            for item, (share, error) in enumerate(zip(truth, errors, strict=True))
        ]
        some = f", the first {truth.size} of {setting.d:,} options" if setting.d > truth.size else ""
        about = f"dots: surveys of {setting.n:,} users, bars: the truth{some}"
        drawn = truth + _surveys(errors)
        self.fig = ideas.draw_outcomes(
            truth, drawn, finding=self.finding(setting, known), setting=about, fig=self.fig
        )

    def finding(self, setting, known):
        """Return the largest error of the surveys that are drawn."""
        row = plan.chosen_row(setting, known)
        if row is None or setting.task != "histogram":
            return ""
        worst = float(np.abs(_surveys(_shares(setting, row)[1])).max())
        return f"In {RUNS} surveys no share is off by more than {rounded(100.0 * worst, up=True)} points"


class Errors(_OfPlan):
    """The error of the chosen mechanism beside those of a trusted curator and of no shuffler."""

    def draw(self, setting, known):
        """Draw one standard error to both sides of a true share."""
        row = plan.chosen_row(setting, known)
        if row is None:
            self.fig = blank(self.fig, "computing …", plan_pictures.HEIGHT)
            return
        found = plan_pictures.errors(setting, row)
        self.curves = [{"estimate": name, "standard error": error} for name, error in found.items()]
        self.fig = plan_pictures.draw_errors(setting, row, fig=self.fig)

    def finding(self, setting, known):
        """Return the three errors."""
        row = plan.chosen_row(setting, known)
        if row is None:
            return ""
        found = plan_pictures.errors(setting, row)
        return "; ".join(f"{name}: ± {plan.points(error)}" for name, error in found.items())


def _shares(setting, row):
    """Return the true shares that are drawn, each a quarter rarer than the one before, and their errors."""
    truth = 0.75 ** np.arange(setting.d)
    truth = truth[:MOST_ITEMS] / truth.sum()
    one = TASKS[setting.task][row["mechanism"]]
    errors = [plan_pictures.error_at(setting, one, row["value"], share) for share in truth]
    return truth, np.array(errors)


def _surveys(errors):
    return np.random.default_rng(1).normal(size=(RUNS, errors.size)) * errors


def blank(fig, words, height):
    """Return an empty picture that says why it is empty."""
    fig, _ = canvas(fig, height, "", "")
    fig.text(0.5, 0.5, words, ha="center")
    return fig
