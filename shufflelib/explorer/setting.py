"""The values of all controls: checked, written as a link, written as Python."""

import dataclasses
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from shufflelib.explorer.controls import CONTROLS
from shufflelib.explorer.mechanisms import MECHANISMS, on_one_line, skipped_lines
from shufflelib.numerics import validation
from shufflelib.numerics.typed_numbers import kind_of, typed

LONGEST_QUERY, LONGEST_MATRIX = 20_000, 16_000  # characters
IMPORTS = "from shufflelib import calibration, estimation, randomizers, shuffle"
ALL_PARAMETERS = {name for one in MECHANISMS.values() for name in one.parameters}
MENUS = {name: tuple(dict(one.options)) for name, one in CONTROLS.items() if one.options}
MENUS["chosen"] = ("best", "balls_into_bins", *MECHANISMS)
NUMBERS = {name: one.steps for name, one in CONTROLS.items() if one.steps}


@dataclass(frozen=True)
class Setting:
    """One value for each of `CONTROLS`, checked together with the mechanism.

    ``chosen`` is the mechanism whose plan is open, "best" for the one with the smallest error.
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
    order: float = 2.0
    eps: float = 0.5
    dropout: float = 0.0
    task: str = "histogram"
    chosen: str = "best"

    def __post_init__(self):
        for name, known in MENUS.items():
            if getattr(self, name) not in known:
                got = validation.shown(getattr(self, name))
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {got}")
        for name, steps in NUMBERS.items():
            check = validation.count if isinstance(steps[0], int) else validation.real
            ends = {"at_least": steps[0], "at_most": steps[-1], "remedy": "call the library for other values"}
            object.__setattr__(self, name, check(getattr(self, name), name, **ends))
        object.__setattr__(self, "matrix", on_one_line(self.matrix))
        if len(self.matrix) > LONGEST_MATRIX:
            raise ValueError(
                f"the matrix has {len(self.matrix):,} characters, a link holds {LONGEST_MATRIX:,}; "
                "give fewer digits, or run: shufflelib epsilon --pmf FILE.csv"
            )
        self.randomizer()

    @classmethod
    def from_query(cls, query):
        """Read a link's query; every name must be that of a field, and none is given twice."""
        query = query.strip().removeprefix("?")
        if len(query) > LONGEST_QUERY:
            raise ValueError(
                f"the link's query has {len(query)} characters, at most {LONGEST_QUERY} are read"
            )
        given = parse_qsl(query, keep_blank_values=True)
        if query and not given:
            raise ValueError(f"the link's query must look like n=1000&eps0=1, got {validation.shown(query)}")
        for name, text in given:
            if name == "matrix" and (skipped := skipped_lines(text)):
                raise ValueError(f"the link's matrix must hold rows alone; take out {skipped}")
        return cls.from_texts(given)

    @classmethod
    def from_texts(cls, pairs):
        """Read pairs of a control and its text, as `from_query` does."""
        known = [field.name for field in dataclasses.fields(cls)]
        given = {}
        for name, text in pairs:
            if name not in known:
                raise ValueError(
                    f"the link sets {validation.shown(name)}, which is no control; "
                    f"there are {', '.join(known)}"
                )
            if name in given:
                raise ValueError(f"the link sets {name} twice; keep one")
            given[name] = text if name in ("matrix", *MENUS) else _number(name, text)
        return cls(**given)

    @property
    def query(self):
        """The link's query that restores this setting, mechanism first."""
        unused = ALL_PARAMETERS - set(self.parameters)
        fields = {key: value for key, value in dataclasses.asdict(self).items() if key not in unused}
        return urlencode({key: f"{value}" for key, value in fields.items()}, safe=",;")

    def but(self, **changes):
        """Return this setting with some fields changed."""
        return dataclasses.replace(self, **changes)

    @property
    def parameters(self):
        """The names of the fields that the mechanism takes."""
        return MECHANISMS[self.mechanism].parameters

    def randomizer(self):
        """Return the local randomizer."""
        return MECHANISMS[self.mechanism].build(**{name: getattr(self, name) for name in self.parameters})

    @property
    def items(self):
        """The number of options as an argument, where a histogram is estimated."""
        return {"d": self.d} if self.task == "histogram" else {}

    @property
    def budget(self):
        """The local budget, infinite where the mechanism has none."""
        return self.randomizer().eps0

    @property
    def one_round(self):
        """Whether published bounds apply: one round of all users."""
        return self.rounds == 1 and self.rate == 1.0

    @property
    def python(self):
        """The randomizer as an expression."""
        if self.mechanism == "from_pmf":
            return f"randomizers.from_pmf([[{self.matrix.replace(',', ', ').replace(';', '], [')}]])"
        written = ", ".join(f"{name}={getattr(self, name)}" for name in self.parameters)
        return f"randomizers.{self.mechanism}({written})"

    @property
    def profile(self):
        """The shuffled mechanism as an expression."""
        drawn = f".subsample(rate={self.rate})" if self.rate < 1.0 else ""
        repeated = f".compose(rounds={self.rounds})" if self.rounds > 1 else ""
        return f"shuffle({self.python}, n={self.n}){drawn}{repeated}"


def _number(name, text):
    try:
        return typed(text, kind_of(name))
    except ValueError as wrong:
        raise ValueError(f"{name} {wrong}") from None
