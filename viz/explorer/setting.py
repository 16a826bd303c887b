"""The values of all controls: checked, written as a link, as Python and for the shell."""

import dataclasses
import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

import numpy as np

from shufflelib import randomizers, shuffle
from shufflelib.numerics import validation
from shufflelib.numerics.certified import written
from shufflelib.numerics.typed_numbers import kind_of, typed
from shufflelib.randomizers.written_tables import read_table
from viz.explore import decades


class Mechanism(NamedTuple):
    """A constructor of a randomizer, its name in the menu, and the controls that it takes."""

    text: str
    build: Callable
    parameters: tuple = ("eps0",)


class Field(NamedTuple):
    """A number: its name, what it means, and the stops of its slider, which end where the number may."""

    label: str
    help: str
    stops: tuple


@lru_cache(maxsize=64)
def tabulated(matrix):
    r"""Return the randomizer of a matrix; where it is one line of text, semicolons separate its rows.

    Examples
    --------
    >>> from viz.explorer.setting import tabulated
    >>> tabulated("0.75, 0.25; 0.25, 0.75") == tabulated("3/4; 1/4\n25 %; 75 %")
    True
    """
    one_line = len(matrix.strip().splitlines()) == 1 and not matrix.strip().startswith("[")
    return randomizers.from_pmf(read_table(matrix.replace(";", "\n") if one_line else matrix).rows)


def matrix_in_words(matrix):
    """Return the size of a matrix and its local budget, rounded up, in words.

    Examples
    --------
    >>> from viz.explorer.setting import matrix_in_words
    >>> matrix_in_words("0.75,0.25;0.25,0.75")
    '2 values, 2 reports: ε₀ = 1.09862'
    """
    table, lines = tabulated(matrix), read_table(matrix).skipped if "\n" in matrix else ""
    budget = "is infinite, as a report can rule out a value"
    if table.eps0 < math.inf:
        budget = f"= {written(table.eps0, up=True, digits=6)}"
    skipped = f"; skipped {lines}" if lines else ""
    return f"{len(table.matrix)} values, {len(table.matrix[0])} reports: ε₀ {budget}{skipped}"


ON_ITEMS = ("eps0", "d")  # frequencies of items can be estimated from the reports
MECHANISMS = {
    "generalized_rr": Mechanism("Randomized response, d options", randomizers.generalized_rr, ON_ITEMS),
    "binary_rr": Mechanism("Randomized response, yes or no", randomizers.binary_rr),
    "rappor": Mechanism("RAPPOR: d bits, each flipped", randomizers.rappor, ON_ITEMS),
    "optimized_unary": Mechanism("Optimized unary encoding", randomizers.optimized_unary, ON_ITEMS),
    "subset": Mechanism("Subset selection, d options", randomizers.subset, ON_ITEMS),
    "local_hash": Mechanism("Local hashing of d options", randomizers.local_hash, ON_ITEMS),
    "hadamard": Mechanism("Hadamard response, d options", randomizers.hadamard, ON_ITEMS),
    "duchi": Mechanism("Duchi: number in [-1, 1] to a bit", randomizers.duchi),
    "piecewise": Mechanism("Piecewise: number in [-1, 1]", randomizers.piecewise),
    "laplace": Mechanism("Laplace noise, number in [0, 1]", randomizers.laplace),
    "gaussian": Mechanism("Gaussian noise, number in [0, 1]", randomizers.gaussian, ("sigma",)),
    "from_pmf": Mechanism("Your own table", tabulated, ("matrix",)),
    "generic": Mechanism("Every ε₀-LDP mechanism at once", randomizers.generic),
}
OPTIONS = (*range(2, 11), 12, 16, 20, 24, 32, 48, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096)
BUDGETS = (0.01, 0.02, 0.05, *(k / 10 for k in range(1, 40)), *(k / 2 for k in range(8, 21)))
CROWDS = decades(2, 12, (1, 1.3, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8))
SHARES = tuple(k / 100 for k in range(101))
SEVEN = (1, 1.5, 2, 3, 5, 7)
FIELDS = {
    "eps0": Field("budget ε₀", "What one report alone may reveal. Smaller: more private, noisier.", BUDGETS),
    "sigma": Field("noise σ", "Standard deviation of the noise.", decades(-1, 1, SEVEN)),
    "d": Field("options d", "How many values a user may hold.", OPTIONS),
    "n": Field("users n", "How many reports are shuffled together.", CROWDS),
    "eps": Field("target ε", "Privacy of the result. Smaller is more private.", decades(-6, 1, SEVEN)),
    "delta": Field("slack δ", "Chance left for worse: far below 1/n.", decades(-12, -1, (1, 2, 5))),
    "fpr": Field("false alarms", "How often the attacker may be wrong.", SHARES),
    "rounds": Field("rounds", "How often the same users report.", decades(0, 6, (1, 2, 3, 5, 7))),
    "rate": Field("sampled", "Share of all users drawn for a round.", decades(-6, 0, (1, 2, 3, 5, 7))),
    "dropout": Field("drop-outs", "Share of users who may not report.", SHARES[:91:5]),
}
TASKS = {"histogram": "shares of options", "mean": "mean of a number"}
MENUS = {"mechanism": MECHANISMS, "task": TASKS}
LONGEST = 16_000  # characters of a matrix


@dataclass(frozen=True)
class Setting:
    """One value for each control, checked together with the mechanism.

    Examples
    --------
    >>> from viz.explorer.setting import Setting
    >>> setting = Setting.from_link("n=1000&eps0=2")
    >>> setting.python
    'shuffle(randomizers.generalized_rr(eps0=2.0, d=10), n=1000).epsilon(1e-06)'
    >>> Setting.from_link(setting.link) == setting
    True
    """

    mechanism: str = "generalized_rr"
    eps0: float = 1.0
    d: int = 10
    sigma: float = 1.0
    matrix: str = "0.6,0.2,0.2;0.2,0.6,0.2;0.2,0.2,0.6"
    n: int = 10_000
    delta: float = 1e-6
    rounds: int = 1
    rate: float = 1.0
    fpr: float = 0.05
    task: str = "histogram"
    eps: float = 0.5
    dropout: float = 0.0

    def __post_init__(self):
        for name, known in MENUS.items():
            if getattr(self, name) not in known:
                got = validation.shown(getattr(self, name))
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {got}")
        for name, field in FIELDS.items():
            check = validation.count if isinstance(field.stops[0], int) else validation.real
            ends = {"at_least": field.stops[0], "at_most": field.stops[-1]}
            value = check(getattr(self, name), name, **ends, remedy="call the package for other values")
            object.__setattr__(self, name, value)
        if len(self.matrix) > LONGEST:
            raise ValueError(
                f"matrix must have at most {LONGEST:,} characters, got {len(self.matrix):,}; "
                "give fewer digits, or run: shufflelib epsilon --pmf FILE.csv"
            )
        self.randomizer()

    @classmethod
    def from_link(cls, link):
        """Read what `link` writes; every name must be that of a control, and none is given twice."""
        given = {}
        for name, text in parse_qsl(link.strip(), keep_blank_values=True, strict_parsing=True):
            if name not in {field.name for field in dataclasses.fields(cls)}:
                raise ValueError(f"the link sets {validation.shown(name)}, which is no control; take it out")
            if name in given:
                raise ValueError(f"the link sets {name} twice; keep one")
            given[name] = text if name in ("matrix", *MENUS) else number(name, text)
        return cls(**given)

    @property
    def link(self):
        """Text that restores this setting."""
        unused = {name for one in MECHANISMS.values() for name in one.parameters} - {*self.parameters}
        fields = {name: one for name, one in dataclasses.asdict(self).items() if name not in unused}
        return urlencode({name: f"{one}" for name, one in fields.items()}, safe=",;")

    def but(self, **changes):
        """Return this setting with some values changed."""
        return dataclasses.replace(self, **changes)

    @property
    def parameters(self):
        """The names of the controls that the mechanism takes."""
        return MECHANISMS[self.mechanism].parameters

    def randomizer(self):
        """Return the local randomizer."""
        return _randomizer(self.mechanism, tuple((name, getattr(self, name)) for name in self.parameters))

    def profile(self):
        """Return the privacy profile of all rounds."""
        return shuffle(self.randomizer(), self.n).subsample(self.rate).compose(self.rounds)

    @property
    def one_round(self):
        """Whether published bounds apply: one round of all users."""
        return self.rounds == 1 and self.rate == 1.0

    @property
    def alone(self):
        """What all reports of a user reveal without a shuffler: infinite where there is no local budget."""
        return self.randomizer().eps0 * self.rounds

    @property
    def target(self):
        """What a recommendation must meet, as arguments."""
        items = {"d": self.d} if self.task == "histogram" else {}
        names = "n", "eps", "delta", "task", "rounds", "rate", "dropout"
        return {name: getattr(self, name) for name in names} | items

    @property
    def made(self):
        """The randomizer as an expression."""
        if self.mechanism == "from_pmf":
            return f"randomizers.from_pmf({np.asarray(self.randomizer().matrix).tolist()})"
        given = ", ".join(f"{name}={getattr(self, name)}" for name in self.parameters)
        return f"randomizers.{self.mechanism}({given})"

    @property
    def python(self):
        """A line of Python that returns the certified ε."""
        drawn = f".subsample(rate={self.rate})" if self.rate < 1.0 else ""
        repeated = f".compose(rounds={self.rounds})" if self.rounds > 1 else ""
        return f"shuffle({self.made}, n={self.n}){drawn}{repeated}.epsilon({self.delta})"

    @property
    def shell(self):
        """The same for the shell."""
        own = self.mechanism == "from_pmf"
        which = ["--pmf", "table.csv"] if own else ["--randomizer", self.mechanism]
        names = ["n", "delta"] if own else [*self.parameters, "n", "delta"]
        names += ["rounds"] * (self.rounds > 1) + ["rate"] * (self.rate < 1.0)
        given = [word for name in names for word in (f"--{name}", f"{getattr(self, name)}")]
        return shlex.join(["shufflelib", "epsilon", *which, *given])


@cache
def _randomizer(mechanism, given):
    return MECHANISMS[mechanism].build(**dict(given))


def number(name, text):
    """Return the number that somebody typed for a control; an error names the control.

    Examples
    --------
    >>> from viz.explorer.setting import number
    >>> number("n", "50k")
    50000
    """
    try:
        return typed(text, kind_of(name))
    except ValueError as wrong:
        raise ValueError(f"{name} {wrong}") from None
