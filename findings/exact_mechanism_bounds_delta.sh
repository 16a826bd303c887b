#!/bin/sh
# autodp 0.2.3.1: the exact Gaussian mechanism has an exact ε and a δ that is twice too large.
#
# Guess: `ExactGaussianMechanism(1.0)` ("tight direct computation of everything") answers δ(ε = 1) = 0.1269, the
# formula of the Gaussian's curve, since its ε at a given δ is that formula's to ten digits.
# Seen: 0.2468, the bound by Rényi divergences; only ε is overwritten by the exact formula.  So the two questions do
# not invert each other: ε at δ = 0.1269 is 1, and δ at ε = 1 is 0.2468.
# Effect: a Gaussian query drawn beside shuffled reports, by δ at a given ε, looks half as private as it is, while
# the same picture by ε is right.
#
# Output seen:
#   epsilon  delta answered    exact  epsilon at the exact one
#       0.1          0.5280   0.3523                    0.1000
#       1.0          0.2468   0.1269                    1.0000
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq autodp==0.2.3.1 numpy==2.1.3 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math

from autodp.mechanism_zoo import ExactGaussianMechanism
from scipy.stats import norm

mechanism = ExactGaussianMechanism(1.0)
print("epsilon  delta answered    exact  epsilon at the exact one")
for eps, known in ((0.1, 0.5280), (1.0, 0.2468)):
    exact = norm.cdf(0.5 - eps) - math.exp(eps) * norm.cdf(-0.5 - eps)
    answered, back = mechanism.approx_delta(eps), mechanism.approxDP(exact)
    print(f"{eps:7.1f} {answered:15.4f} {exact:8.4f} {back:25.4f}")
    assert abs(answered - known) < 1e-3, "delta is exact now"
    assert abs(back - eps) < 1e-3
PYTHON
