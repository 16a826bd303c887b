r"""The profile of n reports of which the analyst sees the sums: secure aggregation.

What one user changes is in the sums of the coordinates where the two values differ: of flipped bits, see
`bit_sums`; of numbers with noise, `profiles.integer_noise` and `laplace_sums`.
"""

import dataclasses
import math
from functools import partial
from typing import Literal

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles.adjacency import SHUFFLED, Adjacency
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.composition import ComposedPair
from shufflelib.profiles.envelope import Envelope
from shufflelib.profiles.integer_noise import moved
from shufflelib.profiles.likelihood_ratios import InputPair
from shufflelib.profiles.pairs import LARGEST_MU, DiscretePair, Gaussian
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.profiles.product_pair import ProductPair
from shufflelib.profiles.shown import Made
from shufflelib.randomizers.additive import gaussian, laplace
from shufflelib.randomizers.integer_noise import NoisyCount
from shufflelib.randomizers.response import binary_rr
from shufflelib.randomizers.tabulated import from_pmf
from shufflelib.randomizers.unary import UnaryEncoding, rappor
from shufflelib.randomizers.unary_sets import unary
from shufflelib.shuffling.bit_sums import all_others, others_agree
from shufflelib.shuffling.laplace_sums import laplace_pairs
from shufflelib.shuffling.shuffled import shuffle

SMALLEST_MU = 1e-8
FEW = 8  # coordinates, of which any number may rise
Noise = gaussian | laplace | NoisyCount
NOISY = (
    "all n users are honest: the noise of each is in the sum of every coordinate once, drawn privately and "
    "independently; users who collude with the analyst, deviate or drop out do not count in n"
)
NEIGHBOURS = ("coordinate", "replace", "zero")
AGGREGATED = (
    "the analyst sees the sums of all coordinates and n, and no report: whoever adds them up is trusted, or "
    "secure aggregation reveals nothing else",
    "all n users are honest: each flips the bits of one vector once, with private and independent "
    "randomness; users who collude with the analyst or deviate do not count in n",
    *SHUFFLED[2:],
)


@validation.names_checked
def aggregate(
    randomizer: unary | UnaryEncoding | binary_rr | gaussian | laplace | NoisyCount,
    n: int,
    *,
    neighbours: Literal["coordinate", "replace", "zero"] = "replace",
    changed: int | None = None,
) -> Profile:
    r"""Return the certified privacy profile of the sums of n vectors of flipped bits or of noisy numbers.

    .. math:: z_j = \sum_{i=1}^n y_{ij}, \qquad y_{ij} \sim \mathrm{Bernoulli}(q) \text{ if } x_{ij} = 1,
              \; \mathrm{Bernoulli}(p) \text{ if } x_{ij} = 0

    Parameters
    ----------
    randomizer : unary, rappor, optimized_unary, binary_rr, or noise
        Says p, q, the number d of coordinates and the number h of ones in a value.  `binary_rr` flips the
        bits of arbitrary vectors, of which ``changed`` may differ.  `gaussian` and `laplace` add noise to
        each coordinate of vectors of numbers in [0, 1]; `skellam`, `binomial` and `discrete_gaussian` to
        whole numbers from 0 to their ``sensitivity``.
    n : int
        Number of honest users whose reports are in the sum, including the one whose value changes,
        1 ≤ n ≤ 10¹⁵.  Where users may drop out, the least number that stays: see below.  Users who collude
        with the analyst take their part out of the sum: if c of N do, n = N − c.
    neighbours : {"replace", "coordinate", "zero"}
        What changes: one value is replaced by another one with as many ones; some coordinates of one vector
        are, all values being arbitrary vectors of bits; or one value becomes the zero vector (deletion).
    changed : int, optional
        Number s of coordinates that may differ, 1 ≤ s ≤ d.  By default 2 min(h, d − h), 1 or h.  If vectors
        of h ones cannot differ in exactly so many, then the values are arbitrary vectors of bits.  With noise
        by default 1; two for one-hot vectors, all for any others, if one value is replaced.

    Returns
    -------
    Profile
        ``upper`` bounds hold for all values of the other users.  ``lower`` bounds are attained by explicit
        ones.

    Notes
    -----
    The sums are independent given the data, so s changed coordinates are a product of s pairs of one bit.

    ================  =======================================================================================
    s = 1             both bounds are the worst number of ones among the others, by search: see
                      `shufflelib.shuffle`
    s = 2             n ≤ 32: both bounds are the worst values of the others, by trying all.  Beyond, below
                      the exact product where the others agree, above the composition of s = 1
    s > 2             s-fold composition: above of the worst values, below of those of others who agree
    ================  =======================================================================================

    Neighbours that differ in fewer coordinates are covered: their product has fewer factors.

    *Noise.*  All bounds hold for all values of the others, and both ends are those of one shift of the noise
    of n users, ``changed`` times:

    =================  =====================================================================================
    gaussian           one Gaussian of deviation σ √n: s coordinates are the pair N(0, 1), N(μ, 1) with
                       μ = √s/(σ √n), exact
    laplace            in cells: δ to 1e-5, to 1e-3 where it vanishes near eps0
    skellam, binomial  Skellam noise of variance nμ, binomial noise of nm coins: exact
    discrete_gaussian  not discrete Gaussian, up to a known error that falls with σ: see its docstring
    =================  =====================================================================================

    Beyond Gaussian noise, several coordinates are composed like rounds unless there are few outcomes: within
    about 4e-3 of δ.  Gaussian and Laplace noise is taken to be real: what rounding to a field or to floats
    costs is not included.  Noise on whole numbers has no such cost, and sums modulo a number, as secure
    aggregation gives them, tell no more than the sums.

    *Dropouts.*  If at least k users stay, the guarantee is that of n = k, whoever and however many they are:
    given its value, the report of one user more does not depend on the change, and adding it to the sum is
    post-processing.  That holds for noise and for flipped bits.  Who stays must not depend on the values.

    With p = 1 − q the same numbers come from
    ``shuffle(binary_rr(eps0=log(q/p)), n).compose(rounds=s)``: a round is a coordinate.  The lower end there
    holds for two coordinates of one-hot vectors as well: where everybody holds the value that the user
    leaves, both sums change alike.

    Source: derived; composition as in `shufflelib.profiles.compose`.

    Examples
    --------
    Flips of exposure notifications with 100,000 users: one bit, and one of five bins for another one.

    >>> import math
    >>> import shufflelib
    >>> p = 1 / (1 + math.exp(8))
    >>> bins = shufflelib.randomizers.unary(d=5, p=p, q=1 - p)
    >>> for neighbours in ("zero", "replace"):
    ...     bracket = shufflelib.aggregate(bins, n=100_000, neighbours=neighbours).epsilon(1e-5)
    ...     print(f"{bracket:.3g}")
    [0.829, 0.83]
    [1.11, 1.12]

    A count with Skellam noise of 100,000 users, of whom at least 90 % stay:

    >>> noise = shufflelib.randomizers.skellam(mu=0.01)
    >>> print(f"{shufflelib.aggregate(noise, n=90_000).epsilon(1e-6):.3g}")
    [0.122, 0.123]
    """
    if not isinstance(randomizer, unary | UnaryEncoding | binary_rr | Noise):
        raise TypeError(
            "randomizer must flip bits independently or add Gaussian, Laplace, Skellam, binomial or discrete "
            f"Gaussian noise, got {validation.shown(randomizer)}; "
            "randomizers.unary(d=5, p=0.1, q=0.9) flips bits, shuffle takes all others"
        )
    n = validation.users(n)
    validation.one_of(neighbours, "neighbours", NEIGHBOURS)
    any_vector, d, h = True, validation.MAX_ROUNDS, 1
    if isinstance(randomizer, unary | UnaryEncoding):
        any_vector, d, h = False, randomizer.d, _ones(randomizer)
    most = 1 if any_vector else {"coordinate": 1, "replace": 2 * min(h, d - h), "zero": h}[neighbours]
    s = most
    if changed is not None:
        remedy = f"of {d} coordinates some may differ"
        s = validation.count(changed, "changed", at_most=min(d, validation.MAX_ROUNDS), remedy=remedy)
    if isinstance(randomizer, Noise):
        return _noisy(randomizer, n, neighbours, s)
    sets = not any_vector and (
        (neighbours == "replace" and s % 2 == 0 and s <= most) or (neighbours == "zero" and s == h)
    )
    relation = _adjacency(neighbours, s, h if sets else None, everything=sets and s == most)
    change = neighbours if sets or neighbours == "zero" else "coordinate"  # any bits may be replaced by any
    return Profile(
        bounds=partial(_bounds, randomizer, n, change, s),
        statement=f"the sums of n = {n} reports of {randomizer} (neighbours: {relation})",
        source="guarantee: all numbers of ones among the other users, composed over changed coordinates; "
        "attack: explicit values of the other users",
        adjacency=relation,
        assumptions=AGGREGATED,
        users=n,
        population=n,
        written=Made("aggregate", randomizer, {"n": n, "neighbours": neighbours, "changed": s}),
    )


def _noisy(randomizer, n, neighbours, s):
    """Return the profile of sums of noisy numbers: that of shifts of the noise, whatever the others hold."""
    numbers = "numbers in [0, 1]"
    if isinstance(randomizer, NoisyCount):
        numbers = f"whole numbers from 0 to {randomizer.sensitivity}"
        bounds = partial(_bounds_of_counts, randomizer.summed(n), randomizer.sensitivity, neighbours, s)
    elif isinstance(randomizer, laplace):
        _separation(randomizer.eps0 * math.sqrt(0.5 * s / n), "eps0", n, randomizer)
        bounds = partial(_bounds_of_laplace, randomizer.eps0, n, s)
    else:
        mu = _separation(math.sqrt(s / n) / randomizer.sigma, "sigma", n, randomizer)
        above, below = Gaussian(mu * (1.0 + 8.0 * UNIT)), Gaussian(mu * (1.0 - 8.0 * UNIT))
        bounds = partial(Bounds, (above,), (below,))
    some = "one coordinate" if s == 1 else f"at most {s} coordinates"
    others = "whatever such vectors the other users hold"
    text = {
        "coordinate": f"change {some} of one user's vector of {numbers}, {others}",
        "replace": f"replace one user's vector of {numbers}, any two of which differ in {some}, {others}",
        "zero": f"replace by zeros one user's vector of {numbers} that has {some}, {others}",
    }[neighbours]
    return Profile(
        bounds=bounds,
        statement=f"the sums of n = {n} reports of {randomizer} (neighbours: {text})",
        source="the noise of all users together, shifted",
        adjacency=Adjacency(text, any_value=neighbours == "replace"),
        assumptions=(AGGREGATED[0], NOISY, *AGGREGATED[2:]),
        users=n,
        population=n,
        written=Made("aggregate", randomizer, {"n": n, "neighbours": neighbours, "changed": s}),
    )


def _separation(mu, parameter, n, randomizer):
    """Return how many standard deviations lie between two values."""
    if not SMALLEST_MU <= mu <= 0.5 * LARGEST_MU:
        raise ValueError(
            f"n and {parameter} must leave {SMALLEST_MU:g} to {0.5 * LARGEST_MU:g} standard deviations "
            f"between two values, got {mu:g} of n={n} and {randomizer!r}; "
            "fewer users or less noise give an upper bound"
        )
    return mu


def _bounds_of_counts(noise, sensitivity, neighbours, s):
    """Return what bounds s shifts of noise on whole numbers; values that become zero all fall."""
    one = noise.shifted(sensitivity)
    falls = (0,)
    if neighbours != "zero" and not noise.symmetric:
        falls = range(s // 2 + 1) if s <= FEW else (0, s // 2)
    pairs = tuple(moved(one, s - k, k) for k in falls)
    worst = pairs if s <= FEW or len(falls) == 1 else (ComposedPair([(Envelope.of((one,)), s)]),)
    return Bounds(worst, pairs)


def _bounds_of_laplace(eps0, n, s):
    """Return what bounds s shifts of the sum of Laplace noise; a single user's noise has a pure budget."""
    above, below = (moved(pair, s, 0) for pair in laplace_pairs(eps0, n))
    return Bounds((above,), (below,), pure_epsilon=s * eps0 * (1.0 + 4.0 * UNIT))


def _ones(randomizer):
    """Return the ones in a value."""
    return getattr(randomizer, "h", 1)


def _adjacency(neighbours, s, h, *, everything):
    """Return the relation in words; ``h`` is the number of ones in every value, None if any."""
    some = "one coordinate" if s == 1 else f"at most {s} coordinates"
    text = f"{some} of one user's vector of bits, whatever bits the other users hold"
    if neighbours == "zero":
        held = f"with {h} ones" if h else f"with at most {s} ones"
        text = f"replace one user's vector {held} by zeros, whatever the other users hold"
        if not h:
            text += ", which may be any vectors of bits"
    elif h:
        text = f"replace one user's vector with {h} ones by another"
        text += "" if everything else f" that differs in at most {s} coordinates"
        text += ", whatever such vectors the other users hold"
    else:
        text = f"change {text}"
    return Adjacency(text, any_value=everything and neighbours == "replace")


def _chances(randomizer):
    """Return p, 1 − q, q, the mechanism of one bit, and whether zeros and ones are alike."""
    if isinstance(randomizer, binary_rr):
        bit = randomizer
    elif isinstance(randomizer, rappor):
        bit = binary_rr(eps0=0.5 * randomizer.eps0)
    else:
        p, q = randomizer.bits
        bit = from_pmf([[1.0 - p, p], [1.0 - q, q]])
        losses = bit.binary_losses
        return p, 1.0 - q, q, bit, losses is not None and losses[0][0] == losses[0][1]
    (q, p), _ = bit.pmf().tolist()
    return p, p, q, bit, True


def _bounds(randomizer, n, change, s):
    """Return what bounds s changed coordinates from both sides."""
    p, miss, q, bit, alike = _chances(randomizer)
    shuffled = shuffle(bit, n)
    if s == 1 and alike:
        return shuffled.bounds()
    up, down = (Interval.of(math.log(one) - math.log(other), 8.0).widened(absolute=16 * UNIT * 700.0)
                for one, other in ((q, p), (1.0 - p, miss)))  # fmt: skip
    largest = max(up.upper, down.upper) * (1.0 + 4.0 * UNIT)
    d, h = getattr(randomizer, "d", 0), _ones(randomizer)
    pure = (up + down).upper * 0.5 * s if change == "replace" else largest * s
    pure *= 1.0 + 4.0 * UNIT
    below = _attacks(n, p, miss, q, _directions(change, s, d, h))
    if s == 1:
        return dataclasses.replace(shuffled.bounds(), below=below, pure_epsilon=pure)
    if s == 2:
        kinds = {"replace": ("10",), "zero": ("11",), "coordinate": ("11", "10")}[change]
        totals = (0, 2 * (n - 1))
        if change == "replace":
            totals = (0 if d - 2 >= h else n - 1, 2 * (n - 1) if h >= 2 else n - 1)
        exact = all_others(n, p, miss, q, kinds, totals, pure)
        if exact is not None:
            return Bounds((exact,), below, attained=(exact,), pure_epsilon=pure)
    return Bounds((_composed(shuffled.dominating_pairs, change, s),), below, pure_epsilon=pure)


def _composed(pairs, change, s):
    """Return what dominates s coordinates: one bit in known directions, or the worse of both."""
    if len(pairs) > 1 or change == "coordinate":
        return ComposedPair([(Envelope.of(pairs), s)])
    [pair] = pairs
    if change == "zero" or pair.symmetric:
        return ComposedPair([(pair, s)])
    return ComposedPair([(pair, s // 2), (pair.reversed, s // 2)])


def _directions(change, s, d, h):
    r"""Return what the changes look like if all others agree in each coordinate.

    Counts of coordinates in which they hold a zero and the user's one goes, a zero and one comes, a one and
    the user's one goes, a one and one comes.  The reverse of each is meant as well.
    """
    half, rest = s // 2, s - s // 2
    left, strangers, holders = (0, half, rest, 0), (half, rest, 0, 0), (0, 0, half, rest)
    if change == "replace":  # others hold the user's value, nothing that changes, or all
        return [left] + [strangers] * (d - s >= h) + [holders] * (h >= s)
    gone = [(s, 0, 0, 0), (0, 0, s, 0)]
    return gone if change == "zero" or s == 1 else [*gone, left, strangers, holders]


def _attacks(n, p, miss, q, directions):
    """Return the pairs of explicit others, each once."""
    zeros, ones = _others_agree(n, p, miss, q)
    if p == miss:  # (U_0, V_0) is (V_{n-1}, U_{n-1})
        ones = zeros
    found = {}
    for goes, comes, goes_too, comes_too in directions:
        forward, back = {zeros: goes}, {zeros: comes}
        back[ones] = back.get(ones, 0) + goes_too
        forward[ones] = forward.get(ones, 0) + comes_too
        counted = [*forward.items(), *((pair.reversed, k) for pair, k in back.items())]
        counted = [(pair, k) for pair, k in counted if k]
        found.setdefault(frozenset((id(pair), k) for pair, k in counted), counted)
    return tuple(map(_product, found.values()))


def _product(counted):
    """Return the product of pairs, atom by atom if there are two finite ones."""
    pairs = [pair for pair, count in counted for _ in range(min(count, 3))]
    if len(pairs) == 1:
        return pairs[0]
    if len(pairs) == 2 and all(isinstance(pair, DiscretePair) for pair in pairs):
        return ProductPair(*pairs)
    return ComposedPair(counted)


def _others_agree(n, p, miss, q):
    """Return the pairs of `others_agree`, or what shuffling says of them where they have too many counts."""
    found = [others_agree(n, p, miss, q, ones=ones) for ones in (False, True)]
    if all(found):
        return found
    rows = [[1.0 - p, p], [miss, q]]
    zeros, ones = (BlanketPair(one, n) for one in InputPair.from_rows(rows, np.min(rows, axis=0)).attacks)
    return zeros.reversed, ones
