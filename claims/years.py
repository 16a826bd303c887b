"""Year by year since 2019: the smallest ε that a published bound of the year gives, for one question.

Years are those of `works`, verdicts those of the ledger, numbers those of `comparison`.  A new bound needs a
line in `JUDGED`, and its work a title in `works.LISTED`; a work without a bound for this question is counted
in its year all the same.
"""

import math
from collections import Counter

import claims
from claims import works
from shufflelib import randomizers
from shufflelib.numerics.certified import Certified
from shufflelib.published import comparison

FIRST = 2019  # of the first bounds on amplification by shuffling
OPTIONS, EPS0, USERS, DELTA = 10, 1.0, 100_000, 1e-6  # the question
COMPUTED = comparison.Bound(
    "blanket, computed",
    "upper bound: the blanket's expression for this randomizer, enclosed here",
    lambda asked: comparison.gaps(asked.randomizer, n=asked.n, delta=asked.delta).bound_upper,
)
# A published bound -> the claim that judges it, whose work has the year.
JUDGED = {
    "EFMRTT'19": "efmrtt19-closed-form",
    "blanket, generic": "balle19-hoeffding-bennett-generic",
    "blanket, specific": "balle19-hoeffding-bennett-rr",
    "clones FMT'21, closed form": "fmt21-closed-form",
    "clones FMT'21, pair": "fmt21-pair",
    "Girgis'21, full sum": "girgis21-upper",
    "stronger clones FMT'23, closed form": "fmt23-closed-form",
    "stronger clones FMT'23, pair": "fmt23-pair",
    "variation-ratio pair": "wang24-theorem-4.2",
    "variation-ratio Thm 4.7": "wang24-theorem-4.7",
    "variation-ratio Thm 4.8": "wang24-theorem-4.8",
    "CCG'24, Theorem 2": "ccg24-theorem-2",
    COMPUTED.name: "scw25-optimal-decomposition",
    "shuffle index, blanket": "tl26-one-number",
}


def published():
    """Return what every published bound says, as rows by year, and the certified interval.

    Returns
    -------
    rows : list of dict
        Year, bound, ε (NaN where the bound does not apply), how far it is above an attack's in percent
        (negative: below), the claim that judges it with its verdict, and what is said of the bound.
    certified : Certified
        ε that an attack attains, and ε that is proved.

    Examples
    --------
    >>> from claims import years
    >>> rows, certified = years.published()
    >>> certified.upper / certified.lower < 1.00001
    True
    """
    randomizer = randomizers.generalized_rr(eps0=EPS0, d=OPTIONS)
    bounds = [*comparison.ALL, COMPUTED]
    found = comparison.compare(randomizer, n=USERS, delta=DELTA, bounds=bounds)
    answers = {one.bound.name: one for one in found}
    certified = Certified(*(answers[f"certified {end}"].eps for end in ("lower", "upper")))
    rows = []
    for name, judge in JUDGED.items():
        claim, answer = claims.named(judge), answers[name]
        row = {"year": works.year(claim), "bound": name, "eps": answer.eps}
        row |= {"above, %": 100 * (answer.eps / certified.lower - 1), "claim": judge}
        rows.append(row | {"verdict": str(claim.verdict), "note": answer.reason or answer.bound.says})
    return sorted(rows, key=lambda row: row["year"]), certified


def best(rows):
    """Return a row for each year from the first bounds to the newest work of the ledger.

    Parameters
    ----------
    rows : list of dict
        As `published` returns them.

    Returns
    -------
    list of dict
        Year; the best ε so far, published by a bound that holds and that no attack exceeds; the row of that
        year's smallest ε, if a work of the year has a bound for the question; and how many works and
        statements of the year are in the ledger.
    """
    statements = Counter((works.year(claim), claim.id.split("-")[0]) for claim in claims.ALL)
    sound = [row for row in rows if row["verdict"].startswith("holds") and row["above, %"] >= 0]
    found = []
    for year in range(FIRST, max(year for year, _ in statements) + 1):
        new = [row for row in rows if row["year"] == year and not math.isnan(row["eps"])]
        known = {"year": year, "best so far": min(row["eps"] for row in sound if row["year"] <= year)}
        many = [count for (published, _), count in statements.items() if published == year]
        known |= min(new, key=lambda row: row["eps"], default={})
        found.append(known | {"works": len(many), "statements": sum(many)})
    return found
