"""Every public function by name, with where its arguments lie.

The functions are found as in `test_hostile`.  A `Call` takes its arguments from `DOMAINS` by their names, so
that two functions never disagree about what a budget is; where a function's own domain is narrower, `OWN`
says so.
"""

import inspect
import math
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import strategies as st

from arguments import DOMAINS, EPS0, between, several, whole
from shufflelib import randomizers
from test_hostile import public_callables

BUDGETS = several(EPS0, 2, 8)  # one for each user
FEW, POWERS = whole(1, 10**4), st.integers(1, 40).map(lambda k: 2**k)
OWN = {  # other domains than the name's, or optional arguments that are drawn too
    "published.composition.optimal_kov15": {"rounds": FEW},
    "published.conversions.renyi_from_pure_dp_mironov17": {"eps": EPS0},
    "published.parallel_composition.range_query_beta_released": {"d": POWERS},
    "published.parallel_composition.range_query_betas": {"d": POWERS},
    "published.personalized.normal_approximation_gspa24": {"eps0": EPS0, "n": FEW},
    "randomizers.balls_into_bins": {"s": DOMAINS["s"]},
    "randomizers.duchi": {"d": FEW},
    "randomizers.generalized_rr": {"eps0": EPS0},
    "randomizers.hadamard_blocks": {
        "K": st.sampled_from((8, 16, 1024)),
        "s": st.sampled_from((1, 2, 4, 128)),
        "B": st.sampled_from((2, 4)),
    },
    "randomizers.harmony": {"d": FEW},
    "randomizers.sampled_rappor": {"s": st.integers(1, 8)},
    "randomizers.unary": {"p": between(1e-6, 0.5), "q": between(0.51, 0.999999)},
}
WEIGHT = {"girgis21_lower_exact": 0.3, "optimal_kov15": 0.3, "normal_approximation_gspa24": 0.1}
WEIGHT |= {"planar_laplace": 0.2, "variation_ratio_wang24": 0.1}


class Call(NamedTuple):
    """A function of keywords, the strategies of its arguments, its share of the examples."""

    name: str
    function: Callable
    domains: dict
    weight: float = 1.0
    most: float = math.inf


def call(function, *names, called=None, **own):
    """Return the call of a function whose arguments are drawn from `DOMAINS` but where it has its own."""
    title = called or f"{function.__module__.removeprefix('shufflelib.')}.{function.__name__}"
    return Call(title, function, {name: DOMAINS[name] for name in names} | own)


def found(folder, **own):
    """Yield the calls of a folder's functions whose required arguments all have a domain."""
    for title, function in public_callables().items():
        domains = {"eps0": BUDGETS} if title.startswith("published.personalized") else {}
        domains = DOMAINS | domains | OWN.get(title, {}) | own
        names = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is not parameter.VAR_KEYWORD
            if parameter.default is parameter.empty or name == "delta0" or name in OWN.get(title, {})
        ]
        if title.startswith(folder) and set(names) <= domains.keys():
            kind = title.rpartition(".")[2]
            # the value at a limit may pass 1 where n is small
            share = {"delta", "tradeoff"} & set(kind.split("_")) and "central_limit" not in title
            most = 1.0 if share else math.inf
            yield Call(title, function, {name: domains[name] for name in names}, WEIGHT.get(kind, 1.0), most)


# built from numbers through another randomizer
BUILT = (
    call(
        lambda redraw, d: randomizers.generalized_rr(redraw=redraw, d=d),
        "d",
        called="randomizers.redrawn_rr",
        redraw=between(1e-12, 0.999),
    ),
    call(
        lambda eps0, d: randomizers.joint(
            [randomizers.binary_rr(eps0=eps0), randomizers.generalized_rr(eps0=eps0, d=d)]
        ),
        "eps0",
        "d",
        called="randomizers.joint",
    ),
    call(
        lambda eps0, d: randomizers.mixture(
            [randomizers.binary_rr(eps0=eps0), randomizers.generalized_rr(eps0=eps0, d=d)], [0.25, 0.75]
        ),
        "eps0",
        "d",
        called="randomizers.mixture",
    ),
    call(
        lambda eps0, rate: randomizers.poisson_sampled(randomizers.binary_rr(eps0=eps0), rate=rate),
        "eps0",
        "rate",
        called="randomizers.poisson_sampled",
    ),
)
MANY_MESSAGES = ("balcer_binary", "balcer_uniform", "balls_into_bins", "cheu_zhilyaev", "mix_dump")
CONSTRUCTORS = {one.name.rpartition(".")[2]: one for one in (*found("randomizers."), *BUILT)}
PROTOCOLS = {kind: CONSTRUCTORS[kind] for kind in MANY_MESSAGES}
NOISE = {kind: CONSTRUCTORS[kind] for kind in ("binomial", "discrete_gaussian", "skellam")}  # for sums only
KINDS = {kind: one for kind, one in CONSTRUCTORS.items() if kind not in PROTOCOLS | NOISE}
# trade-off functions are asked in `test_fuzz_tradeoffs`
FORMULAS = tuple(one for one in found("published.") if "joint_concavity" not in one.name)
