"""Metric privacy and a shuffler: what places at every distance reveal, of one report and of all together."""

import math

import numpy as np

from claims.claim import Check, Worded, holds_if, undecided
from shufflelib.profiles import Bounds, Profile
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios


def clamped_geometric(places, unit):
    """Return the table of geometric noise on 0, 1, …, numbers beyond either end reported as that end.

    Its loss towards a place t away is t times ``unit``.
    """
    place, q = np.arange(places), math.exp(-unit)
    table = q ** abs(place[:, None] - place) / (1 + q)
    table[:, 1:-1] *= 1 - q
    return table


def response(places, unit):
    """Return the table of randomized response, whose loss is ``unit`` towards every other place."""
    table = np.ones((places, places)) + math.expm1(unit) * np.eye(places)
    return table / table.sum(axis=1)


def shuffled(table, distance, n):
    """Return the profile of n shuffled reports for a user who moves so far, whatever the others' places.

    Above the blanket of all places, below all others at an end or in the middle.
    """
    blanket, places = table.min(axis=0), len(table)
    pairs = [(table[x], table[x + distance]) for x in range(places - distance)]
    pairs += [pair[::-1] for pair in pairs]

    def bounds():
        ratios = LikelihoodRatios
        above = [BlanketPair(ratios.from_masses(*pair, blanket), n) for pair in pairs]
        known = {0, places // 2, places - 1}
        below = [BlanketPair(ratios.against(table[x], *pair), n) for pair in pairs for x in known]
        return Bounds(tuple(above), tuple(below))

    return Profile(bounds=bounds, statement=f"{n} reports, places {distance} apart")


def _improved(effort):
    steps, falls = [], True
    for name, table, distances in (
        ("randomized response", response(5, 1.0), (1,)),
        ("geometric noise", clamped_geometric(5, 1.0), (1, 2, 3, 4)),
    ):
        for t in distances:
            found, alone = shuffled(table, t, 10_000).epsilon(1e-6), float(t)
            falls &= found.upper < alone / 5
            ends = f"{found.lower:.3g} to {found.upper:.3g}"
            steps.append(f"{name}, {t} apart: epsilon {ends}, alone {alone:g}")
    evidence = f"five places, one nat between neighbours, 10,000 users, delta = 1e-6: {steps[1]}; {steps[-1]}"
    return holds_if(falls, evidence, steps)


CHECKS = {
    "acp25-improved": Check(_improved),
    "li26-protocol": Check(Worded(undecided)),
}
