r"""Inverse questions: the largest local budget, the fewest users, the most rounds for a target (ε, δ).

Each function searches a family of profiles, one for each value of the parameter, for the point where the
certified ε at δ crosses the target.  The search proves nothing.  The proof is the certificate of the value
returned: its profile, evaluated at the target δ.  So no answer rests on ε being monotone in the parameter;
where it is not, the answer is one of several crossings and not always the last one.

The first argument is always a constructor of `shufflelib.randomizers`; its other parameters follow by name.
"""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass

from shufflelib.numerics import validation
from shufflelib.numerics.certified import TOLERANCE, Certified, written
from shufflelib.profiles.pairs import Gaussian
from shufflelib.profiles.privacy_profile import SMALLEST_RATE, PrivacyProfile
from shufflelib.randomizers.additive import gaussian
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.randomizers.response import generic
from shufflelib.shuffling.shuffled import shuffle

LARGEST_BUDGET, SMALLEST_BUDGET = 700.0, 1e-9
LARGEST_SIGMA, SMALLEST_SIGMA = 1e6, 0.03
MAX_ROUNDS = 10**9
ONE_ROUND, MANY_ROUNDS = 1e-7, 1e-5  # relative widths at which the search for the answer stops
COARSER = 1e3  # the search for a value that fails stops at a width that much larger
FARTHEST, TINY = 20.0, 1e-15  # heights of a δ of 0 or 1, and of a δ that just meets the target
ROUNDING = 1e-12  # of logarithms of δ


@dataclass(frozen=True)
class Calibration:
    """The answer to an inverse question and what is proved on both sides of it.

    Parameters
    ----------
    answer : float or int
        The value asked for.  Its certificate meets the target.
    certificate : Certified
        ε at the target δ for the answer itself: ``certificate.upper <= eps``.
    unproved : float, int or None
        The nearest value tried beyond the answer: its own upper end, of δ at the target ε or of ε at the
        target δ, misses the target.  The search aims at 1e-7 of the answer, for many rounds at 1e-5, and
        stops farther from it where δ is less well known; for example 5e-5 for ``generic``, n = 10⁵ and ε = 5
        at δ = 1e-6.  A small whole number is the next one.  None if the answer is the end of the range.
    fails : float, int or None
        A value at which the *lower* end of δ at the target ε exceeds the target's: an attack shows that
        the target is missed.  What is possible at all ends between ``answer`` and ``fails``.  The search for
        the nearest such value aims at 1e-4, for many rounds at 1e-2.  None if no such value was found.
    eps, delta : float
        The target.
    quantity : str
        Description of the parameter.

    Examples
    --------
    >>> from shufflelib import calibration, randomizers
    >>> found = calibration.fewest_users(randomizers.binary_rr, eps0=1.0, eps=0.1, delta=1e-6)
    >>> found.certificate.upper <= found.eps, found.fails < found.unproved < found.answer
    (True, True)
    """

    answer: float | int
    certificate: Certified
    unproved: float | int | None
    fails: float | int | None
    eps: float
    delta: float
    quantity: str

    def __str__(self):
        beyond = (
            "no value tried is proved to fail"
            if self.fails is None
            else f"{_exact_or(self.fails, up=self.fails > self.answer)} is proved to fail"
        )
        up = self.unproved is not None and self.unproved < self.answer
        return (
            f"{self.quantity}: {_exact_or(self.answer, up=up)}, proved to give epsilon <= "
            f"{written(self.certificate.upper, up=True, digits=8)} at delta = {self.delta} "
            f"(target {self.eps}); {beyond}."
        )

    def to_dict(self):
        """Return the answer and its certificate as a dictionary of numbers and text."""
        found = {"answer": self.answer, "unproved": self.unproved, "fails": self.fails}
        return found | self.certificate.to_dict()


def _exact_or(value, *, up):
    """Write a whole number as it is, a budget rounded to the side on which the statement stays true."""
    return f"{value:,}" if isinstance(value, int) else written(value, up=up, digits=8)


def largest_eps0(randomizer=generic, *, n, eps, delta, rounds=1, rate=1.0, **parameters):
    r"""Find the largest local budget whose certified central ε at δ stays within a target.

    .. math:: \max\{\varepsilon_0 : \varepsilon_{n,\varepsilon_0}(\delta) \le \varepsilon\}

    Parameters
    ----------
    randomizer : callable
        A constructor that takes ``eps0``, such as `randomizers.generalized_rr`.  By default
        `randomizers.generic`: the answer holds for every pure eps0-LDP randomizer that all users share, and
        at ``fails`` one of them misses the target.
    n : int
        Number of users who report in a round, the one who changes included.
    eps : float
        Target for the central ε in nats, positive.
    delta : float
        Central δ of the guarantee, strictly between 0 and 1.
    rounds : int
        How many times every user reports; the target is for all rounds together.
    rate : float
        Share of the population that is drawn for each round, n users.
    **parameters
        The constructor's other parameters, such as ``d=16``.

    Returns
    -------
    Calibration
        ``answer`` is eps0, at most 700; the certificate is that of its own profile.

    Raises
    ------
    TypeError
        If ``randomizer`` is no constructor with these parameters.
    ValueError
        If an argument is outside its domain, or no budget from 1e-9 on is proved to meet the target.

    Notes
    -----
    Hypotheses: those of `shuffle`; rounds are composed adaptively.  Ten to thirty profiles are
    evaluated, each at a cost that does not grow with n.
    A randomizer with a design parameter of its own, such as a subset's size that is rounded to a whole
    number, has an ε that jumps; larger budgets than the answer may then meet the target too.

    Examples
    --------
    The local budget of every user, for any pure randomizer, if the central budget is 0.1:

    >>> from shufflelib import calibration
    >>> found = calibration.largest_eps0(n=10_000, eps=0.1, delta=1e-6)
    >>> found.answer > 1.82, found.fails < 1.92
    (True, True)
    """
    build = _constructor(randomizer, parameters, finds="eps0")
    n, rounds, rate = validation.users(n), checked_rounds(rounds), checked_rate(rate)
    eps, delta = checked_target(eps, delta)
    return _of_rounds(
        rounds,
        lambda eps0: shuffle(build(eps0=eps0), n).subsample(rate),
        f"largest eps0 for n = {n:,} users",
        start=eps,
        remedy="use a larger eps or delta, more users or fewer rounds",
        eps=eps,
        delta=delta,
        limits=(SMALLEST_BUDGET, LARGEST_BUDGET),
    )


def smallest_sigma(randomizer=gaussian, *, n, eps, delta, rounds=1, rate=1.0, **parameters):
    r"""Find the least noise whose certified central ε at δ stays within a target.

    .. math:: \min\{\sigma : \varepsilon_{n,\sigma}(\delta) \le \varepsilon\}

    Parameters
    ----------
    randomizer : callable
        A constructor that takes ``sigma``, by default `randomizers.gaussian`.
    n, eps, delta, rounds, rate, **parameters
        As for `largest_eps0`.

    Returns
    -------
    Calibration
        ``answer`` is the standard deviation of every report's noise, 0.03 to 10⁶, for values 0 and 1.

    Raises
    ------
    TypeError, ValueError
        As for `largest_eps0`.

    Examples
    --------
    >>> from shufflelib import calibration
    >>> found = calibration.smallest_sigma(n=1000, eps=0.5, delta=1e-6)
    >>> 0.7 < found.fails < found.answer < 0.8
    True
    """
    build = _constructor(randomizer, parameters, finds="sigma")
    n, rounds, rate = validation.users(n), checked_rounds(rounds), checked_rate(rate)
    eps, delta = checked_target(eps, delta)
    return _of_rounds(
        rounds,
        lambda sigma: shuffle(build(sigma=sigma), n).subsample(rate),
        f"smallest sigma for n = {n:,} users",
        start=1.0,
        remedy="use a larger eps or delta, more users or fewer rounds",
        eps=eps,
        delta=delta,
        limits=(SMALLEST_SIGMA, LARGEST_SIGMA),
        falling=True,
    )


def fewest_users(randomizer, *, eps, delta, rounds=1, rate=1.0, **parameters):
    r"""Find the smallest number of users whose certified central ε at δ is within a target.

    .. math:: \min\{n : \varepsilon_n(\delta) \le \varepsilon\}

    Parameters
    ----------
    randomizer : callable
        A constructor, such as `randomizers.generalized_rr`; or a `LocalRandomizer`, which is one with all
        its parameters.
    eps, delta, rounds, rate, **parameters
        As for `largest_eps0`, ``eps0`` included.

    Returns
    -------
    Calibration
        ``answer`` counts the users who report in a round, the one who changes included.  ``fails`` is a
        number that is too small, and at rate 1 so is every smaller one: a further user with a known value
        sends a report that an attacker could have drawn without them, so δ never rises with n.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or not even 10¹⁵ users are proved to meet the target.

    Notes
    -----
    Hypotheses: those of `shuffle`; rounds are composed adaptively.  The answer counts honest users who do
    take part; to allow for dropouts, start from the number that stays if who drops out does not depend on
    the values.  Below 10⁶ users ``unproved`` is
    ``answer - 1``.  Ten to thirty profiles are evaluated, each at a cost that does not grow with n.

    Examples
    --------
    >>> from shufflelib import calibration, randomizers
    >>> found = calibration.fewest_users(randomizers.binary_rr, eps0=1.0, eps=0.1, delta=1e-6)
    >>> found.answer, found.fails
    (1529, 1527)
    """
    rounds, rate = checked_rounds(rounds), checked_rate(rate)
    one = _built(randomizer, parameters)
    shuffle(one, 1).subsample(rate)  # refuses what has no such profile
    eps, delta = checked_target(eps, delta)
    return _of_rounds(
        rounds,
        lambda n: shuffle(one, n).subsample(rate),
        f"fewest users of {one}",
        start=1000,
        remedy="use a larger eps or delta, a smaller eps0 or fewer rounds",
        eps=eps,
        delta=delta,
        limits=(1, validation.MAX_USERS),
        falling=True,
        whole=True,
    )


def most_rounds(randomizer, *, n=None, eps, delta, rate=1.0, **parameters):
    r"""Find how many rounds of one mechanism stay within a target.

    .. math:: \max\{k : \varepsilon_{k\text{ rounds}}(\delta) \le \varepsilon\}

    Parameters
    ----------
    randomizer : callable
        A constructor, as for `fewest_users`; or the profile of one round, and then no more is needed but the
        target.
    n : int
        Number of users who report in a round.
    eps : float
        Target for ε of all rounds together in nats, positive.
    delta : float
        Central δ of the guarantee, strictly between 0 and 1.
    rate, **parameters
        As for `largest_eps0`, ``eps0`` included.

    Returns
    -------
    Calibration
        ``answer`` is a number of rounds, at most 10⁹.  ``fails`` is a number that is too large, and so
        is every larger one, since ε does not fall with further rounds.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or a single round is not proved to meet the target.

    Notes
    -----
    Rounds may be adaptive.  The lower end is that of the same attack in each round.  About ten compositions
    are evaluated.

    Examples
    --------
    >>> from shufflelib import calibration, randomizers
    >>> found = calibration.most_rounds(randomizers.binary_rr, eps0=1.0, n=10_000, eps=1.0, delta=1e-6)
    >>> found.answer, found.fails
    (512, 516)
    """
    if isinstance(randomizer, PrivacyProfile):
        if n is not None or parameters:
            raise TypeError(
                "a profile has its n and its parameters; pass a constructor with them, or neither"
            )
        profile = randomizer
    else:
        profile = shuffle(_built(randomizer, parameters), n)
    profile = profile.subsample(checked_rate(rate))
    eps, delta = checked_target(eps, delta)
    family = Family(
        lambda rounds: profile.compose(rounds),
        eps,
        delta,
        limits=(1, MAX_ROUNDS),
        whole=True,
        tolerance=MANY_ROUNDS,
    )
    return family.calibration(
        f"most rounds of {profile.statement}",
        start=1,
        remedy="use a larger eps or delta, or a more private round",
    )


def _constructor(randomizer, parameters, finds=None):
    """Return a constructor with all parameters but the one that is looked for."""
    if not callable(randomizer):
        raise TypeError(
            f"randomizer must be a constructor such as randomizers.generalized_rr, got {randomizer!r}"
        )
    if isinstance(randomizer, type) and issubclass(randomizer, LocalRandomizer):
        takes = inspect.signature(randomizer).parameters
        wants = ", ".join(takes)
        if finds and finds not in takes:
            raise TypeError(f"{randomizer.__name__} has no {finds} to look for; it takes {wants}")
        for name in parameters:
            if name not in takes or name == finds:
                raise TypeError(f"{name} is no parameter to give; {randomizer.__name__} takes {wants}")
        for name, one in takes.items():
            if one.default is one.empty and name not in (finds, *parameters):
                raise TypeError(f"{randomizer.__name__} needs {name}; it takes {wants}")
    return functools.partial(randomizer, **parameters)


def _built(randomizer, parameters):
    if isinstance(randomizer, LocalRandomizer) and not parameters:
        return randomizer
    return _constructor(randomizer, parameters)()


def checked_rate(rate):
    """Return a valid sampling rate."""
    return validation.real(
        rate, "rate", at_least=SMALLEST_RATE, at_most=1.0, remedy="the share of users that is drawn"
    )


def checked_target(eps, delta):
    """Return a valid target."""
    eps = validation.real(
        eps, "eps", at_least=1e-9, remedy="the target is a positive central budget in nats, at least 1e-9"
    )
    return eps, validation.probability(delta, "delta")


def checked_rounds(rounds):
    """Return a valid number of rounds."""
    return validation.count(
        rounds, "rounds", at_most=MAX_ROUNDS, remedy="rounds counts how often every user reports"
    )


def _of_rounds(rounds, one_round, quantity, *, start, remedy, **target):
    """Calibrate one parameter of a round, given how many rounds the target is for."""
    if rounds == 1:
        return Family(one_round, **target, tolerance=ONE_ROUND).calibration(
            quantity, start=start, remedy=remedy
        )
    # many rounds together are nearly Gaussian: a cheap guide to where the search should start

    def near(end, begin):
        guide = Family(lambda value: near_gaussian(one_round(value), rounds, end), **target, tolerance=1e-2)
        inner, outer = guide.edge(guide.proved, begin)
        return inner if outer is None else outer

    start = near("upper", start)
    family = Family(lambda value: one_round(value).compose(rounds=rounds), **target, tolerance=MANY_ROUNDS)
    return family.calibration(
        f"{quantity}, {rounds:,} rounds", start=start, start_below=near("lower", start), remedy=remedy
    )


def near_gaussian(profile, rounds, end):
    """Return the μ of Gaussian differential privacy that matches an end of δ at ε = 0: δ(0) = μ/√(2π)."""
    mu = math.sqrt(2.0 * math.pi * rounds) * getattr(profile.delta(0.0), end)
    return Gaussian(min(max(mu, 1e-9), 1e4))


@dataclass
class Family:
    """A family of profiles in one parameter, and the value at which they begin to miss a target.

    The search runs over the logarithm of the parameter, with its sign chosen so that δ rises, and uses
    log(-log δ), which is nearly linear there.
    """

    profile_at: Callable
    eps: float
    delta: float
    limits: tuple
    tolerance: float
    falling: bool = False
    whole: bool = False
    accuracy: float = TOLERANCE  # of δ, relative

    def __post_init__(self):
        self.profile = functools.cache(self.profile_at)

    def calibration(self, quantity, *, start, start_below=None, remedy):
        """Return the last value that is proved to work, and the first that is proved to fail."""
        answer, unproved = self.edge(self.proved, start)
        nearest = unproved if answer is None else answer
        beyond = nearest if unproved is None else unproved
        _, fails = self.edge(self.attacked, start_below or beyond, tolerance=COARSER * self.tolerance)
        stride = self.tolerance
        while answer is not None:
            certificate = self.profile_at(answer).epsilon(self.delta)  # afresh, as a reader would
            if certificate.upper <= self.eps:
                return Calibration(answer, certificate, unproved, fails, self.eps, self.delta, quantity)
            # δ at ε was met and ε at δ was not: a matter of rounding, so step back
            unproved, answer = answer, self._before(answer, stride)
            stride *= 2.0
        raise ValueError(
            f"eps = {self.eps:g} at delta = {self.delta:g} is out of reach ({quantity}): even "
            f"{_exact_or(nearest, up=True)} is not proved to meet it; {remedy}"
        )

    def proved(self, value):
        """Return the upper end of log δ at the target ε."""
        return max(
            pair.log_worst(self.eps, self.accuracy).upper for pair in self.profile(value).dominating_pairs
        )

    def attacked(self, value):
        """Return the lower end of log δ at the target ε."""
        return max(pair.log_worst(self.eps).lower for pair in self.profile(value).attack_pairs) - ROUNDING

    def edge(self, log_delta, start, *, tolerance=None):
        """Return the last value tried at which an end of δ meets the target, and the next one tried."""
        first, last = sorted(self._place(limit) for limit in self.limits)
        target, tried = math.log(self.delta), {}

        def height(place):  # positive where the target is missed
            value = self._value(place)
            if value not in tried:
                reached = log_delta(value)
                if -math.inf < reached < 0.0:
                    ratio = math.log(target / reached)
                    tried[value] = max(ratio, TINY) if reached > target else min(ratio, -TINY)
                else:
                    tried[value] = math.copysign(FARTHEST, reached)
            return tried[value]

        here = min(max(self._place(start), first), last)
        before, least, most = height(here), 1e-3, math.log(8.0)
        while True:
            step = -math.copysign(min(max(2.0 * abs(before), least), most), before)
            there = min(max(here + step, first), last)
            if there == here:
                break
            after = height(there)
            if (after > 0.0) != (before > 0.0):
                width = self.tolerance if tolerance is None else tolerance
                if abs(there - here) > width:
                    from scipy.optimize import toms748  # loaded here: no other question needs it

                    toms748(height, *sorted((here, there)), xtol=width, rtol=1e-15, disp=False)
                break
            here, before, least, most = there, after, 4.0 * least, 2.0 * most
        ranked = sorted(tried, key=self._place)
        met = 1 + max((i for i, value in enumerate(ranked) if tried[value] < 0.0), default=-1)
        return ranked[met - 1] if met else None, ranked[met] if met < len(ranked) else None

    def _before(self, value, stride):
        """Return a value one stride to the safe side, or None at the end of the range."""
        moved = self._value(self._place(value) - stride)
        if self.whole and moved == value:
            moved += 1 if self.falling else -1
        return moved if self.limits[0] <= moved <= self.limits[1] and moved != value else None

    def _place(self, value):
        return -math.log(value) if self.falling else math.log(value)

    def _value(self, place):
        for limit in self.limits:
            if place == self._place(limit):
                return limit
        value = math.exp(-place if self.falling else place)
        return round(value) if self.whole else value
