"""Every kind of profile that the package makes, each with its exact truth on a few users.

A record is data: how the profile is built for n users, the neighbouring datasets in exact fractions, which
share no code with the package, and how far from the worst of them either end of δ may be.
"""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction as F
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

import oracles
from claims import exact_channels, exact_shuffle
from claims.exact_channels import normalised
from finite_pairs import LOPSIDED, MILD, TELLING, discrete
from oracles import bit_vectors, counts, mixtures, multi_message, neighbours, noise, small_domains
from oracles.mixtures import BENT, LOCAL_HASH, SKEW, SUBSETS, crooked, direct_sum
from shufflelib import aggregate, randomizers, shuffle
from shufflelib.profiles import Gaussian, compose
from shufflelib.sgd.accounting import RandomAllocation, reused_allocation
from shufflelib.shuffling import (
    PersonalizedPair,
    VariationRatioPair,
    WorstPopulation,
    approximate_ldp,
    binomial_dummies,
    sample_and_threshold,
)
from shufflelib.shuffling.multi_message import shuffle_messages
from shufflelib.shuffling.personal import PersonalLaplace, PersonalRandomizedResponse

LOG3 = math.log(3)
EXACT = (1 + 1e-9, 1 - 1e-9)
ALL = ("delta", "epsilon", "renyi", "tradeoff")
POINTS = ("delta", "epsilon")
PAIRS_ALONE = ("pair", "variation-ratio")


class Record(NamedTuple):
    """A certified profile: how to build it, the exact truth, and how loose its ends may be."""

    name: str
    build: Callable  # n -> profile
    neighbours: Callable  # n -> list of {output: (P, Q)}, fractions
    users: tuple  # numbers of users at which the neighbours are listed
    loose: float  # upper <= loose * truth
    attained: float  # lower >= attained * truth
    complete: bool = True  # all neighbours are listed; else some, or coarsened ones: a lower bound
    questions: tuple = ALL

    sharp: bool = True  # either end is the truth at some n and ε


@cache
def truth(record, n):
    return neighbours.Worst(record.neighbours(n), of_datasets=not record.name.startswith(PAIRS_ALONE))


def shuffled(name, randomizer, rows, users, loose, attained=0.999, complete=True, pairs=None, sharp=True):
    return Record(
        f"shuffle {name}",
        lambda n: shuffle(randomizer, n=n),
        lambda n: neighbours.shuffled(rows, n, pairs),
        users,
        loose,
        attained,
        complete,
        sharp=sharp,
    )


# ---------------------------------------------------------------- randomizers, shuffled

GRR, SUBSET, HASH = exact_shuffle.randomized_response, exact_channels.subsets, exact_channels.local_hash
BUDGET, CELLS = 4 * math.log(1.5), exact_channels.laplace(F(3, 2), 4)
GENERIC = Record(
    "shuffle generic",
    lambda n: shuffle(randomizers.generic(eps0=LOG3), n=n),
    lambda n: neighbours.shuffled(GRR(3, 2), n) + neighbours.shuffled(GRR(3, 3), n),
    (1, 2, 3, 5),
    1.1,
    0.89,
)
BY_DEFINITION = (
    shuffled("binary RR", randomizers.binary_rr(eps0=LOG3), GRR(3, 2), (1, 2, 3, 5, 6), *EXACT),
    shuffled("3-ary RR", mixtures.rr(3, 3), GRR(3, 3), (1, 2, 3, 5), 1.12, 0.89),
    shuffled("4-ary RR", mixtures.rr(9, 4), GRR(9, 4), (1, 2, 4), 1.01),
    shuffled("subset", randomizers.subset(eps0=LOG3, d=4, k=2), SUBSET(3, 4, 1, 2), (1, 2, 4), 2.5, 0.97),
    shuffled("local hash", randomizers.local_hash(eps0=LOG3, d=3, l=2), HASH(3, 3, 2), (1, 2, 3), 1.9),
    shuffled(
        "Laplace",
        randomizers.laplace(eps0=BUDGET),
        CELLS,
        (1, 2, 3),
        1.2,
        complete=False,
        pairs=[(0, 4)],
    ),
)
LABELLED = tuple(
    Record(
        f"{labels} labels of {name}",
        lambda n, mechanism=mechanism, labels=labels: shuffle(mechanism, n=n, labels=labels),
        lambda n, rows=rows, labels=labels: neighbours.labelled(rows, n, labels),
        (1, 2, 3),
        1.12,
        0.89,
    )
    for name, mechanism, rows, labels in (
        ("binary RR", randomizers.binary_rr(eps0=LOG3), GRR(3, 2), 2),
        ("3-ary RR", mixtures.rr(3, 3), GRR(3, 3), 3),
        ("bent", randomizers.from_pmf(np.array(BENT, float)), BENT, 2),
    )
)
MOST_CELLS = 300
LISTED = tuple(
    shuffled(name, mechanism, normalised(matrix), (1, 2) if matrix.size < 100 else (1,), 3.0, 0.96)
    for name, (mechanism, matrix) in small_domains.FINITE.items()
    if name not in ("generic", "binary_rr") and matrix.size < MOST_CELLS
)
TABLES = {
    "bent": BENT,
    "skew": SKEW,
    "zeros": [[F(3, 4), F(1, 4), F(0)], [F(1, 4), F(1, 4), F(1, 2)]],
    "three inputs": [[F(5, 8), F(2, 8), F(1, 8)], [F(1, 8), F(4, 8), F(3, 8)], [F(2, 8), F(2, 8), F(4, 8)]],
    "equal rows": [[F(1, 3), F(2, 3)], [F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)]],
}
TABULATED = tuple(
    shuffled(f"table {name}", randomizers.from_pmf(np.array(rows, float)), rows, (1, 2, 3), 1.5, 0.89)
    for name, rows in TABLES.items()
)
METRIC = tuple(
    shuffled(
        name,
        build(d01=BUDGET, dmax=BUDGET),
        CELLS,
        (1, 2),
        1.7,
        0.999,
        complete=False,
        pairs=[(0, 4)],
        sharp=name == "metric Laplace",
    )
    for name, build in (
        ("metric Laplace", randomizers.metric_laplace),
        ("metric generic", randomizers.metric_generic),
    )
)

# ---------------------------------------------------------------- built from other randomizers


def joint(name, parts, rows, users, distance=None):
    held, distributions = neighbours.tensor(rows)
    apart = len(parts) if distance is None else distance
    pairs = [
        (i, j)
        for i, j in neighbours.input_pairs(held)
        if sum(a != b for a, b in zip(held[i], held[j], strict=True)) <= apart
    ]
    one = randomizers.joint(parts, distance=distance)
    return shuffled(f"joint {name}", one, distributions, users, 1.5, 0.89, pairs=pairs)


def mixture(name, parts, weights, rows, users):
    one = mixtures.mixture(parts, weights)
    return shuffled(f"mixture {name}", one, direct_sum(rows, weights), users, 1.3, 0.92)


def sampled(name, randomizer, rows, rate, users):
    """Poisson subsampling: the last output is no report at all."""
    voided = [[rate * mass for mass in row] + [1 - rate] for row in rows]
    one = randomizers.poisson_sampled(randomizer, rate=float(rate))
    return shuffled(f"Poisson sample of {name}, rate {rate}", one, voided, users, 1.6, 0.97)


rr = mixtures.rr
BUILT = (
    joint("2-RR twice", [rr(3, 2)] * 2, [GRR(3, 2)] * 2, (1, 2, 3)),
    joint("2-RR twice, one differs", [rr(3, 2)] * 2, [GRR(3, 2)] * 2, (1, 2, 3), 1),
    joint("two budgets", [rr(9, 2), rr(2, 2)], [GRR(9, 2), GRR(2, 2)], (1, 2, 3)),
    joint("two budgets, one differs", [rr(9, 2), rr(2, 2)], [GRR(9, 2), GRR(2, 2)], (1, 2, 3), 1),
    joint("3-RR, 2-RR", [rr(3, 3), rr(3, 2)], [GRR(3, 3), GRR(3, 2)], (1, 2)),
    joint("2-RR thrice, two differ", [rr(2, 2)] * 3, [GRR(2, 2)] * 3, (1, 2), 2),
    joint("hash, 2-RR", [LOCAL_HASH, rr(4, 2)], [HASH(3, 3, 2), GRR(4, 2)], (1,)),
    joint("subset, 2-RR", [SUBSETS, rr(2, 2)], [SUBSET(3, 4, 1, 2), GRR(2, 2)], (1,)),
    joint("crooked", [crooked(BENT), crooked(SKEW)], [BENT, SKEW], (1, 2)),
    joint("crooked, one differs", [crooked(BENT), crooked(SKEW)], [BENT, SKEW], (1, 2), 1),
    joint("one alone", [rr(3, 3)], [GRR(3, 3)], (1, 2, 3)),
    *(mixture(name, *case) for name, case in mixtures.MIXTURES.items()),
    shuffled(
        "hierarchical",
        randomizers.hierarchical(eps0=LOG3, d=4),
        [[mass / 2 for mass in GRR(3, 2)[x // 2] + GRR(3, 4)[x]] for x in range(4)],
        (1, 2, 3),
        1.3,
        0.92,
    ),
    *(sampled("2-RR", rr(3, 2), GRR(3, 2), rate, (1, 2, 3)) for rate in (F(1, 10), F(1, 2), F(9, 10))),
    *(sampled("3-RR", rr(4, 3), GRR(4, 3), rate, (1, 2)) for rate in (F(1, 10), F(9, 10))),
    sampled("subset", SUBSETS, SUBSET(3, 4, 1, 2), F(1, 2), (1, 2)),
    sampled("hash", LOCAL_HASH, HASH(3, 3, 2), F(1, 2), (1, 2)),
)

# ---------------------------------------------------------------- pairs taken for themselves


def pair(name, profile, masses, users=(1,), loose=EXACT[0], attained=EXACT[1], **more):
    """Take a pair for its own n-user version: n is ignored."""
    return Record(f"pair {name}", lambda n: profile, lambda n: masses(), users, loose, attained, **more)


def variation_ratio(name, **parameters):
    floats = {key: float(value) for key, value in parameters.items()}
    return Record(
        f"variation-ratio {name}",
        lambda n: VariationRatioPair(n=n, **floats),
        lambda n: [oracles.pair_masses(n=n, **parameters)],
        (1, 2, 5),
        *EXACT,
    )


FINITE = {"lopsided": LOPSIDED, "telling": TELLING, "mild": MILD}
EXAMPLES = {name: (discrete(masses), dict(enumerate(masses))) for name, masses in FINITE.items()}


def gaussian_cells(mu, cuts=24):
    """Return the masses of cells of N(0, 1) and N(mu, 1) as fractions: coarsening is post-processing."""
    edges = np.concatenate(([-np.inf], np.linspace(mu / 2 - 4, mu / 2 + 4, cuts), [np.inf]))
    first, second = (np.diff(ndtr(edges - shift)) for shift in (0.0, mu))
    rows = normalised([first, second])
    return dict(enumerate(zip(*rows, strict=True)))


def allocation_cells(noise, blocks=2, chosen=1, epochs=1, cuts=12):
    """Return cells of all reports where one example, +C or -C, is in the same blocks in every epoch."""
    edges = np.concatenate(([-np.inf], np.linspace(-4, 4, cuts), [np.inf]))
    none, up, down = normalised([np.diff(ndtr(edges - shift)) for shift in (0.0, 1 / noise, -1 / noise)])
    subsets = list(itertools.combinations(range(blocks), chosen))

    def mass(seen, moved):
        of_block = [[seen[epoch * blocks + block] for epoch in range(epochs)] for block in range(blocks)]
        at = [[math.prod(row[i] for i in cells) for row in (none, moved)] for cells in of_block]
        return sum(math.prod(at[block][block in own] for block in range(blocks)) for own in subsets)

    places = itertools.product(range(len(none)), repeat=blocks * epochs)
    return {seen: tuple(mass(seen, moved) / len(subsets) for moved in (up, down)) for seen in places}


def reused(name, noise, cuts, users=(1,), **settings):
    """Take a sampler that reuses its blocks for its own n-user version, with its reports in few cells."""
    return Record(
        f"reused allocation, {name}",
        lambda n: reused_allocation(noise_multiplier=noise, **settings),
        lambda n: [allocation_cells(noise, cuts=cuts, **settings)],
        users,
        2.0,
        EXACT[1],
        sharp=False,
        complete=False,
    )


PAIRS = (
    variation_ratio("binary RR", p=3, beta=F(1, 2), q0=3),
    variation_ratio("4-ary RR", p=3, beta=F(1, 3), q0=3),
    variation_ratio("asymmetric", p=3, beta=F(1, 4), q0=5, q1=2),
    variation_ratio("p infinite", p=math.inf, beta=F(1, 2), q0=4),
    *(pair(name, profile, lambda masses=masses: [masses]) for name, (profile, masses) in EXAMPLES.items()),
    pair(
        "Gaussian 1/2", Gaussian(0.5), lambda: [gaussian_cells(0.5)], loose=1.1, complete=False, sharp=False
    ),
    pair("Gaussian 2", Gaussian(2.0), lambda: [gaussian_cells(2.0)], loose=1.1, complete=False, sharp=False),
    pair(
        "random allocation",
        RandomAllocation(1.0, 2),
        lambda: [allocation_cells(1.0)],
        loose=1.5,
        sharp=False,
        complete=False,
    ),
    reused("two epochs", 1.0, 6, blocks=2, epochs=2),
    reused("two of three", 3.0, 12, blocks=3, epochs=1, chosen=2),
    Record(
        "worst population",
        lambda n: WorstPopulation(LOG3, n),
        lambda n: neighbours.shuffled(GRR(3, 2), n),
        (1, 2, 3, 5, 8),
        *EXACT,
        questions=POINTS,
    ),
    Record(
        "worst population, unlike rows",
        lambda n: WorstPopulation(math.log(F(5, 4)), n, math.log(F(5, 2))),
        lambda n: neighbours.shuffled([[F(15, 17), F(2, 17)], [F(12, 17), F(5, 17)]], n),
        (1, 2, 3, 5, 8),
        *EXACT,
        questions=POINTS,
    ),
    *(
        pair(f"slots {odds}", PersonalizedPair(np.log(odds)), lambda odds=odds: neighbours.slots(odds))
        for odds in ((2, 5), (2, 3, 7), (1, 4, 4), (2, 2, 3, 9))
    ),
)

# ---------------------------------------------------------------- rounds and subsets

ROUNDS = (
    *(
        pair(
            f"{rounds} rounds of {name}",
            profile.compose(rounds=rounds),
            lambda masses=masses, rounds=rounds: neighbours.composed(*[[masses]] * rounds),
            loose=1.004,
            attained=0.999,
            sharp=rounds == 1,
        )
        for name, (profile, masses) in EXAMPLES.items()
        for rounds in (1, 2, 4)
    ),
    pair(
        "unequal rounds",
        compose([EXAMPLES[name][0] for name in ("lopsided", "mild", "telling", "lopsided")]),
        lambda: neighbours.composed(
            *([EXAMPLES[name][1]] for name in ("lopsided", "mild", "telling", "lopsided"))
        ),
        loose=1.004,
        attained=0.999,
        sharp=False,
    ),
    *(
        Record(
            f"{rounds} rounds of shuffled {name}",
            lambda n, one=one, rounds=rounds: shuffle(one, n=n).compose(rounds=rounds),
            lambda n, rows=rows, rounds=rounds: neighbours.composed(
                *[neighbours.any_direction(neighbours.shuffled(rows, n))] * rounds
            ),
            (1, 2),
            1.4,
            0.93,
            sharp=False,
        )
        for name, one, rows, rounds in (
            ("2-RR", rr(3, 2), GRR(3, 2), 2),
            ("2-RR", rr(3, 2), GRR(3, 2), 3),
            ("a table", randomizers.from_pmf(np.array(BENT, float)), BENT, 2),
        )
    ),
    *(
        pair(
            f"lopsided at rate {rate}",
            EXAMPLES["lopsided"][0].subsample(rate=float(rate)),
            lambda rate=rate: [neighbours.mixed(EXAMPLES["lopsided"][1], rate)],
        )
        for rate in (F(1, 10), F(9, 10))
    ),
    *(
        Record(
            f"{drawn} of {population} {name}",
            lambda n, one=one, population=population: shuffle(one, n=n).subsample(rate=n / population),
            lambda n, rows=rows, population=population: neighbours.subsampled(rows, n, population),
            (drawn,),
            3.1,
            0.999,
        )
        for name, one, rows, drawn, population in (
            ("2-RR", randomizers.binary_rr(eps0=LOG3), GRR(3, 2), 2, 5),
            ("2-RR", randomizers.binary_rr(eps0=math.log(5)), GRR(5, 2), 1, 3),
            ("3-RR", rr(3, 3), GRR(3, 3), 2, 4),
            ("3-RR", rr(2, 3), GRR(2, 3), 3, 4),
        )
    ),
)

GROUPS = tuple(
    Record(
        f"group of {size} among shuffled {name}",
        lambda n, one=one, size=size: shuffle(one, n=n).group(size),
        lambda n, rows=rows, size=size: neighbours.groups(rows, n, size),
        users,
        loose,
        0.0,  # of one user, whose losses may end before those of the group
        questions=questions,
        sharp=False,
    )
    for name, one, rows, size, users, loose, questions in (
        ("2-RR", randomizers.binary_rr(eps0=LOG3), GRR(3, 2), 2, (2, 3, 5), 1.6, ALL),
        ("2-RR", randomizers.binary_rr(eps0=math.log(2)), GRR(2, 2), 3, (3, 4), 1.8, ALL),
        ("a table", randomizers.from_pmf(np.array(BENT, float)), BENT, 2, (2, 3), 1.6, POINTS),
    )
)

# ---------------------------------------------------------------- sums of flipped bits


def summed(name, mechanism, chances, pairs, values, **relation):
    return Record(
        f"sums {name}",
        lambda n: aggregate(mechanism, n, **relation),
        lambda n: list(bit_vectors.listed(pairs, values, n, *chances)),
        (1, 2, 3),
        *EXACT,
    )


ONE_HOT = bit_vectors.sets(3, 1)
BITS = randomizers.unary(d=3, p=0.25, q=0.75), (F(1, 4), F(3, 4))
UNLIKE = randomizers.unary(d=3, p=0.125, q=0.5), (F(1, 8), F(1, 2))
GONE = [(ONE_HOT[0], (0, 0, 0)), ((0, 0, 0), ONE_HOT[0])]
SUMS = (
    summed("replace", *BITS, list(itertools.permutations(ONE_HOT, 2)), ONE_HOT),
    summed("replace, lopsided", *UNLIKE, list(itertools.permutations(ONE_HOT, 2)), ONE_HOT),
    summed("zero", *BITS, GONE, ONE_HOT, neighbours="zero"),
    summed("zero, lopsided", *UNLIKE, GONE, ONE_HOT, neighbours="zero"),
)


def noisy(name, mechanism, cells, *, complete=False, attained=EXACT[1], loose=1.1, **relation):
    """Return the record of sums of noise, of cells of which the oracle knows the masses."""
    return Record(
        f"sums of {name}",
        lambda n: aggregate(mechanism, n, **relation),
        cells,
        (1, 2, 3),
        EXACT[0] if complete else loose,
        attained,
        complete,
        sharp=complete,
    )


def heads(n, *shifts):
    """Return cells of two coins of each user, biased, in both orders."""
    masses = dict(enumerate(counts.coins(2 * n, F(1, 4))))
    return [noise.shifted(masses, [side * by for by in shifts]) for side in (1, -1)]


def rounded(cells):
    """Return one distribution of each cell as fractions."""
    return dict(enumerate(zip(*normalised([[F(str(mass)) for mass in row] for row in cells]), strict=True)))


def whole(masses, n):
    cells = noise.shifted(noise.summed(masses, n), (1,))
    return [rounded(list(zip(*cells.values(), strict=True)))]


COINS = randomizers.binomial(trials=2, p=0.25)
NOISE = (
    noisy("noise", randomizers.gaussian(sigma=1.0), lambda n: [gaussian_cells(1.0 / math.sqrt(n))]),
    noisy("coins", COINS, lambda n: heads(n, 1), complete=True),
    noisy(
        "coins, two changed",
        COINS,
        lambda n: heads(n, 1, 1) + heads(n, 1, -1),
        complete=True,
        changed=2,
    ),
    noisy(
        "coins, two zeroed",
        COINS,
        lambda n: heads(n, 1, 1),
        complete=True,
        changed=2,
        neighbours="zero",
    ),
    noisy(
        "coins, by three",
        randomizers.binomial(trials=2, p=0.25, sensitivity=3),
        lambda n: [one for by in (1, 2, 3) for one in heads(n, by)],
        complete=True,
    ),
    noisy("Skellam noise", randomizers.skellam(mu=0.5), lambda n: whole(noise.skellam(0.5), n)),
    noisy(
        "discrete Gaussian noise",
        randomizers.discrete_gaussian(sigma=1.25),
        lambda n: whole(noise.discrete_gaussian(1.25), n),
        attained=1 - 1e-4,
    ),
    noisy(
        "Laplace noise",
        randomizers.laplace(eps0=1.0),
        lambda n: [rounded(noise.laplace_cells(n, 1, 128))],
    ),
)

# ---------------------------------------------------------------- several messages, personal budgets


def messages(name, users, blanket):
    protocol, inputs, _ = multi_message.PROTOCOLS[name]

    def listed(n):
        crowds = neighbours.crowds(inputs, n - 1)
        return [multi_message.real(name, others, blanket) for others in crowds]

    return Record(
        f"messages {name}",
        lambda n: shuffle_messages(protocol, n=n, dummy_messages=blanket),
        listed,
        users,
        1.3,
        0.0 if name == "mixDUMP" else 0.71,
    )


def of_user(kind, name, mechanism, rows, target, loose, attained, complete=True):
    """One user's guarantee under randomize-then-shuffle: δ and ε only."""
    profile = SimpleNamespace(
        delta=lambda eps: mechanism.delta(user=target, eps=eps),
        epsilon=lambda delta: mechanism.epsilon(user=target, delta=delta),
    )
    return pair(
        f"user {target} of {kind} {name}",
        profile,
        lambda: neighbours.personal(rows, target),
        loose=loose,
        attained=attained,
        complete=complete,
        sharp=complete,
        questions=POINTS,
    )


OWN = tuple(
    of_user(
        f"{k}-RR",
        odds,
        PersonalRandomizedResponse(np.log(odds), d=k),
        [GRR(e, k) for e in odds],
        target,
        1.9,
        0.6,
    )
    for k, odds in ((2, (3, 3)), (2, (2, 5, 9)), (3, (4, 3)), (3, (2, 3, 4)))
    for target in (0, len(odds) - 1)
)
OWN_PROFILES = tuple(
    pair(
        f"profile of user {target} of {k}-RR {odds}",
        PersonalRandomizedResponse(np.log(odds), d=k).profile(user=target),
        lambda k=k, odds=odds, target=target: neighbours.personal([GRR(e, k) for e in odds], target),
        loose=1.9,
        attained=0.6,
        questions=POINTS,
    )
    for k, odds in ((2, (2, 5, 9)), (3, (2, 3, 4)))
    for target in (0, 2)
)
OWN_LAPLACE = tuple(
    of_user(
        "Laplace",
        roots,
        PersonalLaplace([2 * math.log(root) for root in roots]),
        [exact_channels.laplace(root) for root in roots],
        target,
        2.1,
        0.999,
        complete=False,
    )
    for roots in ((F(3, 2), F(3, 2)), (F(2), F(3, 2)))
    for target in (0, 1)
)
MESSAGES = (
    *(messages(name, (1, 2), 2) for name in ("biased coin", "fair coin", "bins", "special bins", "mixDUMP")),
    *(messages(name, (1, 2), 2) for name in ("two fake items", "pureDUMP")),
    messages("fake users", (1,), 2),
)

SYMBOLS = [[F(1, 1000), F(2997, 4000), F(999, 4000), F(0)], [F(0), F(999, 4000), F(2997, 4000), F(1, 1000)]]
APPROXIMATE = Record(
    "approximate LDP",
    lambda n: approximate_ldp(eps0=LOG3, delta0=0.001, n=n),
    lambda n: neighbours.shuffled(SYMBOLS, n) + neighbours.shuffled(GRR(3, 3), n),
    (1, 2, 3),
    1.3,
    0.85,
    complete=False,
    sharp=False,
    questions=POINTS,
)
NUMBERS = (
    Record(
        "dummies of coins",
        lambda n: binomial_dummies(chance=0.25, d=4, n=n),
        lambda n: [counts.moved(counts.coins(n, F(1, 4)), 1, 1)],
        (1, 2, 5),
        *EXACT,
    ),
    Record(
        "sample and threshold",
        lambda n: sample_and_threshold(rate=0.25, threshold=2),
        lambda n: [counts.changed(c, F(1, 4), 2) for c in range(1, 16)],
        (1,),
        *EXACT,
    ),
)

RECORDS = (
    *NUMBERS,
    GENERIC,
    APPROXIMATE,
    *BY_DEFINITION,
    *LABELLED,
    *LISTED,
    *TABULATED,
    *METRIC,
    *BUILT,
    *PAIRS,
    *ROUNDS,
    *GROUPS,
    *SUMS,
    *NOISE,
    *MESSAGES,
    *OWN,
    *OWN_PROFILES,
    *OWN_LAPLACE,
)
