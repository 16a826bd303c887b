#!/bin/sh
# diffprivlib 0.6.6: a histogram with weights has the noise of one without, and cuts the sums of weights to integers.
#
# Guess: with `weights`, where a value "only contributes its associated weight (instead of 1)", the noise grows with
# the largest weight, or weights above 1 are refused; and weights that sum to 1 give the shares of the bins.
# Seen: the noise is that of counts.  With a weight of 10, whether somebody is in the data is found out with 99.7 %,
# where ε = 1, the price that the accountant records, allows no more than 73.1 %; the true ε is 10.  With weights of
# 1/500 every bin holds 0 before the noise, so that nothing of the data is left in the answer.
# Why: the mechanism is set to a sensitivity of 1 and takes `int` of each sum; both are right for weights of 0 and 1.
# Effect: weighted surveys, whose weights count the people that a respondent stands for (above 1), or are shares
# (below it); `histogramdd` and `histogram2d` do the same.
#
# Output seen (ε = 1; 100, 250 and 150 people; the noise differs from run to run):
#   no weights      [98, 251, 153]     spent 1
#   weights of 10   [1001, 2500, 1502] spent 1
#   weights 1/500   [0, 0, 0]          spent 1
#   one of 100 found out: 99.7%, at most 73.1% by ε = 1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq diffprivlib==0.6.6 scikit-learn==1.6.1 numpy==2.1.3 scipy==1.15.3
"$folder/venv/bin/python" - <<'PYTHON'
import math

import numpy as np
from diffprivlib import BudgetAccountant
from diffprivlib.tools import histogram

asked = {"epsilon": 1.0, "bins": [18, 30, 65, 100], "range": (18, 100)}
ages, seen = np.repeat([25, 45, 70], [100, 250, 150]), {}
for name, weight in (("no weights", None), ("weights of 10", 10), ("weights 1/500", 1 / 500)):
    accountant = BudgetAccountant()
    weights = None if weight is None else np.full(500, weight)
    seen[name], _ = histogram(ages, weights=weights, accountant=accountant, **asked)
    print(f"{name:15} {seen[name].astype(int).tolist()!s:18} spent {accountant.total()[0]:g}")

right, draws = 0, 1000
for present, people in ((True, 100), (False, 99)):
    for _ in range(draws):
        (first, *_), _ = histogram(np.full(people, 25), weights=np.full(people, 10), **asked)
        right += (first >= 995) == present
found, allowed = right / (2 * draws), math.e / (1 + math.e)
print(f"one of 100 found out: {found:.1%}, at most {allowed:.1%} by ε = 1")
assert found > 0.95 > allowed, "the noise grows with the weights now"
assert seen["weights 1/500"].sum() < 60, "shares are kept now"
PYTHON
