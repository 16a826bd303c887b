r"""A profile for the accountants that people use already: dp-accounting's privacy loss distributions.

Shuffled reports then compose with central queries in an existing accountant.  dp-accounting (Google) keeps a
privacy loss distribution on a grid, from which it reads ε and δ after any number of compositions.

OpenDP has user-defined measurements, made from a function and a privacy map.  There is no adapter for it
here: a measurement also runs its function, and what is certified here is the mechanism with ideal randomness,
not the floats that ``sample`` draws.
"""

import math

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import TOLERANCE
from shufflelib.numerics.composed_loss import ComposedPLD
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.optional import remedy
from shufflelib.profiles.discretised_loss import DiscretisedLoss
from shufflelib.profiles.privacy_profile import PairProfile, PrivacyProfile

ROUNDS = (1, 10, 100, 1000)  # compositions for which the distribution is made narrow
ACCURACY = 5e-3  # relative, of their δ
DEVIATIONS = 5.0  # from the mean of their losses to those that decide δ
SMALLEST = 1e-290  # no smaller mass is left on the grid; less than what rounding is charged with
LEAST, MOST = -30.0, 60.0  # losses kept on the grid, in nats


def to_dp_accounting(profile, *, optimistic=False, step=1e-4):
    r"""Return a profile as a privacy loss distribution of dp-accounting.

    .. math:: \delta(\varepsilon) \le \sum_{\ell} p_\ell \bigl(1 - e^{\varepsilon - \ell}\bigr)_+ + p_\infty

    Parameters
    ----------
    profile : PrivacyProfile
        What was made by `shufflelib.shuffle`, composed and subsampled or not; or a pair.
    optimistic : bool, optional
        By default the distribution is pessimistic: it proves ε and δ, also after composition.  With True it
        is the optimistic twin, from an attack: what it says is attained, and proves no privacy.
    step : float, optional
        Distance of the grid's losses in nats, 1e-7 to 0.1; distributions that are composed must share it.
        1e-4 is the default of dp-accounting.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        Its ``get_epsilon_for_delta`` is an upper end, or a lower end for the optimistic twin.

    Raises
    ------
    TypeError, ValueError
        If ``profile`` is no profile or ``step`` is outside its domain.
    ImportError
        If dp-accounting is missing; it says what to install.

    Notes
    -----
    Neighbouring datasets are those of the profile, usually replace one; compose only with distributions for
    the same relation.  A loss between two points of the grid is split between them so that neither P nor Q
    loses mass, which costs an error of second order in ``step``; the optimistic twin rounds losses down, so
    that its ε is smaller by up to ``step`` for each composition.

    Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (PoPETs 2022), for the split.

    Examples
    --------
    A month of shuffled reports and one central query with Gaussian noise:

    >>> from shufflelib import interop, randomizers, shuffle
    >>> from dp_accounting.pld import privacy_loss_distribution
    >>> reports = shuffle(randomizers.generalized_rr(eps0=2.0, d=16), 10_000)
    >>> daily = interop.to_dp_accounting(reports)
    >>> query = privacy_loss_distribution.from_gaussian_mechanism(5.0)
    >>> round(daily.self_compose(30).compose(query).get_epsilon_for_delta(1e-6), 2)
    0.95
    """
    validation.instance(profile, "profile", PrivacyProfile, remedy="build one with shufflelib.shuffle")
    if not isinstance(optimistic, bool):
        raise TypeError(f"optimistic must be True or False, got {validation.shown(optimistic)}")
    step = validation.real(step, "step", at_least=1e-7, at_most=0.1, remedy="a distance of losses in nats")
    with remedy("pip install shufflelib[interop]"):
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    if isinstance(profile, PairProfile):
        pair = profile
    elif optimistic:
        pair = max(profile.attack_pairs, key=lambda one: one.dot(0.0, TOLERANCE).lower)
    else:
        pair = profile.envelope
    dots = _refined(DiscretisedLoss(pair))
    directions = [dots] if pair.symmetric else [dots, dots.reversed]
    drawn = [
        _rounded_down(one.optimistic, step) if optimistic else _split(one.pessimistic, step)
        for one in directions
    ]
    made = [pld_pmf.DensePLDPmf(step, *one, not optimistic) for one in drawn]
    return privacy_loss_distribution.PrivacyLossDistribution(*made)


def _refined(dots):
    """Add dots until both distributions agree about δ after some compositions."""
    for rounds in ROUNDS:
        while True:
            above, below = (ComposedPLD([one], [rounds]) for one in (dots.pessimistic, dots.optimistic))
            variance = max(above.cumulants(0.0)[3], 1e-20)
            tilt = DEVIATIONS / math.sqrt(variance)
            doubt = above.contributions(tilt) - below.contributions(tilt)
            if doubt.sum() <= ACCURACY or dots.exhausted or not dots.refine(tilt + 1.0):
                break
    return dots


def _split(pld, step):
    """Return first place, masses and infinite loss of a distribution on the grid that is above another.

    A mass p at a loss ℓ between a and b becomes two, such that neither p nor p e^{−ℓ} changes.
    """
    far = pld.loss > MOST
    infinity_mass = (
        pld.infinity_mass + math.fsum(pld.mass[far]) + pld.slack + 64 * UNIT
    )  # more than all that `SMALLEST` takes
    loss, mass = np.maximum(pld.loss[~far], LEAST), pld.mass[~far]
    place = np.floor(loss / step).astype(int)
    share = np.clip(np.expm1(place * step - loss) / math.expm1(-step), 0.0, 1.0)
    first, size = place.min(), place.max() - place.min() + 2
    probs = np.bincount(place - first, mass * (1.0 - share), size)
    probs += np.bincount(place - first + 1, mass * share, size)
    return int(first), np.where(probs < SMALLEST, 0.0, probs), min(infinity_mass, 1.0)


def _rounded_down(pld, step):
    """Return first place, masses and infinite loss of a distribution on the grid that is below another."""
    kept = pld.loss >= LEAST
    fewer = 1.0 - min(pld.slack + 64 * UNIT, 1.0)
    place = np.floor(np.minimum(pld.loss[kept], MOST) / step * (1.0 + 1e-12) - 1e-9).astype(int)
    first = place.min()
    probs = np.bincount(place - first, pld.mass[kept] * fewer)
    return int(first), np.where(probs < SMALLEST, 0.0, probs), pld.infinity_mass * fewer
