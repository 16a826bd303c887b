r"""What pure ε-differential privacy alone says: the trivial end of every bracket.

Any pair with :math:`e^{-\varepsilon_0} \le P/Q \le e^{\varepsilon_0}` is a post-processing of binary
randomized response (Kairouz, Oh, Viswanath, ICML 2015), so that these numbers are attained by it.
"""

import math

import numpy as np


def delta(eps0, eps):
    r"""Return :math:`(e^{\varepsilon_0} - e^{\varepsilon})_+ / (e^{\varepsilon_0} + 1)`; 1 for infinite eps0.

    Examples
    --------
    >>> from shufflelib.profiles import pure_dp
    >>> float(pure_dp.delta(0.0, 1.0)), float(pure_dp.delta(float("inf"), 3.0))
    (0.0, 1.0)
    """
    if math.isinf(eps0):
        return np.ones(np.shape(eps))
    fall = np.expm1(np.minimum(np.asarray(eps, float) - eps0, 0.0))
    return np.abs(fall) / (1.0 + math.exp(-eps0))


def renyi(eps0, order):
    r"""Return the Rényi divergence of binary randomized response, infinite for infinite eps0.

    .. math:: \frac1{\lambda-1}\log\frac{e^{\lambda\varepsilon_0} + e^{(1-\lambda)\varepsilon_0}}
              {e^{\varepsilon_0} + 1}

    Examples
    --------
    >>> from shufflelib.profiles import pure_dp
    >>> round(float(pure_dp.renyi(1.0, 2.0)), 4)
    0.7353
    """
    order = np.asarray(order, float)
    if math.isinf(eps0):
        return np.full(order.shape, math.inf)
    moment = np.logaddexp(order * eps0, (1.0 - order) * eps0) - np.logaddexp(eps0, 0.0)
    return np.clip(moment / (order - 1.0), 0.0, eps0)


def false_negatives(eps0, fpr):
    r"""Return :math:`\max\{0,\; 1 - e^{\varepsilon_0}\alpha,\; e^{-\varepsilon_0}(1-\alpha)\}`.

    Examples
    --------
    >>> from shufflelib.profiles import pure_dp
    >>> float(pure_dp.false_negatives(float("inf"), 0.5)), float(pure_dp.false_negatives(0.0, 0.25))
    (0.0, 0.75)
    """
    fpr = np.asarray(fpr, float)
    if math.isinf(eps0):
        return np.zeros(fpr.shape)
    with np.errstate(over="ignore"):
        steep = np.where(fpr > 0.0, 1.0 - np.exp(np.minimum(eps0, 709.0)) * fpr, 1.0)
    return np.maximum.reduce([np.zeros(fpr.shape), steep, math.exp(-eps0) * (1.0 - fpr)])
