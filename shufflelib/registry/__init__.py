"""A record of a deployment that anyone can publish, and recompute.

The public registry of deployments of differential privacy (NIST and OpenDP) keeps a YAML file for each.  Its
fields have no place for what a guarantee of shuffled reports depends on, so that a record made here adds a
block `BLOCK` to those fields:

========================  ==================================================================================
``version``               1
``users``                 n, the number of honest users who report in a round; none for "sample and threshold"
``sampling_rate``         share of the population that is drawn for each round; 1 if left out
``rounds``                adaptive rounds on the same users, together; 1 if left out
``local_epsilon``         ε of one report alone, for the same neighbours, if there is one; may be left out
``neighbours``            "replace", or another word that `aggregate`, dummies or `sample_and_threshold` take;
                          "restricted" where the mechanism covers some replacements only.  The registry's
                          ``privacy_unit_details`` has the relation in full
``analyst_sees``          "shuffled reports", "sums of reports", "shuffled messages" or "numbers at or above
                          a threshold"
``mechanism``             ``name``, that of its constructor, and all parameters by theirs
``certified_epsilon``     ``lower``, ``upper`` and what computed them; `check` computes them again
========================  ==================================================================================

The registry refuses fields that it does not know: leave the block out of what you submit there, or publish
the whole record beside it.
"""

from shufflelib.registry.checking import Verdict, check, read
from shufflelib.registry.writing import record, to_yaml

__all__ = ["Verdict", "check", "read", "record", "to_yaml"]
