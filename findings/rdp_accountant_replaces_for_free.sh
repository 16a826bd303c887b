#!/bin/sh
# dp-accounting 0.6.0: the two accountants mean different noise by one Gaussian event when a record is replaced.
#
# Guess: `RdpAccountant` and `PLDAccountant` of one Gaussian event and one neighbouring relation agree up to the
# slack of Rényi orders, a few per cent; and with `REPLACE_ONE` both are larger than with `ADD_OR_REMOVE_ONE`,
# since two clipped records can be twice as far apart as a record and none.
# Seen: `PLDAccountant` doubles the sensitivity for replaced records, `RdpAccountant` does not: its answer is that
# of added records, with no error or warning, and half of the other accountant's.
# Effect: who changes the accountant and not the noise halves ε; a Rényi figure beside one of a shuffled protocol,
# whose neighbours replace a value, is too small by a factor of about two.
#
# Output seen (noise multiplier 5, δ = 1e-6):
#   add or remove: PLD 0.834, Rényi 0.900
#   replace:       PLD 1.766, Rényi 0.900
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq dp-accounting==0.6.0 numpy==2.1.3 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
from dp_accounting import GaussianDpEvent, NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

seen = {}
for relation in (NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE):
    seen[relation] = [
        kind(neighboring_relation=relation).compose(GaussianDpEvent(5.0)).get_epsilon(1e-6)
        for kind in (PLDAccountant, RdpAccountant)
    ]
    print(f"{relation.name}: PLD {seen[relation][0]:.3f}, Rényi {seen[relation][1]:.3f}")
(added, added_renyi), (replaced, replaced_renyi) = seen.values()
assert abs(added - 0.834) < 1e-3 and abs(replaced - 1.766) < 1e-3
assert replaced_renyi == added_renyi < 0.6 * replaced, "the relation is used now"
PYTHON
