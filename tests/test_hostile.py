"""Hostile input to every public callable: refused by name, with the value and what to do; extremes answered.

The callables are found by introspection, so that a new one is asked at once; `arguments` gives each argument
a good value, one bad value at a time replaces it.
"""

import importlib
import inspect
import math
import pkgutil
import re
import sys

import numpy as np
import pytest

from arguments import CURVE, PLAIN
from fuzz_answers import check_answer, check_refusal
from shufflelib import published, randomizers, sgd, shuffle
from shufflelib.published import closed_form
from shufflelib.shuffling import PersonalizedPair, VariationRatioPair
from shufflelib.shuffling.personal import PersonalRandomizedResponse

FOLDERS = (
    *("calibration", "estimation", "interop", "profiles", "randomizers", "registry", "sgd", "sgd.accounting"),
    *("shuffling", "shuffling.multi_message", "shuffling.personal"),
    *(f"published.{module.name}" for module in pkgutil.iter_modules(published.__path__)),
)
BLOCKS = {"clip": 1.0, "blocks": 10, "block_size": 5}
NOISY = sgd.LaplaceBlocks(eps0=0.5, **BLOCKS)
BLANKET = closed_form.BlanketBounds.generalized_rr(eps0=1.0, d=10)
THREE = [1.0, 0.5, 2.0]
TABLE = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
MESSAGES = randomizers.balcer_uniform()
CLIENTS = sgd.PersonalClients(eps=[0.1] * 100, delta=1e-6, clip=1.0, client_size=5)
OWN = {  # where a callable means something else by the name, or its theorem needs other numbers
    "calibration.largest_eps0": {"randomizer": randomizers.generic, "rounds": 1, "delta": 1e-6},
    "calibration.fewest_users": {"rounds": 1, "delta": 1e-6},
    "calibration.most_rounds": {"n": 10_000},
    "calibration.recommend": {
        **{"n": 1000, "eps": 1.0, "delta": 1e-6, "task": "sets", "d": 4, "s": 2},
        **{"rounds": 1, "rate": 1.0, "dropout": 0.1, "analyst": "reports"},
    },
    "calibration.smallest_sigma": {"randomizer": randomizers.gaussian, "rounds": 1, "delta": 1e-6},
    "estimation.apportion": {"shares": [0.5, 0.5]},
    "estimation.frequency_variance": {"frequency": 0.2},
    "randomizers.dbitflip": {"k": 16, "d": 3},
    "published.closed_form.blanket_bennett_specific": {"blanket": BLANKET},
    "published.closed_form.blanket_hoeffding_specific": {"blanket": BLANKET},
    "published.closed_form.erlingsson19": {"eps0": 0.3, "n": 10**6, "delta": 1e-6},
    "published.closed_form.clones_fmt21": {"n": 10**6},
    "published.closed_form.stronger_clones_fmt23": {"n": 10**6},
    "published.closed_form.variation_ratio_asymptotic": {"n": 10**6},
    "published.joint_concavity.two_weight_vectors": {"functions": [[CURVE, CURVE], [CURVE, CURVE]]},
    "published.multi_message.cheu_zhilyaev_flip": {"messages": 10**6},
    "estimation.RangeQueryProtocol": {"eps0": 1.0},
    "published.personalized.decomposition_gspa24": {
        "eps0": 1.0,
        "matrix": [[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]],
    },
    "published.personalized.normal_approximation_gspa24": {"eps0": 1.0},
    "published.personalized.echo_epsilon_liu23": {"eps0": [0.1] * 1000},
    "published.personalized.largest_budget_erlingsson19": {"eps0": [0.1] * 10**4, "delta": 1e-6},
    "published.personalized.largest_budget_fmt21": {"eps0": [0.1] * 10**4},
    "published.variation_ratio.lower_bound_pair": {"table": TABLE, "first": 0, "second": 1},
    "published.variation_ratio.mixture_parts": {"table": TABLE, "first": 0, "second": 1},
    "published.variation_ratio.search_epsilon": {"pair": VariationRatioPair(n=9, p=3.0, beta=0.2, q0=3.0)},
    "sgd.accounting.theorem3_epsilon_ccg24": {"reports": NOISY},
    "sgd.accounting.theorem3_renyi_ccg24": {"reports": NOISY},
    "sgd.accounting.theorem5_epsilon_gspa24": {"reports": CLIENTS},
    "sgd.accounting.one_client": {"reports": CLIENTS},
    "estimation.MultiMessageProtocol": {"randomizer": MESSAGES},
    "shuffling.PersonalizedPair": {"eps0": THREE, "counts": [2, 3, 4]},
    "shuffling.personal.PersonalizedPair": {"counts": [2, 3, 4]},
    "shuffling.multi_message.published_pair": {"randomizer": MESSAGES},
    "shuffling.multi_message.shuffle_messages": {"randomizer": MESSAGES, "n": 10, "dummy_messages": 100},
    "sgd.accounting.one_block": {"reports": NOISY},
    "randomizers.unary": {"p": 0.2, "q": 0.7},
    "randomizers.binomial": {"p": 0.2},
    "shuffling.aggregate": {"randomizer": randomizers.unary(d=5, p=0.2, q=0.7)},
}
EVERY_USERS = {  # folders whose eps0 is a budget for each user
    folder: {"eps0": THREE} for folder in ("estimation", "published.personalized", "shuffling.personal")
}
# what users meet as an answer, or write as a class of their own, or give data to: asked in its folder's tests
NOT_ASKED = {
    "answers": {
        *("calibration.Calibration", "calibration.Recommendation"),
        *("estimation.Audit", "estimation.Estimate", "estimation.Measured"),
        *("published.closed_form.BlanketBounds", "published.closed_form.over"),
        *("published.comparison.Answer", "published.comparison.Bound", "published.comparison.Comparison"),
        "published.comparison.Gaps",
        *("published.comparison.Question", "published.conversions.BestOrder"),
        *("published.joint_concavity.Tightness", "published.personalized.NormalApproximation"),
        "published.personalized.Decomposition",
        *("published.renyi.over", "published.shuffle_index.ShuffleIndex"),
        "published.variation_ratio.MixtureParts",
        *("profiles.Bounds", "profiles.Profile", "registry.Verdict", "shuffling.BlanketPair"),
    },
    "classes to derive from": {
        "published.joint_concavity.f_divergence",
        *("estimation.Protocol", "profiles.FiniteTradeoff", "profiles.Pair", "profiles.PrivacyProfile"),
        *("profiles.TradeoffFunction", "sgd.BlockReports"),
    },
    "data and functions": {
        *("estimation.audit", "estimation.canonical_decomposition"),
        *("estimation.clipped_normal", "estimation.in_random_order", "estimation.mean_absolute_error"),
        *(f"estimation.{name}" for name in ("distribution", "heavy_hitters", "intervals")),
        *(
            f"estimation.{name}"
            for name in ("padded", "padded_pairs", "quantiles", "ranges", "run", "simulate")
        ),
        "published.conversions.best_over_orders",
        *("published.joint_concavity.RandomStart", "published.joint_concavity.advanced_delta"),
        "published.joint_concavity.advanced_joint_concavity",
        *("published.joint_concavity.random_start_bound", "published.joint_concavity.tightness"),
        *("published.shuffle_index.composition_index", "randomizers.from_density", "sgd.ExampleGradients"),
        *(f"registry.{name}" for name in ("check", "read", "record", "to_yaml")),
        *("sgd.Network", "sgd.PersonalClients", "sgd.PrincipalComponents", "sgd.Training"),
        *("sgd.accounting.one_example", "sgd.accounting.released_code", "sgd.principal_components"),
    },
}
OPTIONAL = {"alternative_weights", "counts", "distance", "k", "q1"}  # None is their default in some callables
PRINTED_AS = {  # refused by the name of what it belongs to
    ("published.composition.variation_ratio_wang24", "q"): "q0",
    ("published.joint_concavity.two_weight_vectors", "functions"): "weights",
}


def public_callables():
    """Return {folder and name: callable} of what the folders offer, answers and bases left out."""
    found, left_out = {}, set().union(*NOT_ASKED.values())
    for folder in FOLDERS:
        module = importlib.import_module(f"shufflelib.{folder}")
        home = module.__name__
        own = [n for n, one in vars(module).items() if str(getattr(one, "__module__", "")).startswith(home)]
        for name in getattr(module, "__all__", own):
            one, title = getattr(module, name), f"{folder}.{name}"
            failure = isinstance(one, type) and issubclass(one, Exception)
            if callable(one) and not failure and not name.startswith("_") and title not in left_out:
                found[title] = one
    return found


def good_arguments(title, function):
    """Return an argument in order for every parameter; one without a default must be known."""
    good, own = {}, EVERY_USERS.get(title.rpartition(".")[0], {}) | OWN.get(title, {})
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if name in own or name in PLAIN:
            good[name] = own.get(name, PLAIN.get(name))
        elif parameter.default is inspect.Parameter.empty:
            raise LookupError(
                f"{title}: give a good value of {name} in `arguments` or OWN, or list it in NOT_ASKED"
            )
    return good


PAIR = VariationRatioPair(n=20, p=3.0, beta=0.5, q0=3.0)
PERSONAL = PersonalRandomizedResponse([1.0, 2.0], d=3)
METHODS = {  # what profiles are asked is in the contract; these take other arguments
    "PersonalizedPair.adaptive": (PersonalizedPair.adaptive, {"eps0": THREE}),
    "personal.delta": (PERSONAL.delta, {"user": 0, "eps": 0.1}),
    "personal.epsilon": (PERSONAL.epsilon, {"user": 0, "delta": 0.1}),
    "personal.epsilons": (PERSONAL.epsilons, {"delta": 0.1}),
    "BlanketBounds.generalized_rr": (closed_form.BlanketBounds.generalized_rr, {"eps0": 1.0, "d": 10}),
    "pair.subsample": (PAIR.subsample, {"rate": 0.5}),
    "profile.group": (shuffle(randomizers.binary_rr(eps0=1.0), 20).group, {"size": 3}),
    "pair.compose": (PAIR.compose, {"rounds": 3}),
    "tradeoff function": (CURVE, {"fpr": 0.1}),
    "tradeoff.delta": (CURVE.delta, {"eps": 0.1}),
    "tradeoff.conjugate": (CURVE.conjugate, {"slope": -2.0}),
}
ASKED = {
    title: (function, good_arguments(title, function)) for title, function in public_callables().items()
} | METHODS
each_callable = pytest.mark.parametrize("title", ASKED)

FOREIGN = {  # no function of numbers takes these
    "NaN": math.nan,
    "text": "1e-8",
    "bytes": b"1",
    "None": None,
    "empty": [],
    "bool": True,
    "numpy bool": np.True_,
    "complex": 1.0 + 1.0j,
    "numpy complex": np.complex128(1.0),
    "array of None": np.array([None, 1.0]),
    "array of text": np.array(["a"]),
    "array of NaN": np.array([0.5, math.nan]),
    "ragged": [[1.0], [1.0, 2.0]],
    "duration": np.timedelta64(5, "s"),
    "mapping": {},
    "function": math.exp,
}
EXTREME = {
    "inf": math.inf,
    "-inf": -math.inf,
    "-1": -1,
    "0": 0,
    "-0.0": -0.0,
    "huge": 10**400,
    "-huge": -(10**400),
    "tiny": 1e-300,
    "subnormal": 5e-324,
    "largest float": sys.float_info.max,
    "half": 0.5,
    "next to one": math.nextafter(1.0, 0.0),
    "numpy inf": np.float32("inf"),
}
# an honest answer takes seconds: a search over many profiles, each at the end of its range
DEAR = {
    *((f"calibration.{name}", "delta") for name in ("fewest_users", "largest_eps0")),
    *(("calibration.most_rounds", name) for name in ("delta", "eps", "n", "rate")),
    *(("calibration.recommend", name) for name in ("delta", "eps", "rate", "rounds")),
    *(("calibration.smallest_sigma", name) for name in ("delta", "eps", "n", "rate", "rounds")),
    *((f"published.comparison.{name}", "delta") for name in ("compare", "gaps")),
    *(("sgd.accounting.noise_multiplier", name) for name in ("delta", "eps", "blocks", "epochs")),
}


def is_refused(function, arguments, name, value, called=None):
    """Assert that a call is refused by a plain error whose message names the argument."""
    with pytest.raises((ValueError, TypeError)) as refusal:
        function(**arguments | {name: value})
    message = str(refusal.value)
    assert type(refusal.value) in (ValueError, TypeError), (name, value, message)
    assert re.search(rf"\b({name}|{called or name})\b", message) and "\n" not in message, (
        name,
        value,
        message,
    )


def test_the_lists_are_not_older_than_the_package():
    assert OWN.keys() <= ASKED.keys()
    for title in set().union(*NOT_ASKED.values()):
        folder, name = title.rsplit(".", 1)
        assert hasattr(importlib.import_module(f"shufflelib.{folder}"), name), title


@each_callable
def test_good_values_are_answered(title):
    function, arguments = ASKED[title]
    function(**arguments)


@each_callable
def test_foreign_values_are_refused_by_name(title):
    function, arguments = ASKED[title]
    for name in arguments:
        for value in FOREIGN.values():
            optional = value is None and name in OPTIONAL
            if optional or (value is math.exp and title.startswith("calibration.")):
                continue
            is_refused(function, arguments, name, value, PRINTED_AS.get((title, name)))


@each_callable
def test_extreme_values_are_answered_or_refused(title):
    function, arguments = ASKED[title]
    for name in arguments:
        for value in EXTREME.values():
            if (title, name) in DEAR:
                continue
            try:
                check_answer(function(**arguments | {name: value}), least=-math.inf)
            except (ValueError, TypeError) as refusal:
                check_refusal(refusal, (*arguments, *PRINTED_AS.values()))
