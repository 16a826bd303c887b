"""What a record of a deployment consists of, and what makes the profiles of its mechanisms."""

import datetime
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from shufflelib import randomizers
from shufflelib.numerics import validation
from shufflelib.shuffling.aggregated import aggregate
from shufflelib.shuffling.dummies import binomial_dummies, negative_binomial_dummies, poisson_dummies
from shufflelib.shuffling.multi_message import shuffle_messages
from shufflelib.shuffling.shuffled import shuffle
from shufflelib.shuffling.thresholds import sample_and_threshold

BLOCK, VERSION = "shuffle_model", 1
REPORTS, SUMS, MESSAGES = "shuffled reports", "sums of reports", "shuffled messages"
SHOWN = "numbers at or above a threshold"
MADE_BY: dict[str, tuple[Callable[..., Any], str]] = {
    "shuffle": (shuffle, REPORTS),
    "aggregate": (aggregate, SUMS),
    "shuffle_messages": (shuffle_messages, MESSAGES),
    "poisson_dummies": (poisson_dummies, MESSAGES),
    "binomial_dummies": (binomial_dummies, MESSAGES),
    "negative_binomial_dummies": (negative_binomial_dummies, MESSAGES),
    "sample_and_threshold": (sample_and_threshold, SHOWN),
}
MODELS = {REPORTS: "Shuffle", SUMS: "Varies", MESSAGES: "Shuffle", SHOWN: "Central"}  # the registry's words
RANDOMIZERS = sorted(set(randomizers.__all__) - {"from_density"})
ALONE = [
    name
    for name, (function, _) in MADE_BY.items()
    if "randomizer" not in inspect.signature(function).parameters
]
NEEDED = ("users", "neighbours", "analyst_sees", "mechanism")
OPTIONAL = ("version", "sampling_rate", "rounds", "local_epsilon", "certified_epsilon")
PARAMETERS = ("deployment", "privacy_loss", "privacy_parameters")
FILL_IN = "to be filled in"
DIGITS = 4
MOST_ENTRIES, DEEPEST = 10**5, 20
NEEDS = "a record needs it: pip install pyyaml"
HOLDS, FAILS, OPEN, UNKNOWN = "holds", "does not hold", "is not decided", "cannot be checked"


def relation(base):
    """Return the word for the relation of a profile that does not choose among several."""
    return "replace" if base.adjacency.any_value else "restricted"


def local_epsilon(made):
    """Return the budget of one report for the same neighbours, or None."""
    found = math.inf
    if made.function == "shuffle":
        found = made.of.eps0
    elif made.function == "aggregate":
        found = aggregate(made.of, **{**made.arguments, "n": 1}).pure_epsilon
    return None if math.isinf(found) else float(found)


def copied_record(record):
    """Return a record as a tree of mappings, lists, text and numbers that is neither deep nor large."""
    if not isinstance(record, Mapping):
        raise TypeError(
            f"record must be a mapping, got {validation.shown(record)}; registry.record makes one"
        )
    left = [MOST_ENTRIES]

    def copied(value, depth):
        left[0] -= 1
        if left[0] < 0 or depth > DEEPEST:
            raise ValueError(
                f"record must have at most {MOST_ENTRIES:,} entries, {DEEPEST} deep, got more; "
                "is it a record?"
            )
        if isinstance(value, Mapping):
            return {_text(key): copied(one, depth + 1) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [copied(one, depth + 1) for one in value]
        if value is None or isinstance(value, str | int | float | datetime.date):
            return value
        raise ValueError(f"record must hold text and numbers, got {validation.shown(value)}; write it out")

    return copied(record, 0)


def _text(key):
    if not isinstance(key, str):
        raise ValueError(f"record must have text for keys, got {validation.shown(key)}; quote it")
    return key
