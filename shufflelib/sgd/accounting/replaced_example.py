"""Profiles for data sets that differ in one example: one rule for each algorithm."""

import functools
import math

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.profiles.pairs import LARGEST_MU, Gaussian
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.profiles.tradeoff_functions import ApproximateDP
from shufflelib.sgd.accounting.attacks import marked_report, smallest_report
from shufflelib.sgd.accounting.epoch import (
    FIXED_SPLIT,
    checked_epochs,
    epoch,
    within_reach,
)
from shufflelib.sgd.accounting.random_allocation import enclosing_pairs
from shufflelib.sgd.block_reports import BlockReports
from shufflelib.sgd.gaussian_blocks import AllocatedBlocks, GaussianBlocks
from shufflelib.sgd.laplace_blocks import LaplaceBlocks


@functools.singledispatch
def one_example(reports: BlockReports, *, epochs: int) -> PrivacyProfile:
    r"""Return the profile of T epochs for data sets that differ in one example.

    .. math:: \text{LaplaceBlocks: } \operatorname{RR}(\varepsilon_0)^{\otimes T}, \qquad
              \text{GaussianBlocks: } \tfrac{2 \sqrt T}{\sigma}\text{-GDP}, \qquad
              \text{AllocatedBlocks: } (P, Q)^{\otimes T}

    with the pair (P, Q) of `RandomAllocation`; only the last is amplified.

    Parameters
    ----------
    reports : LaplaceBlocks, GaussianBlocks or AllocatedBlocks
        The report of each step.
    epochs : int
        T, at least 1.

    Returns
    -------
    Profile
        ``upper`` bounds are proved; ``lower`` bounds are attained by an attack.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, ``eps0`` is above 300, or ``noise_multiplier`` below 0.2
        (`AllocatedBlocks`) or √T/5000 (`GaussianBlocks`).

    Notes
    -----
    Numbers of examples and blocks are public.  A fixed split must not depend on what the examples hold;
    blocks drawn anew are drawn uniformly and kept secret, and in every epoch: blocks that are drawn once and
    reused reveal more, see `AllocatedBlocks`.

    *Fixed split, above.*  An example is in one block, which reports once in an epoch, private in that example
    whatever was sent before.  For Laplace noise: any eps0-DP pair is made from that of randomized response,
    and T adaptive ones from T of those; composition is optimal for pure budgets (Kairouz, Oh, Viswanath, ICML
    2015).  For Gaussian noise: distance 2C/s against a deviation σC/s (Dong, Roth, Su, JRSSB 2022).

    *Fixed split, below.*  The loss ℓ(θ, x) = θx has gradient x.  The target's block holds -C, or -C with one
    +C, all other blocks +C: with Laplace noise in scales 0 or eps0 against s·eps0.  The attacker, who does
    not know the order, takes the smallest report and discretises it; its distribution is known in closed
    form.  With Gaussian noise a second direction holds the target.  Epochs are independent here.  With
    Laplace noise the bracket is that of a Laplace report against randomized response; shuffling does not
    narrow it.

    *Blocks drawn anew.*  `RandomAllocation` is attained, and dominates each epoch given all earlier ones; the
    bracket is numerical.  For δ = 1e-5, σ from 1 to 10, 2 to 10⁴ blocks and up to 100 epochs it is at most
    2.5 % wide, relative to the lower bound on ε; ``tests/test_promised_precision.py`` checks a grid.  For
    σ = 1/2 it is mostly 1 to 4.5 % wide, but 66 % for two blocks and one epoch, where it is [13.67, 22.66].
    For less noise it is wide: for σ = 0.3, five blocks and one epoch it is [9.63, 45.9].  It is wide for 10⁶
    blocks and several epochs: 36 % for σ = 10 and ten epochs, 6 % for a hundred.  δ below 1e-12 and Rényi
    divergences are not resolved from above.

    Cost does not grow with T.  Blocks drawn anew: 2 to 15 seconds for each number of blocks and each noise
    multiplier from 1/2 on, up to two minutes below, which are remembered; then some seconds for each number
    of epochs.

    Examples
    --------
    >>> from shufflelib import sgd
    >>> reports = sgd.LaplaceBlocks(eps0=2.0, clip=10.0, blocks=200, block_size=300)
    >>> bracket = sgd.accounting.one_example(reports, epochs=1).epsilon(1e-3)
    >>> 1.99 < bracket.lower < bracket.upper < 2.0  # shuffling 200 blocks does not amplify
    True
    """
    raise TypeError(
        "reports must be LaplaceBlocks, GaussianBlocks or AllocatedBlocks, "
        f"got {type(reports).__name__}; no other is accounted for one example"
    )


@one_example.register
def _(reports: LaplaceBlocks, *, epochs):
    eps0 = within_reach(reports.eps0, "eps0")
    one = epoch(
        ApproximateDP(eps=eps0, delta=0.0).pair,  # that of binary randomized response
        smallest_report(reports, moved=eps0),
        f"one example of Algorithm 1 with eps0={eps0:g}, {reports.blocks} blocks of {reports.block_size}",
        "guarantee: randomized response; attack: the smallest report",
        record="example",
        assumptions=FIXED_SPLIT,
    )
    return one.compose(rounds=checked_epochs(epochs))


@one_example.register
def _(reports: GaussianBlocks, *, epochs):
    epochs = checked_epochs(epochs)
    least, remedy = 2.0001 * math.sqrt(epochs) / LARGEST_MU, f"at epochs={epochs}, less noise hides nothing"
    validation.real(reports.noise_multiplier, "noise_multiplier", at_least=least, remedy=remedy)
    mu = Interval.of(2.0 / reports.noise_multiplier, 32.0).upper
    statement = f"one example of {reports.blocks} blocks of {reports.block_size} in {epochs} epochs"
    return epoch(
        Gaussian(mu * math.sqrt(epochs)),
        marked_report(reports).compose(rounds=epochs),
        f"{statement}, {mu:g}-GDP each",
        "guarantee: composed Gaussian reports; attack: the marked report",
        record="example",
        assumptions=FIXED_SPLIT,
    )


@one_example.register
def _(reports: AllocatedBlocks, *, epochs):
    above, below = enclosing_pairs(reports.noise_multiplier, reports.blocks)
    one = epoch(
        above,
        below,
        f"one example allocated to {reports.blocks} blocks, noise {reports.noise_multiplier:g} C",
        "random allocation, connect-the-dots from above and from below",
        record="example",
        assumptions=(
            "each example's block is drawn anew for each epoch, uniformly and independently, and kept secret",
        ),
    )
    return one.compose(rounds=checked_epochs(epochs))
