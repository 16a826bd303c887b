#!/bin/sh
# dp-accounting 0.6.0: the accountant of privacy-loss distributions ignores how often randomized response is done.
#
# Guess: a repeated event, be it `compose(event, 10)` or `SelfComposedDpEvent(event, 10)`, costs pure ε ten times.
# Seen: `PLDAccountant` answers the ε of a single response, with no error or warning; `RdpAccountant` of the same
# release answers ten times as much (in the limit of δ = 0 both are exact here, up to the grid and the orders).
# Composing ten times in a loop is right, and so are repeated Laplace and Gaussian events: the branch for
# `RandomizedResponseDpEvent` alone does not use its count.
# Effect: a survey of ten questions, or ten days of telemetry, seems to leak what one does.
#
# Output seen:
#   one response, one event      1.6095
#   ten, as a repeated event     1.6095
#   ten, composed in a loop     16.0949
#   ten, by Rényi orders        16.0955
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq dp-accounting==0.6.0 numpy==2.1.3 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

response = dp_event.RandomizedResponseDpEvent(noise_parameter=0.5, num_buckets=4)  # odds of truth 5 to 1


def epsilon(kind, *events):
    accountant = kind(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    for event in events:
        accountant.compose(event)
    return accountant.get_epsilon(1e-6)


ten = dp_event.SelfComposedDpEvent(response, 10)
one = epsilon(PLDAccountant, response)
repeated = epsilon(PLDAccountant, ten)
looped = epsilon(PLDAccountant, *[response] * 10)
renyi = epsilon(RdpAccountant, ten)
print(f"one response, one event    {one:8.4f}")
print(f"ten, as a repeated event   {repeated:8.4f}")
print(f"ten, composed in a loop    {looped:8.4f}")
print(f"ten, by Rényi orders       {renyi:8.4f}")
assert abs(one - 1.6095) < 1e-3 and repeated == one, "the count is used now"
assert looped > 15.9 and renyi > 15.9
PYTHON
