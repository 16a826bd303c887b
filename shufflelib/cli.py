"""The command line: a certified number, a table of them, and calibration to a target."""

import argparse
import functools
import json
import math
import os
import sys

from shufflelib import calibration
from shufflelib.numerics.certified import written
from shufflelib.numerics.validation import count
from shufflelib.randomizers.by_name import constructors, parameters, required
from shufflelib.shuffling.shuffled import shuffle

QUANTITIES = {
    "epsilon": ("delta", "smallest central epsilon at the given delta", "upper"),
    "delta": ("eps", "smallest central delta at the given epsilon", "upper"),
    "renyi": ("order", "Renyi divergence of the given order", "upper"),
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
    parser = _Parser(prog="shufflelib", description="Certified privacy of shuffled reports.")
    commands = parser.add_subparsers(dest="quantity", required=True, parser_class=_Parser)
    for quantity, (argument, words, _) in QUANTITIES.items():
        command = commands.add_parser(quantity, help=words, description=words)
        command.add_argument("--n", type=_number, required=True, help="number of all users")
        command.add_argument(f"--{argument}", type=_number, required=True)
        _add_randomizer(command, reserved=(argument, "n"))
    words = (
        "calibration to a target (eps, delta): the largest local budget, the fewest users, the most rounds"
    )
    calibrate = commands.add_parser("calibrate", help=words, description=words)
    questions = calibrate.add_subparsers(
        dest="wanted", metavar="eps0|users|rounds", required=True, parser_class=_Parser
    )
    for wanted, (words, options, _) in WANTED.items():
        words += " for which the central epsilon at delta is proved to be at most eps"
        command = questions.add_parser(wanted, help=words, description=words)
        command.add_argument("--eps", type=_number, required=True, help="target central epsilon in nats")
        command.add_argument("--delta", type=_number, required=True, help="target central delta")
        if "n" in options:
            command.add_argument("--n", type=_number, required=True, help="number of all users")
        if "rounds" in options:
            command.add_argument(
                "--rounds", type=_number, default=1, help="reports of every user, 1 by default"
            )
        _add_randomizer(command, reserved=(wanted, "eps", "delta", *options))
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
    sweep.set_defaults(json=False)
    return parser


def _add_randomizer(command, *, reserved):
    names = sorted(constructors())
    command.add_argument(
        "--randomizer",
        required=True,
        choices=names,
        metavar="NAME",
        help="one of " + ", ".join(names),
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    for option in sorted({name for build in constructors().values() for name in parameters(build)}):
        if option not in reserved:
            command.add_argument(f"--{option}", type=_number, help="parameter of the randomizer")
    command.set_defaults(reserved=reserved)


def _constructor(arguments, *, later=()):
    """Return the randomizer's constructor with all its parameters, except those that come later."""
    build, name = constructors()[arguments.randomizer], arguments.randomizer
    accepted = parameters(build)
    own = ("quantity", "wanted", "reserved", "randomizer", "json", *arguments.reserved)
    given = {
        option: value for option, value in vars(arguments).items() if option not in own and value is not None
    }
    takes = ", ".join(f"--{option}" for option in accepted)
    if foreign := sorted(set(given) - set(accepted)):
        raise ValueError(f"--{foreign[0]} is no parameter of {name}, which takes {takes}")
    if absent := sorted(set(later) - set(accepted)):
        raise ValueError(f"{name} has no {absent[0]} to look for; it takes {takes}")
    if missing := [option for option in required(build) if option not in (*given, *later)]:
        raise ValueError(f"{name} needs --{missing[0]}")
    return functools.partial(build, **given)


def _statement(quantity, arguments, profile, result):
    argument, words, safe = QUANTITIES[quantity]
    given = getattr(arguments, argument)
    return "\n".join(
        (
            f"{quantity} <= {written(getattr(result, safe), up=True)} at {argument} = {given}, "
            f"n = {int(arguments.n):,} users",
            f"  what        {words}; the upper end is the guarantee",
            *_circumstances(result, profile, profile.randomizer),
        )
    )


def _circumstances(result, profile, randomizer):
    """Return the lines that say what a guarantee is about and what it rests on."""
    return (
        f"  not below   {written(result.lower, up=False)}",
        f"  randomizer  {randomizer}",
        f"  adjacency   {profile.adjacency}; n counts all users",
        f"  proof       {profile.source}",
        f"  provided    {'; '.join(profile.hypotheses)}",
        f"  status      {result.status.value}",
    )


def _ends(result):
    """Return both ends for a record."""
    return {
        "lower": _finite(result.lower),
        "upper": _finite(result.upper),
        "certified_side": f"{result.status.value}; the upper end is the guarantee",
    }


def _finite(number):
    return number if math.isfinite(number) else str(number)


def _grounds(result, profile, randomizer):
    """Return for a record what a guarantee is about and what it rests on."""
    return {
        "randomizer": str(randomizer),
        "adjacency": str(profile.adjacency),
        "proof": profile.source,
        "hypotheses": "; ".join(profile.hypotheses),
        "status": result.status.name.lower(),
    }


def _certified(arguments):
    """Return one certified number as a statement and as a record."""
    quantity = arguments.quantity
    argument = QUANTITIES[quantity][0]
    profile = shuffle(_constructor(arguments)(), n=arguments.n)
    result = getattr(profile, quantity)(getattr(arguments, argument))
    record = {
        "quantity": quantity,
        **_ends(result),
        argument: getattr(arguments, argument),
        "n": arguments.n,
        **_grounds(result, profile, profile.randomizer),
    }
    return _statement(quantity, arguments, profile, result), record


def _largest_eps0(arguments, **target):
    build = _constructor(arguments, later=("eps0",))
    found = calibration.largest_eps0(build, n=arguments.n, rounds=arguments.rounds, **target)
    return found, build(eps0=found.answer)


def _fewest_users(arguments, **target):
    randomizer = _constructor(arguments)()
    return calibration.fewest_users(randomizer, rounds=arguments.rounds, **target), randomizer


def _most_rounds(arguments, **target):
    randomizer = _constructor(arguments)()
    return calibration.most_rounds(shuffle(randomizer, n=arguments.n), **target), randomizer


WANTED = {
    "eps0": ("largest local budget", ("n", "rounds"), _largest_eps0),
    "users": ("fewest users", ("rounds",), _fewest_users),
    "rounds": ("most rounds", ("n",), _most_rounds),
}


def _calibrated(arguments):
    """Return the answer to an inverse question as a statement and as a record."""
    words, options, answer = WANTED[arguments.wanted]
    found, randomizer = answer(arguments, eps=arguments.eps, delta=arguments.delta)
    setting = {name: getattr(arguments, name) for name in options}
    users, rounds = (setting.get(name, found.answer) for name in ("n", "rounds"))
    profile = shuffle(randomizer, n=users).compose(rounds=rounds)
    certificate = found.certificate
    record = {
        "quantity": arguments.wanted,
        "answer": found.answer,
        "unproved": found.unproved,
        "fails": found.fails,
        "target": {"eps": found.eps, "delta": found.delta},
        **_ends(certificate),
        **setting,
        **_grounds(certificate, profile, randomizer),
    }
    lines = (
        str(found),
        f"  what        {words}; epsilon there is evaluated again, and its upper end is the guarantee",
        *_circumstances(certificate, profile, randomizer),
    )
    return "\n".join(lines), record


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
        answer = {"calibrate": _calibrated, "sweep": _sweep}.get(arguments.quantity, _certified)
        statement, record = answer(arguments)
    except (ValueError, TypeError, OSError, ImportError) as wrong:
        print(f"shufflelib: {wrong}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(f"shufflelib: {str(stop) or 'stopped'}", file=sys.stderr)
        return 130
    try:
        print(json.dumps(record) if arguments.json else statement, flush=True)
    except BrokenPipeError:  # whoever read it has seen enough; nothing is left to write at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
