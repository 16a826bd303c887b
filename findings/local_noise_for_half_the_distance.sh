#!/bin/sh
# pfl 0.6.0: a local mechanism with epsilon = 1 tells two users' values apart with ε = 2.
#
# Guess: `LaplaceMechanism(clipping_bound=1, epsilon=1)`, applied on a device as a `LocalPrivacyMechanism`, makes any
# two values within the bound indistinguishable up to a factor e, as local differential privacy says.
# Seen: the reports of 1 exceed 1 in half of all draws, those of −1 in .068 of them: a factor e².  Against a user who
# holds 0 it is e.
# Why: the noise has the scale bound/ε, for the neighbours of central privacy, where a user is there or is replaced
# by zero; two values are twice the bound apart.  `GaussianMechanism.construct_single_iteration` does the same.
# Effect: an ε₀ from there is half of what every theorem on shuffling takes as ε₀.  For a million users and δ = 1e-6
# shuffled Laplace noise is proved to have ε = .0031 at ε₀ = 1 and .0078 at ε₀ = 2.  Against a user who sends nothing,
# or zero, the stated ε is right.
#
# Output seen (30,000 draws each; the last digit differs from run to run):
#   above 1: 50.2% of reports of 1, 18.4% of 0, 6.7% of -1
#   ε of 1 against 0: 1.00, against -1: 2.02
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq pfl==0.6.0 prv-accountant==0.2.0 dp-accounting==0.5.1 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math

import numpy as np
from pfl.privacy.laplace_mechanism import LaplaceMechanism
from pfl.privacy.privacy_mechanism import LocalPrivacyMechanism
from pfl.stats import MappedVectorStatistics

DRAWS = 30_000
mechanism = LaplaceMechanism(clipping_bound=1.0, epsilon=1.0)
assert isinstance(mechanism, LocalPrivacyMechanism)


def above(value):
    """Return the share of reports above 1, each of one user who holds the value."""
    reports = (
        mechanism.privatize(MappedVectorStatistics({"x": np.array([value])}))[0]["x"][0] for _ in range(DRAWS)
    )
    return sum(report > 1.0 for report in reports) / DRAWS


share = {value: above(float(value)) for value in (1, 0, -1)}
print("above 1: " + ", ".join(f"{part:.1%}{' of reports' if v == 1 else ''} of {v}" for v, part in share.items()))
near, far = (math.log(share[1] / share[value]) for value in (0, -1))
print(f"ε of 1 against 0: {near:.2f}, against -1: {far:.2f}")
assert 0.9 < near < 1.1, "the noise is for other neighbours now"
assert far > 1.8, "two values are apart by the stated ε now"
PYTHON
