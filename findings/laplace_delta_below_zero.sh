#!/bin/sh
# autodp 0.2.3.1: the Fourier accountant's δ of a Laplace query is negative, or close to 1.
#
# Guess: δ(ε) of one Laplace query with b = 1 is 1 - e^((ε - 1)/2), for which the accountant by characteristic
# functions has the mechanism's function built in (`phi_off=False`).
# Seen: the loss has an atom at ±1, so that its characteristic function does not fall to zero, and the quadrature of
# 700 points that inverts it returns anything: 0.018 for 0.362, 0.926 for 0.221, -0.145 for 0.049.  No error.
# (δ of a Gaussian query comes out right to 1e-9.)
# Effect: any local mechanism with atoms - response, Laplace - accounted this way, too little as often as too much.
#
# Output seen:
#   epsilon   Fourier  exact
#       0.1    0.0176 0.3624
#       0.5    0.9256 0.2212
#       0.9   -0.1453 0.0488
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq autodp==0.2.3.1 numpy==2.1.3 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io
import math

from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism

fourier = {"RDP_off": True, "phi_off": False}
print("epsilon   Fourier  exact")
errors = []
for eps in (0.1, 0.5, 0.9):
    with contextlib.redirect_stdout(io.StringIO()):
        answered = LaplaceMechanism(1.0, **fourier).approx_delta(eps)
    exact = 1.0 - math.exp((eps - 1.0) / 2.0)
    errors.append(answered - exact)
    print(f"{eps:7.1f} {answered:9.4f} {exact:.4f}")
gaussian = GaussianMechanism(1.0, **fourier).approx_delta(1.0)
assert abs(gaussian - 0.12693673750666) < 1e-9
assert errors[0] < -0.3 and errors[1] > 0.6 and errors[2] < -0.15, "Laplace comes out otherwise now"
PYTHON
