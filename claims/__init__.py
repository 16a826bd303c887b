r"""Published claims, checked: statement, source, verdict, and a computation that anyone can run again.

`ALL` is the ledger: what is claimed is in ``ledger.toml``, the checks are in one folder for each work,
in the tables ``CHECKS`` of its files.
`audit` checks it: each claim's check returns what it finds *now*, and a claim whose
finding differs from the ledger's verdict does not agree.  Verdicts:

=========================  ===================================================================================
verdict                    what was found
=========================  ===================================================================================
holds                      a proof, a search without a counterexample, or numbers reproduced; see below
holds in a smaller regime  the regime in which none was found, and a counterexample outside it
refuted                    a counterexample, in exact fractions or with certified bounds, computed twice
not reproducible           both numbers, the published one and ours
not decided                why neither could be shown
=========================  ===================================================================================

Beside every *holds* stands what it rests on: *proved*, and where; *searched*, how many points or cases and
which, which is no proof; *computed*, at which settings.  Distributions and channels in exact fractions are
half random, half extreme: distributions with two weights (a point, a few points, rare outputs), channels of
the families in `exact_tests.FAMILIES` (randomized response, subset selection, Hadamard response, staircases,
an output for each ordered pair of inputs, a rarely asked response), with ratios from 1 + 1e-6 to 1e6.

A label qualifies some verdicts: a published approximation that was read as a bound, a misprint that
was read as printed, a statement that is true but vacuous; or it says that a line of a proof or the released
code is judged.  ``book/ledger.md`` has the rule for verdicts and labels.

A refuted claim that ``repeats`` another one shares its error, and errors are counted beside statements.  The
module ``works`` says how each work was read: few of them in full.
"""

import difflib
import functools
import importlib
import tomllib
from pathlib import Path

from claims.claim import FULL, QUICK, Claim, Effort, Finding, Result, Verdict, Worded, checked
from shufflelib.numerics import validation

__all__ = [
    "ALL",
    "FULL",
    "QUICK",
    "Claim",
    "Effort",
    "Finding",
    "Result",
    "Verdict",
    "audit",
    "checked",
    "named",
]

HERE = Path(__file__).parent
FILES = [path for path in sorted(HERE.glob("*/*.py")) if path.stem != "__init__"]
CHECKS = {
    name: check
    for path in FILES
    for name, check in importlib.import_module(f"claims.{path.parent.name}.{path.stem}").CHECKS.items()
}
LEDGER = tomllib.loads((HERE / "ledger.toml").read_text(encoding="utf-8"))


def _entered(name, *, setting=(), again=None, axes=(), **entry):
    """Return a claim of the ledger with its check, which the words of the entry complete."""
    check, confirm, curve = CHECKS[name]
    again = setting if again is None else again
    check, confirm = (
        one.told(lines) if isinstance(one, Worded) else one
        for one, lines in ((check, setting), (confirm, again))
    )
    if curve is not None:
        curve = functools.partial(curve.curve, *axes)
    entry["verdict"] = Verdict(entry["verdict"])
    return Claim(id=name, check=check, confirm=confirm, failure_curve=curve, **entry)


ALL = tuple(_entered(name, **entry) for name, entry in LEDGER.items())


def named(name):
    """Return the claim of that name.

    Parameters
    ----------
    name : str
        The claim's ``id``.

    Returns
    -------
    Claim

    Raises
    ------
    TypeError
        If ``name`` is no string.
    ValueError
        If there is none; the nearest names, if any is near, are in the message.

    Examples
    --------
    >>> import claims
    >>> claims.named("gspa24-unbiased").statement
    'The estimator z = (A - B)/(n - 2B) of Algorithm 2 is unbiased for the share c of ones.'
    """
    validation.instance(name, "name", str, remedy="such as 'gspa24-unbiased'")
    by_name = {claim.id: claim for claim in ALL}
    if name not in by_name:
        near = difflib.get_close_matches(name, by_name, n=3, cutoff=0.3)
        known = f"the nearest are {', '.join(near)}" if near else "claims.ALL lists all of them"
        raise ValueError(f"no claim is named {validation.shown(name)}; {known}")
    return by_name[name]


def audit(effort=QUICK):
    """Check the whole ledger.

    Parameters
    ----------
    effort : Effort
        `QUICK` (less than a minute) or `FULL` (less than ten), or your own.

    Returns
    -------
    tuple of Result
        One for each claim of `ALL`, in its order.

    Raises
    ------
    TypeError
        If ``effort`` is no `Effort`.

    Examples
    --------
    >>> import claims
    >>> all(result.agrees for result in claims.audit())  # doctest: +SKIP
    True
    """
    return tuple(checked(claim, effort) for claim in ALL)
