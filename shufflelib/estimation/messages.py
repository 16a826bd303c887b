"""The least noise for a privacy target; the certificate of the returned value meets the target."""

import math

from shufflelib.numerics import validation
from shufflelib.randomizers.fake_users import cheu_zhilyaev
from shufflelib.shuffling.multi_message import shuffle_messages

CLOSEST = 0.5 - 1e-9  # beyond it a bit of Cheu and Zhilyaev is pure noise
FINEST = 1e-9


def _checked(eps, delta):
    eps = validation.real(eps, "eps", above=0.0, remedy="a central budget in nats, positive")
    return eps, math.log(validation.probability(delta, "delta"))


def _proves(profile, eps, log_delta):
    return all(pair.log_worst(eps).upper <= log_delta for pair in profile.dominating_pairs)


def _width(relative):
    return validation.real(
        relative, "relative", at_least=1e-9, below=1.0, remedy="a relative width, such as 1e-3"
    )


def fewest_blanket_messages(randomizer, *, n, eps, delta, relative=1e-3):
    """Return how many blanket messages make a protocol (eps, delta)-private.

    Parameters
    ----------
    randomizer : MultiMessage
        The protocol.
    n : int
        Number of users.
    eps, delta : float
        Target, eps in nats.
    relative : float, optional
        The search stops when its two ends are this close, relative.

    Returns
    -------
    int
        A number N for which `shuffle_messages` proves δ(eps) <= delta; within ``relative`` of the smallest.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or if the bound proves no N up to 10¹² sufficient.

    Examples
    --------
    >>> from shufflelib import randomizers
    >>> from shufflelib import estimation
    >>> bins = randomizers.balls_into_bins(d=16)
    >>> estimation.fewest_blanket_messages(bins, n=1000, eps=1.0, delta=1e-6, relative=0.5)
    832
    """
    eps, log_delta = _checked(eps, delta)
    relative = _width(relative)

    def sufficient(blanket):
        return _proves(shuffle_messages(randomizer, n=n, blanket=blanket), eps, log_delta)

    low, high = 0, 1
    while not sufficient(high):
        low, high = high, 4 * high
        if high > 4 * 10**12:
            raise ValueError(f"eps={eps!r} at delta={delta!r} is not reached with 10^12 blanket messages")
    while high - low > max(1, relative * low):
        middle = (low + high) // 2
        low, high = (low, middle) if sufficient(middle) else (middle, high)
    return high


def smallest_flip(*, d, n, blanket, eps, delta, relative=1e-4):
    """Return the flip probability that makes Cheu and Zhilyaev's protocol (eps, delta)-private.

    Parameters
    ----------
    d : int
        Number of items.
    n : int
        Number of users.
    blanket : int
        Number of all blanket messages.
    eps, delta : float
        Target, eps in nats.
    relative : float, optional
        The search stops when its two ends are this close, relative.

    Returns
    -------
    float
        A flip probability f < 1/2 for which `shuffle_messages` proves δ(eps) <= delta; within ``relative`` of
        the smallest that the search can resolve.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or if the bound proves no f < 1/2 sufficient.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> target = {"d": 16, "n": 1000, "blanket": 10_000, "eps": 1.0, "delta": 1e-6}
    >>> round(estimation.smallest_flip(**target, relative=0.5), 4)  # in the protocol's paper: 0.05
    0.0046
    """
    eps, log_delta = _checked(eps, delta)
    relative = _width(relative)

    def sufficient(flip):
        profile = shuffle_messages(cheu_zhilyaev(d=d, flip=flip), n=n, blanket=blanket)
        return _proves(profile, eps, log_delta)

    low, high = FINEST, CLOSEST
    if not sufficient(high):
        raise ValueError(f"eps={eps!r} at delta={delta!r} is not reached; use more blanket messages")
    while high > low * (1.0 + relative):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if sufficient(middle) else (middle, high)
    return high
