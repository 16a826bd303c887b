"""Questions about a setting, which do not depend on who asks them.

A question is a function of a `Setting` alone: another process can answer it, and its answer can be kept.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from shufflelib import calibration, estimation
from shufflelib.explorer.mechanisms import MECHANISMS
from shufflelib.explorer.setting import Setting
from shufflelib.published import comparison
from shufflelib.published.closed_form import OutOfRegime
from shufflelib.shuffling.shuffled import shuffle

FALSE_ALARMS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)
LANES = 3
ORDERS = (1.5, 2.0, 4.0, 10.0, 30.0, 100.0, 256.0)


class Question(NamedTuple):
    """A question and the setting it is about, stripped of what does not matter to it."""

    ask: object
    setting: Setting

    @classmethod
    @functools.lru_cache(maxsize=10_000)
    def of(cls, ask, setting):
        """Return the question with every field that it does not read at its default."""
        names = READS[ask]
        if ask is not recommended:  # which is about all mechanisms
            names = ("mechanism", *setting.parameters, *names)
        return cls(ask, Setting(**{name: getattr(setting, name) for name in names}))

    @property
    def lane(self):
        """Which of the processes answers: 0 within a tenth of a second, 1 within seconds, 2 for the rest."""
        if self.setting.rounds > 1 or self.setting.mechanism == "from_pmf":
            return 2
        return 0 if self.ask is epsilon else 1

    @property
    def slow(self):
        """Whether it waits for a button, because the answer may take minutes."""
        return self.ask in (largest, fewest) or (self.setting.rounds > 1 and self.ask in (missed, tradeoff))

    def answer(self):
        """Return the answer, or the reason why there is none; running out of memory is not one."""
        try:
            return self.ask(self.setting)
        except (ValueError, ArithmeticError) as refusal:
            return Unknown(str(refusal) or type(refusal).__name__)


class Unknown(NamedTuple):
    """Why there is no answer, or none yet."""

    reason: str
    pending: bool = False


COMPUTING, HELD = Unknown("computing …", pending=True), Unknown("press the button", pending=True)


class Known:
    """Looks answers up and remembers the questions.

    ``get`` returns the answer of a question, or None while there is none.  ``asked`` maps each question to
    that.  A slow question is asked only if ``slow`` is true; else ``held`` says that one waits for a button.
    """

    def __init__(self, get, *, slow=False):
        self._get, self._slow, self.asked, self.held = get, slow, {}, False

    def __call__(self, ask, setting):
        """Return the answer, or an `Unknown`."""
        question = Question.of(ask, setting)
        if question.slow and not self._slow:
            self.held = True
            return HELD
        answer = self.asked[question] = self._get(question)
        return COMPUTING if answer is None else answer


def profile(setting):
    """Return the privacy profile of a setting."""
    return shuffle(setting.randomizer(), setting.n).subsample(setting.rate).compose(setting.rounds)


def epsilon(setting):
    """Return ε at δ, certified on both sides."""
    return profile(setting).epsilon(setting.delta)


def published(setting):
    """Return ε at δ of every other bound by name, or its refusal."""
    asked = comparison.Question(setting.randomizer(), setting.n, setting.delta)
    return {bound.name: _answer(bound, asked) for bound in OTHERS}


def _answer(bound, asked):
    try:
        return float(bound.epsilon(asked))
    except OutOfRegime as refusal:
        return Unknown(str(refusal))


def missed(setting):
    """Return the smallest rate of missed users at the false-alarm rate asked for."""
    return profile(setting).tradeoff(setting.fpr)


def tradeoff(setting):
    """Return the whole trade-off curve at `FALSE_ALARMS`."""
    return profile(setting).tradeoff(np.array(FALSE_ALARMS))


def renyi(setting):
    """Return the Rényi divergence of the order asked for."""
    return profile(setting).renyi(setting.order)


def renyi_curve(setting):
    """Return the Rényi divergence at `ORDERS`."""
    return profile(setting).renyi(np.array(ORDERS))


def largest(setting):
    """Return the largest local budget that meets the target."""
    if "eps0" not in setting.parameters:
        raise ValueError(f"{setting.mechanism} has no local budget to calibrate; choose another mechanism")
    others = {name: getattr(setting, name) for name in setting.parameters if name != "eps0"}
    return calibration.largest_eps0(
        MECHANISMS[setting.mechanism].build, n=setting.n, **_target(setting), **others
    )


def fewest(setting):
    """Return the fewest users that meet the target."""
    return calibration.fewest_users(setting.randomizer(), **_target(setting))


def recommended(setting):
    """Return the table of all mechanisms for the task, calibrated to the target and sorted by error."""
    return calibration.recommend(
        n=setting.n, task=setting.task, dropout=setting.dropout, **setting.items, **_target(setting)
    )


def _target(setting):
    return {name: getattr(setting, name) for name in ("eps", "delta", "rounds", "rate")}


def rare_item_error(setting):
    r"""Return the standard error of a histogram's entry for an item that nobody holds; instant.

    .. math:: \sqrt{\operatorname{Var}(\hat f_j)} \text{ at } f_j = 0
    """
    if "d" not in setting.parameters:
        raise ValueError(
            f"{setting.mechanism} does not estimate a histogram; choose a mechanism on d options"
        )
    return math.sqrt(estimation.frequency_variance(setting.randomizer(), 0.0, n=setting.n))


OTHERS = comparison.ALL[2:]  # all but the two certified bounds
MECHANISM_AND_CROWD = ("n", "rounds", "rate")
READS = {
    epsilon: (*MECHANISM_AND_CROWD, "delta"),
    published: ("n", "delta"),
    missed: (*MECHANISM_AND_CROWD, "fpr"),
    tradeoff: MECHANISM_AND_CROWD,
    renyi: (*MECHANISM_AND_CROWD, "order"),
    renyi_curve: MECHANISM_AND_CROWD,
    largest: (*MECHANISM_AND_CROWD, "delta", "eps"),
    fewest: ("rounds", "rate", "delta", "eps"),
    recommended: ("task", "d", "dropout", "n", "rounds", "rate", "delta", "eps"),
}


def scalar(answer):
    """Return lower and upper bound of an answer, NaN where there is none."""
    return (math.nan, math.nan) if isinstance(answer, Unknown) else (answer.lower, answer.upper)
