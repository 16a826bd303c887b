r"""The privacy of T epochs of shuffled SGD: proved bounds and published claims.

The guarantee depends on which two data sets count as neighbours.

=================  =====================  =========================================================
replaced           function               what is proved
=================  =====================  =========================================================
one example        `one_example`          fixed split: the local guarantee for each epoch, composed;
                                          blocks drawn anew: random allocation, amplified
one whole block    `one_block`            blocks hide among blocks, at the budget s·eps0 of a block
a client           `one_client`           √T·μ_i, even if the order is known
an example, as     `released_code`        a pure budget, far above the one that scales its noise
the code has it
=================  =====================  =========================================================

One example is in one block, so `one_block` bounds a replaced example too; the smaller bound counts.
Each report depends on the earlier ones: slots are adaptive, and for them only the clone probability e^{−ε}
is proved.  `noise_multiplier` answers the inverse question for blocks drawn anew.
`theorem3_renyi_ccg24`, `theorem3_epsilon_ccg24` and `theorem5_epsilon_gspa24` are the papers' claims.
"""

from shufflelib.sgd.accounting.blocks_and_clients import one_block as one_block
from shufflelib.sgd.accounting.blocks_and_clients import one_client as one_client
from shufflelib.sgd.accounting.blocks_and_clients import released_code as released_code
from shufflelib.sgd.accounting.inverse import noise_multiplier as noise_multiplier
from shufflelib.sgd.accounting.published import theorem3_epsilon_ccg24 as theorem3_epsilon_ccg24
from shufflelib.sgd.accounting.published import theorem3_renyi_ccg24 as theorem3_renyi_ccg24
from shufflelib.sgd.accounting.published import theorem5_epsilon_gspa24 as theorem5_epsilon_gspa24
from shufflelib.sgd.accounting.random_allocation import RandomAllocation as RandomAllocation
from shufflelib.sgd.accounting.replaced_example import one_example as one_example
from shufflelib.sgd.accounting.reused_allocation import reused_allocation as reused_allocation
