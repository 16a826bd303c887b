"""How a profile shows itself: ε at three δ with both bounds, and its curve δ(ε)."""

import html
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shufflelib.numerics.between import between, convex
from shufflelib.numerics.certified import TOLERANCE
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.optional import axes
from shufflelib.numerics.tables import Table
from shufflelib.profiles.worst_epsilon import rough_epsilon

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DELTAS = (1e-4, 1e-6, 1e-8)
LEAST = 0.1 * DELTAS[-1]  # where a picture ends below
PICTURE = 1e-4  # relative width of δ aimed at in one, if δ has many losses
POINTS, PARTS = 25, 10  # of a curve, and steps drawn between two of them
FARTHEST = 700.0  # ε from which on floats do not hold e^-ε
WIDTH, HEIGHT, MARGIN = 320, 160, 40  # of a picture, in pixels


class Made(NamedTuple):
    """The call that makes a profile: what is printed of it, and what a record of it holds.

    Attributes
    ----------
    function : str
        Its name.
    of : object
        What it is of: a randomizer, a profile whose method it is, or nothing.
    arguments : mapping
        All others, by name.

    Examples
    --------
    >>> from shufflelib.profiles.shown import Made
    >>> print(Made("shuffle", "a randomizer", {"n": 100}))
    shuffle('a randomizer', n=100)
    """

    function: str
    of: Any
    arguments: Mapping[str, Any]

    def __str__(self):
        listed = [f"{name}={value!r}" for name, value in self.arguments.items()]
        if isinstance(self.of, Shown):
            return f"{self.of!r}.{self.function}({', '.join(listed)})"
        return f"{self.function}({', '.join(([] if self.of is None else [repr(self.of)]) + listed)})"


class Shown:
    """A profile in a terminal, in a notebook, as a dictionary and as a picture.

    Examples
    --------
    >>> from shufflelib import randomizers, shuffle
    >>> profile = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), 1000).compose(30)
    >>> profile
    shuffle(generalized_rr(eps0=1.0, d=10), n=1000).compose(rounds=30)
    >>> profile.to_dict()["epsilon"][1]["delta"]
    1e-06
    """

    statement: str
    source: str
    assumptions: tuple[str, ...]
    written: Made | str

    def __repr__(self):
        return str(self.written) or f"<{type(self).__name__}: {self.statement}>"

    def _brackets(self):
        """Return ε at each of `DELTAS`."""
        return [self.epsilon(delta) for delta in DELTAS]

    def to_dict(self) -> dict[str, Any]:
        """Return what the profile is of, its assumptions, and ε at three δ, for JSON."""
        ends = [
            {"delta": delta, "lower": one.lower, "upper": one.upper}
            for delta, one in zip(DELTAS, self._brackets(), strict=True)
        ]
        texts = {"profile": repr(self), "statement": self.statement, "source": self.source}
        return texts | {"assumptions": "; ".join(self.assumptions), "epsilon": ends}

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw both bounds of δ(ε) and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; new ones by default, which needs matplotlib.

        Returns
        -------
        matplotlib.axes.Axes
        """
        eps, lower, upper = self._curve
        ax = axes(ax)
        ax.fill_between(eps, lower, upper, color="0.8", label="certified bracket")
        ax.plot(eps, upper, color="black", label="proved guarantee")
        ax.set(xlabel="ε", ylabel="δ", yscale="log")
        ax.set_ylim(bottom=LEAST)
        ax.set_title(self.statement, wrap=True)
        ax.legend()
        return ax

    def _last(self):
        """Return about the largest finite ε of `DELTAS`."""
        for delta in reversed(DELTAS):
            last = min(rough_epsilon(self.dominating_pairs, math.log(delta)), self.pure_epsilon)
            if math.isfinite(last):
                return last
        return 0.0

    @cached_property
    def _curve(self):
        """Corners in ε of two lines, and both bounds of δ there, down to the smallest of `DELTAS`.

        Between computed points the bounds follow from these because δ is convex in e^ε and falls; fine steps
        are proved on the logarithmic scale as well.
        """
        some = np.linspace(0.0, self._last() or 0.1, POINTS)
        many = any(pair.renyi_tolerance >= PICTURE for pair in self.dominating_pairs)  # losses
        lower, upper, *_ = self._delta(some, PICTURE if many else TOLERANCE)
        eps = some
        if eps[-1] < FARTHEST:
            eps = np.linspace(0.0, some[-1], (POINTS - 1) * PARTS + 1)
            lower, upper = convex(np.exp(some - some[-1]), lower, upper, np.exp(eps - eps[-1]))
        eps, lower, upper = between(eps, lower, upper, "falls")
        return eps, np.maximum(lower, LEAST), np.maximum(upper, LEAST)

    def _repr_html_(self):
        rows = [
            {"δ": f"{delta:.0e}", "ε": f"{bracket:.4g}"}
            for delta, bracket in zip(DELTAS, self._brackets(), strict=True)
        ]
        return f"<p><code>{html.escape(repr(self))}</code></p>{Table(rows)._repr_html_()}{_svg(*self._curve)}"


def _svg(eps, lower, upper):
    """Return both bounds of a curve as an SVG picture, δ on a logarithmic scale."""
    least = math.log10(lower.min())
    most = max(math.ceil(math.log10(upper.max())), least + 1.0)

    def points(values):
        x = MARGIN + (WIDTH - MARGIN) * eps / eps[-1]
        y = (HEIGHT - MARGIN) * (most - np.log10(values)) / (most - least) + 5.0
        return [f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True)]

    above, below = points(upper), points(lower)
    bottom = HEIGHT - MARGIN + 20
    labels = [
        (0, 15, f"δ = 1e{most:.0f}"),
        (0, bottom - 20, f"1e{least:.0f}"),
        (MARGIN, bottom, "0"),
        (WIDTH - MARGIN, bottom, f"ε = {eps[-1]:.3g}"),
    ]
    texts = "".join(f'<text x="{x}" y="{y}" font-size="11">{text}</text>' for x, y, text in labels)
    return (
        f'<svg width="{WIDTH + MARGIN}" height="{HEIGHT}" xmlns="http://www.w3.org/2000/svg">'
        f'<polygon points="{" ".join([*above, *below[::-1]])}" fill="#bbb"/>'
        f'<polyline points="{" ".join(above)}" fill="none" stroke="#000"/>{texts}</svg>'
    )
