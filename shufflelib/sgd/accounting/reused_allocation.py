r"""Each example draws k of t blocks once and reports in them in every epoch: balls-in-bins sampling."""

import math
from typing import Any

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.profiles.pairs import Gaussian
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.sgd.accounting.attacks import largest_report
from shufflelib.sgd.accounting.epoch import checked_epochs, epoch
from shufflelib.sgd.accounting.random_allocation import (
    LARGEST_NOISE,
    MOST_BLOCKS,
    SMALLEST_NOISE,
    enclosing_pairs,
)


def reused_allocation(
    *, noise_multiplier: float, blocks: int, epochs: int, chosen: int = 1
) -> PrivacyProfile:
    r"""Return the profile of T epochs in which every example reports in the same k of t blocks.

    .. math:: A_j \sim \operatorname{Uniform}\{S \subseteq \{1, \dots, t\} : |S| = k\} \text{ once}, \qquad
              (\sigma, T \text{ epochs}) = (\sigma / \sqrt T, \text{ one epoch})

    Parameters
    ----------
    noise_multiplier : float
        σ, the deviation of the noise of one report in units of the clipping bound C,
        0.2 √T <= σ <= 1e6.
    blocks : int
        t, from 1 to 10⁶: the reports of one epoch, or the length of the cycle.
    epochs : int
        T, at least 1: how often every block reports.
    chosen : int
        k, from 1 to t: the blocks of one example, 1 by default.

    Returns
    -------
    Profile
        Of data sets that differ in one example.  ``upper`` bounds are proved; ``lower`` bounds are attained.
        With k = 1 they enclose the exact curve, as closely as those of one epoch of `AllocatedBlocks`.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.

    Notes
    -----
    Every example draws its blocks uniformly, independently of all others, and they stay secret: this is
    balls-in-bins sampling, as jax-privacy's ``BallsInBinsSampling`` has it with ``cycle_length`` t and
    ``iterations`` tT.  Blocks drawn anew in each epoch reveal less; `one_example` computes that.

    *T epochs are one.*  With likelihood ratios :math:`l_S, l_S'` of all reports for the two versions of the
    example, given that it is in the blocks S, the divergence is
    :math:`\mathbb E(\binom tk^{-1}\sum_S (l_S - e^\varepsilon l_S'))_+`, and :math:`l_S` is the product of
    one factor for each report of a block in S.  As a function of one block's factors, (l, l'), it is convex,
    and its cross derivative is at most 0; an expectation over later reports changes neither.  So the proof
    of `RandomAllocation` holds for each of the tT reports, from the last one to the first: largest are shifts
    by +C against -C, whatever was sent before.  The T reports of a block then count by their mean alone,
    whose noise has the deviation σ/√T.  All other gradients 0 attain it.

    *k of t, above.*  A random k-subset is one block of each of k random groups of ⌊t/k⌋ blocks.  Told the
    groups, the attacker sees k independent allocations to one of ⌊t/k⌋, and by convexity does not see less:
    the k-fold composition is an upper bound (Feldman, Shenfeld 2025).  The same proof from the last report to
    the first holds for them, interleaved as they are.
    *Below.*  The sum of all reports is :math:`2k/(\sigma\sqrt{t/T})`-GDP, and the largest report shows the
    example where the noise is small; both are attained.  For k = t the sum is exact.

    Source: Chua, Ghazi, Harrison, Leeman, Kamath, Kumar, Manurangsi, Sinha, Zhang, "Balls-and-bins sampling
    for DP-SGD" (AISTATS 2025); Feldman, Shenfeld, "Privacy amplification by random allocation"
    (arXiv:2502.08202), for k of t.

    Cost: that of one epoch of `AllocatedBlocks`, 2 to 15 seconds, whatever T.

    Examples
    --------
    >>> from shufflelib.sgd import accounting
    >>> three = accounting.reused_allocation(noise_multiplier=2.0, blocks=1, epochs=4).delta(1.0)
    >>> once = accounting.RandomAllocation(1.0, blocks=1).delta(1.0)  # σ/√4
    >>> three.lower <= once.upper and once.lower <= three.upper
    True
    """
    epochs, blocks = checked_epochs(epochs), validation.count(blocks, "blocks", at_most=MOST_BLOCKS)
    chosen = validation.count(chosen, "chosen", at_most=blocks, remedy="blocks of one example, up to all")
    least = SMALLEST_NOISE * math.sqrt(epochs) * (1 + 1e-9)
    remedy = f"blocks reused in epochs={epochs} average their noise; with less there is no amplification"
    noise_multiplier = validation.real(
        noise_multiplier, "noise_multiplier", at_least=least, at_most=LARGEST_NOISE, remedy=remedy
    )
    # rounded down, which raises the curve by less than the relative 1e-12 that its lower bound is charged
    noise = Interval.of(noise_multiplier / math.sqrt(epochs), 4.0).lower
    mu = Interval.of(2.0 * chosen * math.sqrt(epochs / blocks) / noise_multiplier, 16.0)
    above: Any
    below: Any
    if chosen == blocks:  # nothing is secret, and the reports of all blocks count by their sum
        above, below = Gaussian(mu.upper), Gaussian(mu.lower)
    else:
        above, below = enclosing_pairs(noise, blocks // chosen)
    if 1 < chosen < blocks:
        above = above.compose(rounds=chosen)
        below = Gaussian(mu.lower), largest_report(noise, blocks, chosen)
    return epoch(
        above,
        below,
        f"one example in the same {chosen} of {blocks} blocks, noise {noise_multiplier:g} C, {epochs} epochs",
        "guarantee: random allocation with noise σ/√T; attack: the reports of each block, averaged",
        record="example",
        assumptions=(
            "each example's blocks are drawn once, uniformly and independently, reused in every epoch, and "
            "kept secret",
        ),
    )
