r"""Choice of a mechanism: all mechanisms for a task, calibrated to the same target, sorted by error.

The target is (ε, δ) for all rounds together.  Each mechanism gets the largest local budget (or the fewest
messages) for which the upper bound meets the target.  They then differ only in the error: the
standard deviation of an estimate over the users' coins, from the exact variance of one report.
"""

import dataclasses
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from shufflelib.calibration.targets import ANALYSTS, Target
from shufflelib.calibration.tasks import TASKS
from shufflelib.calibration.tasks.errors import mean_errors
from shufflelib.numerics import validation
from shufflelib.numerics.certified import written
from shufflelib.numerics.optional import axes, progress
from shufflelib.numerics.tables import Table
from shufflelib.profiles import cautions
from shufflelib.profiles.cautions import belief, breach, exactly, population, warning
from shufflelib.profiles.pairs import Gaussian
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.randomizers.by_name import spelled
from shufflelib.shuffling.aggregated import aggregate
from shufflelib.shuffling.multi_message import shuffle_messages
from shufflelib.shuffling.shuffled import shuffle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOLERANCE = 1e-3  # relative, of a budget that is then rounded to `DIGITS`
ACCURACY = 2e-3  # relative, of δ
DIGITS = 4


class Recommendation(Table):
    """The mechanisms for a task, sorted by error; made by `recommend`.

    Attributes
    ----------
    rows : list of dict
        One for each mechanism: what was calibrated, the proved δ, errors, cost and a line of Python.
    asked : dict
        The arguments.
    left_out : dict of str to str
        Why a mechanism has no row, by its name.
    chosen : int
        Place of the row that is explained: the first, or that of the mechanism asked for.
    sentence : str
        What may be published about the chosen row; each row has its own under ``"sentence"``.
    warning : str
        Why the target or the chosen row may not be what was meant, or an empty text.  It is also the first
        line of the table and begins the sentence; each row has its own under ``"warning"``.

    Examples
    --------
    >>> from shufflelib import recommend
    >>> found = recommend(n=10_000, eps=0.5, delta=1e-6, task="mean")
    >>> found[0]["mechanism"], found[0]["proved delta"] <= 1e-6
    ('piecewise', True)
    """

    def __init__(
        self,
        rows: Iterable[dict[str, Any]],
        *,
        asked: dict[str, Any],
        left_out: dict[str, str],
        **texts: Any,
    ) -> None:
        super().__init__(rows, **texts)
        self.asked, self.left_out = asked, left_out

    @property
    def chosen(self) -> int:
        """Place of the row that is explained: the first, or that of the mechanism asked for."""
        return _place(self.rows, self.asked["mechanism"])

    @property
    def sentence(self) -> str:
        """What may be published about the chosen row."""
        return self.rows[self.chosen]["sentence"]

    @property
    def warning(self) -> str:
        """Why the target or the chosen row may not be what was meant, or an empty text."""
        return self.rows[self.chosen]["warning"]

    def profile(self, row: int | None = None) -> PrivacyProfile:
        """Return the profile of a row, by default the chosen: in all rounds together, of those who stay."""
        row = self.chosen if row is None else row
        place = validation.count(
            row, "row", at_least=0, at_most=len(self.rows) - 1, remedy="it counts from 0"
        )
        name, value, asked = self.rows[place]["mechanism"], self.rows[place]["value"], _Asked(**self.asked)
        one_round = asked.one_round(asked.candidates[name], value)
        return one_round.subsample(asked.rate).compose(asked.rounds)

    def to_dict(self) -> dict[str, Any]:
        """Return rows, notes, sentence, warning and what was asked as a dictionary that JSON can hold."""
        return super().to_dict() | {
            "sentence": self.sentence,
            "warning": self.warning,
            "asked": self.asked,
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the standard error of each mechanism and return the axes; needs matplotlib."""
        ax = axes(ax)
        names = [row["mechanism"] for row in self.rows][::-1]
        ax.barh(names, [row["standard error"] for row in self.rows][::-1], color="0.6")
        ax.axvline(self.rows[0]["standard error"] / self.rows[0]["x central"], color="black")
        ax.set(xlabel="standard error (line: a trusted curator at the same target)")
        ax.set_title(self.title, wrap=True)
        return ax


@validation.names_checked
def recommend(
    *,
    n: int,
    eps: float,
    delta: float,
    task: Literal[
        "histogram",
        "mean",
        "sets",
        "key_value",
        "location",
        "heavy_hitters",
        "range",
        "quantile",
        "distribution",
    ] = "histogram",
    d: int | None = None,
    s: int | None = None,
    rounds: int = 1,
    rate: float = 1.0,
    dropout: float = 0.0,
    mechanism: str | None = None,
    analyst: Literal["reports", "sums"] = "reports",
) -> Recommendation:
    r"""Compare all mechanisms for a task at one target, sorted by their error.

    .. math:: \max\{\varepsilon_0 : \varepsilon_{n,\varepsilon_0}(\delta) \le \varepsilon\}
              \quad\text{for each mechanism, then}\quad \sqrt{\operatorname{Var}}

    Parameters
    ----------
    n : int
        Number of users who are asked in a round.
    eps : float
        Target for the central ε in nats, positive, for all rounds together.
    delta : float
        Central δ of the guarantee, strictly between 0 and 1.
    task : str
        What is estimated: ``"histogram"``, shares of d items of which every user holds one; ``"mean"`` of
        numbers in [0, 1]; ``"sets"``, shares of d items of which every user holds up to s; ``"key_value"``,
        shares of d keys, up to s a user, and means of their values in [-1, 1]; ``"location"``, shares of d
        by d cells of a square; ``"heavy_hitters"``, which of up to millions of items are held; shares of a
        ``"range"`` and a ``"quantile"`` of d values in order; ``"distribution"`` of a number in [0, 1] in d
        bins.
    d : int, optional
        Number of items, values or bins; required but for a mean.
    s : int, optional
        Most items or keys of a user; required for sets and key-value pairs.
    rounds : int
        How many times every user reports; each round gives a separate estimate.
    rate : float
        Share of the population that is drawn for each round, n users.
    dropout : float
        Share of the users who may drop out, 0 <= dropout < 1: all numbers are for those who stay.
    mechanism : str, optional
        Whose row is explained, published and recorded; by default that with the smallest error.
    analyst : {'reports', 'sums'}
        What the analyst sees: shuffled reports, or sums of reports, as secure aggregation reveals them
        instead of a shuffler: of one-hot vectors with flipped bits, or of numbers with noise.

    Returns
    -------
    Recommendation
        One row for each mechanism.  ``value`` is the largest local budget, the least noise or the fewest
        dummy messages of each user, such that the *upper* bound on δ at ``eps`` is at most ``delta``,
        rounded to the safe side; "proved delta" is that bound, rounded up.  "standard error" is that at
        ordinary data, "worst case" the largest for any data; the first note says what they are of, which data
        are ordinary, and whether they are exact or simulated.  "run" is a line of Python that runs the
        protocol on data, empty for sums.  "x central" is the standard error relative to Gaussian noise that a
        trusted curator adds at the same target.  ``warning`` says where a target protects nobody, or an
        answer is of no use.  A mechanism that takes more than 1,000 messages of every user is left out unless
        it is asked for.

    Raises
    ------
    ValueError
        If no mechanism is proved to meet the target, or the one asked for is not.

    Notes
    -----
    Assumptions: those of `shuffle`, or of `aggregate` for sums.  Who drops out must not depend on the values.
    Cost O(1) in n: about ten profiles for each mechanism.

    Examples
    --------
    >>> from shufflelib import recommend
    >>> found = recommend(n=100_000, eps=0.5, delta=1e-8, d=64, rounds=30)
    >>> best = found[0]
    >>> best["mechanism"], best["value"] > 1.0, best["standard error"] < 0.01
    ('balls_into_bins', True, True)

    With secure aggregation instead of a shuffler, noise in each of the 64 counts costs little more than that
    of a trusted curator:

    >>> sums = recommend(n=100_000, eps=0.5, delta=1e-8, d=64, rounds=30, analyst="sums")
    >>> sums[0]["mechanism"], sums[0]["x central"] < 1.1
    ('skellam', True)
    """
    users: dict[str, Any] = {"n": n, "dropout": dropout, "analyst": analyst}
    asked = _Asked(eps, delta, rounds, rate, task=task, d=d, s=s, mechanism=mechanism, **users)
    question, sizes, stay, n, mechanism = asked.question, asked.sizes, asked.stay, asked.n, asked.mechanism
    rows: list[dict[str, Any]] = []
    refused: dict[str, str] = {}
    about = cautions.about_target(asked.eps, asked.delta, stay, asked.rate * stay / n)
    central = question.central(sizes) / (_central_mu(asked) * stay)
    for name, one in progress(asked.candidates.items(), desc="mechanisms"):
        try:
            value, built, proved = _calibrated(one, asked)
            if name == "subset" and built.k == 1:
                raise ValueError(
                    "at this target sets of one item have the smallest variance, and that is generalized_rr"
                )
            row = _row(name, one, value, built, proved, central, asked)
            messages = 1 + value if one.finds == "messages" else 1
            own = cautions.about_messages(messages, row["bytes"], stay)
            if own and name != mechanism:
                raise ValueError(
                    f"every user would send {messages:,} messages ({row['bytes']:,} bytes); "
                    f"mechanism={name!r} asks for it all the same"
                )
        except ValueError as reason:
            refused[name] = str(reason)
        else:
            said = warning((*about, *cautions.about_error(row["standard error"], question.estimated), *own))
            sentence = f"{said} {_sentence(one, built, value, asked)}".strip()
            run = "" if asked.summed else question.run(one, value, sizes)
            rows.append(row | {"run": run, "warning": said, "sentence": sentence})
    if mechanism in refused:
        raise ValueError(f"mechanism={mechanism!r} has no row; {refused[mechanism]}")
    if not rows:
        first = ": ".join(next(iter(refused.items())))
        raise ValueError(f"no mechanism is proved to meet the target; {first}")
    rows.sort(key=lambda row: row[question.order])
    shown = rows[_place(rows, mechanism)]
    return Recommendation(
        rows,
        title=f"{shown['warning']}\n" * bool(shown["warning"]) + f"{task}{question.scope.format(**sizes)}: "
        f"ε ≤ {exactly(asked.eps)} at δ = {exactly(asked.delta)}, "
        f"{stay:,} {f'of {n:,} ' * (stay < n)}users, {asked.rounds:,} round{'s' * (asked.rounds > 1)}"
        + ("" if asked.rate == 1.0 else f", drawn for each from {population(n, asked.rate):,}")
        + ", sums of reports" * bool(asked.summed),
        notes=_notes(asked, refused, rows, shown),
        hidden=("python", "run", "warning", "sentence"),
        asked=dataclasses.asdict(asked),
        left_out=refused,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Asked(Target):
    """The arguments of `recommend`, checked, and what follows from them."""

    task: str
    d: int | None
    s: int | None
    n: int
    dropout: float
    mechanism: str | None
    analyst: str

    def __post_init__(self):
        n = validation.users(self.n)
        super().__post_init__()
        if not isinstance(self.task, str) or self.task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(TASKS)}, got {validation.shown(self.task)}")
        validation.one_of(self.analyst, "analyst", ANALYSTS)
        if not self.candidates:
            raise ValueError(
                f"analyst must be 'reports' for the task {self.task!r}, got {self.analyst!r}; "
                "no sums are known"
            )
        d = self.question.checked("d", self.task, self.d)
        s = self.question.checked("s", self.task, self.s, most=d)
        remedy = "the share of users who may drop out"
        dropout = validation.real(self.dropout, "dropout", at_least=0.0, below=1.0, remedy=remedy)
        for name, value in {"n": n, "d": d, "s": s, "dropout": dropout}.items():
            object.__setattr__(self, name, value)
        if self.stay < 1:
            raise ValueError(f"dropout = {dropout} leaves none of n = {n} users; use a smaller dropout")
        if self.mechanism is not None:
            object.__setattr__(self, "mechanism", self._named(self.mechanism))

    def _named(self, mechanism):
        """Return the name of a candidate; ``generalized-rr`` and ``krr`` name it too."""
        wanted = spelled(mechanism)
        if wanted not in self.candidates:
            raise ValueError(
                f"mechanism must be one for the task {self.task!r}, got {validation.shown(mechanism)}; "
                f"known: {', '.join(self.candidates)}"
            )
        return wanted

    @property
    def question(self):
        """The task."""
        return TASKS[self.task]

    @property
    def candidates(self):
        """The mechanisms for what the analyst sees."""
        return self.question.sums if self.analyst == "sums" else self.question.candidates

    @property
    def sizes(self):
        """The task's sizes by their names."""
        return {name: getattr(self, name) for name in self.question.sizes}

    @property
    def stay(self):
        """How many users stay."""
        return math.floor(self.n * (1.0 - self.dropout) * (1.0 + 1e-12))

    @property
    def summed(self):
        """How many sums one user changes, 0 where the analyst sees shuffled reports."""
        return self.question.changed if self.analyst == "sums" else 0

    @property
    def numbers(self):
        """How many numbers noise is added to, of which each is summed up."""
        return self.question.arguments(self.sizes).get("d", 1)

    def one_round(self, one, value):
        """Return the profile of one round of a candidate with the value looked for."""
        mechanism = self.question.build(one, value, self.sizes)
        if self.summed:
            return aggregate(mechanism, self.stay, changed=self.summed)
        if one.finds == "messages":
            return shuffle_messages(mechanism, n=self.stay, dummy_messages=self.stay * value)
        return shuffle(mechanism, self.stay)


def _place(rows, mechanism):
    """Return the place of the mechanism's row, by default the first."""
    return 0 if mechanism is None else [row["mechanism"] for row in rows].index(mechanism)


def _calibrated(one, asked):
    """Return the value looked for, the mechanism, and its proved δ."""
    messages, falling = one.finds == "messages", one.finds != "eps0"
    safer = 1.0 if one.noise else -1.0

    def one_round(value):
        return asked.one_round(one, value)

    search = {"limits": one.limits, "falling": falling, "whole": messages, "accuracy": ACCURACY}
    start = asked.guide(one_round, 1 if falling else asked.eps, "upper", **search)
    family = asked.family(one_round, tolerance=TOLERANCE, **search)
    value, _ = family.edge(family.proved, start)
    while value is not None and one.limits[0] <= value <= one.limits[1]:
        rounded = value
        if not messages:
            rounded = float(written((1.0 + safer * TOLERANCE) * value, up=safer > 0.0, digits=DIGITS))
        proved = math.exp(family.proved(rounded))
        if proved <= asked.delta:
            return rounded, asked.question.build(one, rounded, asked.sizes), proved
        value = value + 1 if messages else (1.0 + 0.01 * safer) * value
    raise ValueError("no value is proved to meet the target")


def _central_mu(target):
    """Return the separation of Gaussian noise by a trusted curator that meets the target, to a percent."""
    family = target.family(Gaussian, limits=(1e-9, 1e3), tolerance=0.01, accuracy=ACCURACY)
    inner, outer = family.edge(family.proved, target.eps / math.sqrt(target.rounds))
    return outer if inner is None else inner


def _row(name, one, value, mechanism, proved, central, asked):
    n, several = asked.stay, one.finds == "messages"
    dummy_messages = n * value if several else 0
    errors = mean_errors if one.noise else asked.question.errors
    usual, worst = errors(mechanism, n, dummy_messages, asked.sizes)
    all_rounds = asked.one_round(one, value).subsample(asked.rate).compose(asked.rounds)
    line = "shuffling.multi_message." * several + repr(all_rounds).replace("(", "(randomizers.", 1)
    numbers = asked.numbers if one.noise else 1 + value if several else 1
    return {
        "mechanism": name,
        "parameter": one.finds,
        "value": value,
        "proved delta": min(float(written(proved, up=True, digits=DIGITS)), asked.delta),
        "standard error": usual,
        "worst case": worst,
        "x central": usual / central,
        **asked.question.further(mechanism, n, dummy_messages),
        "bytes": numbers * math.ceil(one.bits(mechanism) / 8),
        "server": one.server,
        "python": f"{line}.epsilon({asked.delta!r})",
    }


def _sentence(one, mechanism, value, asked):
    many, sampled = asked.rounds > 1, asked.rate < 1.0
    held = asked.question.holds.format(**asked.sizes)
    device = "drawn device" if sampled else "device"
    often = f"In each of {asked.rounds:,} rounds every" if many else "Each"
    whose = (
        f"the values of any one user in all {asked.rounds:,} rounds together"
        if many
        else "any one user's value"
    )
    known = "these values" if many else "this value"
    if one.noise:
        held += f", as {asked.numbers:,} numbers, a one and zeros" if asked.d else ""
        added = f"{one.name} of {one.noise} = {exactly(value)} added{' to each' * bool(asked.d)}"
        does = f"{device} sends its value, {held}, once, with {added}"
        what, alone = "reports", "nothing is promised"
    elif one.finds == "messages":
        more = "1 random message," if value == 1 else f"{value:,} random messages, each"
        does = f"{device} sends once its value, {held}, and {more} an option drawn uniformly"
        what, alone = "messages", "nothing is promised"
    else:
        named = f"{one.name}{one.size.format(mechanism)}"
        does = f"{device} randomises its value, {held}, once, with {named} at eps0 = {exactly(value)}"
        what, alone = "reports", breach(value)
        if many and not cautions.meaningless(value):
            alone += f", and {breach(asked.rounds * value, f'all {asked.rounds:,} reports together')}"
    crowd, n = f"at least {asked.stay:,}", asked.n
    if sampled:
        drawn = f"{n:,} users drawn at random from {population(n, asked.rate):,}"
        crowd = drawn if asked.stay == n else f"{crowd} of {drawn}"
    secret = "that users are drawn anew for each round and in secret, " * sampled
    joined, seen, trusted = "a shuffler mixes", f"shuffled {what}", "the shuffler"
    if asked.summed:
        joined, seen, trusted = "secure aggregation reveals the sums of", "sums", "the secure aggregation"
    return (
        f"{often} {does}, and {joined} the {what} of {crowd}{'' if sampled else ' users'}. "
        f"Whoever sees the {seen} learns at most epsilon = {exactly(asked.eps)} at "
        f"delta = {exactly(asked.delta)} about {whose}, provided that {trusted} and the other devices "
        f"are honest, {secret}and that taking part does not depend on the values. "
        f"{belief(asked.eps, asked.delta, known)}If {trusted} fails, {alone}."
    )


def _notes(asked, refused, rows, shown):
    task, sizes, n = asked.question, asked.sizes, asked.n
    notes = [
        f"proved delta: all rounds together at eps = {exactly(asked.eps)}; "
        f"standard error ({task.known}): of an estimate of {task.estimated}, {task.ordinary}; "
        f"worst case: {task.worst}; "
        "x central: relative to a trusted curator's Gaussian noise at the same target."
    ]
    notes += task.notes
    if any(row["parameter"] == "messages" for row in rows):
        notes.append(
            "messages: random ones that each user adds to one that holds the value itself; there is no eps0, "
            "so all privacy comes from the shuffler."
        )
    if asked.summed:
        notes.append(
            "Secure aggregation reveals the sums of the reports and nothing else. sigma and mu are deviation "
            "and variance of the noise that each user adds to each number."
        )
    elif asked.task == "mean":
        notes.append("duchi and piecewise take values in [-1, 1]: send 2x - 1 and return (estimate + 1)/2.")
    elif asked.task == "sets" and asked.rate == 1.0:
        slots = f"d = {asked.d + 1} and rounds = {asked.s * asked.rounds}"
        notes.append(
            "sampled_rappor reports one item, drawn from the set; every other row is about the whole set. If "
            "you rely on the shuffler, compare one item or none in each of s slots, shuffled separately: the "
            f"task histogram with {slots}, whose error for sets is {asked.s**0.5:.3g} times the one printed."
        )
    share = sizes.get("s", 1) / sizes.get("d", 1)
    if task.estimated == "a share" and shown["standard error"] > share:
        notes.append(
            f"An even share is {share:.2g}, less than the standard error of {shown['mechanism']}: only "
            "items with a share of several standard errors can be told from items that nobody holds."
        )
    if asked.rate < 1.0:
        notes.append(
            f"{n:,} of {population(n, asked.rate):,} users are drawn for each round. The errors are those "
            "of an estimate for the users drawn; who is drawn adds to the error for all."
        )
    if asked.rounds > 1:
        notes.append("The target is for all rounds together; the errors are those of one round.")
    if asked.dropout:
        notes.append(
            f"Of {n:,} users a share {asked.dropout:g} may drop out. All numbers are for {asked.stay:,} "
            "users, and hold only if no more drop out and dropping out does not depend on the values."
        )
    left_out = (f"Left out: {name}: {reason}" for name, reason in refused.items())
    on_data = (f"On data: {shown['run']}",) if shown["run"] else ()
    return (*notes, *left_out, *on_data, f"Python: {shown['python']}")
