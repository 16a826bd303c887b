r"""Inverse questions: the largest local budget, the fewest users, the most rounds for a target (ε, δ).

The first argument is always a constructor of `shufflelib.randomizers`; its other parameters follow by name.
"""

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, Literal

from shufflelib.calibration.search import Calibration, Family
from shufflelib.numerics import validation
from shufflelib.numerics.certified import TOLERANCE
from shufflelib.profiles import cautions
from shufflelib.profiles.pairs import Gaussian
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.profiles.worst_epsilon import COARSE, ROUGH, far_apart
from shufflelib.randomizers.additive import gaussian
from shufflelib.randomizers.integer_noise import NoisyCount
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.randomizers.response import generic
from shufflelib.shuffling.aggregated import aggregate
from shufflelib.shuffling.shuffled import shuffle

ANALYSTS = ("reports", "sums")
LARGEST_BUDGET, SMALLEST_BUDGET = 700.0, 1e-9
LARGEST_SIGMA, SMALLEST_SIGMA = 1e6, 0.03
ONE_ROUND, MANY_ROUNDS, GUIDE = 1e-7, 1e-5, 1e-2  # relative widths at which the search for the answer stops


def largest_eps0(
    randomizer: Callable[..., LocalRandomizer] = generic,
    *,
    n: int,
    eps: float,
    delta: float,
    rounds: int = 1,
    rate: float = 1.0,
    analyst: Literal["reports", "sums"] = "reports",
    changed: int | None = None,
    **parameters: Any,
) -> Calibration:
    r"""Find the largest local budget whose certified central ε at δ stays within a target.

    .. math:: \max\{\varepsilon_0 : \varepsilon_{n,\varepsilon_0}(\delta) \le \varepsilon\}

    Parameters
    ----------
    randomizer : callable
        A constructor that takes ``eps0``, such as `randomizers.generalized_rr`.  By default
        `randomizers.generic`: the answer holds for every pure eps0-LDP randomizer that all users share, and
        at ``fails`` one of them misses the target.
    n : int
        Number of users who report in a round, including the one whose value changes.
    eps : float
        Target for the central ε in nats, positive.
    delta : float
        Central δ of the guarantee, strictly between 0 and 1.
    rounds : int
        How many times every user reports; the target is for all rounds together.
    rate : float
        Share of the population that is drawn for each round, n users.
    analyst : {'reports', 'sums'}
        What the analyst sees: shuffled reports, or sums of reports, as `aggregate` has them.
    changed : int, optional
        Of `aggregate`, where the analyst sees sums.
    **parameters
        The constructor's other parameters, such as ``d=16``.

    Returns
    -------
    Calibration
        ``answer`` is eps0, at most 700; the certificate is that of its own profile.

    Raises
    ------
    ValueError
        If no budget from 1e-9 on is proved to meet the target.

    Notes
    -----
    Assumptions: those of `shuffle`, or of `aggregate` for sums; rounds are composed adaptively.  Ten to
    thirty profiles are evaluated, each at a cost that does not grow with n.
    If a randomizer has a rounded design parameter, such as the size of a subset, its ε jumps; budgets larger
    than the answer may then also meet the target.

    Examples
    --------
    The local budget of every user, for any pure randomizer, at a central ε of 0.1:

    >>> from shufflelib import calibration
    >>> found = calibration.largest_eps0(n=10_000, eps=0.1, delta=1e-6)
    >>> found.answer > 1.82, found.fails < 1.92
    (True, True)
    """
    search = {"start": eps, "limits": (SMALLEST_BUDGET, LARGEST_BUDGET), "seen": (analyst, changed)}
    target = Target(eps, delta, rounds, rate)
    return _of_parameter("eps0", randomizer, parameters, n, target, "largest", **search)


def smallest_sigma(
    randomizer: Callable[..., LocalRandomizer] = gaussian,
    *,
    n: int,
    eps: float,
    delta: float,
    rounds: int = 1,
    rate: float = 1.0,
    analyst: Literal["reports", "sums"] = "reports",
    changed: int | None = None,
    **parameters: Any,
) -> Calibration:
    r"""Find the smallest noise σ whose certified central ε at δ stays within a target.

    .. math:: \min\{\sigma : \varepsilon_{n,\sigma}(\delta) \le \varepsilon\}

    Parameters
    ----------
    randomizer : callable
        A constructor that takes ``sigma``, by default `randomizers.gaussian`.
    n, eps, delta, rounds, rate, analyst, changed, **parameters
        As for `largest_eps0`.

    Returns
    -------
    Calibration
        ``answer`` is the standard deviation of every report's noise, 0.03 to 10⁶, for values 0 and 1.

    Raises
    ------
    ValueError
        As for `largest_eps0`.

    Examples
    --------
    >>> from shufflelib import calibration
    >>> found = calibration.smallest_sigma(n=1000, eps=0.5, delta=1e-6)
    >>> 0.7 < found.fails < found.answer < 0.8
    True
    """
    search = {"start": 1.0, "limits": (SMALLEST_SIGMA, LARGEST_SIGMA), "seen": (analyst, changed)}
    target = Target(eps, delta, rounds, rate)
    return _of_parameter("sigma", randomizer, parameters, n, target, "smallest", falling=True, **search)


def fewest_users(
    randomizer: LocalRandomizer | Callable[..., LocalRandomizer],
    *,
    eps: float,
    delta: float,
    rounds: int = 1,
    rate: float = 1.0,
    analyst: Literal["reports", "sums"] = "reports",
    changed: int | None = None,
    **parameters: Any,
) -> Calibration:
    r"""Find the smallest number of users whose certified central ε at δ is within a target.

    .. math:: \min\{n : \varepsilon_n(\delta) \le \varepsilon\}

    Parameters
    ----------
    randomizer : callable
        A constructor, such as `randomizers.generalized_rr`; or a `LocalRandomizer`, which is one with all
        its parameters.
    eps, delta, rounds, rate, analyst, changed, **parameters
        As for `largest_eps0`, ``eps0`` included.

    Returns
    -------
    Calibration
        ``answer`` counts the users who report in a round, including the one whose value changes.  ``fails``
        is a number that is too small, and at rate 1 so is every smaller one: a further user with a known
        value sends a report that an attacker could have drawn without them, so δ never increases with n.

    Raises
    ------
    ValueError
        If not even 10¹⁵ users are proved to meet the target.

    Notes
    -----
    Assumptions: those of `shuffle`, or of `aggregate` for sums; rounds are composed adaptively.  The answer
    counts honest users who do take part; to allow for dropouts, start from the number that stays if who
    drops out does not depend on the values.  Below 10⁶ users ``unproved`` is
    ``answer - 1``.  Ten to thirty profiles are evaluated, each at a cost that does not grow with n.

    Examples
    --------
    >>> from shufflelib import calibration, randomizers
    >>> found = calibration.fewest_users(randomizers.binary_rr, eps0=1.0, eps=0.1, delta=1e-6)
    >>> found.answer, found.fails
    (1529, 1527)
    """
    one, target = _built(randomizer, parameters), Target(eps, delta, rounds, rate)
    found = _of_rounds(
        target,
        lambda n: one_round(one, n, analyst, changed),
        f"fewest users of {one}{_summed(analyst)}",
        start=1000,
        remedy="use a larger eps or delta, a smaller eps0 or fewer rounds",
        limits=(1, validation.MAX_USERS),
        falling=True,
        whole=True,
    )
    return _warned(found, found.answer, target.rate)


def most_rounds(
    randomizer: LocalRandomizer | PrivacyProfile | Callable[..., LocalRandomizer],
    *,
    n: int | None = None,
    eps: float,
    delta: float,
    rate: float = 1.0,
    analyst: Literal["reports", "sums"] = "reports",
    changed: int | None = None,
    **parameters: Any,
) -> Calibration:
    r"""Find the largest number of rounds whose certified central ε at δ stays within a target.

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
    rate, analyst, changed, **parameters
        As for `largest_eps0`, ``eps0`` included.

    Returns
    -------
    Calibration
        ``answer`` is a number of rounds, at most 10⁹.  ``fails`` is a number that is too large, and so
        is every larger one, since ε does not fall with further rounds.

    Raises
    ------
    ValueError
        If a single round is not proved to meet the target.

    Notes
    -----
    Rounds may be adaptive.  The lower bound is that of the same attack in each round.  About ten compositions
    are evaluated.

    Examples
    --------
    >>> from shufflelib import calibration, randomizers
    >>> found = calibration.most_rounds(randomizers.binary_rr, eps0=1.0, n=10_000, eps=1.0, delta=1e-6)
    >>> found.answer, found.fails
    (512, 516)
    """
    if isinstance(randomizer, PrivacyProfile):
        if n is not None or parameters or (analyst, changed) != ("reports", None):
            raise TypeError(
                "a profile has its n and its parameters; pass a constructor with them, or neither"
            )
        profile = randomizer
    else:
        profile = one_round(_built(randomizer, parameters), n, analyst, changed)
    profile, users = profile.subsample(rate), profile.users
    target, limits = Target(eps, delta), (1, validation.MAX_ROUNDS)
    family = Family(profile.compose, target.eps, target.delta, limits, MANY_ROUNDS, whole=True)
    found = family.calibration(
        f"most rounds of {profile.statement}",
        start=1,
        remedy="use a larger eps or delta, or a more private round",
    )
    return _warned(found, users, rate)


def one_round(mechanism, n, analyst="reports", changed=None):
    """Return the profile of n reports, shuffled or summed up."""
    validation.one_of(analyst, "analyst", ANALYSTS)
    if analyst == "sums":
        return aggregate(mechanism, n, changed=changed)
    if changed is not None or isinstance(mechanism, NoisyCount):
        what = type(mechanism).__name__ if changed is None else f"changed = {changed}"
        raise ValueError(f"analyst must be sums for {what}, got reports, which are shuffled; choose sums")
    return shuffle(mechanism, n)


def _summed(analyst):
    return ", sums of reports" * (analyst == "sums")


def _constructor(randomizer, parameters, finds=None):
    """Return a constructor with all parameters but the one that is looked for."""
    if not callable(randomizer):
        raise TypeError(
            f"randomizer must be a constructor such as randomizers.generalized_rr, got {randomizer!r}"
        )
    if isinstance(randomizer, type) and issubclass(randomizer, LocalRandomizer):
        signature = inspect.signature(randomizer)
        takes = f"{randomizer.__name__} takes {', '.join(signature.parameters)}"
        if finds and finds not in signature.parameters:
            raise TypeError(f"{takes}, no {finds} to calibrate")
        validation.refuse_keywords(randomizer.__name__, signature.parameters, parameters)
        try:
            signature.bind(**({finds: None} if finds else {}), **parameters)
        except TypeError as wrong:
            raise TypeError(f"{takes}: {str(wrong).replace('keyword-only ', '')}") from None
    return functools.partial(randomizer, **parameters)


def _built(randomizer, parameters):
    if isinstance(randomizer, LocalRandomizer) and not parameters:
        return randomizer
    return _constructor(randomizer, parameters)()


@dataclasses.dataclass(frozen=True)
class Target:
    """What is asked for: ε and δ of all rounds together, each with a share of the population."""

    eps: float
    delta: float
    rounds: int = 1
    rate: float = 1.0

    def __post_init__(self):
        remedy = "the target is a positive central budget in nats, at least 1e-9"
        checked = {
            "eps": validation.real(self.eps, "eps", at_least=1e-9, remedy=remedy),
            "delta": validation.probability(self.delta, "delta"),
            "rounds": validation.rounds(self.rounds),
            "rate": validation.sampling_rate(self.rate),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def family(self, shuffled, *, composed=PrivacyProfile.compose, **search):
        """Return the search in one parameter of a round, with a way to compose rounds."""

        def all_rounds(value):
            return composed(shuffled(value).subsample(self.rate), self.rounds)

        return Family(all_rounds, self.eps, self.delta, **search)

    def guide(self, shuffled, start, end, **search):
        """Return where the search should start: many rounds together are nearly Gaussian."""
        if self.rounds == 1:
            return start
        gaussian = functools.partial(near_gaussian, end=end)
        family = self.family(shuffled, composed=gaussian, tolerance=GUIDE, **search)
        inner, outer = family.edge(family.proved, start)
        return inner if outer is None else outer


def _of_parameter(name, randomizer, parameters, n, target, which, *, seen, **search):
    """Calibrate one parameter of a constructor at a number of users."""
    build, n = _constructor(randomizer, parameters, finds=name), validation.users(n)
    found = _of_rounds(
        target,
        lambda value: one_round(build(**{name: value}), n, *seen),
        f"{which} {name} for n = {n:,} users{_summed(seen[0])}",
        remedy="use a larger eps or delta, more users or fewer rounds",
        **search,
    )
    return _warned(found, n, target.rate)


def _warned(found, n, rate):
    """Return the answer with what is to be said about a target for n users."""
    about = cautions.about_target(found.eps, found.delta, n, rate)
    certificate = dataclasses.replace(found.certificate, warning="")  # of the target it is all said here
    return dataclasses.replace(found, certificate=certificate, warning=cautions.warning(about))


def _of_rounds(target, shuffled, quantity, *, start, remedy, **search):
    """Calibrate one value of a shuffled mechanism for a target."""
    if target.rounds == 1:
        family = target.family(shuffled, tolerance=ONE_ROUND, **search)
        return family.calibration(quantity, start=start, remedy=remedy)
    start = target.guide(shuffled, start, "upper", **search)
    attacked = target.guide(shuffled, start, "lower", **search)
    here = shuffled(start).subsample(target.rate)
    low, high = (math.log(near_gaussian(here, target.rounds, end).mu) for end in ("lower", "upper"))
    apart = far_apart(low, high, math.log(target.delta * math.sqrt(2.0 * math.pi)))
    accuracy = ROUGH if apart else TOLERANCE  # as ε will be known
    known = {"accuracy": accuracy, "attack_accuracy": COARSE}
    family = target.family(shuffled, tolerance=MANY_ROUNDS, **known, **search)
    quantity = f"{quantity}, {target.rounds:,} rounds"
    return family.calibration(quantity, start=start, attacked=attacked, remedy=remedy)


def near_gaussian(profile, rounds, end):
    """Return the μ of Gaussian differential privacy that nearly matches an end of δ at ε = 0, μ/√(2π)."""
    pairs = profile.dominating_pairs if end == "upper" else profile.attack_pairs
    log_delta = max(getattr(pair.log_worst(0.0, GUIDE), end) for pair in pairs)
    mu = math.sqrt(2.0 * math.pi * rounds) * math.exp(log_delta)
    return Gaussian(min(max(mu, 1e-9), 1e4))
