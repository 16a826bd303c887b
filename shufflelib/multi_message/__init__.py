r"""Multi-message protocols: what is proved about them, and what was published.

>>> from shufflelib import multi_message, randomizers
>>> bins = randomizers.balls_into_bins(d=16)
>>> profile = multi_message.shuffle_messages(bins, n=1_000, blanket=20_000)
>>> round(profile.epsilon(delta=1e-6).upper, 4)
0.1494

Every one of n users sends one message about the own value and k blanket messages: ``blanket`` = n k.
The constructors are `randomizers.balcer_binary`, `balcer_uniform`, `cheu_zhilyaev`, `balls_into_bins` and
`mix_dump`.

1. `profile`: the certified profile, and the published pair.
2. `original`: the guarantees of the protocols' own papers.
3. `calibration`: the least noise for a target (ε, δ).
"""

from shufflelib.multi_message.calibration import fewest_blanket_messages, smallest_flip
from shufflelib.multi_message.original import balls_into_bins_blanket, cheu_zhilyaev_flip
from shufflelib.multi_message.profile import ShuffledMessages, published_pair, shuffle_messages

__all__ = [
    "ShuffledMessages",
    "balls_into_bins_blanket",
    "cheu_zhilyaev_flip",
    "fewest_blanket_messages",
    "published_pair",
    "shuffle_messages",
    "smallest_flip",
]
