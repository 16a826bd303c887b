#!/bin/sh
# autodp 0.2.3.1 with SciPy 1.17.1: the Fourier accountant answers the same negative ε at every δ.
#
# Guess: the accountant by characteristic functions gives ε of one Gaussian query to a per cent, as autodp's own exact
# mechanism does: 4.887 at δ = 1e-6 and σ = 1.
# Seen: -0.0048 for every δ and every σ.  autodp searches e^ε and hands `minimize_scalar` the range [0, 1], which is
# that of δ, beside a bracket; SciPy 1.9.3 ignored the range (and answers 4.885), this one keeps to it, so that e^ε
# never exceeds 1.  autodp pins no SciPy, and the search reports success.
# Effect: a comparison of accountants in which this one wins by far, and noise calibrated to next to nothing.
#
# Output seen:
#   sigma  delta   Fourier    exact
#       1   0.01   -0.0048   2.3178
#       1  1e-06   -0.0048   4.8866
#       5  1e-06   -0.0048   0.8341
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq autodp==0.2.3.1 numpy==2.1.3 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io

from autodp.mechanism_zoo import ExactGaussianMechanism, GaussianMechanism

print("sigma  delta   Fourier    exact")
for sigma, delta, known in ((1.0, 1e-2, 2.3178), (1.0, 1e-6, 4.8866), (5.0, 1e-6, 0.8341)):
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its search
        fourier = GaussianMechanism(sigma, RDP_off=True, phi_off=False).approxDP(delta)
    exact = ExactGaussianMechanism(sigma).approxDP(delta)
    print(f"{sigma:5g} {delta:6g} {fourier:9.4f} {exact:8.4f}")
    assert fourier < 0.0, "the search leaves [0, 1] now"
    assert abs(exact - known) < 1e-4
PYTHON
