r"""Means of vectors of norm at most 1 from single shuffled reports: what the shuffle index allows.

The report is a unit vector v with a density that rises in t = <x, v>; a shorter x is first rounded without
bias to a unit vector, 0 to a random one.  In three dimensions t is uniform on [-1, 1] if v is uniform.

**The bound**, derived here.  Let f(v) be an unbiased estimate, w at most the density of every report.  For
inputs :math:`\pm u`, Cauchy and Schwarz give

.. math:: 4 = \Bigl(\int \langle u, f \rangle (R_u - R_{-u})\Bigr)^2
              \le \chi^{-2} \int \langle u, f \rangle^2 w .

Summed over d orthogonal u it is :math:`4 d \chi^2 \le \int |f|^2 w`, at most the squared error of a report of
the vector 0.  The mean of n such has an error of at least :math:`4 d \chi^2/n`: that of the central Gaussian
mechanism with the same :math:`\mu = 1/(\chi \sqrt n)`, whose sensitivity is 2/n.

**The worst pair** is u and -u.  Both ratios R_x/w have the same distribution for every x, and of all joint
distributions with these the countermonotone one, that of opposite inputs, is the largest in convex order,
since a - E b is submodular.  The report of a rounded vector is a mixture of such, which is smaller.
"""

from fractions import Fraction

import numpy as np
from scipy.optimize import brentq

from claims.claim import Check, holds_if
from claims.exact_tests import random_channel, share_of_bound
from shufflelib.profiles import Gaussian
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios

CELLS = 400  # of t, an even number
DIMENSIONS = 3


class Cap:
    r"""PrivUnit: e^eps0 times denser where t is above a threshold, the best one for e^eps0 = ``root``\ ².

    .. math:: t \ge \tanh(\varepsilon_0/4), \qquad \mathbb E\, t = \tanh(\varepsilon_0/4)

    Among densities of t whose values differ by a factor of at most e^eps0, one with two values, the larger
    above a threshold, has the largest mean, and this threshold is the best.  PrivUnit is optimal under local
    privacy: Asi, Feldman, Talwar (ICML 2022), abstract.
    """

    def __init__(self, root):
        self.root = root
        self.moment = ((root + 1) / (root - 1)) ** 2  # of the estimate, the squared error for the vector 0
        self.information = 2 * (root - 1) ** 2 * (root + 1) / root  # one over the squared index
        self.attack = self.information / root  # the same if all others hold 0

    def masses(self):
        """Return the masses of t: uniform, of the inputs u and -u, and of the blanket."""
        share = np.array([1, self.root - 1, 1]) / (self.root + 1)
        likely = np.array([self.root, 1 / self.root, 1 / self.root])
        return share, share * likely, share * likely[::-1], share / self.root


class Ramp:
    r"""A uniform vector, or one with a density that rises from t = 0 on: 1 - a/2 + 2a t₊, 0 < a <= 2.

    Where the ratio of R_u - R_{-u} to w is proportional to t, the bound of Cauchy and Schwarz is attained,
    but for the part of R that is not w: the error is 1/(1 - a/2) times the bound.
    """

    def __init__(self, slope):
        self.slope = slope
        self.moment = DIMENSIONS**2 / slope**2
        self.information = 4 * slope**2 / (DIMENSIONS * (1 - slope / 2))

    def masses(self):
        """Return the same, each cell of t split to its ends: no smaller in convex order, as all is linear."""
        t = np.linspace(-1, 1, CELLS + 1)
        share = np.full(t.size, 1 / CELLS)
        share[[0, -1]] /= 2
        blanket = 1 - self.slope / 2
        first = share * (blanket + 2 * self.slope * np.maximum(t, 0))
        return share, first, first[::-1], share * blanket


def proved(report, n, delta):
    """Return an ε of n shuffled reports that is proved by the blanket, for any values of the others."""
    _, first, second, blanket = report.masses()
    return _epsilon(LikelihoodRatios.from_masses(first, second, blanket, exchangeable=True), n, delta).upper


def attacked(cap, n, delta):
    """Return an ε that cannot be improved: all other users hold the vector 0."""
    uniform, first, second, _ = cap.masses()
    return _epsilon(LikelihoodRatios.against(uniform, first, second, exchangeable=True), n, delta).lower


def _epsilon(ratios, n, delta):
    return BlanketPair(ratios, n).epsilon(delta)


def times_central(moment, eps, n, delta):
    """Return the error of the mean of n such reports over that of the central Gaussian mechanism at ε, δ."""
    mu = brentq(lambda mu: Gaussian(mu=mu).delta(eps).upper - delta, 1e-8, 1e3, xtol=1e-14)
    return float(moment) * n * mu**2 / (4 * DIMENSIONS)


def over_central(report, n, delta):
    """Return the same for the ε that is proved for n reports, and this ε."""
    eps = proved(report, n, delta)
    return times_central(report.moment, eps, n, delta), eps


# ---------------------------------------------------------------- the claims


def _least_moment(rows, coordinates):
    """Return the least squared error at ``rows[0]`` of unbiased estimates, None if there are none.

    Row 0 is the vector 0, rows 2j + 1 and 2j + 2 are plus and minus the j-th unit vector.
    """
    size = len(rows)
    gram = [[sum(a * b / w for a, b, w in zip(x, y, rows[0], strict=True)) for y in rows] for x in rows]
    wanted = [
        [Fraction((i == 2 * j + 1) - (i == 2 * j + 2)) for j in range(coordinates)] for i in range(size)
    ]
    left = [[*row, *right] for row, right in zip(gram, wanted, strict=True)]
    total = Fraction(0)
    for pivot, row in enumerate(left):
        if row[pivot] == 0:
            return None
        total += sum(x * x for x in row[size:]) / row[pivot]
        for other in left[pivot + 1 :]:
            factor = other[pivot] / row[pivot]
            other[:] = [a - factor * b for a, b in zip(other, row, strict=True)]
    return total


def _share_of_error(rng):
    coordinates = rng.randint(1, 2)
    rows = random_channel(rng, 2 * coordinates + 1, 2 * coordinates + 2)
    error = _least_moment(rows, coordinates)
    most = max(
        sum((a - b) ** 2 / w for a, b, w in zip(*rows[2 * j + 1 : 2 * j + 3], rows[0], strict=True))
        for j in range(coordinates)
    )
    if error is None or most == 0:
        return None
    share = 4 * coordinates / most / error
    return share if share <= 1 else f"error {error}, bound {4 * coordinates / most}"


def _same_error(effort):
    cap, ramp = Cap(Fraction(11, 10)), Ramp(Fraction(1, 7))
    n, delta = 1000, 1e-6
    sure, attack = proved(ramp, n, delta), attacked(cap, n, delta)
    steps = (
        f"locally optimal, e^eps0 = {cap.root**2}: error {cap.moment}, 1/chi^2 = {cap.information}, with "
        f"all others at 0 {cap.attack}",
        f"a ramp of slope {ramp.slope}: error {ramp.moment}, 1/chi^2 = {ramp.information}",
        f"n = {n}, delta = {delta:g}: at least {attack:.5f} and at most {sure:.5f}",
    )
    good = cap.moment == ramp.moment and ramp.information < cap.attack and sure < attack
    evidence = (
        f"three dimensions, the same error {cap.moment} for the vector 0, n = {n}, delta = {delta:g}: "
        f"epsilon of the locally optimal report is at least {attack:.5f}, of another one at most {sure:.5f}"
    )
    return holds_if(good, evidence, steps)


def _near_central(effort):
    steps, factors = [], {}
    for n in (10**3, 10**5):
        for slope in (1.0, 0.4, 0.05):
            factors[n, slope], eps = over_central(Ramp(slope), n, 1e-6)
            limit = Ramp(slope).moment * Ramp(slope).information / (4 * DIMENSIONS)
            steps.append(
                f"n = {n}, epsilon = {eps:.3g}: {factors[n, slope]:.4f} times the error of the central "
                f"Gaussian, in the limit {limit:.4f}"
            )
    good = all(factors[n, 0.05] < 1.03 < 1.9 < factors[n, 1.0] for n in (10**3, 10**5))
    evidence = f"three dimensions, certified, delta = 1e-6: {steps[2]}; {steps[0]}"
    return holds_if(good, evidence, steps)


CHECKS = {
    "lt26-lower-bound": share_of_bound(_share_of_error, 6, 600),
    "lt26-locally-optimal": Check(_same_error),
    "lt26-high-privacy": Check(_near_central),
}
