"""The trade-off function of a pair of distributions, or of anything that can say δ(ε)."""

from typing import Any

import numpy as np

from shufflelib.numerics import validation
from shufflelib.profiles import tradeoff_polygon
from shufflelib.profiles.gaussian_tradeoff import GaussianTradeoff
from shufflelib.profiles.hockey_stick import Pair
from shufflelib.profiles.pairs import DiscretePair, Gaussian
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.profiles.tradeoff_functions import FiniteTradeoff, TradeoffFunction

DOTS = 200
FARTHEST = 300.0  # largest ε at which a curve is asked for


def from_pair(pair: DiscretePair) -> FiniteTradeoff:
    """Return the trade-off function of a finite pair, exact.

    Parameters
    ----------
    pair : DiscretePair
        Null P, alternative Q; `from_profile` takes any other profile.

    Returns
    -------
    FiniteTradeoff

    Examples
    --------
    Randomized response that tells the truth three times in four:

    >>> import numpy as np
    >>> from shufflelib import profiles
    >>> from shufflelib.profiles import DiscretePair
    >>> f = profiles.from_pair(DiscretePair(np.log([0.75, 0.25]), np.log([0.25, 0.75])))
    >>> 0.8499 < f(0.05).lower <= 0.85  # 1 - 3 · 0.05
    True
    """
    validation.instance(pair, "pair", DiscretePair, remedy="list its masses, or use from_profile")
    return FiniteTradeoff(pair.normalised(), statement=pair.statement)


def from_profile(profile: PrivacyProfile, *, dots: int = DOTS) -> TradeoffFunction:
    r"""Return the trade-off function of a privacy profile, enclosed from its values at a grid of ε.

    .. math:: f(\alpha) = \sup_\varepsilon \max\{0,\; 1 - H_\varepsilon(Q\|P) - e^{\varepsilon}\alpha,\;
              e^{-\varepsilon}(1 - H_\varepsilon(P\|Q) - \alpha)\}

    Parameters
    ----------
    profile : PrivacyProfile
        For an ordered pair T(P, Q); for a mechanism the largest symmetric f for which it is f-DP.
    dots : int
        Number of ε at which either direction is evaluated, at least 2.

    Returns
    -------
    TradeoffFunction
        The width falls with the square of ``dots``.  Single rates are answered more sharply by
        ``profile.tradeoff``.

    Notes
    -----
    Cost: four times ``dots`` evaluations of δ, seconds to a minute for a shuffled mechanism.
    Source: DRS, Propositions 2.12 and 2.13 (primal and dual).

    Examples
    --------
    A Gaussian mechanism on a tenth of the users:

    >>> from shufflelib import profiles
    >>> from shufflelib.profiles import Gaussian
    >>> bracket = profiles.from_profile(Gaussian(1.0).subsample(rate=0.1))(0.05)
    >>> 0.9449 < bracket.lower < bracket.upper < 0.9451
    True
    """
    validation.instance(profile, "profile", PrivacyProfile, remedy="shuffle() or a pair makes one")
    dots = validation.count(dots, "dots", at_least=2, at_most=100_000)
    if isinstance(profile, DiscretePair):
        return from_pair(profile)
    if isinstance(profile, Gaussian):
        return GaussianTradeoff(profile.mu)
    directions: Any = (profile.reversed, profile) if isinstance(profile, Pair) else (profile, profile)
    steep, flat = (_curve(one, dots) for one in directions)
    slopes = np.concatenate([steep[0], -flat[0]])
    shrink = np.exp(-flat[0])
    low = np.concatenate([steep[1], 1.0 - shrink * (1.0 - flat[1])])
    high = np.concatenate([steep[2], 1.0 - shrink * (1.0 - flat[2])])
    below, above = tradeoff_polygon.supporting(slopes, low, high)
    return TradeoffFunction(below, above, statement=profile.statement, source=profile.source)


def _curve(profile, dots):
    """Return ε and both bounds of the hockey-stick divergence at a grid that covers its fall."""

    def ends(eps):
        if isinstance(profile, Pair):
            return profile.log_hockey_stick(eps).probabilities()
        bracket = profile.delta(eps)
        return bracket.lower, bracket.upper

    reach, here = 1e-6, ends(np.array([1e-6]))[1][0]
    while reach < FARTHEST:  # the curve is convex: where it has stopped falling, it has stopped for good
        reach, before = 2.0 * reach, here
        here = ends(np.array([reach]))[1][0]
        if before - here <= 1e-13:
            break
    eps = np.linspace(0.0, 1.0, dots) ** 1.5 * min(reach, FARTHEST)  # denser where the curve bends
    return eps, *ends(eps)
