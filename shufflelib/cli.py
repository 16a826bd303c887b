"""The command line: one certified number, said as a privacy statement."""

import argparse
import inspect
import json
import math
import sys

from shufflelib import randomizers
from shufflelib.shuffling import shuffle

QUANTITIES = {
    "epsilon": ("delta", "smallest central epsilon at the given delta", "upper"),
    "delta": ("eps", "smallest central delta at the given epsilon", "upper"),
    "renyi": ("order", "Renyi divergence of the given order", "upper"),
}
HYPOTHESES = (
    "every user applies this randomizer once, independently, to one value; the shuffler is trusted "
    "and no reports are dropped; values may be dependent; the others' values are arbitrary"
)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def _number(text):
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def _constructors():
    return {name.replace("_", "-"): getattr(randomizers, name) for name in randomizers.__all__}


def _parser():
    parser = _Parser(prog="shufflelib", description="Certified privacy of shuffled reports.")
    commands = parser.add_subparsers(dest="quantity", required=True, parser_class=_Parser)
    constructors = _constructors()
    options = sorted(
        {name for build in constructors.values() for name in inspect.signature(build).parameters}
    )
    for quantity, (argument, words, _) in QUANTITIES.items():
        command = commands.add_parser(quantity, help=words, description=words)
        command.add_argument(
            "--randomizer",
            required=True,
            choices=sorted(constructors),
            metavar="NAME",
            help="one of " + ", ".join(sorted(constructors)),
        )
        command.add_argument("--n", type=_number, required=True, help="number of all users")
        command.add_argument(f"--{argument}", type=_number, required=True)
        command.add_argument("--json", action="store_true", help="print one JSON object")
        for option in options:
            if option not in (argument, "n"):
                command.add_argument(f"--{option}", type=_number, help="parameter of the randomizer")
    return parser


def _statement(quantity, arguments, randomizer, result):
    argument, words, safe = QUANTITIES[quantity]
    given = getattr(arguments, argument)
    return "\n".join(
        (
            f"{quantity} <= {getattr(result, safe):.10g} at {argument} = {given:g}, "
            f"n = {int(arguments.n):,} users",
            f"  what        {words}; the upper end is the guarantee",
            f"  not below   {result.lower:.10g}",
            f"  randomizer  {randomizer}",
            "  adjacency   replace one user's value; n counts all users",
            f"  proof       {result.source}",
            f"  provided    {HYPOTHESES}",
            f"  status      {result.status.value}",
        )
    )


def _finite(number):
    return number if math.isfinite(number) else str(number)


def main(argv=None):
    """Run the command line; return 0, or 2 after one line about what was wrong."""
    parser = _parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:
        return stop.code
    quantity = arguments.quantity
    argument = QUANTITIES[quantity][0]
    build = _constructors()[arguments.randomizer]
    accepted = inspect.signature(build).parameters
    given = {
        name: value
        for name, value in vars(arguments).items()
        if name not in ("quantity", "randomizer", "n", "json", argument) and value is not None
    }
    try:
        if foreign := sorted(set(given) - set(accepted)):
            takes = ", ".join(f"--{name}" for name in accepted)
            raise ValueError(f"--{foreign[0]} is no parameter of {arguments.randomizer}, which takes {takes}")
        missing = [
            name
            for name, spec in accepted.items()
            if spec.default is inspect.Parameter.empty and name not in given
        ]
        if missing:
            raise ValueError(f"{arguments.randomizer} needs --{missing[0]}")
        randomizer = build(**given)
        profile = shuffle(randomizer, n=arguments.n)
        result = getattr(profile, quantity)(getattr(arguments, argument))
    except (ValueError, TypeError) as wrong:
        print(f"shufflelib: {wrong}", file=sys.stderr)
        return 2
    if arguments.json:
        record = {
            "quantity": quantity,
            "lower": _finite(result.lower),
            "upper": _finite(result.upper),
            "certified_side": "both; the upper end is the guarantee",
            argument: getattr(arguments, argument),
            "n": arguments.n,
            "randomizer": str(randomizer),
            "adjacency": "replace one",
            "proof": result.source,
            "hypotheses": HYPOTHESES,
            "status": result.status.name.lower(),
        }
        print(json.dumps(record))
    else:
        print(_statement(quantity, arguments, randomizer, result))
    return 0
