r"""Gradient descent in which every example is in one batch of an epoch: what a membership test can tell.

.. math:: P = \mathcal N(0, I_M), \qquad Q = \frac1M \sum_{i \le M} \mathcal N(e_i/\sigma, I_M)

This pair dominates one epoch of *random allocation*, where the batch of each example is drawn independently,
if the example is replaced by one with gradient 0; it is attained where all other gradients are 0.  In batches
of fixed size it is attained as well but does not dominate: if all other gradients are −C, the pair has the
means 2 e_i/σ and e_i/σ.  The total variation is δ at ε = 0, the largest gap of the trade-off function below
1 − a, and √2 times the separation κ.
"""

import functools
import math

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.special import log_ndtr

from shufflelib import randomizers, shuffle
from shufflelib.profiles import Gaussian
from shufflelib.sgd.accounting.epoch import epoch

BERRY_ESSEEN = 0.4748  # the constant of the inequality
DELTA = 1e-5
REACH = np.linspace(-10.0, 14.0, 1501)  # of z ~ N(0, 1)
MASS = np.exp(-0.5 * REACH**2) / math.sqrt(2.0 * math.pi) * (REACH[1] - REACH[0])


@functools.cache
def removed(sigma, rounds):
    """Return the pair of an example that is removed: all of M reports N(0, 1), or one of them N(1/σ, 1)."""
    return shuffle(randomizers.gaussian(sigma=sigma), n=rounds).attack_pairs[0]


@functools.cache
def total_variation(sigma, rounds, epochs=1):
    """Enclose the total variation of the pair over epochs with fresh batches."""
    pair = removed(sigma, rounds)
    if epochs > 1:
        words = {"statement": "an example removed", "source": "", "record": "example", "assumptions": ()}
        pair = epoch(pair, pair, **words).compose(rounds=epochs)
    return pair.delta(0.0)


def by_integral(first, second, rounds):
    """Return the total variation of mixtures of shifts by ``first`` and ``second``, E|Z|/2M as an integral.

    Z is the sum of M independent differences of the likelihood ratios; |z| = (2/π) ∫ (1 − cos uz)/u² du.
    """
    value = np.exp(first * REACH - 0.5 * first**2) - np.exp(second * REACH - 0.5 * second**2)
    scale = math.sqrt(rounds * np.sum(MASS * value**2))
    log_u = np.linspace(-7.0, 9.0, 641)
    u = np.exp(log_u) / scale
    gaps = [-np.sum(MASS * np.expm1(1j * one * value)) for one in u]  # 1 − E e^{iu value}
    inside = -np.expm1(rounds * np.log1p(-np.array(gaps))).real / u
    ends = 0.5 * scale**2 * u[0] + 1.0 / u[-1]
    return (simpson(inside, x=log_u) + ends) / (math.pi * rounds)


def by_chi_square(sigma, rounds, epochs=1):
    """Return U(c), the largest total variation at the pair's χ² = (1 + (e^{1/σ²} − 1)/M)^E − 1."""
    c = math.expm1(epochs * math.log1p(math.expm1(sigma**-2) / rounds))
    return 0.5 * math.sqrt(c) if c <= 1.0 else c / (1.0 + c)


def by_berry_esseen(sigma, rounds):
    """Return the leading terms of a bound of one epoch by Berry and Esseen's inequality, as we derive them.

    The standardised sum of M likelihood ratios is normal up to 0.4748 ρ/√M at every threshold, under P and
    under Q; the shift of its mean adds the total variation of the limit.
    """
    t = 1.0 / sigma
    deviation = math.sqrt(math.expm1(t * t))
    third = np.sum(MASS * np.abs(np.exp(t * REACH - 0.5 * t * t) - 1.0) ** 3) / deviation**3
    return (2.0 * BERRY_ESSEEN * third + deviation / math.sqrt(2.0 * math.pi)) / math.sqrt(rounds)


def closed_form_noise(rounds, target):
    """Return the σ at which the chi-square bound of one epoch is the target, at most 1/2."""
    return 1.0 / math.sqrt(math.log1p(4.0 * target**2 * rounds))


def exact_noise(rounds, target):
    """Return the least σ of one epoch, by the middle of certified bounds."""
    enough = closed_form_noise(rounds, target)

    def above(sigma):
        found = total_variation(sigma, rounds)
        return 0.5 * (found.lower + found.upper) - target

    return brentq(above, 0.8 * enough, enough, xtol=1e-4)


@functools.cache
def noises(rounds, target):
    """Return the least σ, that of the chi-square bound, and of Berry and Esseen's, NaN where it has none."""
    within = math.sqrt(3.0 / math.log(rounds))
    misses = by_berry_esseen(100.0, rounds) > target
    other = math.nan if misses else brentq(lambda s: by_berry_esseen(s, rounds) - target, within, 100.0)
    return exact_noise(rounds, target), closed_form_noise(rounds, target), other


def of_poisson(sigma, rounds):
    """Enclose ε of an epoch of Poisson samples of rate 1/M."""
    return Gaussian(1.0 / sigma).subsample(1.0 / rounds).compose(rounds).epsilon(DELTA)


def of_others_at_minus_c(sigma, rounds):
    """Return ε that an attack proves for batches of fixed size where all other gradients are −C.

    The event is that one report is above c.
    """
    c = np.linspace(0.0, 12.0, 2401)
    rest = (rounds - 1) * log_ndtr(c)
    seen, absent = (-np.expm1(rest + log_ndtr(c - shift / sigma)) for shift in (2.0, 1.0))
    useful = (seen > DELTA) & (absent > 1e-12)
    return float(np.log((seen[useful] - DELTA) / absent[useful]).max())
