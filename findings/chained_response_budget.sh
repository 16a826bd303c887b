#!/bin/sh
# multi-freq-ldpy 0.2.5: two chained k-ary responses spend a sixth of the budget that was asked for.
#
# Guess: `L_GRR_Client(value, k, eps_perm=2, eps_1=1)` has a first report of exactly ε = 1, as its siblings for
# unary encoding have (`L_OSUE_Client`: 1.000 with the same arguments).
# Seen: for k = 100 the odds between the true and another option are 1.18, ε = 0.166; the equation solved for
# the second response leaves out the k - 2 ways through a third option, which make both reports more alike.
# Effect: error 1/0.166 instead of 1/1 for the same promise, and comparisons of longitudinal protocols at "equal
# ε" that are not.  Private in any case: the true ε is below the one asked for.
#
# Output seen:
#   k = 3: 0.948, k = 10: 0.699, k = 100: 0.166 (asked for: 1); reports with k = 3: 0.950
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq multi-freq-ldpy==0.2.5 numpy==2.1.3 numba==0.68.1 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
import numba
import numpy as np
from multi_freq_ldpy.long_freq_est import L_GRR

asked, budgets = {}, []
unchanged = L_GRR.GRR_Client


def noted(value, options, epsilon):
    """Do the client's response, and note its budget."""
    budgets.append(float(epsilon))
    return unchanged(value, options, epsilon)


L_GRR.GRR_Client = noted
for k in (3, 10, 100):
    budgets.clear()
    L_GRR.L_GRR_Client(0, k, 2.0, 1.0)
    first, second = ([np.exp(e) / (np.exp(e) + k - 1), 1 / (np.exp(e) + k - 1)] for e in budgets)
    true = first[0] * second[0] + (k - 1) * first[1] * second[1]
    other = first[0] * second[1] + first[1] * second[0] + (k - 2) * first[1] * second[1]
    asked[k] = np.log(true / other)


@numba.njit
def seed(number):
    np.random.seed(number)


L_GRR.GRR_Client = unchanged
seed(1)
counts = np.bincount([L_GRR.L_GRR_Client(0, 3, 2.0, 1.0) for _ in range(200_000)], minlength=3)
drawn = np.log(counts[0] / counts[1:].mean())
words = ", ".join(f"k = {k}: {epsilon:.3f}" for k, epsilon in asked.items())
print(f"{words} (asked for: 1); reports with k = 3: {drawn:.3f}")
assert abs(asked[3] - 0.948) < 1e-3 and abs(asked[10] - 0.699) < 1e-3 and abs(asked[100] - 0.166) < 1e-3
assert abs(drawn - asked[3]) < 0.02
PYTHON
