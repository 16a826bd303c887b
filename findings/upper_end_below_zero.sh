#!/bin/sh
# prv-accountant 0.2.0: the upper end of ε is negative where δ exceeds the total variation distance.
#
# Guess: `compute_epsilon` answers three numbers that are 0 or more, and 0 where δ alone covers the mechanism.
# Seen: for a mechanism with pure ε = 1, whose two outputs are 0.46 apart in total variation, δ = 0.5 gives
# (-0.203, -0.153, -0.103): even the upper end is below 0.  The curve is followed to ε < 0, where (ε, δ) is no
# promise of differential privacy, and nothing stops it at 0.
# Effect: budgets of several releases are added up, and such a release lowers the sum; a search for the noise that
# reaches ε = 0.1 ends at a mechanism that reaches 0.
#
# Output seen:
#   δ = 0.50: -0.203 -0.153 -0.103
#   δ = 0.45: -0.007  0.043  0.093
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq prv-accountant==0.2.0 numpy==2.1.3 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
from prv_accountant import PRVAccountant, PureDPMechanism

accountant = PRVAccountant(
    prvs=[PureDPMechanism(1.0)], max_self_compositions=[1], eps_error=0.05, delta_error=1e-9
)
ends = {}
for delta in (0.5, 0.45):
    ends[delta] = accountant.compute_epsilon(delta, [1])
    print(f"δ = {delta:.2f}:", *(f"{end:.3f}" for end in ends[delta]))
assert ends[0.5][2] < -0.05, "ε ends at 0 now"
assert ends[0.45][2] > 0.0
PYTHON
