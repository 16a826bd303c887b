"""The ledger on the command line: ``python -m claims``, one claim by its name, or a check of all of them."""

import json
import sys

import claims
from claims import items, report, works
from shufflelib.numerics.printing import Parser, replace_unprintable, unwritten
from shufflelib.numerics.validation import suggestion


def _parser():
    parser = Parser(
        prog="python -m claims",
        description="Published claims with a verdict for each; with ID, the computation behind one verdict.",
    )
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="check this claim, such as wang24-theorem-4.7, and print the computation or counterexample",
    )
    parser.add_argument(
        "--paper", metavar="WORK", help="only claims of this work, such as wang24, by theorem and figure"
    )
    parser.add_argument(
        "--since", type=int, metavar="YEAR", default=0, help="only claims of works that appeared since"
    )
    parser.add_argument("--index", action="store_true", help="list every item of the papers as CSV")
    parser.add_argument("--check", action="store_true", help="check all claims, in less than a minute")
    parser.add_argument("--full", action="store_true", help="search more points, in less than ten minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    return parser


def _since(year, listed):
    """Return the claims of works of that year or later."""
    found = tuple(claim for claim in listed if works.year(claim) >= year)
    if not found:
        newest = max(map(works.year, listed))
        raise ValueError(f"--since must be at most {newest}, the year of the newest work, got {year}")
    return found


def _papers():
    """Return the names of all works and of the notebooks about several, as ``--paper`` takes them."""
    return sorted({claim.id.split("-")[0] for claim in claims.ALL} | {item.work for item in items.ALL})


def _named(name):
    """Return the claim of that name; the name of a work is answered with the option that lists its claims."""
    if name in _papers():
        raise ValueError(f"{name} is a work and no claim; --paper {name} lists its claims")
    return claims.named(name)


def _of(paper):
    """Return the claims of one work, or of one notebook about several works, or all."""
    if paper is None:
        return claims.ALL
    found = tuple(claim for claim in claims.ALL if claim.id.startswith(f"{paper}-"))
    if not found:
        listed = [item for item in items.ALL if item.work == paper]
        judged = {name for item in listed for name in (*item.claims, *item.beside)}
        found = tuple(claim for claim in claims.ALL if claim.id in judged)
    if not found:
        known = _papers()
        raise ValueError(
            f"--paper must be one of {', '.join(known)}, got {paper!r}{suggestion(paper, known)}"
        )
    return found


def _answer(arguments):
    """Return the ledger, a check of it or one claim, as text and as a record; and the exit code."""
    effort = claims.FULL if arguments.full else claims.QUICK
    if arguments.id is not None:
        result = claims.checked(_named(arguments.id), effort)
        return report.explained(result), report.record(result), int(not result.agrees)
    if arguments.index:
        if arguments.since:
            raise ValueError("--index lists all items of the papers: leave out --since")
        listed = [item._asdict() | {"verdict": item.verdict, "label": item.label} for item in items.ALL]
        return items.index().rstrip("\n"), listed, 0
    listed = _since(arguments.since, _of(arguments.paper))
    if arguments.check or arguments.full:
        results = tuple(claims.checked(claim, effort) for claim in listed)
        records = [report.record(result) for result in results]
        return report.outcomes(results), records, int(not all(result.agrees for result in results))
    entries = [
        {"id": one.id, "statement": one.statement, "source": one.source, "verdict": str(one.verdict)}
        | {"label": one.label, "repeats": one.repeats, "basis": one.basis}
        for one in listed
    ]
    if arguments.paper in {item.work for item in items.ALL}:
        return report.by_item(items.of(arguments.paper)), entries, 0
    return report.table(listed), entries, 0


def main(argv=None):
    """Run the command line; 0, 1 if a claim differs from the ledger, 2 after an error, 130 when stopped."""
    replace_unprintable()
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as stop:
        return stop.code
    except OSError as wrong:
        return unwritten(wrong, "claims")
    try:
        text, record, code = _answer(arguments)
    except (ValueError, TypeError) as wrong:
        print(f"claims: {wrong}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("claims: stopped", file=sys.stderr)
        return 130
    try:
        print(json.dumps(record) if arguments.json else text, flush=True)
    except OSError as wrong:
        code = unwritten(wrong, "claims") or code
    return code


if __name__ == "__main__":
    sys.exit(main())
