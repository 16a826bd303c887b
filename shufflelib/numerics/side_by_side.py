"""Questions answered side by side, so that what several of them ask of one curve is one batch."""

import numpy as np

from shufflelib.numerics.certified import Interval


def answers(questions):
    """Answer questions side by side and return what each returns.

    A question is a generator.  It yields curves with the ε at which it lacks their values, and goes on when
    ``insert`` has given them to the curves.  A curve has a ``pair`` and a ``tolerance``; all that is asked of
    one pair at one tolerance is one curve, of which nothing is asked twice, and all curves of one class of
    pairs are one call of its ``log_curves``.
    """
    asking, known = together(questions), {}
    while True:
        try:
            asked = next(asking)
        except StopIteration as end:
            return end.value
        wanted, kinds = {}, {}
        for curve, eps in asked:
            wanted.setdefault((id(curve.pair), curve.tolerance), []).append((curve, eps))
        for key, of_one in wanted.items():
            curve, before = of_one[0][0], known.setdefault(key, np.empty((3, 0)))
            new = np.setdiff1d(np.concatenate([eps for _, eps in of_one]), before[0])
            if new.size:
                kinds.setdefault((type(curve.pair), curve.tolerance), []).append((key, curve.pair, new))
        for (kind, tolerance), several in kinds.items():
            found = kind.log_curves([(pair, new) for _, pair, new in several], tolerance)
            for (key, _, new), ends in zip(several, found, strict=True):
                every = np.hstack([known[key], [new, *ends]])
                known[key] = every[:, np.argsort(every[0])]
        for key, of_one in wanted.items():
            every = known[key]
            for curve, eps in of_one:
                curve.insert(eps, Interval(*every[1:, np.searchsorted(every[0], eps)]))


def together(questions):
    """Ask several questions at once, from within one: ``yield from together(…)`` is what each returns."""
    found, waiting = {}, dict(enumerate(questions))
    while waiting:
        asked = []
        for i, question in list(waiting.items()):
            try:
                asked += next(question)
            except StopIteration as end:
                found[i] = end.value
                del waiting[i]
        if asked:
            yield asked
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
