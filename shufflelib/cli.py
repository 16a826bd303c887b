"""The command line: a certified number, a table of them, and calibration to a target."""

import argparse
import functools
import json
import math
import os
import sys

from shufflelib.calibration import LOOKED_FOR, QUESTIONS, Calibration, record
from shufflelib.numerics.validation import count
from shufflelib.randomizers.by_name import constructors, parameters, required

HELP = {
    "epsilon": "smallest central epsilon at the given delta",
    "delta": "smallest central delta at the given epsilon",
    "renyi": "Renyi divergence of the given order",
    "calibrate": "calibration to a target (eps, delta)",
    "calibrate eps0": "largest local budget whose central epsilon at delta is proved to be at most eps",
    "calibrate users": "fewest users for which the central epsilon at delta is proved to be at most eps",
    "calibrate rounds": "most rounds whose central epsilon at delta is proved to be at most eps",
    "n": "number of all users",
    "eps": "central epsilon in nats",
    "order": "order of the Renyi divergence, above 1",
    "rate": "share of the population that is drawn at random, 1 by default",
    "rounds": "reports of every user, 1 by default",
}
SWEEP = (
    "Keys of the file: quantity (epsilon, delta, renyi, calibrate eps0, calibrate users, calibrate rounds), "
    "randomizer, and the parameters of both, each a number, a list [1.0, 2.0] or a range "
    "{from: 1.0e+3, to: 1.0e+9, points: 7, log: true}.  A sweep that was stopped goes on when run again."
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


def _parser():
    parser = _Parser(
        prog="shufflelib",
        description="Certified privacy of shuffled reports; the upper end is the guarantee.",
    )
    commands = parser.add_subparsers(metavar="quantity", required=True, parser_class=_Parser)
    calibrate = commands.add_parser("calibrate", help=HELP["calibrate"], description=HELP["calibrate"])
    targets = calibrate.add_subparsers(metavar="eps0|users|rounds", required=True, parser_class=_Parser)
    for name, question in QUESTIONS.items():
        kind, _, last = name.rpartition(" ")
        command = (targets if kind else commands).add_parser(last, help=HELP[name], description=HELP[name])
        _add_question(command, name, question)
    words = "certified numbers over a grid that a YAML file describes, as a CSV file"
    sweep = commands.add_parser("sweep", help=words, description=words, epilog=SWEEP)
    sweep.add_argument("spec", metavar="SPEC.yaml", help="the grid")
    sweep.add_argument("--output", metavar="FILE", help="the table, SPEC.csv by default")
    sweep.add_argument("--cache", metavar="FOLDER", help="where results are kept meanwhile; OUTPUT.cache")
    sweep.add_argument(
        "--jobs", type=_number, default=-1, help="processes on this machine, by default one on each core"
    )
    sweep.add_argument(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help="a Dask scheduler whose workers do the work; by default what SHUFFLELIB_SCHEDULER says",
    )
    sweep.set_defaults(question=None, json=False)
    return parser


def _add_question(command, name, question):
    """Add the options of a question, and those of all randomizers that it leaves open."""
    names = sorted(constructors())
    command.add_argument(
        "--randomizer", required=True, choices=names, metavar="NAME", help="one of " + ", ".join(names)
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    asked = [option for option in parameters(question) if option not in ("build", "randomizer")]
    for option in asked:
        command.add_argument(
            f"--{option}", type=_number, required=option in required(question), help=HELP.get(option)
        )
    others = {option for build in constructors().values() for option in parameters(build)}
    for option in sorted(others - {*asked, LOOKED_FOR.get(name)}):
        command.add_argument(f"--{option}", type=_number, help="parameter of the randomizer")
    command.set_defaults(question=name, asked=asked)


def _answered(arguments):
    """Return the answer to a question as text and as a record."""
    name, randomizer = arguments.question, arguments.randomizer
    given = {
        option: value
        for option, value in vars(arguments).items()
        if option not in ("question", "asked", "randomizer", "json") and value is not None
    }
    asked = {option: given.pop(option) for option in arguments.asked if option in given}
    build, later = constructors()[randomizer], LOOKED_FOR.get(name)
    takes = ", ".join(f"--{option}" for option in parameters(build))
    if foreign := sorted(set(given) - set(parameters(build))):
        raise ValueError(f"--{foreign[0]} is no parameter of {randomizer}, which takes {takes}")
    if later and later not in parameters(build):
        raise ValueError(f"{randomizer} has no {later} to look for; it takes {takes}")
    if missing := [option for option in required(build) if option not in (*given, later)]:
        raise ValueError(f"{randomizer} needs --{missing[0]}")
    answer = QUESTIONS[name](functools.partial(build, **given), **asked)
    setting = {"quantity": name, "randomizer": randomizer, **given, **asked}
    found = {key: "inf" if value == math.inf else value for key, value in record(answer).items()}
    text = f"{answer}\n{answer.certificate}" if isinstance(answer, Calibration) else str(answer)
    return text, setting | found


def _sweep(arguments):
    """Compute a table and return one line that says what was done."""
    from shufflelib.sweeps.spec import sweep_file

    if arguments.jobs != -1:
        count(arguments.jobs, "--jobs", remedy="processes on this machine, -1 for one on each core")
    where = {"output": arguments.output, "cache": arguments.cache, "scheduler": arguments.scheduler}
    return sweep_file(arguments.spec, n_jobs=arguments.jobs, **where), None


def main(argv=None):
    """Run the command line.

    Returns 0, 2 after one line about an error, 130 when stopped.
    """
    parser = _parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:
        return stop.code
    try:
        text, found = _answered(arguments) if arguments.question else _sweep(arguments)
    except (ValueError, TypeError, OSError, ImportError) as wrong:
        print(f"shufflelib: {wrong}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(f"shufflelib: {str(stop) or 'stopped'}", file=sys.stderr)
        return 130
    try:
        print(json.dumps(found) if arguments.json else text, flush=True)
    except BrokenPipeError:  # whoever read it has seen enough; nothing is left to write at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
