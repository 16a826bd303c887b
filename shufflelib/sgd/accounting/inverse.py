"""The least noise that meets a target when blocks are drawn anew."""

import math

from shufflelib.calibration.search import Family
from shufflelib.numerics import validation
from shufflelib.profiles.pairs import Gaussian
from shufflelib.sgd.accounting.epoch import checked_epochs
from shufflelib.sgd.accounting.random_allocation import LARGEST_NOISE, SMALLEST_NOISE
from shufflelib.sgd.accounting.replaced_example import one_example
from shufflelib.sgd.gaussian_blocks import AllocatedBlocks

CLOSE = 5e-3  # relative width of the noise at which the search stops


def noise_multiplier(*, eps: float, delta: float, blocks: int, epochs: int) -> float:
    r"""Return a nearly minimal noise multiplier for which T epochs of `AllocatedBlocks` are (ε, δ)-DP.

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
        σ, with which the upper bound of `one_example` is at most ``eps``.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or no σ up to 10⁶ is proved to keep the target.

    Notes
    -----
    The guarantee requires that the blocks are drawn anew in every epoch and stay secret; blocks that are
    reused reveal more, see `AllocatedBlocks`.
    The result was itself evaluated, so that it keeps the target whether or not ε falls in σ.  A σ tried that
    is smaller by at most 0.5 % misses it.  The bracket of `one_example`, 1 to 3 % of ε for most settings and
    more for some, comes on top: a σ smaller by its width may still be private.
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

    def trained(sigma):
        reports = AllocatedBlocks(noise_multiplier=sigma, clip=1.0, blocks=blocks, block_size=1)
        return one_example(reports, epochs=epochs)

    # one block: μ = 2/σ; many: μ² is the variance of the sum over m of e^X − e^−X, X of deviation 1/σ
    guide = Family(Gaussian, eps, delta, limits=(1e-9, 1e4), tolerance=CLOSE)
    mu = (guide.edge(guide.proved, 1.0)[0] or 1e-9) / math.sqrt(epochs)
    start = 2.0 / mu if blocks == 1 else 1.0 / math.sqrt(math.asinh(0.25 * blocks * mu * mu))
    limits = SMALLEST_NOISE, LARGEST_NOISE
    family = Family(trained, eps, delta, limits=limits, tolerance=CLOSE, falling=True)
    remedy = "use a larger eps or delta, or fewer epochs"
    return family.calibration("noise multiplier", start=start, remedy=remedy).answer
