#!/bin/sh
# OpenDP 0.16.0: an answer that is not among the categories of randomized response is neither refused nor dropped.
#
# Guess: `make_randomized_response` over {a, b, c} raises for the answer "z", as it is no member of the set.
# Seen: it reports a, b or c with probability 1/3 each, whatever `prob` is.  Privacy is kept: such a row of the
# table is the mean of the rows of a, b and c.  The count is not: inverting the table, m such users among n add
# m/3 to every category, so that the estimated shares sum to 1 and nothing shows that somebody else was asked.
# Effect: shares of small categories are too large, by a third of the share of those whose answer was not listed.
#
# Output seen: 3,000 answers "z" with prob = 0.9: a 1017, b 983, c 1000 (differs from run to run)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq opendp==0.16.0
"$folder/venv/bin/python" - <<'PYTHON'
from collections import Counter

import opendp.prelude as dp

dp.enable_features("contrib")
response = dp.m.make_randomized_response(categories={"a", "b", "c"}, prob=0.9)
seen = Counter(response("z") for _ in range(3000))
print(dict(sorted(seen.items())))
assert sorted(seen) == ["a", "b", "c"] and max(seen.values()) < 1150, "answers outside are treated otherwise now"
PYTHON
