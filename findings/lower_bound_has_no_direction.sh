#!/bin/sh
# random-allocation 1.0.5: asked for one direction, the lower bound exceeds the upper bound.
#
# Guess: with `Direction.ADD`, `allocation_epsilon_lower_bound` is at most `allocation_epsilon_decomposition`, as
# with `Direction.BOTH`: both take the direction, and document it.
# Seen: 0.839 against an upper bound of 0.716 (σ = 1, 100 steps, δ = 1e-6).  The lower bound's direction is not
# used: it is that of removing at each of the three, while its sibling for shuffles refuses one direction.
# Effect: a proved bound on adding looks refuted, or a gap closed that is open.
#
# Output seen:
#   direction   lower   upper
#   both       0.8395  1.3179
#   add        0.8395  0.7161
#   remove     0.8395  1.3179
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq random-allocation==1.0.5 pandas==2.3.3 numpy==2.1.3 scipy==1.17.1
MPLBACKEND=agg "$folder/venv/bin/python" -W ignore - <<'PYTHON'
from random_allocation import allocation_epsilon_decomposition as decomposed
from random_allocation.comparisons.definitions import Direction, PrivacyParams, SchemeConfig
from random_allocation.random_allocation_scheme import allocation_epsilon_lower_bound as below

asked, config = PrivacyParams(sigma=1.0, num_steps=100, delta=1e-6), SchemeConfig()
found = {}
print("direction   lower   upper")
for direction in (Direction.BOTH, Direction.ADD, Direction.REMOVE):
    ends = found[direction] = below(asked, config, direction), decomposed(asked, config, direction)
    print(f"{direction.value:9} {ends[0]:7.4f} {ends[1]:7.4f}")
assert found[Direction.ADD][0] > found[Direction.ADD][1], "the direction is used now"
assert found[Direction.BOTH][0] < found[Direction.BOTH][1]
PYTHON
