"""The published closed forms by what they ask for, and the pair that generic ones are measured against."""

import math

from shufflelib.published import closed_form

GENERIC = (
    closed_form.erlingsson19,
    closed_form.clones_fmt21,
    closed_form.stronger_clones_fmt23,
    closed_form.blanket_hoeffding,
    closed_form.blanket_bennett,
)
SPECIFIC = (closed_form.blanket_hoeffding_specific, closed_form.blanket_bennett_specific)
PAIR = (closed_form.variation_ratio_analytic, closed_form.variation_ratio_asymptotic)
DELTAS = (1e-1, 1e-3, 1e-6, 1e-12)


def name_of(bound):
    return bound.__name__


def generic_pair(eps0):
    p = math.exp(eps0)
    return {"p": p, "beta": math.tanh(eps0 / 2.0), "q": p}
