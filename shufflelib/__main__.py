"""The command line: a certified number, calibration to a target, a recommendation, a table."""

import argparse
import functools
import json
import math
import re
import runpy  # noqa: TID251 (a sampler is a program, not data)
import sys
import warnings
from importlib.metadata import version
from itertools import zip_longest

from shufflelib.calibration.questions import LOOKED_FOR, QUESTIONS, profile, tabulated
from shufflelib.calibration.recommendation import recommend
from shufflelib.calibration.search import Calibration
from shufflelib.calibration.targets import ANALYSTS
from shufflelib.calibration.tasks import TASKS
from shufflelib.estimation.audit import audit
from shufflelib.numerics import validation
from shufflelib.numerics.printing import Parser, replace_unprintable, unwritten
from shufflelib.numerics.tables import Table
from shufflelib.numerics.typed_numbers import kind_of, typed
from shufflelib.randomizers.by_name import constructors, described, named, parameters, required
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
    "audit": "draw from a sampler of your own: a lower bound on its eps0, and the likeliest slip",
    "sweep": "certified numbers over a grid that a YAML file describes, as one file",
    "mechanisms": "names, parameters, domains and sources of all mechanisms",
    "pmf": "a mechanism of your own: probabilities of its reports, one row for each value",
    "n": "number of honest users who report in a round: not who colludes or drops out",
    "eps": "central epsilon in nats",
    "delta ": "central delta, between 0 and 1",
    "order": "order of the Renyi divergence, above 1",
    "fpr": "false-positive rate, between 0 and 1",
    "rate": "share of the population drawn at random for each round, 1 by default",
    "rounds": "reports of every user, 1 by default; the answer is for all rounds together",
    "d": "number of items, keys, values or bins; of cells along a side for the task location",
    "s": "most items of a user, for the tasks sets and key_value",
    "analyst": "what the analyst sees: shuffled reports, or sums of reports by secure aggregation",
    "changed": "numbers of a user that may differ, where the analyst sees sums; 2 for the counts of items",
    "dropout": "share of the users who may drop out, 0 by default; in other commands give the n who stay",
    "draws": "reports drawn for each value, 100,000",
    "confidence": "of the lower bound, 0.99",
    "seed": "of all randomness, 0",
    "output": "where to write the table, .csv or .parquet; SPEC.csv by default",
    "cache": "where results are kept meanwhile; OUTPUT.cache",
    "jobs": "processes on this machine, by default one on each core",
    "scheduler": "a Dask scheduler whose workers do the work; by default what SHUFFLELIB_SCHEDULER says",
}
AUDIT = ("draws", "confidence", "seed")
SOUGHT = {"delta": "delta", "calibrate users": "n", "calibrate rounds": "rounds"}
ONE = "for the parameters of one mechanism: --randomizer NAME --help; for all: shufflelib mechanisms"
RECORDS = (
    "epsilon and recommend write one with --yaml; help(shufflelib.registry) describes its fields.  Status: 0 "
    "if epsilon and delta are proved to hold, 1 if not, 2 if the file is no record."
)
SAMPLER = (
    "sample(x, rng) takes an array of values and a numpy Generator and returns one report for each.  "
    "VALUES in the same file lists values to draw from; by default the options of the --randomizer.  "
    "Status: 0 if nothing contradicts what it is meant to be, 1 if something does."
)
SWEEP = (
    f"Keys of the file: quantity ({', '.join(QUESTIONS)} or recommend), "
    "randomizer, pmf (the file of a table of probabilities) or, for recommend, task, each one or a list; "
    "and the parameters of both, each a number, a list [1.0, 2.0] or a range "
    "{from: 1e3, to: 1e9, points: 7, log: true}.  A sweep that was stopped continues when run again."
)


OTHER_COMMANDS = {
    "amplify": "epsilon",
    "average": "mean",
    "compare": "recommend",
    "eps": "epsilon",
    "frequency": "histogram",
    "grid": "sweep",
    "list": "mechanisms",
    "n": "users",
    "noise": "sigma",
    "plan": "recommend",
    "randomizers": "mechanisms",
    "rdp": "renyi",
    "roc": "tradeoff",
    "sum": "mean",
    "verify": "check",
}
VALUES = {"epsilon": "delta", "delta": "eps", "renyi": "order", "tradeoff": "fpr"}  # may be several
ELSEWHERE = {  # options of one command, and what to do in another
    "analyst": "belongs to epsilon, delta, renyi, tradeoff, calibrate and recommend",
    "dropout": "belongs to recommend; elsewhere --n counts the users who stay",
    "task": "belongs to recommend; epsilon, delta and calibrate take a --randomizer",
    "randomizer": "is for one mechanism; recommend compares them all, and --mechanism chooses one",
    "pmf": "belongs to epsilon, delta, renyi, tradeoff, calibrate users and calibrate rounds; in the file of "
    "a sweep it is a key",
    "jobs": "belongs to sweep",
    "output": "belongs to sweep; elsewhere write > FILE",
    "cache": "belongs to sweep",
    "scheduler": "belongs to sweep",
    "plot": "is no option; write --csv, and draw the table with seaborn",
    "yaml": "belongs to epsilon and recommend, which write a record",
    "seed": "is no option here; nothing is drawn at random",
}


class _Parser(Parser):
    """A parser whose error messages are one line, and which names what an unknown option may mean."""

    randomizer = None  # the one that the options belong to
    sought = ""  # what the command finds

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, **options)

    def parse_known_args(self, args=None, namespace=None):
        """Refuse unknown options before missing ones."""
        for word in args[:1] if self._subparsers else args:
            option = word.partition("=")[0]
            if option.startswith("--") and option not in self._option_string_actions:
                self.error(f"{option} {self.unknown(option[2:])}")
        return super().parse_known_args(args, namespace)

    def unknown(self, option):
        """Say what an unknown option may mean."""
        if self._subparsers:
            return "must follow a command, such as shufflelib epsilon; shufflelib --help lists them"
        known = [one[2:] for one in self._option_string_actions if one.startswith("--")]
        takes = f"is no parameter of {self.randomizer}" if self.randomizer else "is unknown"
        if option.replace("-", "_") == self.sought:
            return "is what this command looks for; leave it out"
        near = validation.meant(option.replace("-", "_"), known)
        remedy = validation.instead_of_probability(option, known)
        if near and not remedy:
            return takes + near.replace("mean ", "mean --")
        if option in ELSEWHERE:
            return ELSEWHERE[option]
        if not self.randomizer:
            if "randomizer" in known and any(option in parameters(one) for one in constructors().values()):
                return "belongs to a mechanism; name it, --randomizer NAME"
            return f"{takes}; --help lists the options"
        own = ", ".join(f"--{one}" for one in parameters(constructors()[self.randomizer]))
        drawn = "; the share of users who are drawn is --rate" * ("mean rate?" in near)
        return f"{takes}, which takes {own}{remedy}{drawn}; --help lists all options"

    def error(self, message):
        """Print one line, and exit with status 2."""
        if wrong := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            known = re.findall(r"[\w]+", wrong[2])
            near = validation.suggestion(wrong[1], known, OTHER_COMMANDS) or f"; it takes {', '.join(known)}"
            message = f"{message[: wrong.start()]}{wrong[1]} is unknown{near}"
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
    for name in QUESTIONS:
        _add_question(targets if " " in name else commands, name, randomizer)
    asked = _command(commands, "recommend", _recommended, record=True)
    words = "number of users who are asked in a round"
    asked.add_argument("--n", type=_number("n"), required=True, help=words)
    _add_numbers(asked, ("eps", "delta"), required=True)
    words = "what is estimated, histogram by default; book/plan.md describes each"
    asked.add_argument(
        "--task", type=lambda word: word.replace("-", "_"), choices=TASKS, default="histogram", help=words
    )
    asked.add_argument("--analyst", choices=ANALYSTS, default=ANALYSTS[0], help=HELP["analyst"])
    _add_numbers(asked, ("d", "s", "rounds", "rate", "dropout"))
    words = "whose row is explained, published and recorded; by default that with the smallest error"
    asked.add_argument("--mechanism", metavar="NAME", help=words)
    recorded = _command(commands, "check", _checked, epilog=RECORDS)
    recorded.add_argument("file", metavar="RECORD.yaml", help="a record in the form of the public registry")
    audited = _command(commands, "audit", _audited, randomizer=randomizer, epilog=SAMPLER)
    audited.add_argument("file", metavar="SAMPLER.py", help="defines sample(x, rng); it is run")
    audited.add_argument("--randomizer", type=_option(named), metavar="NAME", help="what it is meant to be")
    _add_numbers(audited, AUDIT)
    if randomizer:
        _add_parameters(audited, randomizer, left_out=AUDIT)
    _command(commands, "mechanisms", _mechanisms)
    sweep = _command(commands, "sweep", _sweep, epilog=SWEEP)
    sweep.add_argument("spec", metavar="SPEC.yaml", help="the grid")
    sweep.add_argument("--output", metavar="FILE", help=HELP["output"])
    sweep.add_argument("--cache", metavar="FOLDER", help=HELP["cache"])
    sweep.add_argument("--jobs", type=_jobs, default=-1, help=HELP["jobs"])
    sweep.add_argument("--scheduler", metavar="tcp://HOST:PORT", help=HELP["scheduler"])
    _add_numbers(sweep, ("rounds", "rate"), more="; overrides that of the file")
    return parser


def _command(commands, name, answer, *, randomizer=None, epilog=None, record=False):
    """Add a command that a function answers."""
    last = name.split()[-1]
    command = commands.add_parser(last, help=HELP[name], description=HELP[name], epilog=epilog)
    command.set_defaults(answer=answer)
    command.randomizer = randomizer
    formats = command.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="print JSON")
    formats.add_argument("--csv", action="store_true", help="print CSV")
    if record:
        formats.add_argument("--yaml", action="store_true", help="print a record to publish, see check")
    return command


def _add_numbers(command, options, more="", **how):
    """Add options that are numbers, each with its own words."""
    for option in options:
        command.add_argument(f"--{option}", type=_number(option), help=_help(option) + more, **how)


def _help(option):
    return HELP.get(f"{option} ", HELP.get(option))


def _add_question(commands, name, randomizer):
    """Add a question with its options, and those of the randomizer that it leaves open."""
    question, found = QUESTIONS[name], LOOKED_FOR.get(name)
    how = {"randomizer": randomizer, "epilog": None if randomizer else ONE, "record": name == "epsilon"}
    command = _command(commands, name, functools.partial(_answered, name), **how)
    command.sought = found or SOUGHT.get(name, "")
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--randomizer", type=_option(named), metavar="NAME", help=", ".join(constructors()))
    unused = found or name == "error"
    which.add_argument("--pmf", metavar="FILE.csv", help=argparse.SUPPRESS if unused else HELP["pmf"])
    asked = [option for option in parameters(question) if option != "randomizer"]
    for option in asked:
        needed = option == "n" or option in required(question)
        kind = {"choices": ANALYSTS} if option == "analyst" else {"type": _number(option)}
        kind |= {"nargs": "+"} if option == VALUES.get(name) else {}
        command.add_argument(f"--{option}", required=needed, help=_help(option), **kind)
    if randomizer:
        _add_parameters(command, randomizer, left_out=(*asked, found))


def _add_parameters(command, randomizer, left_out):
    """Add the options of the randomizer."""
    own = described(constructors()[randomizer])["parameters"]
    group = command.add_argument_group(f"parameters of {randomizer}")
    for option in own:
        if option not in left_out:
            group.add_argument(f"--{option}", type=_number(option), help=own[option].replace("%", "%%"))


def _answered(name, arguments):
    """Return the answer to a question as text and as a record."""
    file = arguments.pop("pmf", None)
    randomizer, later = file or arguments.pop("randomizer"), LOOKED_FOR.get(name)
    mechanism, skipped = tabulated(file, name) if file else (None, "")
    build = (lambda: mechanism) if file else constructors()[randomizer]
    if later and later not in parameters(build):
        takes = ", ".join(f"--{option}" for option in parameters(build))
        raise ValueError(f"{randomizer} has no {later} to calibrate; it takes {takes}")
    if missing := [option for option in required(build) if option not in (*arguments, later)]:
        raise ValueError(f"{randomizer} needs --{missing[0]}")
    several = arguments.pop(VALUES[name]) if name in VALUES else []
    if arguments.pop("yaml", False):
        if len(several) > 1:
            raise ValueError(f"a record has one delta, got {len(several)}; print one record for each")
        return _record(profile(build, **arguments), delta=several[0])
    asked = [arguments | {VALUES[name]: value} for value in several] or [arguments]
    texts, records = [], []
    for one in asked:
        answer = QUESTIONS[name](build, **one)
        records.append({"quantity": name, "randomizer": randomizer, **one} | answer.to_dict())
        texts.append(f"{answer}\n{answer.certificate}" if isinstance(answer, Calibration) else str(answer))
        if skipped:
            texts[-1] += f"\n{file}: skipped {skipped}"
            records[-1]["skipped"] = skipped
    return _once(texts), records if len(records) > 1 else records[0], Table(records)


def _once(texts):
    """Return texts below each other, without the last lines of those that the next one repeats."""
    lines = [text.splitlines() for text in texts]
    shared = 0
    while len(texts) > 1 and len({one[-1 - shared] for one in lines if len(one) > shared + 1}) == 1:
        shared += 1
    kept = ["\n".join(one[: len(one) - shared]) for one in lines[:-1]]
    return "\n".join([*kept, texts[-1]])


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


def _audited(arguments):
    """Return what draws of somebody's sampler show."""
    path, name = arguments.pop("file"), arguments.pop("randomizer", None)
    how = {one: arguments.pop(one) for one in AUDIT if one in arguments}
    try:
        defined = runpy.run_path(path)
    except OSError as wrong:
        raise type(wrong)(f"cannot read {path}: {wrong.strerror}; name a Python file") from None
    except SyntaxError as wrong:
        raise ValueError(f"{path} is no Python: {wrong.msg}; it must define sample(x, rng)") from None
    if "sample" not in defined:
        raise ValueError(f"{path} must define sample(x, rng), which returns a report for each value of x")
    if name and (missing := [one for one in required(constructors()[name]) if one not in arguments]):
        raise ValueError(f"{name} needs --{missing[0]}")
    like = constructors()[name](**arguments) if name else None
    found = audit(defined["sample"], defined.get("VALUES"), like=like, **how)
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
        lines += [f"    --{option:7} {domain}" for option, domain in one["parameters"].items()]
        lines += [f"    {one['source']}"] if one["source"] else []
        rows.append({"name": name} | one | {"parameters": " ".join(one["parameters"])})
    return "\n".join(lines), found, Table(rows)


def _sweep(arguments):
    """Compute a table and return one line that says what was done."""
    from shufflelib.sweeps.spec import sweep_file

    jobs = arguments.pop("jobs")
    if jobs != -1:
        validation.count(jobs, "--jobs", remedy="processes on this machine, -1 for one on each core")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        rows, summary = sweep_file(arguments.pop("spec"), n_jobs=jobs, **arguments)
    for one in said:
        print(f"shufflelib: {one.message}", file=sys.stderr)
    return summary, rows, Table(rows)


def _chosen(argv):
    """Return the randomizer that the arguments name, if it is one."""
    for word, following in zip_longest(argv, argv[1:], fillvalue=""):
        option, _, value = word.partition("=")
        if option == "--randomizer" and (value or not following.startswith("-")):
            return named(value or following)
    return None


def _negatives_joined(argv):
    """Return the arguments with a negative number as the value of the option before it."""
    joined = []
    for word in argv:
        if joined and joined[-1].startswith("--") and re.match(r"-\.?[0-9]", word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _parsed(argv):
    argv = _negatives_joined(sys.argv[1:] if argv is None else argv)
    try:
        parser = _parser(_chosen(argv))
    except ValueError as wrong:
        if argv[0] not in ("recommend", "sweep"):
            _Parser(prog="shufflelib").error(f"argument --randomizer: {wrong}")
        parser = _parser(None)
    arguments, unknown = parser.parse_known_args(argv)
    options = [word.partition("=")[0] for word in argv if word.startswith("--")]
    if twice := [option for option in dict.fromkeys(options) if options.count(option) > 1]:
        parser.error(f"{twice[0]} is given twice; keep one")
    if unknown:
        near = f"write -{unknown[0]}" if re.match("-[a-z]", unknown[0]) else "options begin with --"
        parser.error(f"{unknown[0]} belongs to no option; {near}, and --help lists them")
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

    Returns 0, 1 if a record is not shown to hold or a sampler is refuted, 2 after one line about an error,
    130 when stopped.
    """
    replace_unprintable()
    try:
        arguments = _parsed(argv)
    except SystemExit as stop:
        return stop.code
    except OSError as wrong:
        return unwritten(wrong, "shufflelib")
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
    except OSError as wrong:
        if status := unwritten(wrong, "shufflelib"):
            return status
    refuted = isinstance(found, dict) and (
        found.get("verdict", HOLDS) != HOLDS or found.get("refuted", False)
    )
    return int(refuted)


if __name__ == "__main__":
    sys.exit(main())
