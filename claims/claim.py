"""What a claim is, what a check of it finds, and the five verdicts."""

import enum
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from shufflelib.numerics import validation


class Verdict(enum.StrEnum):
    """What a check found of a claim; the value is what people read.

    Examples
    --------
    >>> import claims
    >>> [str(verdict) for verdict in claims.Verdict]
    ['holds', 'holds in a smaller regime', 'refuted', 'not reproducible', 'not decided']
    """

    HOLDS = "holds"
    SMALLER = "holds in a smaller regime"
    REFUTED = "refuted"
    NOT_REPRODUCIBLE = "not reproducible"
    NOT_DECIDED = "not decided"


# What a reader should know beside a verdict: what qualifies it, or what is judged if it is no statement.
APPROXIMATION = "an approximation, read as a bound"
SLIP = "a misprint, read as printed"
VACUOUS = "true but vacuous"
PROOF = "a line of the proof"
CODE = "the released code"
RELATION = "the neighbouring relation is not named"

# What the verdict *holds* rests on.
PROVED = "proved"  # by the proof that is named
SEARCHED = "searched"  # so many cases or points without a counterexample, which is no proof
COMPUTED = "computed"  # a number, or a sentence about numbers, at the settings that are named


class Effort(NamedTuple):
    """How hard a check tries: points of a search, and the seed that places them.

    Examples
    --------
    >>> import claims
    >>> claims.QUICK, claims.Effort(points=1000, seed=7)
    (Effort(points=8, seed=0), Effort(points=1000, seed=7))
    """

    points: int
    seed: int = 0


QUICK, FULL = Effort(8), Effort(256)


class Finding(NamedTuple):
    """What a check found.

    Attributes
    ----------
    verdict : Verdict
        What the numbers below amount to.
    evidence : str
        One sentence: the counterexample, or what was tried, how many points, and how close it came.
    steps : tuple of str
        The computation line by line, with the numbers as they were just computed.

    Examples
    --------
    >>> import claims
    >>> found = claims.Finding(claims.Verdict.HOLDS, "8 points tried", steps=("at n=2", "at n=1000"))
    >>> str(found.verdict), len(found.steps)
    ('holds', 2)
    """

    verdict: Verdict
    evidence: str
    steps: tuple = ()


def holds_if(holds, evidence, steps=()):
    """Return the finding that a claim holds where a condition is met, and is refuted otherwise."""
    return Finding(Verdict.HOLDS if holds else Verdict.REFUTED, evidence, tuple(steps))


def refuted_if(fails, evidence, steps=()):
    """Return the finding that a claim is refuted where a condition is met, and holds otherwise."""
    return holds_if(not fails, evidence, steps)


def smaller_if(holds, evidence, steps=()):
    """Return the finding that a claim holds in a smaller regime where a condition is met, else is refuted."""
    return Finding(Verdict.SMALLER if holds else Verdict.REFUTED, evidence, tuple(steps))


def reproduced_if(holds, evidence, steps=()):
    """Return the finding that a claim holds where a condition is met, else is not reproducible."""
    return Finding(Verdict.HOLDS if holds else Verdict.NOT_REPRODUCIBLE, evidence, tuple(steps))


class Worded(NamedTuple):
    """A check or a confirmation that is complete with the words of its entry, ``setting`` or ``again``.

    Attributes
    ----------
    told : callable
        Takes these lines, returns the check.
    """

    told: Callable


class Check(NamedTuple):
    """The means to check a claim.

    Attributes
    ----------
    check : callable or Worded
        Takes an `Effort` and returns a `Finding`.
    confirm : callable, Worded or None
        A second computation that shares no method with ``check``; takes nothing and returns a `Finding`.
        Every refutation has one.
    failure_curve : Along or None
        The `claims.failure_curve.Along` on which the claim fails: what a picture of the failure shows.  Every
        refutation has one.
    """

    check: Callable
    confirm: Callable | None = None
    failure_curve: Callable | None = None


def undecided(lines):
    """Return the check that only says why a claim could be neither shown nor refuted."""
    return lambda effort: Finding(Verdict.NOT_DECIDED, *lines)


@dataclass(frozen=True)
class Claim:
    """A published statement and the means to check it.

    Parameters
    ----------
    id : str
        Source and place, such as ``wang24-theorem-4.1``.
    statement : str
        What is claimed, in one sentence, quantities included.
    source : str
        Where: authors, year, version, place.
    verdict : Verdict
        What the ledger says; a check that finds something else is an error of one of the two.
    check, confirm : callable
        See `Check`; complete with the words of the ledger.
    failure_curve : callable or None
        Takes nothing and returns the `claims.failure_curve.FailureCurve` on which the claim fails.
    place : str
        A few words of the sentence, or of the title of the theorem or table, as printed in the text that was
        read: what to search for there.  Empty for code and for works that were not read.
    reading : str
        A reading under which the statement is true, or the published erratum, with its place.
    label : str
        What qualifies the verdict, `APPROXIMATION`, `SLIP`, `VACUOUS` or `RELATION`, or what is judged,
        `PROOF` or `CODE`; empty for most claims.
    repeats : str
        The ``id`` of the claim whose error this one repeats, being the same sentence about something else,
        the same step of a proof, or a consequence of it; empty if the error, if any, is its own.
    basis : str
        What *holds* rests on: `PROVED`, `SEARCHED` or `COMPUTED`, a colon, and where, or what was tried by
        `QUICK`; empty for other verdicts.

    Examples
    --------
    >>> import claims
    >>> from claims import exact_shuffle
    >>> def check(effort):
    ...     rows = exact_shuffle.randomized_response(3, d=2)
    ...     delta, _ = exact_shuffle.worst_delta(rows, n=2, ratio=2)
    ...     verdict = claims.Verdict.REFUTED if delta > 0 else claims.Verdict.HOLDS
    ...     return claims.Finding(verdict, f"delta = {delta} at eps = log 2")
    >>> statement = "Two bits, randomized with e^eps0 = 3 and shuffled, are (log 2, 0)-private"
    >>> claim = claims.Claim("two-bits", statement, "a guess", claims.Verdict.REFUTED, check)
    >>> claims.checked(claim).evidence
    'delta = 3/16 at eps = log 2'
    """

    id: str
    statement: str
    source: str
    verdict: Verdict
    check: Callable
    confirm: Callable | None = None
    reading: str = ""
    failure_curve: Callable | None = None
    place: str = ""
    label: str = ""
    repeats: str = ""
    basis: str = ""


@dataclass(frozen=True)
class Result:
    """A claim after its check.

    Attributes
    ----------
    claim : Claim
        What was checked.
    verdict : Verdict
        What was found now; ``claim.verdict`` is what the ledger says.
    evidence : str
        See `Finding`.
    steps : tuple of str
        The computation line by line; where there is a second one, its lines follow.
    confirmed : bool or None
        Whether the second computation agrees; None where there is none.
    seconds : float
        What it took.

    Examples
    --------
    >>> import claims
    >>> result = claims.checked(claims.named("gspa24-unbiased"))
    >>> result.id, str(result.verdict), result.agrees, result.confirmed
    ('gspa24-unbiased', 'refuted', True, True)
    """

    claim: Claim
    verdict: Verdict
    evidence: str
    steps: tuple
    confirmed: bool | None
    seconds: float

    @property
    def id(self):
        """The claim's name."""
        return self.claim.id

    @property
    def agrees(self):
        """Whether the ledger and both computations say the same."""
        return self.verdict == self.claim.verdict and self.confirmed is not False


def checked(claim, effort=QUICK):
    """Check one claim.

    Parameters
    ----------
    claim : Claim
        What to check.
    effort : Effort
        How hard to try.

    Returns
    -------
    Result
        The same for the same effort, but for the time it took.

    Raises
    ------
    TypeError
        If an argument is of another kind.

    Examples
    --------
    >>> import claims
    >>> claims.checked(claims.named("gspa24-unbiased")).evidence
    'budgets log 3 and 0, values 1 and 0: E(z) = 1, c = 1/2'
    """
    validation.instance(claim, "claim", Claim, remedy="claims.named finds one by its name")
    validation.instance(effort, "effort", Effort, remedy="such as claims.QUICK")
    start = time.perf_counter()
    found = claim.check(effort)
    second = claim.confirm() if claim.confirm is not None else None
    steps = tuple(found.steps)
    if second is not None:
        steps += ("a second computation:", *second.steps)
    return Result(
        claim,
        Verdict(found.verdict),
        found.evidence,
        steps,
        None if second is None else second.verdict == found.verdict,
        time.perf_counter() - start,
    )
