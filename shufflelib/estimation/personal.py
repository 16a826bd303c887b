r"""Mean and frequency of users with personal budgets.

Algorithms 1 and 2 of GSPA (Chen, Cao, Ge, "A Generalized Shuffle Framework for Privacy Amplification",
AAAI 2024) let every user randomise with *their own* budget and shuffle the reports.  The analyst then cannot
know which report is precise, and the only unbiased linear estimator is

.. math:: z = \Bigl(\sum_i y_i - \sum_i b_i\Bigr) \Big/ \sum_i g_i,

which is the unweighted average for Algorithm 1 (b = 0, g = 1) and (A - B)/(n - 2B) for Algorithm 2.

The same paper's Definition 6 permutes the *users* and assigns the budgets to slots.  Then the budget of every
report is public, and reports are weighted by their precision.

Theorems 3 and 4 of the paper claim the guarantee of slots for Algorithms 1 and 2, up to an unspecified
error; for these algorithms it is false.  Here each protocol has its own certificate.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shufflelib.estimation.channels import LaplaceReports, ResponseReports
from shufflelib.estimation.protocol import Protocol
from shufflelib.estimation.shuffler import in_random_order
from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Status
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.types import Array
from shufflelib.randomizers import values
from shufflelib.shuffling.personal.permute_then_randomize import PersonalizedPair

CELLS = 2**21  # values held in memory at once while runs are repeated
DELTA = 1e-6


class PersonalProtocol(Protocol):
    r"""A linear estimate :math:`\sum_i a_i (y_i - b_i)` from reports with personal budgets.

    Attributes
    ----------
    channel : LaplaceReports or ResponseReports
        Budgets, offsets b, gains g and noise variances s.
    """

    def __init__(self, channel: LaplaceReports | ResponseReports, delta: float) -> None:
        super().__init__(channel.n, delta)
        self.channel = channel

    @property
    @abstractmethod
    def coefficients(self) -> float | Array:
        """Coefficients a, shape (n,), or one number if all are equal."""

    @cached_property
    def weights(self) -> Array:
        """Weight a_i g_i of each value in the estimate's mean, shape (n,), adding up to 1."""
        return self.coefficients * self.channel.gain

    @property
    def noise_variance(self) -> float:
        r"""Variance :math:`\sum_i a_i^2 s_i` that the users' noise adds, exact for any data."""
        return float(np.sum(self.coefficients**2 * self.channel.noise))

    def estimate(self, reports: ArrayLike) -> float:
        """Return the estimate from the reports, shape (n,)."""
        reports = self.channel.sized(values.numbers(reports, "reports"), "reports")
        return float(np.sum(self.coefficients * (reports - self.channel.offset)))

    @abstractmethod
    def bias(self, data: ArrayLike) -> float:
        """Return the exact mean error for these data."""

    @abstractmethod
    def variance(self, data: ArrayLike) -> float:
        """Return the exact variance of the estimate for these data."""

    @abstractmethod
    def _group_sums(self, x, starts, repetitions, rng):
        """Return sums of the values between ``starts``, shape (repetitions, groups)."""

    def repeat(self, data: ArrayLike, repetitions: int, rng: np.random.Generator) -> Array:
        """Return the estimates of independent runs, shape (repetitions,), at a fraction of their cost.

        Parameters
        ----------
        data : array_like, shape (n,)
            One value for each user, the same in all runs.
        repetitions : int
            Number of runs, at least 1.
        rng : numpy.random.Generator
            Randomness.

        Returns
        -------
        numpy.ndarray, shape (repetitions,)
            Distributed exactly as ``run(data, rng).value``: users of equal budgets are drawn together.
        """
        x, rng = self.channel.values(data), values.generator(rng)
        repetitions = validation.count(repetitions, "repetitions")
        order = np.argsort(self.channel.eps0, kind="stable")
        eps0, starts, counts = np.unique(self.channel.eps0[order], return_index=True, return_counts=True)
        coefficients = np.broadcast_to(self.coefficients, self.n)[order][starts]
        offset = self.channel.offset[order][starts]
        block = max(1, CELLS // self.n)
        estimates = []
        for first in range(0, repetitions, block):
            sums = self._group_sums(x[order], starts, min(block, repetitions - first), rng)
            totals = self.channel.sample_totals(sums, eps0, counts, rng)
            estimates.append((totals - counts * offset) @ coefficients)
        return np.concatenate(estimates)


class RandomizeThenShuffle(PersonalProtocol):
    """Every user randomises with their own budget, then the reports are shuffled: Algorithms 1 and 2.

    The estimate is a function of the multiset of reports and of the multiset of budgets.
    """

    @cached_property
    def coefficients(self) -> float:
        """The one coefficient 1/Σg that all reports share."""
        return 1.0 / float(self.channel.gain.sum())

    def reports(self, data: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Randomise, then shuffle."""
        return in_random_order(self.channel.sample(self.channel.values(data), rng), rng)

    def standard_error(self, estimate: ArrayLike) -> float:
        """Return the exact standard deviation; it does not include a bias."""
        return self.noise_variance**0.5

    def bias(self, data: ArrayLike) -> float:
        r"""Return :math:`\sum_i (w_i - 1/n) x_i`, the covariance of weight and value times n.

        Zero for Laplace reports, and if budgets and values are uncorrelated.
        """
        return float(np.sum((self.weights - 1.0 / self.n) * self.channel.values(data)))

    def variance(self, data: ArrayLike) -> float:
        """Return the exact variance, the same for all data."""
        self.channel.values(data)
        return self.noise_variance

    def certificate(self) -> Certified[float]:
        """Return the largest of the users' ε: the upper bound holds for every user."""
        each = self.channel.own_users().epsilons(delta=self.delta)
        lower, upper = each.lower.max(), each.upper.max()
        return Certified(
            lower,
            upper,
            Status.of(lower, upper, ceiling=self.channel.eps0.max()),
            each.source,
            f"largest epsilon of {self.n} users who randomise with their own budgets and are then shuffled",
            each.assumptions,
        )

    def _group_sums(self, x, starts, repetitions, rng):
        return np.tile(np.add.reduceat(x, starts), (repetitions, 1))


class PermuteThenRandomize(PersonalProtocol):
    r"""Users are permuted into slots, slot i has the public budget ε_i, and precise reports weigh more.

    .. math:: w_i \propto \frac{1}{s_i/g_i^2 + \Delta^2/4}, \qquad
              \operatorname{Var} = \sum_i a_i^2 s_i + S^2 \sum_i (w_i - 1/n)^2

    with Δ the range and S² the sample variance of the values: with unequal weights, the permutation decides
    whose values count more.  S² is at most nΔ²/(4(n-1)), so up to that factor these weights have the smallest
    worst-case variance of all.  For bits they are proportional to tanh²(ε_i/2), those of Algorithm 2 to
    tanh(ε_i/2).
    """

    def __init__(self, channel: LaplaceReports | ResponseReports, delta: float) -> None:
        super().__init__(channel, delta)
        self.slots = PersonalizedPair(channel.eps0)

    @cached_property
    def coefficients(self) -> Array:
        """Coefficients a_i, proportional to g_i/(s_i + g_i² Δ²/4), with Σ a_i g_i = 1."""
        gain = self.channel.gain
        raw = gain / (self.channel.noise + gain**2 * (self.channel.high - self.channel.low) ** 2 / 4.0)
        return raw / float(raw @ gain)

    @property
    def luck(self) -> float:
        """Inequality of the weights, Σ (w_i - 1/n)²: the factor of S² in the variance."""
        return float(np.sum((self.weights - 1.0 / self.n) ** 2))

    def reports(self, data: ArrayLike, rng: np.random.Generator) -> NDArray[Any]:
        """Permute the users into slots, then randomise; report i comes from slot i."""
        return self.channel.sample(in_random_order(self.channel.values(data), rng), rng)

    def standard_error(self, estimate: ArrayLike) -> float:
        """Return an upper bound on the standard deviation: S² is replaced by its largest value."""
        variance = (self.channel.high - self.channel.low) ** 2 / 4.0 * self.n / (self.n - 1)
        return (self.noise_variance + variance * self.luck) ** 0.5

    def bias(self, data: ArrayLike) -> float:
        """Return 0: the slots are drawn at random, independently of the values."""
        self.channel.values(data)
        return 0.0

    def variance(self, data: ArrayLike) -> float:
        """Return the exact variance over slots and noise."""
        return self.noise_variance + float(np.var(self.channel.values(data), ddof=1)) * self.luck

    def certificate(self) -> Certified[float]:
        """Return ε of the slots: the upper bound holds for every user, the lower bound is 0."""
        upper = self.slots.epsilon(self.delta).upper
        return Certified(
            0.0,
            upper,
            Status.of(0.0, upper, ceiling=self.slots.max_privacy_loss),
            "guarantee: dominating pair of slots with personal budgets; attack: none; "
            f"neighbours: {self.slots.adjacency}",
            f"epsilon at delta = {self.delta:g} of {self.n} users permuted into slots, each with its budget",
            self.slots.assumptions,
        )

    def _group_sums(self, x, starts, repetitions, rng):
        permuted = rng.permuted(np.tile(x, (repetitions, 1)), axis=1)
        return np.add.reduceat(permuted, starts, axis=1)


class MeanProtocol(RandomizeThenShuffle):
    r"""Algorithm 1 of GSPA (Chen, Cao, Ge 2024) as printed: clip, add Laplace noise, shuffle, average.

    .. math:: z = \frac1n \sum_i y_i, \qquad y_i = x_i + \mathrm{Lap}(\Delta/\varepsilon_i), \qquad
              \operatorname{Var}(z) = \frac{2\Delta^2}{n^2} \sum_i \varepsilon_i^{-2}

    Parameters
    ----------
    eps0 : array_like, shape (n,)
        Budget of each user in nats, positive, at most 700 (300 for slots), n >= 2.
    low, high : float
        Range to which values are clipped, Δ = high - low; the mean of the clipped values is estimated.
    delta : float, optional
        Central δ of the certificate.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, budgets of 0 included (infinite noise).

    Notes
    -----
    Unbiased for all data; the variance is exact and needs no data.  The paper does not say what Δf is when
    the data are clipped; it is the length of the range here.  Its "Output: z in N" is read as a real number.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> budgets = estimation.group_budgets(10_000)  # 0.1, 0.5 or 1
    >>> protocol = estimation.MeanProtocol(budgets, low=20.0, high=80.0)
    >>> round(protocol.standard_error(50.0), 2)  # dominated by the users with small budgets
    6.33
    """

    def __init__(self, eps0: ArrayLike, *, low: float, high: float, delta: float = DELTA) -> None:
        super().__init__(LaplaceReports(eps0, low, high), delta)


class FrequencyProtocol(RandomizeThenShuffle):
    r"""Algorithm 2 of GSPA as printed: randomized response, shuffle, z = (A - B)/(n - 2B).

    .. math:: A = \sum_i y_i, \quad B = \sum_i r_i, \quad r_i = \frac{1}{e^{\varepsilon_i} + 1}, \qquad
              \mathbb E[z] = \frac{\sum_i (1 - 2r_i)\, x_i}{\sum_i (1 - 2r_i)}, \quad
              \operatorname{Var}(z) = \frac{\sum_i r_i (1 - r_i)}{(n - 2B)^2}

    Parameters
    ----------
    eps0 : array_like, shape (n,)
        Budget of each user in nats, from 0 to 700 (300 for slots), not all zero, n >= 2.
    delta : float, optional
        Central δ of the certificate.

    Notes
    -----
    The paper says "z is an unbiased estimator of c".  That holds if budgets are unrelated to values; for
    given data the mean is the one above, in which users with small budgets count less (`bias`).  The variance
    is exact.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> protocol = estimation.FrequencyProtocol(estimation.group_budgets(10_000))
    >>> held = estimation.bits(10_000, density=0.7)  # the users with small budgets hold 1
    >>> round(protocol.bias(held), 3), round(protocol.standard_error(0.7), 3)
    (-0.284, 0.031)
    """

    def __init__(self, eps0: ArrayLike, *, delta: float = DELTA) -> None:
        super().__init__(ResponseReports(eps0), delta)


class PermutedMeanProtocol(PermuteThenRandomize):
    """Mean of values in [low, high], users permuted into slots; parameters as for `MeanProtocol`.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> budgets = estimation.group_budgets(10_000)
    >>> protocol = estimation.PermutedMeanProtocol(budgets, low=20.0, high=80.0)
    >>> round(protocol.standard_error(50.0), 2)  # a third of `MeanProtocol`'s: weighted by precision
    2.01
    """

    def __init__(self, eps0: ArrayLike, *, low: float, high: float, delta: float = DELTA) -> None:
        super().__init__(LaplaceReports(eps0, low, high), delta)


class PermutedFrequencyProtocol(PermuteThenRandomize):
    """Share of ones among bits, users permuted into slots; parameters as for `FrequencyProtocol`.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> protocol = estimation.PermutedFrequencyProtocol(estimation.group_budgets(10_000))
    >>> held = estimation.bits(10_000, density=0.7)
    >>> protocol.bias(held), round(protocol.standard_error(0.7), 3)
    (0.0, 0.024)
    """

    def __init__(self, eps0: ArrayLike, *, delta: float = DELTA) -> None:
        super().__init__(ResponseReports(eps0), delta)
