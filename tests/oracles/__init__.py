"""Oracles of the tests, computed without a line of the package.

==================  =====================================================================
`brute_force`       finite pairs, shuffled mechanisms and blankets in exact fractions; its names are here too
`small_domains`     finite randomizers as matrices, from their definitions
`mixtures`          a few mixtures of randomizers, and their rows
`neighbours`        all pairs of neighbouring datasets of a few users
`multi_message`     several messages from each user, and all multisets of them
`counts`            numbers of messages: dummies, samples, thresholds
`noise`             sums of noise on whole numbers and of Laplace noise, in 40 digits
`renyi_formulas`    the published Rényi formulas, from their masses
`populations`       users for every randomizer that can be run, and what is to be estimated of them
``reference/``      numbers of independent programs
==================  =====================================================================
"""

import json
from pathlib import Path

from oracles.brute_force import *  # noqa: F403


def reference(name):
    """Return the numbers of an independent program."""
    return json.loads((Path(__file__).parent / "reference" / f"{name}.json").read_text())
