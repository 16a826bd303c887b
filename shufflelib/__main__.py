"""The command line: a certified number, calibration to a target, a recommendation, a table."""

import argparse
import io
import json
import math
import os
import sys
import warnings
from importlib.metadata import version

from shufflelib.calibration.questions import LOOKED_FOR, QUESTIONS, profile
from shufflelib.calibration.recommendation import TASKS, recommend
from shufflelib.calibration.search import Calibration
from shufflelib.numerics.tables import Table
from shufflelib.numerics.typed_numbers import kind_of, typed
from shufflelib.numerics.validation import count
from shufflelib.randomizers.by_name import constructors, described, named, parameters, required
from shufflelib.randomizers.tabulated import from_pmf
from shufflelib.randomizers.written_tables import read_file
from shufflelib.registry import check, read, record, to_yaml
from shufflelib.registry.fields import HOLDS

HELP = {
    "epsilon": "smallest central epsilon at the given delta",
    "delta": "smallest central delta at the given epsilon",
    "renyi": "Renyi divergence of the given order",
    "tradeoff": "smallest false-negative rate of a test at the given false-positive rate",
    "error": "standard error of one round's estimate: of an item's share, or of a mean in [0, 1]",
    "calibrate": "calibration to a target (eps, delta)",
    "calibrate eps0": "largest local budget whose central epsilon at delta is proved to be at most eps",
    "calibrate sigma": "smallest noise whose central epsilon at delta is proved to be at most eps",
    "calibrate users": "fewest users for which the central epsilon at delta is proved to be at most eps",
    "calibrate rounds": "most rounds whose central epsilon at delta is proved to be at most eps",
    "recommend": "all mechanisms for a task at one target (eps, delta), sorted by error",
    "check": "recompute the record of a deployment, and say whether its epsilon and delta hold",
    "mechanisms": "names, parameters, domains and sources of all mechanisms",
    "pmf": "a mechanism of your own: probabilities of its reports, one row for each value",
    "n": "number of users who report in a round",
    "eps": "central epsilon in nats",
    "delta ": "central delta, between 0 and 1",
    "order": "order of the Renyi divergence, above 1",
    "fpr": "false-positive rate, between 0 and 1",
    "rate": "share of the population drawn at random for each round, 1 by default",
    "rounds": "reports of every user, 1 by default; the answer is for all rounds together",
    "d": "number of items of a histogram",
    "dropout": "share of the users who may drop out, 0 by default; in other commands give the n who stay",
}
ONE = "for the parameters of one mechanism: --randomizer NAME --help; for all: shufflelib mechanisms"
RECORDS = (
    "epsilon and recommend write one with --yaml; help(shufflelib.registry) describes its fields.  Status: 0 "
    "if epsilon and delta are proved to hold, 1 if not, 2 if the file is no record."
)
SWEEP = (
    f"Keys of the file: quantity ({', '.join(QUESTIONS)}), "
    "randomizer, and the parameters of both, each a number, a list [1.0, 2.0] or a range "
    "{from: 1e3, to: 1e9, points: 7, log: true}.  A sweep that was stopped continues when run again."
)


class _Parser(argparse.ArgumentParser):
    """A parser whose error messages are one line."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, **options)

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def _option(read):
    """Return the type of an option whose text is read by a function that raises ValueError."""

    def read_or_refuse(text):
        try:
            return read(text)
        except ValueError as wrong:
            raise argparse.ArgumentTypeError(str(wrong)) from None

    return read_or_refuse


def _number(name):
    """Return the type of an option that is a number."""
    kind = kind_of(name)
    return _option(lambda text: typed(text, kind))


def _jobs(text):
    return -1 if text == "-1" else _number("jobs")(text)


def _parser(randomizer):
    """Return the parser; its questions take the parameters of the randomizer, if one is chosen."""
    parser = _Parser(
        prog="shufflelib",
        description="Certified privacy of shuffled reports; the upper bound is the guarantee.",
    )
    parser.add_argument("--version", action="version", version=f"shufflelib {version('shufflelib')}")
    commands = parser.add_subparsers(metavar="command", required=True, parser_class=_Parser)
    calibrate = commands.add_parser("calibrate", help=HELP["calibrate"], description=HELP["calibrate"])
    targets = calibrate.add_subparsers(metavar="eps0|sigma|users|rounds", required=True, parser_class=_Parser)
    for name, question in QUESTIONS.items():
        kind, _, last = name.rpartition(" ")
        epilog = None if randomizer else ONE
        command = (targets if kind else commands).add_parser(
            last, help=HELP[name], description=HELP[name], epilog=epilog
        )
        _add_question(command, name, question, randomizer)
    asked = commands.add_parser("recommend", help=HELP["recommend"], description=HELP["recommend"])
    asked.add_argument(
        "--n", type=_number("n"), required=True, help="number of users who are asked in a round"
    )
    for option in ("eps", "delta"):
        asked.add_argument(f"--{option}", type=_number(option), required=True, help=_help(option))
    asked.add_argument("--task", choices=TASKS, default="histogram", help="what is estimated")
    for option in ("d", "rounds", "rate", "dropout"):
        asked.add_argument(f"--{option}", type=_number(option), default=argparse.SUPPRESS, help=_help(option))
    asked.set_defaults(answer=_recommended)
    recorded = commands.add_parser("check", help=HELP["check"], description=HELP["check"], epilog=RECORDS)
    recorded.add_argument("file", metavar="RECORD.yaml", help="a record in the form of the public registry")
    recorded.set_defaults(answer=_checked)
    listed = commands.add_parser("mechanisms", help=HELP["mechanisms"], description=HELP["mechanisms"])
    listed.set_defaults(answer=_mechanisms)
    words = "certified numbers over a grid that a YAML file describes, as a CSV file"
    sweep = commands.add_parser("sweep", help=words, description=words, epilog=SWEEP)
    sweep.add_argument("spec", metavar="SPEC.yaml", help="the grid")
    sweep.add_argument("--output", metavar="FILE", help="where to write the table; SPEC.csv by default")
    sweep.add_argument("--cache", metavar="FOLDER", help="where results are kept meanwhile; OUTPUT.cache")
    sweep.add_argument(
        "--jobs", type=_jobs, default=-1, help="processes on this machine, by default one on each core"
    )
    sweep.add_argument(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help="a Dask scheduler whose workers do the work; by default what SHUFFLELIB_SCHEDULER says",
    )
    for option in ("rounds", "rate"):
        sweep.add_argument(
            f"--{option}", type=_number(option), help=f"{_help(option)}; overrides that of the file"
        )
    sweep.set_defaults(answer=_sweep)
    for command in (asked, recorded, listed, sweep):
        _add_formats(command, record=command is asked)
    return parser


def _help(option):
    return HELP.get(f"{option} ", HELP.get(option))


def _add_formats(command, *, record=False):
    formats = command.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="print JSON")
    formats.add_argument("--csv", action="store_true", help="print CSV")
    if record:
        formats.add_argument("--yaml", action="store_true", help="print a record to publish, see check")


def _add_question(command, name, question, randomizer):
    """Add the options of a question, and those of the randomizer that it leaves open."""
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--randomizer", type=_option(named), metavar="NAME", help=", ".join(constructors()))
    unused = name in LOOKED_FOR or name == "error"
    which.add_argument("--pmf", metavar="FILE.csv", help=argparse.SUPPRESS if unused else HELP["pmf"])
    _add_formats(command, record=name == "epsilon")
    asked = [option for option in parameters(question) if option != "randomizer"]
    for option in asked:
        needed = option == "n" or option in required(question)
        command.add_argument(f"--{option}", type=_number(option), required=needed, help=_help(option))
    if randomizer:
        own = described(constructors()[randomizer])["parameters"]
        group = command.add_argument_group(f"parameters of {randomizer}")
        for option in own:
            if option not in (*asked, LOOKED_FOR.get(name)):
                group.add_argument(f"--{option}", type=_number(option), help=own[option].replace("%", "%%"))
    command.set_defaults(answer=_answered, question=name)


def _answered(arguments):
    """Return the answer to a question as text and as a record."""
    name, file = arguments.pop("question"), arguments.pop("pmf", None)
    randomizer, later = file or arguments.pop("randomizer"), LOOKED_FOR.get(name)
    if file and later:
        raise ValueError(
            f"a table of probabilities has no {later} to calibrate; in Python, "
            f"calibration.{QUESTIONS[name].__name__} takes a function that returns the table for each {later}"
        )
    if file and name == "error":
        raise ValueError(
            "a table of probabilities has no formula for its error, which depends on how values are "
            "estimated from the reports; give a --randomizer"
        )
    build, skipped = _tabulated(file) if file else (constructors()[randomizer], "")
    if later and later not in parameters(build):
        takes = ", ".join(f"--{option}" for option in parameters(build))
        raise ValueError(f"{randomizer} has no {later} to calibrate; it takes {takes}")
    if missing := [option for option in required(build) if option not in (*arguments, later)]:
        raise ValueError(f"{randomizer} needs --{missing[0]}")
    if arguments.pop("yaml", False):
        delta = arguments.pop("delta")
        return _record(profile(build, **arguments), delta=delta)
    answer = QUESTIONS[name](build, **arguments)
    found = {"quantity": name, "randomizer": randomizer, **arguments} | answer.to_dict()
    text = f"{answer}\n{answer.certificate}" if isinstance(answer, Calibration) else str(answer)
    if skipped:
        text, found = f"{text}\n{file}: skipped {skipped}", found | {"skipped": skipped}
    return text, found, Table([found])


def _tabulated(file):
    """Return what builds the mechanism whose probabilities a file holds, and the lines that are none."""
    try:
        written = read_file(file)
        mechanism = from_pmf(written.rows)
    except OSError as wrong:
        raise type(wrong)(f"cannot read {file}: {wrong.strerror}; name a CSV file") from None
    except ValueError as wrong:
        raise ValueError(f"{file}: {wrong}") from None
    return lambda: mechanism, written.skipped


def _record(profile, **printed):
    """Return a record of a profile as text."""
    found = record(profile, **printed)
    return to_yaml(found).rstrip("\n"), found, None


def _checked(arguments):
    """Return the verdict on a record."""
    path = arguments["file"]
    try:
        found = check(read(path))
    except (TypeError, ValueError) as wrong:
        raise ValueError(f"{path}: {wrong}") from None
    return str(found), found.to_dict(), Table([found.to_dict()])


def _recommended(arguments):
    """Return the table of all mechanisms for a task."""
    as_record = arguments.pop("yaml", False)
    found = recommend(**arguments)
    if as_record:
        return _record(found.profile(), eps=found.asked["eps"], delta=found.asked["delta"])
    return f"{found}\nTo publish: {found.sentence}", found.to_dict(), found


def _mechanisms(arguments):
    """Return what every mechanism is and takes."""
    found = {name: described(build) for name, build in constructors().items()}
    lines, rows = [], []
    for name, one in found.items():
        lines.append(f"{name}: {one['what']}")
        lines += [f"    --{option:8}{domain}" for option, domain in one["parameters"].items()]
        lines += [f"    {one['source']}"] if one["source"] else []
        rows.append({"name": name} | one | {"parameters": " ".join(one["parameters"])})
    return "\n".join(lines), found, Table(rows)


def _sweep(arguments):
    """Compute a table and return one line that says what was done."""
    from shufflelib.sweeps.spec import sweep_file

    jobs = arguments.pop("jobs")
    if jobs != -1:
        count(jobs, "--jobs", remedy="processes on this machine, -1 for one on each core")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        rows, summary = sweep_file(arguments.pop("spec"), n_jobs=jobs, **arguments)
    for one in said:
        print(f"shufflelib: {one.message}", file=sys.stderr)
    return summary, rows, Table(rows)


def _chosen(argv):
    """Return the randomizer that the arguments name, if it is one."""
    first = _Parser(add_help=False)
    first.add_argument("--randomizer", nargs="?")  # a missing name is reported by the full parser
    try:
        return named(first.parse_known_args(argv)[0].randomizer)
    except (ValueError, SystemExit):
        return None


def _parsed(argv):
    argv = sys.argv[1:] if argv is None else argv
    randomizer = _chosen(argv)
    parser = _parser(randomizer)
    arguments, unknown = parser.parse_known_args(argv)
    options = [word.partition("=")[0] for word in argv if word.startswith("--")]
    if twice := [option for option in dict.fromkeys(options) if options.count(option) > 1]:
        parser.error(f"{twice[0]} is given twice; keep one")
    if unknown:
        takes = f"is no parameter of {randomizer}; " if randomizer else "is unknown; "
        if randomizer and unknown[0].lstrip("-").partition("=")[0] in parameters(constructors()[randomizer]):
            takes = "is what this command looks for; leave it out; "
        parser.error(f"{unknown[0]} {takes}--help lists the options")
    return {name: value for name, value in vars(arguments).items() if value is not None}


def _plain(value):
    """Return a value that JSON can hold: infinity as text."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return "inf" if isinstance(value, float) and value == math.inf else value


def main(argv=None):
    """Run the command line.

    Returns 0, 1 if a record is not shown to hold, 2 after one line about an error, 130 when stopped.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where ε cannot be written
    try:
        arguments = _parsed(argv)
    except SystemExit as stop:
        return stop.code
    answer, as_json, as_csv = (arguments.pop(name) for name in ("answer", "json", "csv"))
    try:
        text, found, table = answer(arguments)
    except (ValueError, TypeError, OSError, ImportError) as wrong:
        print(f"shufflelib: {wrong}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(f"shufflelib: {str(stop) or 'stopped'}", file=sys.stderr)
        return 130
    try:
        if as_csv:
            print(table.to_csv(), end="", flush=True)
        else:
            print(json.dumps(_plain(found)) if as_json else text, flush=True)
    except OSError as wrong:  # nothing is left to write at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(wrong, BrokenPipeError):  # whoever read it has seen enough
            print(f"shufflelib: cannot write the answer: {wrong.strerror}", file=sys.stderr)
            return 2
    return int(isinstance(found, dict) and found.get("verdict", HOLDS) != HOLDS)


if __name__ == "__main__":
    sys.exit(main())
