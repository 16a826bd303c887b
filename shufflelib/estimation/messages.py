"""The least noise for a privacy target; the certificate of the returned value meets the target."""

from shufflelib.calibration.search import Family
from shufflelib.numerics import validation
from shufflelib.randomizers.fake_users import cheu_zhilyaev
from shufflelib.shuffling.multi_message import shuffle_messages

FLIPS = 1e-9, 0.5 - 1e-9  # beyond the larger one a bit of Cheu and Zhilyaev is pure noise
MESSAGES = 1, 10**12


def _smallest(profile_at, eps, delta, relative, *, start, remedy, **options):
    """Return the smallest value tried whose profile is proved to meet the target."""
    eps = validation.real(eps, "eps", above=0.0, remedy="a central budget in nats, positive")
    delta = validation.probability(delta, "delta")
    relative = validation.real(
        relative, "relative", at_least=1e-9, below=1.0, remedy="a relative width, such as 1e-3"
    )
    family = Family(profile_at, eps, delta, tolerance=relative, falling=True, **options)
    answer, _ = family.edge(family.proved, start)
    if answer is None:
        raise ValueError(f"eps={eps!r} at delta={delta!r} is not reached; {remedy}")
    return answer


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
    678
    """
    n = validation.users(n)
    return _smallest(
        lambda blanket: shuffle_messages(randomizer, n=n, blanket=blanket),
        *(eps, delta, relative),
        limits=MESSAGES,
        whole=True,
        start=n,
        remedy="10^12 blanket messages are too few",
    )


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
    0.0042
    """
    return _smallest(
        lambda flip: shuffle_messages(cheu_zhilyaev(d=d, flip=flip), n=n, blanket=blanket),
        *(eps, delta, relative),
        limits=FLIPS,
        start=0.01,
        remedy="use more blanket messages",
    )
