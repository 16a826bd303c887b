"""The controls of the page: a slider over given numbers, and beside it a field that takes any number."""

import html
import json
import math
from dataclasses import dataclass

from shufflelib.explorer.mechanisms import MECHANISMS, tabulated
from shufflelib.explorer.templates import fill
from shufflelib.numerics.certified import written

OPTIONS = [*range(2, 11), 12, 16, 20, 24, 32, 48, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096]
BUDGETS = [0.01, 0.02, 0.05, *(k / 10 for k in range(1, 40)), *(k / 2 for k in range(8, 21))]
ORDERS = [1.01, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0]
ORDERS += [192.0, 256.0]


@dataclass(frozen=True)
class Control:
    """One control: the field of a `Setting` that it changes, its texts, and the values it offers.

    A slider has rising ``steps``, a menu ``options``, each a value and its text, the matrix neither.

    Examples
    --------
    >>> from shufflelib.explorer.controls import CONTROLS
    >>> CONTROLS["n"].state(10_000)["said"]
    '10,000 users'
    """

    name: str
    label: str
    help: str
    unit: str = ""
    steps: tuple = ()
    percent: bool = False
    options: tuple = ()

    def state(self, value):
        """Return what the page needs to show a value."""
        if self.options:
            return {"value": value}
        if self.name == "matrix":
            return {"value": value.replace(",", ", ").replace(";", "\n"), "said": matrix_in_words(value)}
        said = f"{100 * value:.10g} %" if self.percent else shown(value)
        nearest = min(range(len(self.steps)), key=lambda place: abs(self.steps[place] - value))
        said = f"{said} {self.unit}".strip()
        return {"value": f"{value}", "shown": shown(value), "said": said, "at": nearest}

    def html(self):
        """Return the control as HTML."""
        words = {key: html.escape(getattr(self, key)) for key in ("name", "label", "help")}
        if self.options:
            options = "".join(
                f'<option value="{name}">{html.escape(text)}</option>' for name, text in self.options
            )
            return fill("menu.html", options=options, **words)
        if self.name == "matrix":
            return fill("matrix.html", **words)
        steps = json.dumps(
            [[state["value"], state["shown"], state["said"]] for state in map(self.state, self.steps)]
        )
        return fill("slider.html", last=len(self.steps) - 1, steps=html.escape(steps), **words)


def matrix_in_words(matrix):
    """Return the size of a matrix and its local budget, rounded up, in words.

    Examples
    --------
    >>> from shufflelib.explorer.controls import matrix_in_words
    >>> matrix_in_words("0.75,0.25;0.25,0.75")
    '2 values, 2 reports: ε₀ = 1.09862'
    """
    table = tabulated(matrix)
    budget = (
        f"= {written(table.eps0, up=True, digits=6)}"
        if table.eps0 < math.inf
        else ("is infinite, as a report can rule out a value")
    )
    return f"{len(table.matrix)} values, {len(table.matrix[0])} reports: ε₀ {budget}"


def shown(value):
    """Write a value as its field shows it.

    Examples
    --------
    >>> from shufflelib.explorer.controls import shown
    >>> shown(1_000_000), shown(10**12), shown(0.1)
    ('1,000,000', '1e+12', '0.1')
    """
    return f"{value:,}" if isinstance(value, int) and value < 10**7 else f"{value:.10g}"


def decades(low, high, leading):
    """Return leading digits times powers of ten from 10^low to 10^high; whole numbers from 10^0 on.

    Examples
    --------
    >>> from shufflelib.explorer.controls import decades
    >>> decades(0, 2, (1, 3)), decades(-1, 0, (1, 3))
    ((1, 3, 10, 30, 100), (0.1, 0.3, 1.0))
    """
    found = [float(f"{digits}e{power}") for power in range(low, high) for digits in leading]
    found.append(10.0**high)
    return tuple(int(value) if low >= 0 else value for value in found)


ALL = (
    Control(
        "mechanism", "mechanism", "how each phone randomises its report",
        options=tuple((name, one.text) for name, one in MECHANISMS.items()),
    ),
    Control(
        "task", "estimate", "what is estimated from the reports",
        options=(("histogram", "shares of options (histogram)"), ("mean", "mean of a number")),
    ),
    Control("eps0", "local budget ε₀", "what one report alone may reveal, in nats", "nats", tuple(BUDGETS)),
    Control("matrix", "matrix", "a row of probabilities for each value that a user may hold"),
    Control("sigma", "noise σ", "standard deviation of the noise", "", decades(-1, 1, (1, 1.5, 2, 3, 5, 7))),
    Control("d", "options d", "number of possible values", "options", tuple(OPTIONS)),
    Control(
        "n", "users n", "number of reports that are shuffled together", "users",
        decades(2, 12, (1, 1.3, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8)),
    ),
    Control(
        "eps", "target ε", "the central guarantee to meet, in nats", "nats",
        decades(-6, 1, (1, 1.5, 2, 3, 5, 7)),
    ),
    Control(
        "dropout", "drop-outs", "share of the users who may not report", "of the users",
        tuple(k / 100 for k in range(0, 91, 5)), percent=True,
    ),
    Control("delta", "δ", "additive slack of the guarantee, far below 1/n", "", decades(-12, -1, (1, 2, 5))),
    Control(
        "fpr", "false alarms", "false-positive rate of the attacker", "false alarms",
        tuple(k / 100 for k in range(101)), percent=True,
    ),
    Control("rounds", "rounds", "number of reports of each user", "rounds", decades(0, 6, (1, 2, 3, 5, 7))),
    Control(
        "rate", "sampling rate", "share of the population drawn at random for a round", "of the population",
        decades(-6, 0, (1, 2, 3, 5, 7)), percent=True,
    ),
    Control("order", "order λ", "order of the Rényi divergence", "", tuple(ORDERS)),
)  # fmt: skip
CONTROLS = {one.name: one for one in ALL}
