r"""Randomize, then shuffle, with personal budgets: a guarantee for each single user.

User i reports R_i(x_i) with their own budget ε_i, and then the reports are shuffled.  A noisy R_i does not
hide an R_j with little noise, so no single ε describes all users; each user has their own ε.

**The bound.**  Fix the target, who changes from x to x'.  Choose a distribution ν and weights with
:math:`R_{i,z}(y) \ge c_i\,\nu(y)` for all values z.  Then user i reports, with probability c_i, a draw
from ν that does not depend on the value (a clone).  Reveal all other reports to the analyst.  The target is
then shuffled with M draws from ν, M Poisson-binomial (c_i, i ≠ target), so that

.. math:: \delta(\varepsilon) \le \mathbb E\,H(M+1), \qquad
          H(m) = \frac1m\,\mathbb E\Bigl(\sum_{j\le m} L_j\Bigr)_+, \qquad
          L = \frac{R_x(y) - e^{\varepsilon} R_{x'}(y)}{\nu(y)},\; y \sim \nu .

H decreases in m (adding a draw from ν is post-processing), so replacing every m of a bucket by its smallest
keeps an upper bound.

**The result** is never above the local guarantee ε_i, and equals it where no amplification is proved.  The
lower bound is the best of a few explicit attacks (`attack`).

Source: the blanket argument of Balle, Bell, Gascón, Nissim (CRYPTO 2019), Lemma 5.3, with a
Poisson-binomial number of draws from ν; for equal budgets it is their bound.
"""

import math
from abc import ABC, abstractmethod
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Interval, Status, each
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.root_finding import certified_root
from shufflelib.numerics.types import Array, T
from shufflelib.profiles.adjacency import REPLACE_ONE, SHUFFLED
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.profiles.questions import pure_delta
from shufflelib.shuffling.personal.attack import MergedAttack, OthersSum, Scores
from shufflelib.shuffling.personal.budgets import personal
from shufflelib.shuffling.personal.of_one_user import CrowdPair, of_one_user
from shufflelib.shuffling.personal.score_sums import score_distribution

MOST_GROUPS = 512  # of other users; beyond it, weights are rounded down to those of fewer groups
MOST_TARGETS = 64  # distinct budgets answered one by one by `epsilons`; more share brackets
# ends of the buckets of M, in standard deviations from its mean
BUCKETS = np.array([-6.0, -4.4, -3.3, -2.5, -1.9, -1.4, -0.95, -0.55, -0.15, 0.3, 0.85, 1.6])
COARSE, FINE = 1e-3, 1e-4  # relative precision of H
SEARCH_WIDTH = 5e-5
NEARLY_LOCAL = 0.98  # share of the local guarantee above which no better bound is searched
WEIGHT_ROUNDING = 1.0 - 1e-13


class Reference(NamedTuple):
    """The likelihood ratios of one target's two reports to ν, and the weights c_i of the others."""

    ratios: LikelihoodRatios
    weights: np.ndarray


class PersonalRandomizers(ABC):
    """n users with personal budgets; subclasses define the randomizer and the reference measure."""

    name = "personal randomizers"
    source = (
        "guarantee: common reference measure with Poisson-binomial number of draws, never above the local "
        "guarantee, which is the result where no amplification is proved; "
        "attack: the best one that subtracts two counts; "
        "neighbours: replace the target's value, whatever the other users hold"
    )
    adjacency = REPLACE_ONE
    assumptions = (
        *SHUFFLED,
        "the budgets are fixed and public, and do not depend on the values",
    )

    def __init__(self, eps0: ArrayLike) -> None:
        eps0 = personal(eps0)
        eps0.flags.writeable = False
        self.eps0 = eps0
        self.n = eps0.size
        self._budgets, self._group, self._counts = np.unique(eps0, return_inverse=True, return_counts=True)

    if not TYPE_CHECKING:  # a type checker knows which names there are

        def __getattr__(self, name):
            """Say where the questions to ordinary profiles are asked."""
            public = not name.startswith("_") and callable(getattr(Profile, name, None))
            remedy = f"; the profile of one user has: .profile(user=…).{name}" if public else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{remedy}")

    @abstractmethod
    def _reference(self, low, high, budgets, counts):
        """Return the `Reference` for every target with a budget in [low, high] among these other users."""

    @abstractmethod
    def _others(self, counts):
        """Return {what is counted: OthersSum} of the attacks tried, with ``counts`` users of each budget."""

    @abstractmethod
    def _target_scores(self, low, high, counted):
        """Return the target's two `Scores`, weakened to be valid for every budget in [low, high]."""

    @validation.names_checked
    def delta(self, *, user: int, eps: T) -> Certified[T]:
        r"""Enclose the smallest δ with which ``user`` has (eps, δ)-differential privacy.

        Parameters
        ----------
        user : int
            Index of the target, 0 ≤ user < n.
        eps : float or array_like
            Central budget in nats, finite and non-negative.

        Returns
        -------
        Certified
            ``upper`` is the safe bound: it holds for all values of all other users.

        Notes
        -----
        The resolution of upper bounds is 1e-20, that of lower bounds about 1e-15 n.
        """
        grid = validation.reals(eps, "eps", at_least=0.0, remedy="a central budget is in nats, not negative")
        target, who = self._target_of(user)
        ceiling = pure_delta(target.eps0, grid)
        return self._certified(each(target.delta, grid), ceiling, f"delta of {who}")

    @validation.names_checked
    def epsilon(self, *, user: int, delta: T) -> Certified[T]:
        r"""Enclose the smallest ε with which ``user`` has (ε, delta)-differential privacy.

        Parameters
        ----------
        user : int
            Index of the target, 0 ≤ user < n.
        delta : float or array_like
            Central δ in (0, 1).

        Returns
        -------
        Certified
            ``upper`` is the safe bound, at most the user's ``eps0``, and equal to it where no bound more than
            2 % below it could be proved.
        """
        grid = validation.probabilities(delta, "delta")
        target, who = self._target_of(user)
        return self._certified(each(target.epsilon, grid), target.eps0, f"epsilon of {who}")

    @validation.names_checked
    def profile(self, *, user: int) -> Profile:
        r"""Return the privacy profile of one user: rounds, samples, Rényi divergences and pictures of it.

        Parameters
        ----------
        user : int
            Index of the target, 0 ≤ user < n.

        Returns
        -------
        Profile
            Its ``delta`` and ``epsilon`` are those of this class, to their precision.  Upper bounds hold for
            all values of all other users, in every round.  Rounds and Rényi divergences have the lower bound
            0: no attack is known there.

        Notes
        -----
        In rounds every user reports with the same budget again.  Where users are drawn at random for each
        round, the same share of the users of each budget is drawn, so that a round has these budgets.

        Examples
        --------
        >>> from shufflelib.shuffling import personal
        >>> crowd = personal.PersonalRandomizedResponse([0.5] * 500 + [2.0] * 500, d=4)
        >>> daily = crowd.profile(user=0)
        >>> [round(daily.compose(days).epsilon(1e-6).upper, 3) for days in (1, 30)]
        [0.055, 0.341]
        """
        target, who = self._target_of(user)
        return of_one_user(self, int(user), target, who)

    @validation.names_checked
    def epsilons(self, *, delta: float) -> Certified[Array]:
        """Enclose every user's ε at ``delta``.

        Parameters
        ----------
        delta : float
            Central δ in (0, 1).

        Returns
        -------
        Certified
            Arrays of shape (n,), in the users' order; ``upper`` is the safe bound, at most ``eps0``.

        Notes
        -----
        Each distinct budget is answered once.  More than 64 of them are divided into at most 64 ranges, as
        narrow in proportion as possible; a range has one upper and one lower bound that hold for all its
        budgets.
        """
        delta = validation.probability(delta, "delta")
        ranges = _ranges(self._budgets)
        lower, upper = np.empty(self._budgets.size), np.empty(self._budgets.size)
        guess = None
        for part in ranges:
            low, high = self._target(part[0], part[-1]).epsilon(delta, guess)
            guess = high if high > 0.0 else None
            upper[part] = np.minimum(high, self._budgets[part])
            lower[part] = np.minimum(low, upper[part])
        what = f"epsilon at delta = {delta:g} of each of {self.n} users of {self.name}"
        return self._certified((lower[self._group], upper[self._group]), self.eps0, what)

    def _certified(self, ends, ceiling, statement):
        status = Status.of(*ends, ceiling=ceiling)
        return Certified(*ends, status, self.source, statement, self.assumptions)

    @cached_property
    def _everyone(self):
        """Scores of all n users: the pmf of each sum is computed once for all ranges of targets."""
        return self._others(self._counts)

    def _target_of(self, user):
        """Return one user as a target, and their description."""
        user = validation.count(
            user, "user", at_least=0, at_most=self.n - 1, remedy="user is an index into eps0"
        )
        who = f"user {user} (eps0 = {self.eps0[user]:g}) among n = {self.n} users of {self.name}"
        return self._target(self._group[user], self._group[user]), who

    def _target(self, first, last):
        """Return the target that stands for all users in the groups first to last."""
        low, high = float(self._budgets[first]), float(self._budgets[last])
        if high == 0.0:  # the report does not depend on the value
            return SimpleNamespace(eps0=0.0, delta=lambda eps: (0.0, 0.0), epsilon=lambda *_: (0.0, 0.0))
        others = self._counts.copy()
        others[first] -= 1
        reference = self._reference(low, high, self._budgets, others)
        # the target of a range is one of its users; counting all of them as others only weakens an attack
        attacked = self._everyone if first < last else self._others(others)
        attacks = [
            MergedAttack(*self._target_scores(low, high, counted), sums) for counted, sums in attacked.items()
        ]
        attacks.sort(key=lambda attack: -attack.strength)
        return _Target(high, reference.ratios, *_grouped(reference.weights, others), attacks)


def _ranges(budgets):
    """Return index ranges of increasing budgets: at most MOST_TARGETS, the widest as narrow as possible."""
    if budgets.size <= MOST_TARGETS:
        return [np.array([i]) for i in range(budgets.size)]
    zeros = int(budgets[0] == 0.0)
    narrow, wide = 1.0, budgets[-1] / budgets[zeros]
    while wide > 1.001 * narrow:
        ratio = math.sqrt(narrow * wide)
        starts = _starts(budgets, ratio, zeros)
        narrow, wide = (narrow, ratio) if len(starts) <= MOST_TARGETS else (ratio, wide)
    return np.split(np.arange(budgets.size), _starts(budgets, wide, zeros)[1:])


def _starts(budgets, ratio, zeros):
    """Return where ranges begin whose largest budget is at most ``ratio`` times their smallest."""
    starts, i = [0] * zeros, zeros
    while i < budgets.size:
        starts.append(i)
        i = int(np.searchsorted(budgets, ratio * budgets[i], side="right"))
    return starts


def _grouped(weights, counts):
    """Return at most MOST_GROUPS groups of other users; a weight is rounded down to its group's smallest."""
    weights = np.minimum(weights, 1.0) * WEIGHT_ROUNDING
    if weights.size <= MOST_GROUPS:
        return weights, counts
    order = np.argsort(weights, kind="stable")
    parts = np.array_split(order, MOST_GROUPS)
    return weights[[part[0] for part in parts]], np.array([counts[part].sum() for part in parts])


class _Target:
    """One target among the others: upper bounds from the reference measure, lower bounds from attacks."""

    def __init__(self, eps0, ratios, weights, counts, attacks):
        self.eps0, self.attacks = eps0, attacks
        distribution = score_distribution(weights, np.zeros(weights.size), counts)
        size = distribution.masses.size
        if size <= BUCKETS.size + 1:
            starts = np.arange(size)
        else:
            mean = float(counts @ weights) - distribution.first
            deviation = math.sqrt(max(float(counts @ (weights * (1.0 - weights))), 1.0))
            starts = np.floor(mean + deviation * BUCKETS).astype(int)
            starts = np.unique(np.append(0, np.clip(starts, 0, size - 1)))
        # P(M below the next bucket); the last bucket holds all the rest
        below = np.append([0.0, *distribution.at_most[starts[1:] - 1]], 1.0)
        shares = np.diff(below) + 8 * UNIT * below[1:]
        draws = [int(distribution.first + start) + 1 for start in starts]
        if distribution.outside > 0.0:
            draws, shares = [1, *draws], np.append(distribution.outside, shares)
        self.crowd = CrowdPair([BlanketPair(ratios, count) for count in draws], shares)

    def _log_upper(self, eps, tolerance):
        """Return the log of an upper bound on E H(M + 1), in the worse direction."""
        return self.crowd.log_hockey_stick(eps, tolerance).upper

    def delta(self, eps):
        if eps >= self.eps0:
            return 0.0, 0.0
        upper = min(Interval.of(self._log_upper(eps, FINE)).exp().upper, 1.0)
        return min(max(attack.delta(eps) for attack in self.attacks), upper), upper

    def epsilon(self, delta, guess=None):
        upper, nearly = self.eps0, NEARLY_LOCAL * self.eps0
        if self._log_upper(nearly, COARSE) <= math.log(delta):
            upper = certified_root(
                lambda eps: self._log_upper(eps, COARSE),
                math.log(delta),
                nearly,
                safe_above=True,
                guess=guess,
                width=SEARCH_WIDTH,
            )
        lower = max(attack.epsilon(delta, self.eps0) for attack in self.attacks)
        return min(lower, upper), upper


class PersonalRandomizedResponse(PersonalRandomizers):
    r"""Randomized response on d options, each user with their own budget, then shuffled.

    .. math:: R_{i,x}(y) = \frac{e^{\varepsilon_i [y = x]}}{e^{\varepsilon_i} + d - 1}, \qquad
              \nu \text{ uniform}, \qquad c_i = \frac{d}{e^{\varepsilon_i} + d - 1}

    Parameters
    ----------
    eps0 : array_like, shape (n,)
        Local budgets in nats, one for each of n ≥ 2 users, from 0 (a report independent of the value) to 700.
    d : int
        Number of options, at least 2.

    Notes
    -----
    Ranges of targets.  A smaller budget mixes the report with ν, so that both the bound and the true δ
    increase with the target's budget: a range takes its upper bound from its largest budget, its lower
    bound from its smallest.

    Cost of one ε: about ten evaluations of a dozen loss sums, which do not grow with n, and one
    Fourier transform of about 10 sqrt(n) points for each distinct budget.  An ε for each of m distinct
    budgets therefore costs m such targets and m² transforms: three budgets 0.2 s, 300 half a minute.

    Examples
    --------
    >>> from shufflelib.shuffling import personal
    >>> crowd = personal.PersonalRandomizedResponse([0.5] * 500 + [2.0] * 500, d=4)
    >>> [f"{crowd.delta(user=user, eps=0.05).upper:.3e}" for user in (0, 999)]
    ['3.542e-06', '9.967e-03']
    """

    @validation.names_checked
    def __init__(self, eps0: ArrayLike, *, d: int) -> None:
        super().__init__(eps0)
        self.d = validation.count(d, "d", at_least=2, at_most=10**9)
        self.name = f"{self.d}-ary randomized response with personal budgets"

    def _reference(self, low, high, budgets, counts):
        shared = 1.0 / (1.0 + (self.d - 1) * math.exp(-high))  # probability of the true option
        rare = shared * math.exp(-high)
        report = np.array([shared, rare, (self.d - 2) * rare])
        uniform = np.array([1.0, 1.0, self.d - 2.0]) / self.d
        kept = slice(None) if self.d > 2 else slice(2)
        masses = report[kept], report[[1, 0, 2]][kept], uniform[kept]
        ratios = LikelihoodRatios.from_masses(*masses, exchangeable=True)
        # d/(e + d - 1), without overflow and without cancellation at 0
        return Reference(ratios, 1.0 / (1.0 + np.expm1(budgets) / self.d))

    def _others(self, counts):
        """Subtract the counts of two options; all others hold the first of them, or a third one."""
        truth = 1.0 / (1.0 + (self.d - 1) * np.exp(-self._budgets))
        rare = truth * np.exp(-self._budgets)
        held = {"first": Scores(truth, rare), "third": Scores(rare, rare)}
        return {name: OthersSum(held[name], counts) for name in list(held)[: self.d - 1]}

    def _target_scores(self, low, high, counted):
        truth = 1.0 / (1.0 + (self.d - 1) * math.exp(-low))
        rare = truth * math.exp(-low)
        return Scores(truth, rare), Scores(rare, truth)
