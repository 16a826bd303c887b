r"""Central limit theorem with the shuffle index: δ and ε for a large number of users.

A sum of n small terms is nearly Gaussian, so the mean of its positive part is nearly that of a Gaussian:

.. math:: \delta \approx \mu\,\mathbb E(Z - t)_+ = \mu\,[\varphi(t) - t\,\Phi(-t)], \qquad
          \mu = \frac1{\chi\sqrt n}, \quad t = \frac\varepsilon\mu, \quad Z \sim \mathcal N(0, 1).

**Nothing here is certified.**  These are limits for a fixed randomizer, without an error term;
at finite n they may claim, and do claim, more privacy than there is.  For proved numbers use `shuffle`.

Source: Takagi, Liew, arXiv:2601.19154v4 (known here only through its abstract and a secondary source,
in which the expansion is Lemma 3.2 and moderate deviations are Theorem 3.5).  The formulas are derived and
checked independently.

``chi`` is the shuffle index, 1e-300 ≤ χ ≤ 1e300: ``shuffle_index(...).blanket`` or ``.attack``.  ``n`` is a
number from 1 to 10¹⁵, ``eps`` is in nats, positive for `moderate_delta`.  Arrays
broadcast.  Every formula costs O(1).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import wrightomega

from shufflelib.numerics import validation
from shufflelib.numerics.logspace import mills_ratio
from shufflelib.numerics.types import Array

FARTHEST = 100.0  # standard deviations; from here on exp(−t²/2) is 0
LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


def _positive_part(t):
    """Return log E(Z − t)₊ of a standard normal Z, and its derivative, for 0 ≤ t ≤ `FARTHEST`."""
    mills = mills_ratio(t)
    part = 1.0 - t * mills
    return np.log(part) - 0.5 * t * t - LOG_ROOT_TWO_PI, -mills / part


def _checked(chi, n, other, name, **domain) -> tuple[Array, Array]:
    chi = validation.reals(chi, "chi", at_least=1e-300, at_most=1e300, remedy="shuffle_index gives it")
    n = validation.reals(
        n, "n", at_least=1.0, at_most=float(validation.MAX_USERS), remedy="n counts all users"
    )
    other = validation.reals(other, name, **domain)
    return 1.0 / (chi * np.sqrt(n)), other


def _plain(values):
    return float(values) if np.ndim(values) == 0 else values


def asymptotic_delta(*, chi: ArrayLike, n: ArrayLike, eps: ArrayLike) -> Any:
    r"""Return the δ of the central limit theorem: an approximation, **not a bound**.

    .. math:: \delta \approx \mu\,[\varphi(t) - t\,\Phi(-t)], \qquad \mu = \frac1{\chi\sqrt n},\quad
              t = \frac{\varepsilon}{\mu}

    Returns
    -------
    float or numpy.ndarray
        The value of the limit.  The true δ may be larger.

    Notes
    -----
    Hypotheses: a fixed randomizer, n → ∞, ε of order n^{-1/2} (then the ratio to the blanket's or the
    attack's δ tends to 1).  To first order this is the profile of the μ-Gaussian mechanism.  No error term.

    Examples
    --------
    >>> from shufflelib.published import central_limit, shuffle_index
    >>> from shufflelib import randomizers, shuffle
    >>> one = randomizers.generalized_rr(eps0=1.0, d=10)
    >>> chi = shuffle_index.shuffle_index(one).blanket
    >>> limit = central_limit.asymptotic_delta(chi=chi, n=10**6, eps=0.002)
    >>> round(limit, 10), limit < shuffle(one, n=10**6).delta(eps=0.002).lower
    (5.095e-07, True)
    """
    mu, eps = _checked(chi, n, eps, "eps", at_least=0.0)
    with np.errstate(over="ignore", under="ignore"):
        return _plain(mu * np.exp(_positive_part(np.minimum(eps / mu, FARTHEST))[0]))


def asymptotic_epsilon(*, chi: ArrayLike, n: ArrayLike, delta: ArrayLike) -> Any:
    r"""Return the ε of the central limit theorem: an approximation, **not a bound**.

    .. math:: \varepsilon \approx \mu\,t, \qquad \mu\,[\varphi(t) - t\,\Phi(-t)] = \delta, \qquad
              \mu = \frac1{\chi\sqrt n}

    Returns
    -------
    float or numpy.ndarray
        The value of the limit, 0 where δ ≥ μ/√(2π).  The true ε may be larger.

    Notes
    -----
    The inverse of `asymptotic_delta`, to 12 digits; hypotheses and source are there.

    Examples
    --------
    Here an attack attains more than δ at the ε that the limit suggests:

    >>> from shufflelib.published import central_limit, shuffle_index
    >>> from shufflelib import randomizers, shuffle
    >>> one = randomizers.generalized_rr(eps0=4.0, d=10)
    >>> chi = shuffle_index.shuffle_index(one).blanket
    >>> limit = central_limit.asymptotic_epsilon(chi=chi, n=1000, delta=1e-6)
    >>> round(limit, 3), shuffle(one, n=1000).delta(eps=limit).lower > 1e-6
    (1.253, True)
    """
    mu, delta = _checked(chi, n, delta, "delta", **validation.INSIDE_UNIT_INTERVAL)
    target = np.log(delta) - np.log(mu)
    t = np.sqrt(np.maximum(-2.0 * (target + LOG_ROOT_TWO_PI), 0.0))
    for _ in range(60):  # log E(Z − t)₊ is concave: from the right of the root Newton's steps stay there
        value, slope = _positive_part(t)
        step = (value - target) / slope
        t = np.maximum(t - step, 0.0)
        if np.all(np.abs(step) <= 1e-14 * (1.0 + t)):
            break
    return _plain(np.where(target >= -LOG_ROOT_TWO_PI, 0.0, mu * t))


def moderate_delta(*, chi: ArrayLike, n: ArrayLike, eps: ArrayLike) -> Any:
    r"""Return the δ of moderate deviations: an approximation, **not a bound**.

    .. math:: \delta \approx \frac{\varphi(t)}{\chi^3 \varepsilon^2 n^{3/2}} = \frac{\mu\,\varphi(t)}{t^2},
              \qquad \mu = \frac1{\chi\sqrt n},\quad t = \frac\varepsilon\mu

    Returns
    -------
    float or numpy.ndarray
        The value of the limit, always above `asymptotic_delta`.  The true δ may be larger than either.

    Notes
    -----
    Hypotheses: a fixed randomizer, n → ∞, ε between n^{-1/2} and √(log n/n) in order of size, which is
    where δ falls like a power of n.  `asymptotic_delta` with the tail's leading term only; no error term.

    Examples
    --------
    >>> from shufflelib.published import central_limit
    >>> at = {"chi": 1.4, "n": 10**6, "eps": 0.002}
    >>> round(central_limit.moderate_delta(**at) / central_limit.asymptotic_delta(**at), 3)
    1.327
    """
    mu, eps = _checked(chi, n, eps, "eps", above=0.0)
    with np.errstate(over="ignore", under="ignore"):
        t = eps / mu
        return _plain(np.exp(3.0 * np.log(mu) - 2.0 * np.log(eps) - 0.5 * t * t - LOG_ROOT_TWO_PI))


def moderate_epsilon(*, chi: ArrayLike, n: ArrayLike, delta: ArrayLike) -> Any:
    r"""Return the ε of moderate deviations: an approximation, **not a bound**.

    .. math:: \varepsilon \approx \frac1\chi \sqrt{\frac{2\,W(x)}{n}}, \qquad
              x = \frac{1}{2\sqrt{2\pi}\,\chi\sqrt n\,\delta}, \qquad W e^W = x

    Returns
    -------
    float or numpy.ndarray
        The value of the limit, always above `asymptotic_epsilon`.  The true ε may be larger than either.

    Notes
    -----
    The inverse of `moderate_delta`; hypotheses and source are there.  At δ = 1/n it is
    :math:`\frac1\chi\sqrt{\log n/n}` to first order, up to a factor 1 + O(log log n/log n).

    Examples
    --------
    >>> from shufflelib.published import central_limit
    >>> found = central_limit.moderate_epsilon(chi=1.4, n=[10**4, 10**6, 10**8], delta=1e-6)
    >>> found.round(5).tolist()
    [0.02379, 0.00193, 0.00014]
    """
    mu, delta = _checked(chi, n, delta, "delta", **validation.INSIDE_UNIT_INTERVAL)
    log_x = np.log(mu) - np.log(2.0 * delta) - LOG_ROOT_TWO_PI
    return _plain(mu * np.sqrt(2.0 * wrightomega(log_x)))  # W(x)
