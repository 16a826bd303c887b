#!/bin/sh
# pfl 0.6.0 with prv-accountant 0.2.0: one of three accountants takes the scale of Laplace noise for its inverse.
#
# Guess: `PLDPrivacyAccountant`, `RDPPrivacyAccountant` and `PRVPrivacyAccountant` agree on Laplace noise, to a few
# per cent; `noise_parameter` is "the scale of the noise" in all of them.
# Seen: the first two agree; the third is right at scale 1 alone.  Ten releases with a scale of 0.5, whose ε is 20,
# cost 5 by it, and ten with a scale of 5, whose ε is 2, cost 50: its ε rises with the noise.  Asked for the noise
# of ε = 4 it raises an error, as its search expects ε to fall.
# Why: `LaplaceMechanism(mu)` of prv-accountant is the sensitivity over the scale; the scale is passed on as `mu`.
# Effect: noise below 1 in units of the sensitivity looks more private than it is.  `JointPrivacyAccountant` passes it
# on in the same way.  A right number: give the third accountant 1/scale, or use another one.
#
# Output seen:
#   scale 0.5: true ε 20.00, PLD 20.00, RDP 20.00, PRV 5.02
#   scale 1.0: true ε 10.00, PLD 10.00, RDP 10.00, PRV 9.98
#   scale 5.0: true ε 2.00, PLD 2.00, RDP 2.00, PRV 50.01
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq pfl==0.6.0 prv-accountant==0.2.0 dp-accounting==0.5.1 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from pfl.privacy.privacy_accountant import PLDPrivacyAccountant, PRVPrivacyAccountant, RDPPrivacyAccountant

KINDS = {"PLD": PLDPrivacyAccountant, "RDP": RDPPrivacyAccountant, "PRV": PRVPrivacyAccountant}
RELEASES = 10
asked = {"num_compositions": RELEASES, "sampling_probability": 1.0, "mechanism": "laplace", "delta": 1e-6}
seen = {}
for scale in (0.5, 1.0, 5.0):
    seen[scale] = {name: kind(noise_parameter=scale, **asked).epsilon for name, kind in KINDS.items()}
    told = ", ".join(f"{name} {eps:.2f}" for name, eps in seen[scale].items())
    print(f"scale {scale}: true ε {RELEASES / scale:.2f}, {told}")

for scale, told in seen.items():
    assert all(abs(told[name] * scale / RELEASES - 1) < 0.01 for name in ("PLD", "RDP")), "PLD or RDP moved"
    assert abs(told["PRV"] / (RELEASES * scale) - 1) < 0.01, "the scale is a scale now"
PYTHON
