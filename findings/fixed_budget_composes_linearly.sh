#!/bin/sh
# opake-accounting 0.16.1: a fixed budget composes as if its largest loss always happened.
#
# Guess: `eps_delta(0.1, 0.0)`, made "for composition with other mechanisms", composed a thousand times costs what
# dp-accounting's `from_privacy_parameters` does, the optimal composition: ε = 19.34 at δ = 1e-6.
# Seen: 100, the sum.  Its distribution of losses is the single point ε, while the pair that dominates every pure
# mechanism has ε with odds e^ε and -ε otherwise; the advantage of one response, 1 - e^-0.1 = 0.0952 for 0.0500, is
# twice too large as well.  An upper bound, but no better than adding budgets.
# Effect: shuffled or local reports that enter this accountant by their ε alone seem to cost five times as much as
# they do; the Gaussian steps beside them are counted tightly.
# (Needs Python 3.13: with 3.11.7 and 3.12.1 it installs, and its import ends in a TypeError.)
#
# Output seen:
#   1000 rounds: opake 100.00, dp-accounting 19.34; advantage of one: 0.0952
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.13 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq opake-accounting==0.16.1 dp-accounting==0.6.0 numpy==2.1.3 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
from dp_accounting.pld import common, privacy_loss_distribution
from opake.accounting import eps_delta

fixed = eps_delta(0.1, 0.0)
summed = (fixed * 1000).epsilon_at(1e-6)
budget = common.DifferentialPrivacyParameters(0.1, 0.0)
best = privacy_loss_distribution.from_privacy_parameters(budget).self_compose(1000).get_epsilon_for_delta(1e-6)
advantage = fixed.advantage()
print(f"1000 rounds: opake {summed:.2f}, dp-accounting {best:.2f}; advantage of one: {advantage:.4f}")
assert abs(summed - 100.0) < 0.01, "the two losses are counted now"
assert abs(best - 19.34) < 0.01 and abs(advantage - 0.0952) < 1e-4
PYTHON
