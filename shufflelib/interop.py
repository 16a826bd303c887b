r"""Profiles in other accountants: dp-accounting's privacy loss distribution of a certified profile.

Shuffled telemetry is one release among others.  An accountant that already keeps the central queries on the
same users composes it with them, once it is given its privacy loss distribution (PLD): the distribution of
log P/Q under P.

`to_dp_event` makes an event of it, for programs that take dp-accounting's events and accountants:
`dp_accountant` returns its `PLDAccountant`, which knows these events too.

OpenDP takes the curve as a function, ``new_privacy_profile(lambda eps: profile.delta(eps).upper)``, and
``profile.epsilon(delta).upper`` with that δ in a ``privacy_map`` of one line.  The book's page on other tools
has recipes for it, riskcal, gdpnum, jax-privacy and Opacus.
"""

import functools
import warnings
from typing import Any

from shufflelib.numerics import validation
from shufflelib.numerics.optional import remedy
from shufflelib.profiles.hockey_stick import Pair
from shufflelib.profiles.loss_grid import LossOnGrid
from shufflelib.profiles.privacy_profile import plainest
from shufflelib.profiles.questions import PrivacyProfile

RESOLUTION = 1e-15  # of δ in dp-accounting's compositions


def to_dp_accounting(profile: PrivacyProfile, *, value_discretization_interval: float = 1e-4) -> Any:
    r"""Return the profile as dp-accounting's privacy loss distribution, pessimistic.

    .. math:: \delta_{\mathrm{PLD}}(\varepsilon) \ge \delta(\varepsilon)
              \quad\text{for all } \varepsilon, \text{ in every composition}

    Parameters
    ----------
    profile : PrivacyProfile
        Of a mechanism, of a pair on its own, or of rounds and random subsets of them.
    value_discretization_interval : float
        The step of the grid of losses in nats, 1e-9 ≤ step ≤ 1.  Only PLDs with one step compose; 1e-4 is
        dp-accounting's default.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        It dominates the profile's upper bound, in both directions: of a mechanism as one symmetric PLD, of an
        asymmetric pair (P, Q) as two, P‖Q for dp-accounting's ``remove`` and Q‖P for its ``add``.

    Raises
    ------
    ImportError
        If dp-accounting is missing; it says what to install.

    Notes
    -----
    Assumptions: those of the profile.  Neighbours of shuffled reports replace one user's value, so account
    for a central query with ``NeighboringRelation.REPLACE_ONE``, or with its sensitivity under replacement.

    The conversion is certified; dp-accounting's own arithmetic is not.  Its transforms leave an error of
    about 1e-14 in δ, which matters at δ below about 1e-11.
    A step above a tenth of the loss's standard deviation is coarse.  Then use a smaller one, or convert
    ``profile.compose(rounds=K)``: composed here, K rounds have a larger loss.  Losses beyond 10⁶ steps, and
    those rarer than e⁻⁶⁰, count as infinite.

    Cost: 400 to 700 values of the profile's curve, for most mechanisms within a second.  Slow curves, such
    as those of composed rounds or Laplace noise, show progress.

    Source: connect-the-dots, Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (PoPETs 2022); that dominating
    pairs compose is Zhu, Dong, Wang (AISTATS 2022), Theorem 10.

    Examples
    --------
    Thirty days of shuffled reports and one central Gaussian query, which changes by at most 1 where a user
    is replaced:

    >>> import pytest
    >>> pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    >>> from shufflelib import randomizers, shuffle
    >>> from shufflelib.interop import to_dp_accounting
    >>> daily = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10_000)
    >>> query = pld.from_gaussian_mechanism(standard_deviation=5.0)
    >>> round(to_dp_accounting(daily).self_compose(30).compose(query).get_epsilon_for_delta(1e-6), 3)
    0.851
    """
    profile, step = _checked_profile(profile), _checked_step(value_discretization_interval)
    pair = profile if isinstance(profile, Pair) else profile.envelope  # type: ignore[attr-defined]
    return _privacy_loss_distribution(pair, step, optimistic=False)


def to_dp_accounting_optimistic(
    profile: PrivacyProfile, *, value_discretization_interval: float = 1e-4
) -> Any:
    r"""Return an optimistic privacy loss distribution: a lower bound, never a guarantee.

    .. math:: \delta_{\mathrm{PLD}}(\varepsilon) \le \delta(\varepsilon)
              \quad\text{for all } \varepsilon, \text{ in every composition}

    Together both say how much is lost in dp-accounting.

    Parameters
    ----------
    profile, value_discretization_interval
        As in `to_dp_accounting`.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        Of a pair on its own, or of one attack on a mechanism: the best known at ε = 0.  It is marked
        ``pessimistic_estimate=False``, so that dp-accounting refuses to compose it with a pessimistic one.

    Notes
    -----
    That of a symmetric pair has exactly :math:`e^{-l}` times as much mass at −l as at l, as programs expect
    that compute trade-off functions from a symmetric PLD.  Of an asymmetric pair each direction is a lower
    bound by itself, for dp-accounting, which asks them one by one; a trade-off function computed from both at
    once need not be one.
    Compose with ``tail_mass_truncation=0``: dp-accounting adds what it truncates, 1e-15, to δ.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("dp_accounting")
    >>> from shufflelib import randomizers, shuffle
    >>> from shufflelib.interop import to_dp_accounting, to_dp_accounting_optimistic
    >>> daily = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10_000)
    >>> ends = to_dp_accounting_optimistic(daily), to_dp_accounting(daily)
    >>> [round(end.self_compose(30, 0.0).get_epsilon_for_delta(1e-6), 4) for end in ends]
    [0.1445, 0.1446]
    """
    profile, step = _checked_profile(profile), _checked_step(value_discretization_interval)
    if isinstance(profile, Pair):
        return _privacy_loss_distribution(profile, step, optimistic=True)
    return _privacy_loss_distribution(plainest(profile.attack_pairs), step, optimistic=True)


def to_dp_event(profile: PrivacyProfile) -> Any:
    r"""Return the profile as an event of dp-accounting, which `dp_accountant` composes with others.

    .. math:: \text{event counted } K \text{ times} = \text{the profile of } K \text{ rounds, composed here}

    Parameters
    ----------
    profile : PrivacyProfile
        As in `to_dp_accounting`.

    Returns
    -------
    dp_accounting.DpEvent
        Two events of one profile are equal.

    Raises
    ------
    ImportError
        If dp-accounting is missing; it says what to install.

    Notes
    -----
    Other accountants refuse the event as unsupported, as they must.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("dp_accounting")
    >>> from shufflelib import randomizers, shuffle
    >>> from shufflelib.interop import to_dp_event
    >>> to_dp_event(shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10_000))
    ProfileDpEvent(profile=shuffle(generalized_rr(eps0=1.0, d=10), n=10000))
    """
    event, _ = _accounting()
    return event(_checked_profile(profile))


def dp_accountant(*, value_discretization_interval: float = 1e-4) -> Any:
    r"""Return dp-accounting's accountant of privacy loss distributions, for events of profiles as well.

    .. math:: \varepsilon_{\mathrm{accountant}}(\delta) \ge \varepsilon(\delta)
              \quad\text{up to dp-accounting's rounding}

    Parameters
    ----------
    value_discretization_interval : float
        As in `to_dp_accounting`; one step for all events.

    Returns
    -------
    dp_accounting.pld.PLDAccountant
        Of neighbours that replace one user's data, ``NeighboringRelation.REPLACE_ONE``, as those of shuffled
        reports do.  Its ``compose``, ``get_epsilon`` and ``get_delta`` are those of dp-accounting.

    Raises
    ------
    ImportError
        If dp-accounting is missing; it says what to install.

    Warns
    -----
    UserWarning
        If a δ below 1e-15 is asked for or answered: composition there truncates tails of that mass.
        ``profile.epsilon`` resolves smaller ones.

    Notes
    -----
    An event that is repeated is composed here and then converted, which is certified and loses less than K
    compositions of its distribution.  A `GaussianDpEvent` counts by its sensitivity under *adding* a record:
    dp-accounting doubles it for neighbours that replace one.

    Examples
    --------
    Thirty days of shuffled reports, and one central Gaussian query, as in `to_dp_accounting` (where 5 is the
    deviation for a sensitivity of 1 under replacement):

    >>> import pytest
    >>> dp_accounting = pytest.importorskip("dp_accounting")
    >>> from shufflelib import randomizers, shuffle
    >>> from shufflelib.interop import dp_accountant, to_dp_event
    >>> daily = to_dp_event(shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10_000))
    >>> query = dp_accounting.GaussianDpEvent(noise_multiplier=10.0)
    >>> round(dp_accountant().compose(daily, 30).compose(query).get_epsilon(1e-6), 3)
    0.851
    """
    _, accountant = _accounting()
    return accountant(_checked_step(value_discretization_interval))


@functools.cache
def _accounting() -> tuple[Any, Any]:
    """Return the classes of event and accountant, made where dp-accounting is installed."""
    with remedy("the conversion needs it: pip install dp-accounting"):
        from dp_accounting import NeighboringRelation, dp_event
        from dp_accounting.pld import PLDAccountant
    import attr  # which comes with it

    @attr.s(frozen=True, auto_attribs=True)
    class ProfileDpEvent(dp_event.DpEvent):
        """One round of a profile."""

        profile: PrivacyProfile

    class ProfileAccountant(PLDAccountant):
        """`PLDAccountant`, with one more event."""

        def __init__(self, step):
            super().__init__(NeighboringRelation.REPLACE_ONE, step)

        def _maybe_compose(self, event, count, do_compose):
            if not isinstance(event, ProfileDpEvent):
                return super()._maybe_compose(event, count, do_compose)
            if do_compose:
                self._pld = self._pld.compose(
                    _pessimistic(event.profile, count, self._value_discretization_interval)
                )
            return None

        def get_epsilon(self, target_delta):
            _warn_below_resolution("target_delta", target_delta)
            return super().get_epsilon(target_delta)

        def get_delta(self, target_epsilon):
            delta = super().get_delta(target_epsilon)
            _warn_below_resolution("delta", delta)
            return delta

    return ProfileDpEvent, ProfileAccountant


@functools.lru_cache(maxsize=64)
def _pessimistic(profile, rounds, step):
    return to_dp_accounting(profile.compose(rounds), value_discretization_interval=step)


def _warn_below_resolution(name, delta):
    if delta < RESOLUTION:
        warnings.warn(
            f"{name} = {delta:g} is below {RESOLUTION:g}, the mass of the tails that dp-accounting truncates "
            "where it composes; profile.epsilon resolves smaller ones",
            stacklevel=3,
        )


def _checked_profile(profile):
    remedy = "shufflelib.shuffle makes one of a randomizer"
    return validation.instance(profile, "profile", PrivacyProfile, remedy=remedy)


def _checked_step(step):
    remedy = "it is the step of the grid of losses; dp-accounting's default is 1e-4"
    return validation.real(step, "value_discretization_interval", at_least=1e-9, at_most=1.0, remedy=remedy)


def _privacy_loss_distribution(pair, step, *, optimistic):
    with remedy("the conversion needs it: pip install dp-accounting"):
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    loss = LossOnGrid.of(pair, step)
    pmfs = []
    for one in (loss,) if pair.symmetric else (loss, loss.reversed):
        index, mass, infinity_mass = one.below() if optimistic else one.above()
        masses = dict(zip(index.tolist(), mass.tolist(), strict=True))
        pmfs.append(pld_pmf.create_pmf(masses, step, infinity_mass, not optimistic))
    return privacy_loss_distribution.PrivacyLossDistribution(*pmfs)
