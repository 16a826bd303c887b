"""Histograms from many messages per user: run, or drawn from counts."""

from shufflelib.estimation.histogram import SupportProtocol
from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified
from shufflelib.randomizers.multi_message import MultiMessage
from shufflelib.shuffling.multi_message import shuffle_messages


class MultiMessageProtocol(SupportProtocol):
    """Frequencies of items: every user sends an input message and ``each`` dummy messages.

    Parameters
    ----------
    randomizer : MultiMessage
        `balls_into_bins`, `cheu_zhilyaev`, `mix_dump`, `balcer_binary` or `balcer_uniform`.
    n : int
        Number of users.
    each : int
        Dummy messages that each user adds, at least 1.
    delta : float, optional
        Central δ of the certificate.

    Notes
    -----
    ``run`` costs O(n each), times d for vectors of bits; ``repeat`` draws the estimate from the histogram of
    the data at a cost that does not depend on the number of messages.

    Examples
    --------
    >>> from shufflelib import estimation, randomizers
    >>> protocol = estimation.MultiMessageProtocol(randomizers.balls_into_bins(d=16, s=1), n=10_000, each=2)
    >>> protocol.epsilon.upper < 0.15, protocol.standard_error([1 / 16] * 16).max().round(4).item()
    (True, 0.0034)
    """

    def __init__(self, randomizer: MultiMessage, *, n: int, each: int, delta: float = 1e-6) -> None:
        remedy = "use a multi-message protocol, or HistogramProtocol for one message per user"
        super().__init__(validation.instance(randomizer, "randomizer", MultiMessage, remedy=remedy), n, delta)
        self.each = validation.count(each, "each", at_most=10**12, remedy="dummy messages of each user")

    def certificate(self) -> Certified[float]:
        """Return ε of the shuffled messages, with proved lower and upper bounds."""
        profile = shuffle_messages(self.randomizer, n=self.n, dummy_messages=self.dummy_messages)
        return profile.epsilon(self.delta)
