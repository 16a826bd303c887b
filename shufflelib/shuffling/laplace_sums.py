r"""Sums of Laplace noise: what a shift of one user's number reveals.

With scale 1, the sum S of the noise of n users has the density

.. math:: f(x) \propto |x|^\nu K_\nu(|x|) \propto e^{-|x|}\, \theta_{n-1}(|x|), \qquad \nu = n - \tfrac12, \\
          \theta_{m+1} = (2m+1)\, \theta_m + x^2 \theta_{m-1}, \qquad \theta_0 = 1, \; \theta_1 = 1 + x .

Laplace noise is log-concave, and so are sums of it.  So the loss :math:`\ell(x) = \log f(x - t)/f(x)` of a
shift t rises, and all smaller shifts are dominated, as in `profiles.integer_noise`.

*Both bounds.*  The line is cut into cells, whose masses are integrals by Gauss's rule.  Below, a cell is one
outcome.  Above, its mass is split between the losses at its two ends, which keeps both masses: no pair with
losses between these tells more.  Both errors are of second order in the width of a cell.

*Rounding.*  Up to `MOST_STEPS` users the ratios :math:`\theta_{m+1}/\theta_m` are taken one from the other,
which shrinks errors, and log f is a sum of n logarithms.  Beyond, with :math:`x = \nu z`,
:math:`y = \sqrt{1 + z^2} - 1` and :math:`p = 1/(1 + y)`,

.. math:: \log f = c - \nu \bigl(y - \log(1 + \tfrac y2)\bigr) + \tfrac12 \log p
                   + \log \sum_{k=0}^4 (-1)^k U_k(p)/\nu^k ,

and the sum is off by at most :math:`2 e^{2V_1/\nu} V_5/\nu^5`.  :math:`V_k`, the variation of :math:`U_k` on
[0, 1], is at most the sum of the sizes of its coefficients, 1/3 and 255.

Source: Olver (1974), Chapter 10; DLMF 10.41.
"""

import math

import numpy as np

from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.pairs import DiscretePair
from shufflelib.randomizers.cells import NODES, WEIGHTS

MOST_STEPS = 300
LEFT_OUT = 120.0  # e-folds of the density at which the line is cut
CELLS = 4000  # of the whole line, and of where most of the mass is
AT_ONE_NAT = 50.0  # cells where noise of the two values is apart
NEAR = 8.0  # standard deviations
U1 = np.array([0.0, 3.0, 0.0, -5.0]) / 24.0
U2 = np.array([0.0, 0.0, 81.0, 0.0, -462.0, 0.0, 385.0]) / 1152.0
U3 = np.array([0, 0, 0, 30375, 0, -369603, 0, 765765, 0, -425425]) / 414720.0
U4 = np.array([0] * 4 + [4465125, 0, -94121676, 0, 349922430, 0, -446185740, 0, 185910725]) / 39813120.0


def log_density(x, n):
    """Return log f(x)/f(0) up to a constant."""
    x = np.abs(x)
    if n <= MOST_STEPS:
        found, ratio = -x, 1.0 + x
        for m in range(1, n):
            found += np.log(ratio / (2.0 * m - 1.0))
            ratio = (2.0 * m + 1.0) + x * x / ratio
        return found
    nu = n - 0.5
    square = (x / nu) ** 2
    root = np.sqrt(1.0 + square)
    y, p = square / (1.0 + root), 1.0 / root
    series = sum(
        np.polynomial.polynomial.polyval(p, u) / (-nu) ** k for k, u in enumerate((U1, U2, U3, U4), start=1)
    )
    return -nu * (y - np.log1p(0.5 * y)) - 0.5 * np.log(root) + np.log1p(series)


def log_density_error(n):
    """Return the absolute error of `log_density` where it matters."""
    if n <= MOST_STEPS:
        return n * (n + 1024.0) * UNIT  # n ratios off by n units, n sums of at most 1024
    return 520.0 / (n - 0.5) ** 5 + 64.0 * (1.0 + LEFT_OUT) * UNIT


def laplace_pairs(shift, n):
    """Return two finite pairs, above and below that of S + shift and S."""
    edges, reach = _edges(shift, n)
    log_q, log_p = (_log_masses(edges, place, n) for place in (0.0, shift))
    loss = log_density(edges - shift, n) - log_density(edges, n)
    error = 2.0 * log_density_error(n)  # of a loss, and of a mass, which also has the rule's
    error_of_mean = 2.0 * error + 1e-13
    mean = log_p - log_q
    low, high = loss[:-1] - error, np.maximum(loss[1:], loss[:-1]) + error
    alike = high - low < 100.0 * error_of_mean  # one atom, with a loss between the two

    def share(mean):
        """Return the part of Q that has the larger loss."""
        length = np.expm1(np.where(alike, 1.0, high - low))
        return np.where(alike, 0.0, np.clip(np.expm1(mean - low) / length, 0.0, 1.0))

    with np.errstate(divide="ignore"):
        parts = np.log(1.0 - share(mean - error_of_mean)), np.log(share(mean + error_of_mean))
    split = np.concatenate([log_q + part for part in parts]) + error_of_mean
    ends = Interval(np.concatenate((low, high)), np.concatenate((np.where(alike, high, low), high)))
    # what is left out: at either end the best test takes it first or last, with the largest loss there is
    some = Interval(np.full(2, -math.inf), np.full(2, math.log(reach) - LEFT_OUT + 2.0))
    beyond = some, some, Interval.of(np.array([-shift, shift]))
    return tuple(
        DiscretePair.from_losses(*map(Interval.concatenate, zip(part, beyond, strict=True)))
        for part in (
            (ends + split, Interval.of(split), ends),
            tuple(Interval.of(one).widened(4.0, error_of_mean) for one in (log_p, log_q, mean)),
        )
    )


def _edges(shift, n):
    """Return the ends of all cells, and how far from the value they reach."""
    low, high = 0.0, 1.0
    while log_density(np.array([high]), n)[0] > -LEFT_OUT:
        high *= 2.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if log_density(np.array([middle]), n)[0] < -LEFT_OUT else (middle, high)
    near = min(NEAR * math.sqrt(2.0 * n), high)
    between = round(min(max(AT_ONE_NAT * shift, CELLS / 4), 10.0 * CELLS))
    parts = ((-high, shift + high, CELLS), (-near, shift + near, CELLS), (0.0, shift, between))
    return np.unique(np.concatenate([np.linspace(a, b, count + 1) for a, b, count in parts])), high


def _log_masses(edges, place, n):
    """Return the logarithms of the masses of noise around a place; they sum to 1."""
    width = np.diff(edges)[:, None]
    log_f = log_density(edges[:-1, None] + NODES * width - place, n)
    peak = log_f.max(axis=1, keepdims=True)
    log_mass = (peak + np.log((WEIGHTS * np.exp(log_f - peak)).sum(axis=1, keepdims=True) * width)).ravel()
    top = log_mass.max()
    return log_mass - top - np.log(np.exp(log_mass - top).sum())
