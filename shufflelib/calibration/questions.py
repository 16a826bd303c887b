"""Questions about a mechanism given by name: each takes a constructor, and its numbers by keyword."""

import inspect
import os
from dataclasses import dataclass

from shufflelib.calibration import targets
from shufflelib.calibration.targets import one_round
from shufflelib.calibration.tasks import TASKS
from shufflelib.calibration.tasks.errors import standard_errors
from shufflelib.randomizers.tabulated import from_pmf
from shufflelib.randomizers.written_tables import read_file


def profile(randomizer, *, n, rounds=1, rate=1.0, analyst="reports", changed=None, **parameters):
    """Return the profile of n reports, shuffled or summed up, drawn at a rate, over some rounds."""
    one = one_round(randomizer(**parameters), n, analyst, changed)
    return one.subsample(rate).compose(rounds)


def _question(name, value):
    """Return a question to a profile: a method of it, and the name of what that takes."""

    def answer(randomizer, **given):
        asked = given.pop(value)
        return getattr(profile(randomizer, **given), name)(asked)

    randomizer, n, *others = inspect.signature(profile).parameters.values()
    own = inspect.Parameter(value, inspect.Parameter.KEYWORD_ONLY)
    answer.__signature__ = inspect.Signature([randomizer, n, own, *others])
    return answer


@dataclass(frozen=True)
class StandardError:
    """Standard error of an estimate over the users' coins, at an ordinary value and at the worst one."""

    usual: float
    worst: float

    def __str__(self):
        return f"standard error {self.usual:.4g}, in the worst case {self.worst:.4g}"

    def to_dict(self):
        """Return both as a dictionary that JSON can hold."""
        return {"standard error": self.usual, "worst case": self.worst, "status": "exact formula"}


def error(randomizer, *, n, **parameters):
    """Return the standard error of one round's estimate: of an item's share, or of a mean in [0, 1]."""
    mechanism = randomizer(**parameters)
    name = type(mechanism).__name__
    if name == "generic":
        raise ValueError("generic stands for every ε₀-LDP mechanism, whose errors differ; name one of them")
    if (found := standard_errors(mechanism, n)) is None:
        known = ", ".join(dict.fromkeys(one for task in TASKS.values() for one in task.candidates))
        raise ValueError(f"{name} has no formula for its error; these have: {known}")
    return StandardError(*found)


QUESTIONS = {
    "epsilon": _question("epsilon", "delta"),
    "delta": _question("delta", "eps"),
    "renyi": _question("renyi", "order"),
    "tradeoff": _question("tradeoff", "fpr"),
    "error": error,
    "calibrate eps0": targets.largest_eps0,
    "calibrate sigma": targets.smallest_sigma,
    "calibrate users": targets.fewest_users,
    "calibrate rounds": targets.most_rounds,
}
LOOKED_FOR = {"calibrate eps0": "eps0", "calibrate sigma": "sigma"}  # what the question finds


def tabulated(table, quantity, *, name=None):
    """Return the mechanism that a table of probabilities is, and the lines of its file that are no rows.

    Parameters
    ----------
    table : str, os.PathLike or array_like
        A file as `written_tables.read_file` takes it, or the table itself.
    quantity : str
        A key of `QUESTIONS`, which may need more than a table.
    name : str, optional
        What messages call the file; by default its path.
    """
    if found := LOOKED_FOR.get(quantity):
        raise ValueError(
            f"a table of probabilities has no {found} to calibrate; in Python, calibration."
            f"{QUESTIONS[quantity].__name__} takes a function that returns the table for each {found}"
        )
    if quantity == "error":
        raise ValueError(
            "a table of probabilities has no formula for its error, which depends on how values are "
            "estimated from the reports; name a randomizer"
        )
    if not isinstance(table, str | os.PathLike):
        return from_pmf(table), ""
    try:
        written = read_file(table)
        return from_pmf(written.rows), written.skipped
    except OSError as wrong:
        raise type(wrong)(f"cannot read {name or table}: {wrong.strerror}; name a CSV file") from None
    except ValueError as wrong:
        raise ValueError(f"{name or table}: {wrong}") from None
