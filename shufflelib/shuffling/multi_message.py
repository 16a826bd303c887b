r"""From a multi-message protocol to its certified privacy profile.

Let one user hold x0 or x1, and reveal to the analyst which messages are the other users' input messages.
What remains is the multiset of one message, drawn from :math:`R_{x_0}` or :math:`R_{x_1}`, and N independent
dummy messages drawn from ν.  The real output is a post-processing of it, which adds messages that do not
depend on this user.  So the remaining pair dominates, and its profile is known exactly, with ν the reference
measure:

.. math:: H_\varepsilon = \frac{1}{N+1}\,\mathbb E\bigl[(G_1 + \dots + G_{N+1})_+\bigr], \qquad
          G = \frac{R_{x_0}(y) - e^{\varepsilon} R_{x_1}(y)}{\nu(y)},\quad y \sim \nu .

It does not use the reduction to two counts, so it is an upper bound even where the variation-ratio pair is
not.
"""

from functools import partial

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.computed_once import cached_property
from shufflelib.profiles.adjacency import REPLACE_ONE, SHUFFLED
from shufflelib.profiles.blanket_pair import BlanketPair
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.hockey_stick import Indistinguishable, Pair
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.profiles.shown import Made
from shufflelib.randomizers.multi_message import MultiMessage
from shufflelib.shuffling.variation_ratio import VariationRatioPair

__all__ = ["published_pair", "shuffle_messages"]

ASSUMPTIONS = (
    SHUFFLED[0],
    "the N dummy messages are all sent, by honest users with private and independent randomness, and "
    "none of them by users who collude with the analyst",
    "n and N are fixed and public, and participation does not depend on the values: neither who takes "
    "part or drops out nor who colludes",
    SHUFFLED[3],
)


def shuffle_messages(randomizer: MultiMessage, *, n: int, dummy_messages: int) -> Profile:
    """Return the certified privacy profile of n input messages shuffled with dummy messages.

    Parameters
    ----------
    randomizer : MultiMessage
        `balcer_binary`, `balcer_uniform`, `cheu_zhilyaev`, `balls_into_bins` or `mix_dump`.
    n : int
        Number of users, including the one whose value changes.
    dummy_messages : int
        Number N >= 1 of all dummy messages, n k if each user adds k of them; those of the changing user
        count.  n + N <= 10¹⁵.

    Returns
    -------
    Profile
        ``upper`` bounds hold for all values of all users: the others' input messages are revealed.  ``lower``
        bounds come from an explicit attack on an explicit dataset, in which the others' input messages do
        count as noise, so that no bound can be smaller.

    Notes
    -----
    Neighbouring datasets differ in one user's value (replace one).  The shuffler is trusted, nobody sees who
    sent what, and all N dummy messages are really sent, by honest users.  Messages that a user drops or
    reveals to the analyst do not count in N.  See the profile's ``assumptions``.  Cost O(1) in n and N.

    ==================================  =====================================================================
    binary sums, balls into bins        both bounds are one pair, exact for every dataset: the others' input
                                        messages are known up to noise independent of the value
    Cheu, Zhilyaev                      lower bound: others hold a third item, so that N + n - 1 messages are
                                        noise; the two bounds agree as k grows
    mixDUMP                             lower bound: others hold a third item, which the analyst deletes; the
                                        proof counts about half of the outcomes only
    ==================================  =====================================================================

    Source: derived from the loss sum of Su, Cheng, Wang (arXiv:2504.07414) with ν as the full density.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> from shufflelib.shuffling import multi_message
    >>> protocol = randomizers.balls_into_bins(d=16)
    >>> profile = multi_message.shuffle_messages(protocol, n=1000, dummy_messages=20_000)
    >>> f"{profile.delta(eps=0.15).upper:.1e}"
    '9.4e-07'
    >>> profile
    shuffle_messages(balls_into_bins(d=16, s=1), n=1000, dummy_messages=20000)
    """
    _protocol(randomizer)
    n = validation.users(n)
    dummy_messages = _messages(dummy_messages, at_most=validation.MAX_USERS - n)
    return Profile(
        bounds=partial(_bounds, randomizer, n, dummy_messages),
        statement=f"n = {n} input messages and {dummy_messages} dummy messages of {randomizer}",
        source="guarantee: one message among the dummy messages, the other users' input messages revealed; "
        "attack: an explicit one on one dataset, their messages not revealed",
        adjacency=REPLACE_ONE,
        assumptions=ASSUMPTIONS,
        users=n,
        population=n,
        written=Made("shuffle_messages", randomizer, {"n": n, "dummy_messages": dummy_messages}),
    )


def published_pair(randomizer: MultiMessage, *, dummy_messages: int) -> VariationRatioPair:
    """Return the variation-ratio pair of Wang 2024 for a multi-message protocol.

    Parameters
    ----------
    randomizer : MultiMessage
        Its published (p, β, q) are used as printed.
    dummy_messages : int
        Number of all dummy messages N; the "n" of Theorem 4.2 is N + 1.

    Returns
    -------
    VariationRatioPair
        An upper bound for the protocol in these cases: for p = ∞, β = 1 because
        1 - α - αp = 0, and for mixDUMP because the pair is the exact one.  Not for `cheu_zhilyaev`.

    Notes
    -----
    Source: Wang (PVLDB 2024; arXiv:2304.05007), Section 4.1 and Table 3.  The released code uses 10⁵ for
    p = ∞ and (p - 1)/(p + 1) for β = 1.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> from shufflelib.shuffling import multi_message
    >>> pair = multi_message.published_pair(randomizers.balls_into_bins(d=16), dummy_messages=20_000)
    >>> f"{pair.delta(eps=0.15).upper:.1e}"
    '9.4e-07'
    """
    _protocol(randomizer)
    dummy_messages = _messages(dummy_messages, at_most=validation.MAX_USERS - 1)
    return VariationRatioPair(n=dummy_messages + 1, p=randomizer.p, beta=randomizer.beta, q0=randomizer.q)


def _protocol(randomizer):
    remedy = "randomizers.balls_into_bins(d=16) is a multi-message protocol; shuffle takes all others"
    validation.instance(randomizer, "randomizer", MultiMessage, remedy=remedy)


def _messages(dummy_messages, *, at_most):
    remedy = "it counts the dummy messages of all users"
    return validation.count(dummy_messages, "dummy_messages", at_most=at_most, remedy=remedy)


def _bounds(randomizer, n, dummy_messages):
    """Return the input message among the dummy messages, and the pairs of the attacks, if any is known."""
    dominating = BlanketPair(randomizer.likelihood_ratios(), dummy_messages + 1)

    def seen(attack):
        pair = BlanketPair(attack.ratios, attack.blanket_messages + 1)
        if attack.chance < 1.0:
            return ObservedWithProbability(pair, attack.chance)
        same = pair.n == dominating.n and pair.ratios.distance(dominating.ratios) == 0.0
        return dominating if same else pair

    attacks = tuple(map(seen, randomizer.attacks(n, dummy_messages)))
    return Bounds((dominating,), attacks or (Indistinguishable(),))


class ObservedWithProbability(Pair):
    r"""A pair that is observed with probability c, otherwise nothing: :math:`H = c\,H_\varepsilon(P\|Q)`."""

    def __init__(self, pair, chance):
        self.pair, self.chance = pair, chance
        self.symmetric = pair.symmetric
        self.search_width = pair.search_width

    @cached_property
    def reversed(self):
        """The pair with the two distributions exchanged."""
        return self if self.symmetric else ObservedWithProbability(self.pair.reversed, self.chance)

    @property
    def max_privacy_loss(self):
        """The largest loss of the pair."""
        return self.pair.max_privacy_loss

    def _log_curve(self, eps, tolerance):
        """Enclose log c + log H."""
        return self.pair.log_hockey_stick(eps, tolerance) + Interval.of(self.chance).log()
