r"""Certified guarantees of users with personal budgets, in the two models of shuffling.

*Randomize then shuffle*: every user randomises with their own budget, then the reports are shuffled.
*Permute then randomize*: users are permuted first, and the user in slot i reports with the budget of that
slot.
"""

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Status
from shufflelib.shuffling.personal.permute_then_randomize import PersonalizedPair
from shufflelib.shuffling.personal.randomize_then_shuffle import PersonalRandomizers


def randomize_then_shuffle(users, *, delta):
    """Certify reports that are randomised with personal budgets and then shuffled, user by user.

    Parameters
    ----------
    users : PersonalLaplace or PersonalRandomizedResponse
        The users' randomizers, from `shufflelib.published.personalized`.
    delta : float
        Central δ in (0, 1).

    Returns
    -------
    Certified
        The largest of the users' ε; ``upper`` holds for every user.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> from shufflelib.shuffling import personal
    >>> users = personal.PersonalRandomizedResponse([1.0] * 1000, k=2)
    >>> bracket = estimation.randomize_then_shuffle(users, delta=1e-6)
    >>> 0.12 < bracket.lower < bracket.upper < 0.15  # of a local budget of 1
    True
    """
    if not isinstance(users, PersonalRandomizers):
        raise TypeError(
            f"users must be PersonalLaplace or PersonalRandomizedResponse, got {validation.shown(users)}"
        )
    each = users.epsilons(delta=delta)
    lower, upper = each.lower.max(), each.upper.max()
    return Certified(
        lower,
        upper,
        Status.of(lower, upper, ceiling=users.eps0.max()),
        each.source,
        f"largest epsilon of {users.n} users who randomise with their own budgets and are then shuffled",
        each.hypotheses,
    )


def permute_then_randomize(eps0, *, delta):
    """Certify users permuted into slots with public budgets.

    Parameters
    ----------
    eps0 : array_like, shape (n,)
        The slots' budgets; slot i applies any ε_i-LDP randomizer, chosen before any report is sent.
    delta : float
        Central δ in (0, 1).

    Returns
    -------
    Certified
        ``upper`` holds for every user, even if the analyst knows which slot sent which report;
        ``lower`` is 0, no attack is tried.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.

    Examples
    --------
    >>> from shufflelib import estimation
    >>> estimation.permute_then_randomize([1.0] * 1000, delta=1e-6).upper < 0.15
    True
    """
    delta = validation.probability(delta, "delta")
    slots = PersonalizedPair(eps0=eps0)
    upper = slots.epsilon(delta).upper
    return Certified(
        0.0,
        upper,
        Status.of(0.0, upper, ceiling=slots.max_privacy_loss),
        "upper: dominating pair of slots with personal budgets; lower: trivial; "
        f"neighbours: {PersonalizedPair.adjacency}",
        f"epsilon at delta = {delta:g} of {slots.n} users permuted into slots, each with its budget",
        slots.hypotheses,
    )
