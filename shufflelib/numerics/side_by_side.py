"""Questions answered side by side, so that what several of them ask of one curve is one batch."""

import numpy as np

from shufflelib.numerics.certified import Interval


def answers(questions):
    """Answer questions side by side and return what each returns.

    A question is a generator.  It yields curves with the ε at which it lacks their values, and goes on when
    ``insert`` has given them to the curves.  A curve has a ``pair`` and a ``tolerance``; all that is asked of
    one pair at one tolerance is one call of its ``log_hockey_stick``.
    """
    found, waiting = {}, dict(enumerate(questions))
    while waiting:
        asked = {}
        for i, question in list(waiting.items()):
            try:
                for curve, eps in next(question):
                    asked.setdefault((id(curve.pair), curve.tolerance), []).append((curve, eps))
            except StopIteration as end:
                found[i] = end.value
                del waiting[i]
        for wanted in asked.values():
            every = np.unique(np.concatenate([eps for _, eps in wanted]))
            curve = wanted[0][0]
            ends = curve.pair.log_hockey_stick(every, curve.tolerance)
            for curve, eps in wanted:
                curve.insert(eps, Interval(*(end[np.searchsorted(every, eps)] for end in ends)))
    return [found[i] for i in range(len(found))]


class Values:
    """Values of one curve that a question asks for."""

    def __init__(self, pair, tolerance):
        self.pair, self.tolerance = pair, tolerance
        self.ends = None

    def insert(self, eps, ends):
        """Take both bounds on log H at each ε."""
        self.ends = ends


def values(pair, eps, tolerance):
    """Ask for one curve at an array of ε, from within a question: ``yield from values(…)``."""
    asked = Values(pair, tolerance)
    yield [(asked, np.asarray(eps, float))]
    return asked.ends
