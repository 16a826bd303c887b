r"""Subsampling: m of N users are drawn, without replacement, and only they report.

With rate γ = m/N a pair of laws is mixed, (γP + (1 − γ)Q, Q).  Written with E = e^ε ≥ 1,

.. math:: H_\varepsilon(\gamma P + (1-\gamma) Q \,\|\, Q) = \gamma\, H_{\varepsilon'}(P\|Q),
          \qquad E' = 1 + \frac{E - 1}{\gamma},

.. math:: H_\varepsilon(Q \,\|\, \gamma P + (1-\gamma) Q) = c\, H_{\varepsilon''}(Q\|P),
          \qquad c = 1 - E(1-\gamma),\; E'' = \gamma E / c .

For a mechanism, neighbouring datasets of N users differ in one of them and the first line bounds the
sample for *both* orders of the neighbours.  The curve at negative ε follows from its own values at
positive ones; the pair with this curve, symmetric, is what composes.
"""

import functools
import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.log_interval import NOTHING, TOLERANCE, LogBracket
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles import adjacency
from shufflelib.profiles.blanket_pair import CoveredPair
from shufflelib.profiles.likelihood_ratios import AmplificationVariable
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.profiles.privacy_profile import Pair, PrivacyProfile, SymmetricPair

__all__ = ["SubsampledPair", "SubsampledProfile", "SubstitutionPair", "subsample"]

SMALLEST_RATE = 1e-9


def subsample(profile, *, rate):
    r"""Return the profile of the same mechanism run on a random subset of its users.

    .. math:: \delta'(\varepsilon) \le \gamma\,\delta\bigl(\log(1 + (e^{\varepsilon} - 1)/\gamma)\bigr)

    Parameters
    ----------
    profile : PrivacyProfile
        Of the mechanism with the users that are drawn: its n is the size m of the subset.
    rate : float
        Sampling rate γ = m/N of a population of N users, 1e-9 ≤ γ ≤ 1; 1 returns the profile itself.

    Returns
    -------
    PrivacyProfile
        For a mechanism `SubsampledProfile`, for a pair taken for itself `SubsampledPair`.

    Raises
    ------
    TypeError, ValueError
        If ``profile`` is not a `PrivacyProfile` or ``rate`` not a number in that range, or if the profile
        does not cover that a value is replaced by any other user's.

    Notes
    -----
    Hypotheses: the subset has a fixed size, is drawn uniformly without replacement and is not
    revealed; neighbours replace one of the N users.  Subsampling twice multiplies the rates.
    The proof compares a sample that holds the user with one that holds somebody else in their place.  So the
    profile must cover replacing a value by any other user's: a metric randomizer with d01 < dmax or a joint
    composition with a smaller ``distance`` is refused.
    Source: Balle, Barthe, Gaboardi (NeurIPS 2018), Theorem 10; Zhu, Dong, Wang (AISTATS 2022),
    Proposition 30; Wang (PVLDB 2024; arXiv:2304.05007), Lemma 7.4 and Proposition 2.
    Erratum: the second line of Proposition 2 has D(P‖Q) on its right, where D(Q‖P) belongs; the two
    agree for the paper's pair, which is symmetric.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> from shufflelib.profiles import subsample
    >>> all_report = shuffle(randomizers.binary_rr(eps0=1.0), n=1000)
    >>> one_in_ten = subsample(all_report, rate=0.1)
    >>> one_in_ten.epsilon(1e-6).upper < 0.2 * all_report.epsilon(1e-6).upper
    True
    """
    if not isinstance(profile, PrivacyProfile):
        raise TypeError(f"profile must be a PrivacyProfile, got {profile!r}; shufflelib.shuffle makes one")
    rate = validation.real(
        rate,
        "rate",
        at_least=SMALLEST_RATE,
        at_most=1.0,
        remedy="a sampling rate is the share of users drawn",
    )
    if rate == 1.0:
        return profile
    if not profile.adjacency.any_value:
        raise ValueError(
            "profile must cover replacing a value by that of any other user, got the relation "
            f"'{profile.adjacency}'; use d01 = dmax, or joint without distance"
        )
    return SubsampledPair(profile, rate) if isinstance(profile, Pair) else SubsampledProfile(profile, rate)


def _log_mixed(log_rate, rate, loss):
    """Return log(1 − rate + rate·e^loss)."""
    if loss < 1.0:
        return math.log1p(rate * math.expm1(loss))
    return float(np.logaddexp(math.log1p(-rate), log_rate + loss))


def _largest(rate, loss):
    """Return an upper end of that for the largest loss."""
    return _log_mixed(math.log(rate), rate, loss) * (1 + 8 * UNIT) if loss < math.inf else loss


class SubsampledPair(Pair):
    r"""The mixed pair (γP + (1 − γ)Q, Q).

    Parameters
    ----------
    pair : Pair
        The pair (P, Q).
    rate : float
        γ in (0, 1).

    Notes
    -----
    Exact: both ends differ as those of the pair do.  Cost: one or two values of its curve.
    """

    def __init__(self, pair, rate):
        self.pair, self.rate = pair, rate
        self.search_width = pair.search_width
        self.statement = f"a share {rate:g} of {pair.statement}"
        self.source = pair.source

    @functools.cached_property
    def reversed(self):
        """The pair (Q, γP + (1 − γ)Q)."""
        return _Remainder(self)

    @property
    def largest_loss(self):
        """Log of 1 − γ + γ times the largest ratio."""
        return _largest(self.rate, self.pair.largest_loss)

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose log γ + log H at the larger ε'."""
        log_rate = math.log(self.rate)
        if eps < 1.0:
            inner = math.log1p(math.expm1(eps) / self.rate)
        else:
            inner = eps - log_rate + math.log1p(-(1.0 - self.rate) * math.exp(-eps))
        found = _beside(self.pair, inner, 8 * UNIT * inner, tolerance)
        slack = 4 * UNIT * abs(log_rate)
        return LogBracket(found.lower + log_rate - slack, min(found.upper + log_rate + slack, 0.0))


class _Remainder(Pair):
    """The reverse of a mixed pair."""

    def __init__(self, mixed):
        self.reversed_, self.rate = mixed, mixed.rate
        self.pair = mixed.pair.reversed
        self.search_width, self.source = mixed.search_width, mixed.source
        self.statement = f"the reverse of {mixed.statement}"

    @property
    def reversed(self):
        """The mixed pair."""
        return self.reversed_

    @property
    def largest_loss(self):
        """Minus the log of 1 − γ + γ times the smallest ratio."""
        return -math.log1p(self.rate * math.expm1(-self.pair.largest_loss)) * (1 + 8 * UNIT)

    def log_hockey_stick(self, eps, tolerance=TOLERANCE):
        """Enclose log c + log H at the larger ε''."""
        spent = math.expm1(eps) * (1.0 - self.rate) / self.rate if eps < 700.0 else math.inf
        if spent >= 1.0:
            return NOTHING
        log_share = math.log(self.rate) + math.log1p(-spent)
        rounding = 8 * UNIT / (1.0 - spent)
        inner = eps - math.log1p(-spent)
        found = _beside(self.pair, inner, 8 * UNIT * inner + spent * rounding, tolerance)
        slack = 4 * UNIT * abs(log_share) + spent * rounding
        return LogBracket(found.lower + log_share - slack, min(found.upper + log_share + slack, 0.0))


def _beside(pair, eps, doubt, tolerance):
    """Enclose log H where ε is known up to ``doubt``; H falls by at most as much as ε rises."""
    found = pair.log_hockey_stick(eps, tolerance)
    if found.lower > -600.0 and doubt < 1e-7 * math.exp(found.lower):
        return LogBracket(
            found.lower + math.log1p(-doubt * math.exp(-found.lower)),
            found.upper + math.log1p(doubt * math.exp(-found.lower)),
        )
    return LogBracket(
        pair.log_hockey_stick(eps + doubt, tolerance).lower,
        pair.log_hockey_stick(max(eps - doubt, 0.0), tolerance).upper,
    )


class SubstitutionPair(SymmetricPair, SubsampledPair):
    r"""The symmetric pair with the mixed pair's curve at ε ≥ 0: it bounds a subsampled mechanism.

    .. math:: h(E) = \begin{cases} \gamma\, h_{PQ}(1 + (E-1)/\gamma) & E \ge 1\\
              1 - E + E\,h(1/E) & E < 1\end{cases}

    Parameters
    ----------
    pair : Pair
        A symmetric pair (P, Q) that bounds the mechanism on the users drawn.
    rate : float
        γ in (0, 1).

    Notes
    -----
    Why it is a pair: with :math:`F(a, b) = \sum (aP - bQ)_+` the mixed pair has F(γ, γ + x) and its
    reverse F(γ − x + γx, γ + γx), x = E − 1.  The first has x(1 − γ) more in both places, and F rises
    along (1, 1) where b ≥ a.  So the curve is the larger of the mixed pair's two, which is convex.
    """


class SubsampledProfile(PrivacyProfile):
    """Profile of a mechanism run on a random subset; made by `subsample`.

    Above stands the `SubstitutionPair` of everything that bounds the mechanism.  Below stand the
    attacks in which all other users hold one value x*: whoever replaces the differing user in the
    sample holds x* too, so that the outputs are mixed with those of a sample of x* alone.
    """

    def __init__(self, profile, rate):
        self.profile, self.rate = profile, rate
        self.statement = f"a random subset, a share {rate:g} of the population: {profile.statement}"
        self.source = profile.source + "; subset of fixed size, without replacement"
        self.adjacency = profile.adjacency
        self.hypotheses = adjacency.united(adjacency.SUBSAMPLED, profile.hypotheses)

    @functools.cached_property
    def above(self):
        """The symmetric pair that bounds both orders of the neighbours."""
        return (SubstitutionPair(self.profile.envelope, self.rate),)

    @functools.cached_property
    def below(self):
        """The attacks whose users are all but one alike; if there are none, nothing is known."""
        found = [_attack(pair, self.rate) for pair in self.profile.below]
        return tuple(pair for pair in found if pair) or (DiscretePair([0.0], [0.0]),)

    @property
    def pure_epsilon(self):
        """The pure guarantee, log(1 + γ(e^ε − 1))."""
        return _largest(self.rate, self.profile.pure_epsilon)


def _attack(pair, rate):
    """Return the attack on the sample, or None where the others' reports are not fully known."""
    if not isinstance(pair, CoveredPair):
        return None
    variable = pair.variable
    rest = 1.0 - math.fsum(variable.mass)
    if abs(rest) > 1e-12:
        return None
    mass = variable.mass.copy()
    mass[np.argmax(mass)] += rest  # rounding, which must not become an outcome of its own
    mixed = AmplificationVariable(
        first=rate * variable.first + (1.0 - rate),
        second=rate * variable.second + (1.0 - rate),
        mass=mass,
        exposed_first=rate * variable.exposed_first,
        exposed_second=rate * variable.exposed_second,
        precision=variable.precision + abs(rest) / mass.max() + 8 * UNIT,
        cell_width=variable.cell_width,
    )
    return CoveredPair(mixed, pair.n)
