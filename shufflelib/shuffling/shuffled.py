r"""The profile of n shuffled reports: upper bounds from the privacy blanket, lower bounds from attacks."""

import itertools
from functools import partial

import numpy as np

from shufflelib.numerics import validation
from shufflelib.profiles.adjacency import LABELLED, REPLACE_ONE, SHUFFLED, Adjacency
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.likelihood_ratios import attacks, blankets
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.profiles.shown import Made
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.randomizers.response import binary_rr
from shufflelib.shuffling.binary_rr_exact import WorstPopulation
from shufflelib.shuffling.renyi_tails import BesideTails
from shufflelib.shuffling.worst_of_pairs import WorstPair

FEW = 24  # pairs that are not worth gathering
BLANKET = (
    "guarantee: privacy blanket, for all neighbouring datasets; "
    "attack: the best of those tried in which all other users hold one value"
)


@validation.names_checked
def shuffle(randomizer: LocalRandomizer, n: int, *, labels: int = 1) -> PrivacyProfile:
    r"""Return the certified privacy profile of n shuffled reports.

    Parameters
    ----------
    randomizer : LocalRandomizer
        The mechanism that every user applies to their value, independently.
    n : int
        Number of honest users, including the one whose value changes, 1 ≤ n ≤ 10¹⁵: with c colluders among
        N users it is N − c.
    labels : int, optional
        Number L of public labels, 1 ≤ L ≤ 10¹⁵: every report carries one, drawn uniformly for each user and
        independently of the values, such as the cohort or the row of hash functions.

    Returns
    -------
    Profile
        ``upper`` bounds come from the privacy blanket, maximised over pairs of inputs and both
        directions, and hold for all neighbouring datasets; ``lower`` bounds from the best of some attacks in
        which all other users hold one value x*, which is a possible dataset, so no valid bound is smaller.
        A mechanism with two outputs, such as binary randomized response, has the exact worst dataset on both
        sides.

    Notes
    -----
    Neighbouring datasets differ in one user's value; ``profile.adjacency``, which the randomizer determines,
    says how.  ``profile.assumptions`` says whom to trust: a shuffler, n honest users who
    do not collude, participation that does not depend on the values.  Cost O(1) in n.

    *Two outputs.*  All datasets are searched, so δ and ε are known: of binary randomized response, of a table
    with two columns, of a number rounded to a random bit.  Each input is a mixture of the two extreme ones.
    The distribution of the shuffled reports is linear in each user's, and the hockey-stick divergence is
    jointly convex, so it is largest where all users hold extreme inputs.  In other words, the mechanism is
    that of the extreme inputs on random bits, and for any bits the bound holds.  If one output is rare and
    there are many users, the privacy blanket is used, which is then close; see `WorstPopulation`.  Numbers
    that depend on the whole curve (Rényi divergences, trade-off functions,
    rounds) have an upper bound from the worst population at every ε, which no single dataset need attain, and
    a lower bound from the dataset of equal values.

    *Colluders.*  Users who tell the analyst what they sent, or send anything else, add nothing to the crowd:
    their reports can be taken out of the shuffled ones and put back, so the analyst sees as much as of the
    n = N − c others alone.  Both bounds are those of n.

    *Labels.*  The analyst may know who carries which label, so that only users of one's own label are a
    crowd: :math:`\delta = \mathbb E[\delta_{N+1}]` with :math:`N \sim \mathrm{Bin}(n - 1, 1/L)` others.  As

    .. math:: \tfrac1{m+1} \tbinom{n-1}m = \tfrac1n \tbinom n{m+1}, \qquad
              \mathbb E\Bigl[\tfrac1{N+1} \mathbb E\Bigl(\sum_{i \le N+1} G_i\Bigr)_+\Bigr]
              = \tfrac1n \mathbb E\Bigl(\sum_{i \le n} G'_i\Bigr)_+

    with G' = L G for a share 1/L of the users and 0 for all others: the same sum, with another reference
    measure.  In rounds labels are drawn anew.  Where users keep theirs, as cohorts do over several rounds,
    and wherever a label has a fixed number of users, give these as n, without ``labels``.
    In a Hadamard count-mean sketch the label, row and index, leaves one bit of two outputs:
    ``shuffle(binary_rr(eps0=…), n, labels=rows * indices)`` is an upper bound.  Half of it bounds δ of the
    sketch, because two values have one bit in half of the labels.

    Source: Balle, Bell, Gascón, Nissim (CRYPTO 2019), Lemma 5.3; Su, Cheng, Wang (arXiv:2504.07414).

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> bracket = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000).epsilon(delta=1e-6)
    >>> round(bracket.lower, 4), round(bracket.upper, 4)
    (0.0801, 0.0802)

    One in ten of a thousand users colludes:

    >>> honest = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000 - 100)
    >>> round(honest.epsilon(delta=1e-6).upper, 4)
    0.0848

    With a hundred cohorts the crowd is a hundredth:

    >>> cohorts = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=100_000, labels=100)
    >>> round(cohorts.epsilon(delta=1e-6).upper, 4)
    0.0803
    """
    n = _checked(randomizer, n)
    remedy = "it counts the values of a public label of the reports"
    labels = validation.count(labels, "labels", at_most=validation.MAX_USERS, remedy=remedy)
    if labels > 1:
        return _profile(randomizer, n, partial(_blanket_bounds, labels=labels), BLANKET, labels=labels)
    losses = randomizer.binary_losses
    if losses is None or not WorstPopulation(losses[1][0], n, losses[1][1]).resolved:
        return blanket_profile(randomizer, n)
    return _profile(
        randomizer,
        n,
        _all_datasets,
        "guarantee: every number of ones among the other users, searched; attack: the worst of them",
    )


def blanket_profile(randomizer: LocalRandomizer, n: int) -> Profile:
    """Return the profile of n shuffled reports by the privacy blanket, even where more is known.

    Parameters
    ----------
    randomizer, n
        As in `shuffle`.

    Returns
    -------
    Profile
        That of `shuffle`, except for binary randomized response.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> from shufflelib.shuffling import blanket_profile
    >>> binary = randomizers.binary_rr(eps0=1.0)
    >>> plain, exact = (proved(binary, n=1000).epsilon(1e-6).upper for proved in (blanket_profile, shuffle))
    >>> 1.1 * exact < plain < 1.3 * exact
    True
    """
    n = _checked(randomizer, n)
    return _profile(
        randomizer,
        n,
        _blanket_bounds,
        BLANKET,
        rougher=partial(_rougher_bounds, randomizer, n),
    )


def _checked(randomizer, n):
    remedy = (
        "build one with shufflelib.randomizers; protocols of several messages go to shuffle_messages, "
        "noise on whole numbers to aggregate"
    )
    validation.instance(randomizer, "randomizer", LocalRandomizer, remedy=remedy)
    return validation.users(n)


def _profile(randomizer, n, bounds, source, labels=1, **rest):
    """Return the profile of n reports with these bounds."""
    relation, own = randomizer.adjacency, {"n": n}
    if labels > 1:
        own["labels"] = labels
        relation = Adjacency(f"{relation}, the label, which may be known, being kept", any_value=False)
    among = "" if relation == REPLACE_ONE else f" (neighbours: {relation})"
    return Profile(
        bounds=partial(bounds, randomizer, n),
        statement=f"n = {n} shuffled reports of {randomizer}"
        + (f", each with one of {labels} public labels" if labels > 1 else "")
        + among,
        source=source,
        adjacency=relation,
        assumptions=(*SHUFFLED, *(LABELLED if labels > 1 else ()), *randomizer.assumptions),
        users=n,
        population=n,
        written=Made("shuffle", randomizer, own),
        renyi_known=randomizer.local_renyi,
        **rest,
    )


def _blanket_bounds(randomizer, n, inputs=None, labels=1):
    """Return the pair under the privacy blanket, for each candidate pair of inputs, and all attacks.

    An attack is the pair under the full density of R(x*), for each candidate pair of inputs and each x*.
    """
    inputs = inputs or randomizer.input_pairs()
    if labels > 1:
        inputs = [pair.among_labels(labels) for pair in inputs]
    above = _blanket_pairs(blankets(inputs, randomizer.eps0), n)
    return Bounds(
        above=above if len(above) <= FEW else (WorstPair(above),),
        below=_blanket_pairs(attacks(inputs, randomizer.eps0), n),
        pure_epsilon=randomizer.eps0,
        renyi=_beside_tails(inputs, n),
    )


def _rougher_bounds(randomizer, n):
    """Return the same bounds with fewer cells, or None."""
    inputs = randomizer.input_pairs_in_rounds()
    return inputs and _blanket_bounds(randomizer, n, inputs)


def _all_datasets(randomizer, n):
    """Return the worst population at every ε, between two outputs with two losses each, and the attacks."""
    worst = {losses: WorstPopulation(losses[0], n, losses[1]) for losses in randomizer.binary_losses}
    smaller, larger = randomizer.binary_losses
    mirrored = smaller[0] == smaller[1]
    extreme = (binary_rr(eps0=smaller[0]) if mirrored else randomizer).input_pairs()
    return Bounds(
        above=(worst[larger],),
        below=_blanket_pairs(attacks(extreme, randomizer.eps0), n),
        attained=(worst[smaller],),
        pure_epsilon=randomizer.eps0,
    )


def _blanket_pairs(all_ratios, n):
    return tuple(map(BlanketPair, all_ratios, itertools.repeat(n)))


def _beside_tails(inputs, n):
    """Return what bounds Rényi divergences with their tails set apart, or None if there are none."""
    if not inputs or any(pair.tails is None for pair in inputs):
        return None
    beside = [BesideTails(pair, n) for pair in inputs]
    return lambda order: np.max([pair.renyi(order) for pair in beside], axis=0)
