"""Every public function by name, with where its arguments lie: evenly in their logarithm, ends included.

A `Call` takes its arguments from `DOMAINS` by their names, so that two functions never disagree about
what a budget is; where a function's own domain is narrower, it says so.  What may be refused is part of
the range on purpose: a refusal is an answer too, provided that it is a good one.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import strategies as st

from shufflelib import profiles, randomizers
from shufflelib.published import (
    central_limit,
    closed_form,
    composition,
    conversions,
    parallel_composition,
    personalized,
    renyi,
    shuffle_index,
)
from shufflelib.published import multi_message as published_messages


def between(low, high, *ends):
    """Numbers whose logarithm is uniform, both ends of the range and others among them."""
    inside = st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))
    return st.one_of(inside, inside, inside, st.sampled_from((low, high, *ends)))


def whole(low, high, *ends):
    return between(low, high, *ends).map(round)


def several(one, least=2, most=5):
    return st.lists(one, min_size=least, max_size=most)


SHARES = st.one_of(between(1e-12, 0.5), between(1e-12, 0.5).map(lambda x: 1.0 - x))
DELTA = st.one_of(between(1e-300, 0.5), between(1e-12, 0.5), between(1e-12, 0.5).map(lambda x: 1.0 - x))
EPS0 = st.one_of(between(1e-12, 700.0), between(0.01, 20.0))
EPS = st.one_of(st.just(0.0), between(1e-12, 700.0), between(1e-3, 3.0))
ORDER = st.one_of(between(1e-15, 1e6).map(lambda x: 1.0 + x), st.integers(2, 40))
USERS = st.one_of(whole(1, 10**15), st.integers(1, 60))
WEIGHTS = several(between(1e-6, 1.0)).map(lambda w: [x / math.fsum(w) for x in w])

DOMAINS = {
    "a": between(1e-9, 100.0),
    "alternative_weights": WEIGHTS,
    "beta": st.one_of(st.just(0.0), between(1e-9, 1.0)),
    "betas": several(between(1e-9, 1.0)),
    "blanket": whole(1, 10**14),
    "bound": between(1e-6, 20.0),
    "chi": between(1e-12, 1e12),
    "clip": between(1e-6, 100.0),
    "cohorts": whole(1, 100),
    "coin": SHARES,
    "d": st.one_of(whole(2, 10**6), st.integers(2, 40)),
    "d01": between(1e-9, 100.0),
    "delta": DELTA,
    "delta0": DELTA,
    "dmax": between(1e-9, 100.0),
    "eps": EPS,
    "eps0": EPS0,
    "flip": SHARES,
    "fpr": st.one_of(st.sampled_from((0.0, 1.0)), DELTA),
    "mean": between(1e-9, 100.0),
    "messages": whole(1, 10**14),
    "mu": between(1e-9, 1e4),
    "n": USERS,
    "order": ORDER,
    "p": st.one_of(st.just(math.inf), between(1e-9, 1e300).map(lambda x: 1.0 + x)),
    "q": between(1.0, 1e300),
    "q0": between(1.0, 1e300),
    "rate": between(1e-9, 1.0),
    "renyi": st.one_of(st.just(math.inf), between(1e-12, 700.0)),
    "rounds": whole(1, 10**6),
    "s": st.one_of(st.just(1), st.integers(1, 8), whole(1, 10**5)),
    "sigma": between(0.03, 1e6),
    "slack": st.one_of(st.sampled_from((0.0, 1.0)), DELTA),
    "total_delta": DELTA,
    "variance": between(1.001, 1e4),
    "weight": SHARES,
    "weights": WEIGHTS,
    "brim": between(1e-3, 1e3),
    "height": between(1e-6, 100.0),
}
BUDGETS = several(EPS0, 2, 8)  # one for each user


class Call(NamedTuple):
    """A function of keywords, the strategies of its arguments, its share of the examples."""

    name: str
    function: Callable
    domains: dict
    weight: float
    least: float
    most: float


def call(function, *names, weight=1.0, called=None, least=0.0, most=math.inf, **own):
    """Return the call of a function whose arguments are drawn from `DOMAINS` but where it has its own."""
    title = called or f"{function.__module__.removeprefix('shufflelib.')}.{function.__name__}"
    return Call(title, function, {name: DOMAINS[name] for name in names} | own, weight, least, most)


# ---------------------------------------------------------------- randomizers

KINDS = {
    "binary_rr": call(randomizers.binary_rr, "eps0"),
    "collision": call(randomizers.collision, "eps0", "d", "s"),
    "duchi": call(randomizers.duchi, "eps0", d=whole(1, 10**4)),
    "gaussian": call(randomizers.gaussian, "sigma"),
    "generalized_rr": call(randomizers.generalized_rr, "eps0", "d"),
    "generic": call(randomizers.generic, "eps0"),
    "hadamard": call(randomizers.hadamard, "eps0", "d"),
    "hadamard_blocks": call(
        randomizers.hadamard_blocks,
        "eps0",
        K=st.sampled_from((8, 16, 1024)),
        s=st.sampled_from((1, 2, 4, 128)),
        B=st.sampled_from((2, 4)),
    ),
    "harmony": call(randomizers.harmony, "eps0", d=whole(1, 10**4)),
    "laplace": call(randomizers.laplace, "eps0"),
    "local_hash": call(randomizers.local_hash, "eps0", "d"),
    "metric_generic": call(randomizers.metric_generic, "d01", "dmax"),
    "metric_laplace": call(randomizers.metric_laplace, "d01", "dmax"),
    "optimized_unary": call(randomizers.optimized_unary, "eps0", "d"),
    "pckv_grr": call(randomizers.pckv_grr, "eps0", "d", "s"),
    "piecewise": call(randomizers.piecewise, "eps0"),
    "planar_laplace": call(randomizers.planar_laplace, "d01", "dmax", weight=0.2),
    "privkv": call(randomizers.privkv, "eps0", "d", "s"),
    "rappor": call(randomizers.rappor, "eps0", "d"),
    "sampled_rappor": call(randomizers.sampled_rappor, "eps0", "d", s=st.integers(1, 8)),
    "subset": call(randomizers.subset, "eps0", "d"),
    "subset_exponential": call(randomizers.subset_exponential, "eps0", "d", "s"),
    "wheel": call(randomizers.wheel, "eps0", "d", "s"),
    "witch_hat": call(randomizers.witch_hat, "d01", "dmax", "brim", "height"),
    # built from numbers through another randomizer
    "joint": call(
        lambda eps0, d: randomizers.joint(
            [randomizers.binary_rr(eps0=eps0), randomizers.generalized_rr(eps0=eps0, d=d)]
        ),
        "eps0",
        "d",
        called="joint",
    ),
    "mixture": call(
        lambda eps0, d: randomizers.mixture(
            [randomizers.binary_rr(eps0=eps0), randomizers.generalized_rr(eps0=eps0, d=d)], [0.25, 0.75]
        ),
        "eps0",
        "d",
        called="mixture",
    ),
    "poisson_sampled": call(
        lambda eps0, rate: randomizers.poisson_sampled(randomizers.binary_rr(eps0=eps0), rate=rate),
        "eps0",
        "rate",
        called="poisson_sampled",
    ),
}
PROTOCOLS = {
    "balcer_binary": call(randomizers.balcer_binary, "coin"),
    "balcer_uniform": call(randomizers.balcer_uniform),
    "balls_into_bins": call(randomizers.balls_into_bins, "d", "s"),
    "cheu_zhilyaev": call(randomizers.cheu_zhilyaev, "d", "flip"),
    "mix_dump": call(randomizers.mix_dump, "d", "flip"),
}

# ---------------------------------------------------------------- numbers from numbers

PAIR = ("p", "beta", "q", "n", "delta")
FORMULAS = (
    *(
        call(one, "eps0", "n", "delta")
        for one in (
            closed_form.blanket_bennett,
            closed_form.blanket_hoeffding,
            closed_form.clones_fmt21,
            closed_form.erlingsson19,
            closed_form.stronger_clones_fmt23,
        )
    ),
    call(closed_form.variation_ratio_analytic, *PAIR),
    call(closed_form.variation_ratio_asymptotic, *PAIR),
    *(
        call(one, "eps0", "n", "order")
        for one in (
            renyi.clones_fmt21_growth,
            renyi.erlingsson19_growth,
            renyi.gaussian_ccg24,
            renyi.girgis21_growth,
            renyi.girgis21_lower,
            renyi.girgis21_lower_growth,
            renyi.girgis21_upper,
            renyi.girgis21_upper_simplified,
        )
    ),
    call(renyi.girgis21_lower_exact, "eps0", "n", "order", weight=0.3),
    call(renyi.clones_delta_fmt21, "eps", "delta", "eps0", "delta0", "n", most=1.0),
    call(renyi.gaussian_delta_ccg24, "eps0", "delta0", "n", "eps", most=1.0),
    call(renyi.gaussian_mu_ccg24, "eps0", "n"),
    call(renyi.gaussian_tradeoff_ccg24, "eps0", "delta0", "n", "fpr", most=1.0),
    *(
        call(one, "chi", "n", other)
        for one, other in (
            (central_limit.asymptotic_delta, "eps"),
            (central_limit.asymptotic_epsilon, "delta"),
            (central_limit.moderate_delta, "eps"),
            (central_limit.moderate_epsilon, "delta"),
        )
    ),
    call(conversions.delta_from_gdp_dong22, "mu", "eps"),
    call(conversions.epsilon_from_gdp_dong22, "mu", "delta"),
    call(conversions.renyi_from_gdp_dong22, "mu", "order"),
    call(conversions.delta_from_renyi_canonne20, "order", "renyi", "eps", most=1.0),
    call(conversions.epsilon_from_renyi_canonne20, "order", "renyi", "delta"),
    call(conversions.epsilon_from_renyi_mironov17, "order", "renyi", "delta"),
    call(conversions.renyi_from_pure_dp_mironov17, "order", eps=EPS0),
    call(
        lambda eps, delta, fpr: conversions.tradeoff_from_approximate_dp_wasserman10(eps=eps, delta=delta)(
            fpr
        ),
        "eps",
        "delta",
        "fpr",
        called="conversions.tradeoff_from_approximate_dp_wasserman10",
    ),
    call(
        lambda mu, eps: conversions.delta_from_tradeoff_dong22(profiles.GaussianTradeoff(mu), eps=eps),
        "mu",
        "eps",
        called="conversions.delta_from_tradeoff_dong22",
        weight=0.1,
    ),
    call(composition.advanced_drv10, "eps", "delta", "rounds", "total_delta"),
    call(composition.optimal_kov15, "eps", "delta", "total_delta", rounds=whole(1, 10**4), weight=0.3),
    call(composition.subsampled_girgis21, "eps0", "n", "rate", "order"),
    call(parallel_composition.basic_parallel_wang24, "eps0", "n"),
    call(parallel_composition.advanced_parallel_wang24, "eps0", "betas", "weights", "n"),
    call(parallel_composition.separate_cohort_wang24, "eps0", "beta", "n", "cohorts"),
    call(parallel_composition.range_query_betas, "eps0", d=st.integers(1, 40).map(lambda k: 2**k)),
    call(parallel_composition.range_query_beta_released, "eps0", d=st.integers(1, 40).map(lambda k: 2**k)),
    call(shuffle_index.gaussian_index, "sigma"),
    call(shuffle_index.generalized_rr_index, "eps0", "d"),
    call(shuffle_index.laplace_index, "eps0"),
    call(published_messages.balls_into_bins_blanket, "d", "s", "eps", "delta"),
    call(published_messages.cheu_zhilyaev_flip, "messages", "eps", "delta"),
    call(personalized.delta_with_failures_fmt21, "delta0", "eps", "delta", eps0=BUDGETS, most=1.0),
    call(personalized.echo_clones_liu23, eps0=BUDGETS),
    call(personalized.echo_delta_liu23, "eps", eps0=BUDGETS, most=1.0),
    call(personalized.echo_epsilon_liu23, "delta", eps0=BUDGETS),
    call(personalized.echo_epsilon_numerical_liu23, "delta", eps0=BUDGETS),
    call(personalized.gaussian_delta_gspa24, "eps", "delta0", eps0=BUDGETS, most=1.0),
    call(personalized.gaussian_delta_with_slack_gspa24, "eps", "slack", "delta0", eps0=BUDGETS, most=1.0),
    call(personalized.gaussian_epsilon_gspa24, "delta", "delta0", eps0=BUDGETS),
    call(personalized.gaussian_mu_gspa24, "delta0", eps0=BUDGETS),
    call(personalized.gaussian_tradeoff_with_slack_gspa24, "fpr", "slack", "delta0", eps0=BUDGETS, most=1.0),
    call(personalized.largest_budget_erlingsson19, "delta", eps0=BUDGETS),
    call(personalized.largest_budget_fmt21, "delta", eps0=BUDGETS),
    call(personalized.normal_approximation_gspa24, "eps0", "delta0", n=whole(1, 10**4), weight=0.1),
)
