#!/bin/sh
# multi-freq-ldpy 0.2.5: a longitudinal client draws its permanent answer anew at every report.
#
# Guess: `L_OSUE_Client(value, k, eps_perm, eps_1)` bounds the loss over any number of reports by `eps_perm`, as
# its parameter says ("infinity reports"), because the first of its two responses is kept.
# Seen: it is a pure function, and nothing can be passed that would keep the first response.  From 200 calls each,
# all of 200 users are found, where no guess from an answer of budget 2 about ten equally likely values is right
# more often than in e²/(e² + 9) = 45 % of cases.
# Effect: whoever calls the client once a day, which its parameters suggest, spends eps_1 a day without limit; the
# two budgets are right only for the first report and for a caller who splits the function in two.
#
# Output seen:
#   guessed from 1 report: 34 of 200; from 200 reports: 200 of 200
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq multi-freq-ldpy==0.2.5 numpy==2.1.3 numba==0.68.1 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
import numba
import numpy as np
from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Client


@numba.njit
def seed(number):
    np.random.seed(number)  # the client draws from the compiled functions' own generator


seed(1)
options, right = 10, {1: 0, 200: 0}
for user in range(200):
    value = user % options
    for reports in right:
        seen = sum(L_OSUE_Client(value, options, 2.0, 1.0) for _ in range(reports))
        right[reports] += int(np.argmax(seen)) == value
print(f"guessed from 1 report: {right[1]} of 200; from 200 reports: {right[200]} of 200")
assert right[1] < 80 and right[200] >= 198, "the permanent answer is kept now"
PYTHON
