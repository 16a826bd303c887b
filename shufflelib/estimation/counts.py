r"""Histograms of millions of users drawn from how many hold each item: all supports at once, exactly.

A report *supports* an item, or not: the reported item itself, the items of a reported subset, the items that
hash to the reported value, the rows of the Hadamard matrix that are +1 at the reported index, the bits that
are one.  For each mechanism here a report supports the item its user holds with probability ``own`` and any
other given item with probability ``other``, and the unbiased frequency of item j is

.. math:: \hat f_j = \frac{C_j/n - \text{other}}{\text{own} - \text{other}}, \qquad
          \operatorname{Var}(\hat f_j) = \frac{f_j\,\text{own}(1-\text{own})
          + (1-f_j)\,\text{other}(1-\text{other})}{n\,(\text{own}-\text{other})^2}

with C_j the number of reports that support j.  `support` returns the two probabilities and `draw_supports`
the vector C, jointly over items, in a number of draws that does not depend on n.
"""

from functools import singledispatch

import numpy as np
from scipy.linalg import hadamard as hadamard_matrix

from shufflelib.randomizers.hadamard_response import hadamard
from shufflelib.randomizers.hashing import local_hash
from shufflelib.randomizers.response import generalized_rr
from shufflelib.randomizers.subsets import subset
from shufflelib.randomizers.support import support
from shufflelib.randomizers.unary import UnaryEncoding


@singledispatch
def draw_supports(randomizer, counts, repetitions, rng):
    """Draw how many reports support each item, exactly as if every user had reported.

    Parameters
    ----------
    randomizer : LocalRandomizer
        As in `support`.
    counts : numpy.ndarray, shape (d,), integer
        Users that hold each item.
    repetitions : int
        Independent draws.
    rng : numpy.random.Generator
        Randomness.

    Returns
    -------
    numpy.ndarray, shape (repetitions, d), integer
        Supports C, jointly over the items of a row.

    Raises
    ------
    TypeError
        If no distribution of supports is known for the randomizer.
    """
    support(randomizer)


def _independent(randomizer, counts, repetitions, rng):
    """Draw supports that are independent between items given the data."""
    own, other = support(randomizer)
    shape = (repetitions, counts.size)
    return rng.binomial(counts, own, size=shape) + rng.binomial(counts.sum() - counts, other, size=shape)


@draw_supports.register
def _(randomizer: generalized_rr, counts, repetitions, rng):
    """With probability own - other report the truth, else a uniform item."""
    own, other = support(randomizer)
    truths = rng.binomial(counts, own - other, size=(repetitions, counts.size))
    uniform = np.full(counts.size, 1.0 / counts.size)
    return truths + rng.multinomial(counts.sum() - truths.sum(axis=1), uniform)


@draw_supports.register
def _(randomizer: UnaryEncoding, counts, repetitions, rng):
    """Bits are independent."""
    return _independent(randomizer, counts, repetitions, rng)


@draw_supports.register
def _(randomizer: local_hash, counts, repetitions, rng):
    """Under a random function other items hit the reported value independently, with probability 1/l."""
    return _independent(randomizer, counts, repetitions, rng)


@draw_supports.register
def _(randomizer: hadamard, counts, repetitions, rng):
    """With probability 2 own - 1 report a uniform +1 of the user's row, else a uniform index; O(d K)."""
    row = hadamard_matrix(randomizer.K, dtype=np.int8)[1 : randomizer.d + 1] > 0
    truthful = rng.binomial(counts, 2.0 * support(randomizer).own - 1.0, size=(repetitions, counts.size))
    indices = rng.multinomial(counts.sum() - truthful.sum(axis=1), np.full(randomizer.K, 1.0 / randomizer.K))
    for item in range(randomizer.d):
        indices += rng.multinomial(truthful[:, item], row[item] / row[item].sum())
    return indices @ row.T


@draw_supports.register
def _(randomizer: subset, counts, repetitions, rng):
    """Pass through the items once; track only how many items each user has still to choose.

    Let the other items of a user's subset be chosen in the order of the items: with m candidates left, a user
    who still has a to choose takes the next one with probability a/m.  `ahead` counts the users whose held
    item is still to come, by whether it is in their subset and by a, `passed` the others by a.  The held
    items do not affect the choices before them, so the holders of the next item are a random sample of
    `ahead`.  Cost O(d k).
    """
    k, d, n = randomizer.k, randomizer.d, int(counts.sum())
    left = np.arange(k + 1)
    ahead, passed = np.zeros((2, k + 1, repetitions), np.int64), np.zeros((k + 1, repetitions), np.int64)
    ahead[1, k - 1] = rng.binomial(n, support(randomizer).own, size=repetitions)
    ahead[0, k] = n - ahead[1, k - 1]
    supports = np.empty((d, repetitions), np.int64)
    for item in range(d):
        holders = _sample(ahead.reshape(-1, repetitions), int(counts[item]), rng).reshape(ahead.shape)
        ahead -= holders
        supports[item] = holders[1].sum(axis=0)
        for group, candidates in ((ahead, d - 1 - item), (passed, d - item)):
            chance = np.minimum(left / max(candidates, 1), 1.0)[:, None]
            taken = rng.binomial(group, chance)
            group -= taken
            group[..., :-1, :] += taken[..., 1:, :]
            supports[item] += taken.sum(axis=tuple(range(taken.ndim - 1)))
        passed += holders.sum(axis=0)
    return supports.T


def _sample(pools, size, rng):
    """Draw ``size`` users without replacement from pools, shape (pools, repetitions), per repetition."""
    drawn, rest = np.empty_like(pools), pools.sum(axis=0)
    wanted = np.full(pools.shape[1], size)
    for number, pool in enumerate(pools):
        rest = rest - pool
        drawn[number] = rng.hypergeometric(pool, rest, wanted)
        wanted = wanted - drawn[number]
    return drawn
