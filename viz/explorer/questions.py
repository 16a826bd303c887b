"""Questions about a setting: each is a call of the package, so another process can answer it."""

from functools import partial
from operator import methodcaller
from typing import NamedTuple

from shufflelib import calibration
from shufflelib.published import comparison
from viz.explorer.setting import Setting

ASK = {
    "epsilon": lambda setting: partial(methodcaller("epsilon", setting.delta), setting.profile()),
    "missed": lambda setting: partial(methodcaller("tradeoff", setting.fpr), setting.profile()),
    "plan": lambda setting: partial(calibration.recommend, **setting.target),
    "bounds": lambda setting: partial(
        comparison.compare, setting.randomizer(), n=setting.n, delta=setting.delta
    ),
}


class Question(NamedTuple):
    """What is asked, by name, and the setting it is about.

    Examples
    --------
    >>> from viz.explorer.questions import Question
    >>> from viz.explorer.setting import Setting
    >>> asked = Question("epsilon", Setting(n=1000))
    >>> asked.slow, round(asked.call()().upper, 2)
    (False, 0.08)
    """

    ask: str
    setting: Setting

    def call(self):
        """Return the call that answers."""
        return ASK[self.ask](self.setting)

    @property
    def slow(self):
        """Whether the answer may take more than a tenth of a second or two."""
        own = self.setting.mechanism == "from_pmf" and len(self.setting.matrix) > 200
        return self.ask in ("plan", "bounds") or self.setting.rounds > 1 or own
