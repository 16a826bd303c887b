"""One epoch with its dominating pair and its attack, and the checks of arguments shared by all accounting."""

from functools import partial

from shufflelib.numerics import validation
from shufflelib.profiles.adjacency import replace_one, united
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.shuffling.personal.permute_then_randomize import FARTHEST

FIXED_SPLIT = ("examples are split into blocks once, whatever they hold",)
TRAINING = (
    "gradients are clipped and noise is drawn exactly as stated, in real arithmetic, with private and "
    "independent randomness",
    "the numbers of examples and blocks, the epochs and all other settings are public and do not depend on "
    "the data",
)


def epoch(above, below, statement, source, *, record, assumptions):
    """Return the profile of one epoch, enclosed by a dominating pair and the pairs of attacks."""
    return Profile(
        bounds=partial(Bounds, (above,), below if isinstance(below, tuple) else (below,)),
        statement=statement,
        source=source,
        adjacency=replace_one(record, "the other data are"),
        assumptions=united(assumptions, TRAINING),
    )


def checked_epochs(epochs):
    """Return the number of epochs, from 1 to a million."""
    return validation.count(epochs, "epochs", at_most=10**6)


def within_reach(eps0, name):
    """Return a local budget that composition can work with."""
    remedy = "beyond it there is no amplification to compute; add noise"
    return validation.real(eps0, name, at_least=1e-9, at_most=FARTHEST, remedy=remedy)


def of_kind(reports, kind):
    """Return the reports if they are those of the algorithm that is accounted for."""
    return validation.instance(reports, "reports", kind, remedy="the accounting is of that algorithm alone")
