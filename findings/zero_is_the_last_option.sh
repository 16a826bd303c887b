#!/bin/sh
# pure-ldp 1.2.0: option 0 of a list coded from 0 is reported, counted and estimated as the last option.
#
# Guess: a client for d options that is given 0 either takes codes 0 … d − 1, as most local-DP code does, or raises.
# Seen: 2,000 users with value 0 of 4 are estimated as about 2,000 users of option 4; the first option has none.  The
# default index is `value − 1`, and −1 is the last place of a list in Python.  Clients of direct and of unary
# encoding do so alike.  With a mixture of 0 … 3, every option is one place off and nothing looks wrong.
# Effect: shares beside wrong names, for whoever passes codes of pandas or of this package.
#
# Output seen (estimates of options 1, 2, 3, 4; the first line differs from run to run):
#   direct encoding: [1, -2, -5, 2007]
#   unary encoding: [6, -15, 27, 2013]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq pure-ldp==1.2.0 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 statsmodels==0.15.0
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
from pure_ldp import frequency_oracles as oracles

np.random.seed(0)
for encoding in ("direct encoding", "unary encoding"):
    initials = "".join(word[0].upper() for word in encoding.split())
    sender = getattr(oracles, f"{initials}Client")(epsilon=5.0, d=4)
    counts = getattr(oracles, f"{initials}Server")(epsilon=5.0, d=4)
    for _ in range(2000):
        counts.aggregate(sender.privatise(0))
    estimates = [round(float(counts.estimate(option))) for option in (1, 2, 3, 4)]
    print(f"{encoding}:", estimates)
    assert estimates[3] > 1800 and max(map(abs, estimates[:3])) < 150, "0 is no longer the last option"
PYTHON
