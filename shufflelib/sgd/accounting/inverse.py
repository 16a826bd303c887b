"""The least noise that meets a target when blocks are drawn anew."""

import math

from shufflelib.numerics import validation
from shufflelib.profiles.pairs import Gaussian
from shufflelib.sgd.accounting.epoch import checked_epochs
from shufflelib.sgd.accounting.random_allocation import LARGEST_NOISE, SMALLEST_NOISE
from shufflelib.sgd.accounting.replaced_example import one_example
from shufflelib.sgd.gaussian_blocks import AllocatedBlocks

CLOSE = 5e-3  # relative width at which the search stops
MOST_STEPS = 40


def noise_multiplier(*, eps, delta, blocks, epochs):
    r"""Return a noise multiplier, nearly the smallest, with which T epochs of `AllocatedBlocks` keep (ε, δ).

    .. math:: \min\{\sigma : \varepsilon_{\sigma, m, T}(\delta) \le \varepsilon\}

    Parameters
    ----------
    eps : float
        Target ε in nats, positive.
    delta : float
        Target δ, in (0, 1).
    blocks : int
        m, from 1 to 10⁶.  With one block this is the Gaussian mechanism, which answers for a fixed split too.
    epochs : int
        T, at least 1.

    Returns
    -------
    float
        σ, with which the upper end of `one_example` is at most ``eps``.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or no σ up to 10⁶ is proved to keep the target.

    Notes
    -----
    The guarantee requires that the drawn blocks stay secret.
    A bisection; its result was itself evaluated, so that it keeps the target whether or not ε falls in σ.  It
    stops where that upper end is within 0.5 % of ``eps`` or where a σ smaller by at most 0.5 % misses it.  A
    smaller σ may keep the target where the upper end does not fall in σ.  The bracket of `one_example`, 1 to
    3 % of ε for most settings and more for some, comes on top: a σ smaller by its width may still be private.
    Cost: five to ten evaluations of `one_example`.

    Examples
    --------
    >>> from shufflelib.sgd import accounting
    >>> sigma = accounting.noise_multiplier(eps=1.0, delta=1e-5, blocks=1, epochs=1)
    >>> 7.4 < sigma < 7.6
    True
    """
    eps = validation.real(eps, "eps", above=0.0, remedy="the target is a positive central budget in nats")
    delta = validation.probability(delta, "delta")
    blocks, epochs = validation.count(blocks, "blocks"), checked_epochs(epochs)

    def reached(sigma):
        reports = AllocatedBlocks(noise_multiplier=sigma, clip=1.0, blocks=blocks, block_size=1)
        return one_example(reports, epochs=epochs).epsilon(delta).upper

    target = math.log(eps) - 0.5 * CLOSE
    place, keeps, fails = _first_guess(eps, delta, blocks, epochs), None, None
    for _ in range(MOST_STEPS):
        place = min(max(place, math.log(SMALLEST_NOISE)), math.log(LARGEST_NOISE))
        sigma = math.exp(place)
        found = reached(min(max(sigma, SMALLEST_NOISE), LARGEST_NOISE))
        height = math.log(max(found, 1e-300)) - target
        if found <= eps:
            keeps = place, height
            if height >= -0.5 * CLOSE or place <= math.log(SMALLEST_NOISE):
                break
        else:
            fails = place, height
            if place >= math.log(LARGEST_NOISE):
                break
        if keeps is None or fails is None:
            place += math.copysign(min(max(abs(height), CLOSE), 1.0), height)
        elif keeps[0] - fails[0] <= CLOSE:
            break
        else:
            share = fails[1] / (fails[1] - keeps[1])
            place = fails[0] + min(max(share, 0.05), 0.95) * (keeps[0] - fails[0])
    if keeps is None:
        raise ValueError(
            f"eps={eps:g} at delta={delta:g} is kept by no noise multiplier up to {LARGEST_NOISE:g}; "
            "use a larger eps or delta, or fewer epochs"
        )
    return min(max(math.exp(keeps[0]), SMALLEST_NOISE), LARGEST_NOISE)


def _first_guess(eps, delta, blocks, epochs):
    """Return log σ such that √T·μ-GDP with the μ of many blocks meets the target."""
    low, high = math.log(1e-9), math.log(1e4)
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        within = math.exp(Gaussian(math.exp(middle)).log_hockey_stick(eps).upper) <= delta
        low, high = (middle, high) if within else (low, middle)
    mu = math.exp(low) / math.sqrt(epochs)
    # one block: μ = 2/σ; many: μ² is the variance of the sum over m of e^X − e^−X, X of deviation 1/σ
    many = math.asinh(0.25 * blocks * mu * mu)
    return -0.5 * math.log(many) if blocks > 1 else math.log(2.0 / mu)
