"""Every kind of profile by name, with where its arguments lie, and the questions that all of them answer."""

import math

from hypothesis import strategies as st

from arguments import SHARES, USERS, between, whole
from fuzz_cases import BUDGETS, KINDS, NOISE, PROTOCOLS, Call, call
from shufflelib import randomizers
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.published import renyi
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair, WorstPopulation, aggregate, shuffle
from shufflelib.shuffling.multi_message import shuffle_messages


def two_point(eps, share):
    """Return the finite pair of which an (eps, delta) guarantee with delta = share is a statement."""
    rest = math.log1p(-share) - math.log1p(math.exp(-eps))
    log_p = [math.log(share), rest, rest - eps, -math.inf]
    return DiscretePair(log_p, log_p[::-1])


def shuffled(kind, **own):
    """Return the call that shuffles a kind of randomizer."""
    one = KINDS[kind]
    return Call(
        f"shuffle {kind}",
        lambda n, **parameters: shuffle(one.function(**parameters), n=n),
        one.domains | {"n": USERS} | own,
        one.weight,
    )


MODERATE = {
    "eps0": between(0.01, 6.0),
    "d": st.integers(2, 12),
    "d01": between(0.01, 3.0),
    "dmax": between(0.5, 4.0),
    "s": st.integers(1, 3),
}

PAIRS = (
    call(Gaussian, "mu"),
    call(two_point, "eps", called="DiscretePair", share=SHARES),
    call(WorstPopulation, "eps0", "n"),
    call(PersonalizedPair, called="PersonalizedPair", eps0=BUDGETS),
    call(PersonalizedPair.adaptive, called="PersonalizedPair.adaptive", eps0=BUDGETS),
    call(
        lambda n, p, q, share: VariationRatioPair(n=n, p=p, beta=share * (p - 1.0) / (p + 1.0), q0=2.0 * q),
        "n",
        "q",
        called="VariationRatioPair",
        p=between(1e-9, 1e300).map(lambda x: 1.0 + x),
        share=between(1e-9, 1.0),
    ),
    call(renyi.generic_pair, "n", eps0=between(1e-9, 340.0)),
    call(renyi.binary_rr_pair, "n", eps0=between(1e-9, 340.0)),
    call(renyi.clones_pair_fmt21, "n", eps0=between(1e-9, 340.0)),
    call(renyi.theorem1_pair_arxiv24, "n", eps0=between(1e-9, 340.0)),
    call(renyi.theorem1_pair_icassp24, "n", eps0=between(1e-9, 340.0)),
)
MECHANISMS = (
    *(shuffled(kind) for kind in KINDS),
    call(
        lambda n, labels, eps0, d: shuffle(randomizers.generalized_rr(eps0=eps0, d=d), n=n, labels=labels),
        *("n", "labels", "eps0", "d"),
        called="shuffle labels",
    ),
    call(
        lambda n, d, changed, neighbours, p, q: aggregate(
            randomizers.unary(d=d, p=p, q=q), n, neighbours=neighbours, changed=changed
        ),
        "d",
        called="aggregate",
        n=st.one_of(whole(1, 10**6), st.integers(1, 40)),
        changed=st.integers(1, 4),
        neighbours=st.sampled_from(("coordinate", "replace", "zero")),
        p=between(1e-6, 0.5),
        q=between(0.51, 0.999999),
    ),
    *(
        Call(
            f"aggregate {kind}",
            lambda n, changed, neighbours, one=one, **parameters: aggregate(
                one.function(**parameters), n, neighbours=neighbours, changed=changed
            ),
            one.domains
            | {
                "n": st.one_of(whole(1, 10**6), st.integers(1, 40)),
                "changed": st.integers(1, 20),
                "neighbours": st.sampled_from(("coordinate", "replace", "zero")),
            },
        )
        for kind, one in (NOISE | {"noise": KINDS["laplace"]}).items()
    ),
)
MESSAGES = tuple(
    Call(
        f"messages {kind}",
        lambda n, blanket, one=one, **parameters: shuffle_messages(
            one.function(**parameters), n=n, dummy_messages=blanket
        ),
        one.domains | {"n": whole(1, 10**9), "blanket": whole(1, 10**9)},
    )
    for kind, one in PROTOCOLS.items()
)
# of whole curves: a Rényi divergence or a trade-off function takes hundreds of values of δ
CURVED = tuple(
    shuffled(kind, **{name: MODERATE[name] for name in KINDS[kind].domains if name in MODERATE}, n=USERS)
    for kind in (
        "binary_rr",
        "collision",
        "duchi",
        "generalized_rr",
        "generic",
        "harmony",
        "local_hash",
        "metric_generic",
        "poisson_sampled",
        "subset",
    )
)
QUESTIONS = {"delta": "eps", "epsilon": "delta", "renyi": "order", "tradeoff": "fpr"}
# a few quick kinds, by their budget alone
FEW = {
    "generic": lambda eps0: randomizers.generic(eps0=eps0),
    "binary_rr": lambda eps0: randomizers.binary_rr(eps0=eps0),
    "ten options": lambda eps0: randomizers.generalized_rr(eps0=eps0, d=10),
    "subset": lambda eps0: randomizers.subset(eps0=eps0, d=16, k=4),
}
