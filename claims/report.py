"""The ledger as text: a table of all claims, one claim with its computation, and counts of verdicts."""

import itertools
import textwrap
from collections import Counter

from claims import items, named, works
from claims.claim import COMPUTED, PROVED, SEARCHED, Verdict

WIDTH = 100


def table(claims):
    """Return the ledger as text: each work, and each claim's verdict, statement, and what *holds* rests on.

    Parameters
    ----------
    claims : iterable of Claim
        In the order in which they are printed.
    """
    lines = []
    for work, of_work in itertools.groupby(claims, lambda claim: claim.id.split("-")[0]):
        listed = tuple(of_work)
        lines += ["", *textwrap.wrap(f"{work}: {works.cited(listed)}", WIDTH), ""]
        for claim in listed:
            lines.append(f"{claim.id:48s}{claim.verdict.upper()}" + f" ({claim.label})" * bool(claim.label))
            lines += textwrap.wrap(claim.statement, WIDTH, initial_indent="  ", subsequent_indent="  ")
            lines += textwrap.wrap(claim.basis, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([*lines[1:], "", counted(claims)])


def by_item(listed):
    """Return one work as text: each numbered item with its verdict, and below it its claims.

    Parameters
    ----------
    listed : iterable of claims.items.Item
        In the order in which they are printed.
    """
    lines, judged = [], {}
    for item in listed:
        published = f" (PVLDB: {item.published})" * bool(item.published)
        lines.append(
            f"{item.name}{published}  {item.verdict.upper()}" + f" ({item.label})" * bool(item.label)
        )
        lines += textwrap.wrap(item.prints, WIDTH, initial_indent="  ", subsequent_indent="  ")
        lines += textwrap.wrap(item.note, WIDTH, initial_indent="  note: ", subsequent_indent="  ")
        lines += [f"  shown in {name}" for name in item.figures]
        for name in (*item.claims, *item.beside):
            judged[name] = named(name)
            beside = "beside it: " * (name in item.beside)
            lines.append(f"    {name:44s}{beside}{items.labelled(judged[name])}")
            lines += textwrap.wrap(
                judged[name].basis, WIDTH, initial_indent=8 * " ", subsequent_indent=8 * " "
            )
    return "\n".join(
        [
            *lines,
            "",
            counted(judged.values()),
            f"All of it, with the pictures: {item.notebook}",
            "For the reasons of one verdict: python -m claims ID",
        ]
    )


def outcomes(results):
    """Return what a check of the ledger found, a line for each claim, and which claims differ from it.

    Parameters
    ----------
    results : iterable of Result
        As `audit` returns them.
    """
    results = tuple(results)
    lines = []
    for result in results:
        differs = "" if result.agrees else f"   LEDGER SAYS {result.claim.verdict.upper()}"
        lines.append(f"{result.id:48s}{result.verdict.upper()}{differs}   ({result.seconds:.1f} s)")
        lines += textwrap.wrap(result.evidence, WIDTH, initial_indent="  ", subsequent_indent="  ")
    wrong = sum(not result.agrees for result in results)
    agree = "all agree with the ledger" if not wrong else f"{wrong} do not agree with the ledger"
    return "\n".join([*lines, "", f"{counted(result.claim for result in results)}; {agree}"])


def explained(result):
    """Return one claim with the reasons for its verdict.

    Parameters
    ----------
    result : Result
        Of one claim.
    """
    claim = result.claim
    parts = {
        "claim": claim.statement,
        "source": claim.source,
        "published": works.published(claim),
        "place": f'"{claim.place}"' * bool(claim.place),
        "read": works.how(claim).removeprefix("read "),
        "verdict": result.verdict.upper()
        + ("" if result.agrees else f", where the ledger says {claim.verdict}"),
        "rests on": claim.basis,
        "label": claim.label,
        "repeats": f"the error of {claim.repeats}" if claim.repeats else "",
        "evidence": result.evidence,
        "reading": claim.reading,
        "where": claim.failure_curve().description() if claim.failure_curve is not None else "",
        "shown": "; ".join(_places(claim)),
    }
    lines = [claim.id]
    for name, text in parts.items():
        if text:
            indent = f"  {name:10s}"
            lines += textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=12 * " ")
    if result.steps:
        lines.append("  step by step")
        lines += [f"    {step}" for step in result.steps]
    return "\n".join(lines)


def _places(claim):
    """Yield the items of the papers that a claim judges or is beside, with the notebook and our figures."""
    for item in items.ALL:
        if claim.id in (*item.claims, *item.beside):
            figures = ", ".join(item.figures)
            published = f" (PVLDB: {item.published})" * bool(item.published)
            place = f"{item.name}{published} in {item.notebook}"
            yield f"beside {place}" * (claim.id in item.beside) or place + f" ({figures})" * bool(figures)


def record(result):
    """Return one result as plain values, for JSON."""
    claim = result.claim
    return {
        "id": claim.id,
        "statement": claim.statement,
        "source": claim.source,
        "published": works.published(claim),
        "place": claim.place,
        "read": works.how(claim),
        "ledger": str(claim.verdict),
        "verdict": str(result.verdict),
        "basis": claim.basis,
        "label": claim.label,
        "repeats": claim.repeats,
        "agrees": result.agrees,
        "confirmed": result.confirmed,
        "evidence": result.evidence,
        "reading": claim.reading,
        "steps": list(result.steps),
        "seconds": round(result.seconds, 3),
    }


def counted(claims):
    """Return in words how many claims there are, of each verdict, of each basis, and how many errors."""
    claims = tuple(claims)
    counts = Counter(claim.verdict for claim in claims)
    parts = {verdict: f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]}
    bases = Counter(claim.basis.partition(":")[0] for claim in claims if claim.basis)
    if bases:
        told = (f"{bases[basis]} {basis}" for basis in (PROVED, SEARCHED, COMPUTED) if bases[basis])
        parts[Verdict.HOLDS] += f" ({', '.join(told)})"
    if Verdict.REFUTED in parts:
        found = len(errors(claims))
        parts[Verdict.REFUTED] += f" ({found} error{'s' if found > 1 else ''})"
    return f"{counts.total()} claims: {', '.join(parts.values())}"


def errors(claims):
    """Return the refuted claims by error: the name of the one that stands for it -> the names of all.

    Parameters
    ----------
    claims : iterable of Claim
        The whole ledger or a part of it.
    """
    found = {}
    for claim in claims:
        if claim.verdict is Verdict.REFUTED:
            found.setdefault(claim.repeats or claim.id, []).append(claim.id)
    return found
