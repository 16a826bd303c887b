r"""Approximate local privacy: reports of any (ε₀, δ₀)-LDP randomizer that all users share.

Let P and Q be the reports on the two inputs of the user who changes, and e = e^ε₀.  They are a
post-processing of the four symbols of Kairouz, Oh, Viswanath (ICML 2015), with probabilities (δ₀, …, 0) and
(0, …, δ₀); moving δ₀/(1 + e) from the first to the last symbol of the one, and back in the other, gives an
ε₀-LDP pair P′, Q′ within δ₀/(1 + e) of P, Q.

A report R of another user satisfies P ≤ eR and Q ≤ eR but for δ₀ each.  So w = max(P′, Q′)/e exceeds R by at
most

.. math:: m = \frac{2\delta_0}{e} \Bigl(1 + \frac1{1+e}\Bigr)

in total, and R is within m of a distribution above w.  All n reports are, on both datasets, within
τ = δ₀/(1 + e) + (n − 1) m of reports with the blanket w.  Its loss (P′ − e^ε Q′)/w, or 0 beside w, lies
between those of binary randomized response and is 0 at least as often, because the mass of w is
(1 + TV(P′, Q′))/e ≤ 2/(1 + e).  With the same mean it is smaller in convex order.  So with the curve h of
`generic`, for every ε,

.. math:: \delta(\varepsilon) \le h(\varepsilon) + (1 + e^{\varepsilon})\,\tau .

No step needs one ε₀-LDP randomizer near the given one at all inputs; there may be none.
"""

import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.adjacency import REPLACE_ONE, SHUFFLED
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.envelope import Envelope
from shufflelib.profiles.hockey_stick import SymmetricPair
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.profiles.questions import pure_delta
from shufflelib.profiles.shown import Made
from shufflelib.randomizers.response import generic
from shufflelib.randomizers.tabulated import from_pmf
from shufflelib.shuffling.shuffled import shuffle

SMALLEST = 1e-100  # δ₀
TABLES = 600.0  # budgets up to which the four symbols are a table


@validation.names_checked
def approximate_ldp(*, eps0: float, delta0: float, n: int) -> Profile:
    r"""Return the profile of n shuffled reports of any (ε₀, δ₀)-LDP randomizer that all users share.

    .. math:: \delta(\varepsilon) \le h(\varepsilon) + (1 + e^{\varepsilon}) \Bigl(\frac{\delta_0}{1 + e}
              + 2(n-1)\,\frac{\delta_0}{e}\, \frac{e + 2}{e + 1}\Bigr), \qquad e = e^{\varepsilon_0}

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 ≤ 700.
    delta0 : float
        Local δ₀ of a report, 1e-100 ≤ delta0 < 1; a central δ far above n δ₀ is worth asking for.
    n : int
        Number of honest users, including the one whose value changes, 1 ≤ n ≤ 10¹⁵.

    Returns
    -------
    Profile
        ``upper`` bounds hold for all (ε₀, δ₀)-LDP randomizers, one for all users, and all neighbouring
        datasets; they are also at most those of one report.  ``lower`` bounds are attacks on a
        randomizer that tells the truth with probability δ₀, and on pure ones.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.

    Notes
    -----
    h is the curve of `randomizers.generic`.  Proof: see the module.  For mechanisms that are known, such as
    `randomizers.gaussian` or a table, `shufflelib.shuffle` answers without δ₀ and more closely.
    Source: derived; Feldman, McMillan, Talwar (FOCS 2021), Theorem 3.8, for the pair of clones.

    Examples
    --------
    >>> from shufflelib.shuffling import approximate_ldp
    >>> for delta0 in (1e-15, 1e-12, 1e-11):
    ...     reports = approximate_ldp(eps0=1.0, delta0=delta0, n=10_000)
    ...     print(round(reports.epsilon(1e-6).upper, 4))
    0.0432
    0.0433
    0.0439
    """
    eps0, n = validation.local_budget(eps0), validation.users(n)
    remedy = "where it is 0 use shuffle(randomizers.generic(eps0=…), n)"
    delta0 = validation.real(delta0, "delta0", at_least=SMALLEST, below=1.0, remedy=remedy)

    def bounds():
        pure = shuffle(generic(eps0=eps0), n)
        told = (from_pmf(_symbols(eps0, delta0)),) if eps0 <= TABLES else ()
        attacks = [pair for one in told for pair in shuffle(one, n).attack_pairs]
        worst = ApproximatePair(Envelope.of(pure.dominating_pairs), eps0, delta0, n)
        return Bounds((worst,), (*pure.attack_pairs, *attacks))

    return Profile(
        bounds=bounds,
        statement=f"n = {n} shuffled reports of one ({eps0:g}, {delta0:g})-LDP randomizer",
        source="guarantee: privacy blanket of pure reports that are near, for all neighbouring datasets; "
        "attack: pure reports, and those that tell the truth with probability δ₀",
        adjacency=REPLACE_ONE,
        assumptions=SHUFFLED,
        users=n,
        population=n,
        written=Made("approximate_ldp", None, {"eps0": eps0, "delta0": delta0, "n": n}),
    )


def _symbols(eps0, delta0):
    """Return the reports of Kairouz, Oh, Viswanath's extremal (ε₀, δ₀)-LDP randomizer."""
    odds = math.exp(-eps0)
    truth, lie = (1.0 - delta0) / (1.0 + odds), (1.0 - delta0) * odds / (1.0 + odds)
    return [[delta0, truth, lie, 0.0], [0.0, lie, truth, delta0]]


class ApproximatePair(SymmetricPair):
    """The pair of the worst (ε₀, δ₀)-LDP reports among n, for each ε separately; known from above.

    Parameters
    ----------
    pure : Pair
        A symmetric pair that dominates n shuffled reports of every ε₀-LDP randomizer.
    eps0, delta0 : float
        What every report satisfies.
    n : int
        Number of users.
    """

    from_above = True
    max_privacy_loss = math.inf

    def __init__(self, pure, eps0, delta0, n):
        self.pure, self.eps0, self.delta0 = pure, eps0, delta0
        self.search_width = max(pure.search_width, 1e-9)
        odds = math.exp(-eps0)
        users = (1.0 + 2.0 * (n - 1) * (1.0 + 2.0 * odds)) / (1.0 + odds)  # in units of delta0 e^{−eps0}
        self.log_distance = math.log(delta0) - eps0 + math.log(users) + 64 * UNIT * (1.0 + eps0)

    def _log_curve(self, eps, tolerance):
        """Enclose the log by a report that may tell the truth, below, and by nearby reports or one, above."""
        h = self.pure.log_hockey_stick(eps, tolerance).upper
        far = np.logaddexp(0.0, eps) + self.log_distance
        far += 1e-12 + 32 * UNIT * np.abs(far)
        alone = self.delta0 + (1.0 - self.delta0) * pure_delta(self.eps0, eps)
        upper = np.minimum(np.logaddexp(h, far) + 16 * UNIT * (1.0 + np.abs(far)), np.log(alone) + 1e-12)
        return Interval(np.full(eps.shape, math.log(self.delta0) - 1e-12), np.minimum(upper, 0.0))
