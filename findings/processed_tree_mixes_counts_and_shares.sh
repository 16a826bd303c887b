#!/bin/sh
# LDP_hierarchical_mechanism 0.1.3: the step that is to sharpen ranges and quantiles multiplies and misplaces them.
#
# Guess: `post_process()` makes a tree of reports consistent, each node the sum of its children, so that its answers
# are those from before with less noise: "the quantile estimation is more accurate".
# Seen: with the default, where every user reports at every level, 5,000 users become 1.5 million in a quarter of the
# range, and the quantile of 40 % moves from about 102 to below 10.
# Why: the levels hold counts of users, but the root is set to 1, as if they were shares.  Averaging both leaves a
# total of about 0.75 · 1 + 0.25 · 5,000 (four levels of branches in 4); quantiles are sought in it as if it were 1,
# and ranges are multiplied by the number of users once more.  With `on_all_levels=False` all levels hold shares, the
# root's 1 is right, and so are the answers; before the step, the default's are right too.
# Effect: shares and quantiles of ordered values from local or shuffled reports, after the recommended step.
#
# Output seen (ε = 8 at each level; the last digits differ from run to run):
#   5,000 users, true quantiles 10, 40, 90 % [26, 102, 231], true count in 64 to 127: 1262
#   all levels, before the step  [28, 103, 231]       1239
#   all levels, after it         [3, 2, 2]         1649031
#   one level each, after it     [28, 103, 232]       1218
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq ldp-hierarchical-mechanism==0.1.3 pure-ldp==1.2.0 numpy==2.1.3 scipy==1.15.3 \
  pandas==2.3.3 tqdm==4.67.1
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from hierarchical_mechanism_LDP import Private_TreeBary

users, asked = 5000, (0.1, 0.4, 0.9)
held = np.random.default_rng(1).integers(0, 256, users)
truth, count = np.quantile(held, asked), np.sum((64 <= held) & (held < 128))
print(f"true quantiles {truth.astype(int).tolist()}, true count in 64 to 127: {count}")


def answers(name, processed, **options):
    tree = Private_TreeBary(256, 4, 8.0, **options)
    tree.update_tree(held)
    if processed:
        tree.compute_attributes()
        tree.post_process()
    quantiles, found = [int(tree.get_quantile(share)) for share in asked], tree.get_range_query(64, 128)
    print(f"{name:27}  {quantiles!s:15} {found:9.0f}")
    return quantiles, found


before, inside = answers("all levels, before the step", False)
after, multiplied = answers("all levels, after it", True)
shares, again = answers("one level each, after it", True, on_all_levels=False)
for quantiles, found in ((before, inside), (shares, again)):
    assert np.allclose(quantiles, truth, atol=25) and abs(found - count) < 400
assert max(after) < 25 and multiplied > 100 * users, "the root counts users now"
PYTHON
