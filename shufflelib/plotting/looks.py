r"""One look per bound, the same in every figure.

Colour says which analysis a bound comes from, the stroke says what it proves.

==============  =========================  ====================================================
kind            stroke                     meaning
==============  =========================  ====================================================
certified       thick and solid            proved, floating-point and grid error included
published       dashed                     a closed form, evaluated as its paper prints it
asymptotic      dotted                     an approximation, proves nothing at finite n
refuted         thin, crosses              published as a bound, but too small somewhere
reference       hairline                   a landmark such as the local budget
==============  =========================  ====================================================

Where a theorem does not apply its curve holds NaN, and the line breaks.
Of a certified bound only the computed points are drawn, unless a curve says what is known between them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from shufflelib.numerics.between import between

WIDTH = {"certified": 2.0, "published": 1.2, "asymptotic": 1.2, "refuted": 0.8, "reference": 0.6}

DASHED, LONG, SHORT, DASH_DOT = (0, (5, 2)), (0, (9, 2)), (0, (3, 1.5)), (0, (6, 1.5, 1, 1.5))
DOTTED = (0, (1, 1.5))
BLACK, GREY, ORANGE, SKY, GREEN = "#000000", "#8c8c8c", "#e69f00", "#56b4e9", "#009e73"
BLUE, VERMILLION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"


@dataclass(frozen=True)
class Look:
    """How one bound is drawn in every figure.

    Parameters
    ----------
    colour : str
        The family the analysis belongs to.
    dash : str or tuple
        Line style in matplotlib's notation.
    marker : str or tuple
        Marker that distinguishes the line in greyscale, empty for none.
    kind : {'certified', 'published', 'asymptotic', 'refuted', 'reference'}
        What the line proves.
    side : {'upper', 'lower'}
        Which bound of the bracket the line shows.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> plotting.Look(plotting.BLUE, "-", "o", "certified")
    Look(colour='#0072b2', dash='-', marker='o', kind='certified', side='upper')
    """

    colour: str
    dash: str | tuple
    marker: str | tuple
    kind: str
    side: str = "upper"


LINE = {
    "certified upper": Look(BLACK, "-", "", "certified"),
    "certified lower": Look(GREY, "-", "", "certified", side="lower"),
    "variation-ratio pair": Look(VERMILLION, "-", "x", "refuted"),
    "variation-ratio Thm 4.7": Look(VERMILLION, "-", "X", "refuted"),
    "variation-ratio Thm 4.8": Look(VERMILLION, DASH_DOT, "D", "published"),
    "stronger clones FMT'23, pair": Look(BLUE, "-", "v", "certified"),
    "stronger clones FMT'23, closed form": Look(BLUE, DASHED, "v", "published"),
    "clones FMT'21, pair": Look(SKY, "-", "^", "certified"),
    "clones FMT'21, closed form": Look(SKY, DASHED, "^", "published"),
    "blanket, specific": Look(GREEN, LONG, "o", "published"),
    "blanket, generic": Look(GREEN, SHORT, "P", "published"),
    "EFMRTT'19": Look(PURPLE, DASHED, "*", "published"),
    "EFMRTT'19, growth": Look(PURPLE, DOTTED, "*", "asymptotic"),
    "Girgis'21, full sum": Look(GREEN, DASHED, "h", "published"),
    "Girgis'21, simplified": Look(GREEN, DASH_DOT, "d", "published"),
    "Girgis'21, lower": Look(GREEN, LONG, "1", "published", side="lower"),
    "clones FMT'21, growth": Look(SKY, DOTTED, "^", "asymptotic"),
    "CCG'24, Corollary 2": Look(ORANGE, DOTTED, "s", "asymptotic"),
    "CCG'24, Theorem 2": Look(ORANGE, DOTTED, "D", "asymptotic"),
    "CCG'24, Theorem 3": Look(ORANGE, "-", (5, 2, 0), "refuted"),
    "GSPA'24, Theorem 2": Look(ORANGE, DOTTED, "v", "asymptotic"),
    "Echo, Liu'23": Look(VERMILLION, "-", (7, 2, 0), "refuted"),
    "Echo, Liu'23, numerical": Look(VERMILLION, "-", (8, 2, 0), "refuted"),
    "basic parallel": Look(BLUE, "-", ">", "certified"),
    "advanced parallel": Look(VERMILLION, "-", "+", "refuted"),
    "advanced parallel, β of the code": Look(VERMILLION, "-", (6, 2, 0), "refuted"),
    "separate, best": Look(GREEN, SHORT, "o", "published"),
    "separate, worst": Look(PURPLE, DASHED, "P", "published"),
    "advanced composition DRV'10": Look(VERMILLION, DASH_DOT, "^", "published"),
    "optimal composition KOV'15": Look(BLUE, LONG, "s", "published"),
    "mixed clones pair": Look(BLUE, DASHED, "<", "published"),
    "Girgis'21, subsampled": Look(GREEN, DASHED, "s", "published"),
    "privacy blanket": Look(GREEN, "-", "s", "certified"),
    "shuffle index, blanket": Look(GREEN, DOTTED, "o", "asymptotic"),
    "shuffle index, attack": Look(PURPLE, DOTTED, "h", "asymptotic"),
    "moderate deviations": Look(SKY, DOTTED, ">", "asymptotic"),
    "exact": Look(BLACK, "-", ".", "certified"),
    "pooled cells, from above": Look(GREY, DOTTED, ".", "asymptotic"),
    "joint concavity": Look(SKY, "-", "o", "certified"),
    "advanced joint concavity": Look(BLUE, "-", "D", "certified"),
    "perfect privacy": Look(BLACK, DOTTED, "", "reference"),
    "via Rényi, CKS'20": Look(PURPLE, LONG, "p", "published"),
    "local budget": Look(GREY, (0, (8, 4)), "", "reference"),
}


@dataclass(frozen=True)
class Curve:
    """One line of one panel, as drawn and as written to the CSV.

    Parameters
    ----------
    bound : str
        A name in `LINE`.
    x, lower, upper : numpy.ndarray, shape (m,)
        Abscissae and the two bounds; NaN where the theorem does not apply or nothing is proved.
    panel : Mapping
        What distinguishes this curve's panel, e.g. ``{"n": 10_000}``; columns of the CSV.
    known : {'', 'falls', 'rises'}
        What the quantity does between the points, as for `shufflelib.numerics.between.between`; empty where
        that is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib import plotting
    >>> ends = np.array([0.1, 0.2]), np.array([0.3, np.inf])
    >>> one = plotting.Curve("certified upper", np.array([1.0, 2.0]), *ends)
    >>> [row["status"] for row in one.rows()]
    ['certified', 'does not apply']
    """

    bound: str
    x: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    panel: Mapping = field(default_factory=dict)
    known: str = ""

    @property
    def line(self):
        """Abscissae and heights as drawn: the points, or a line that is a bound between them as well."""
        if not self.known:
            return self.x, self.y
        x, lower, upper = between(self.x, self.y, self.y, self.known)
        return x, lower if look(self.bound).side == "lower" else upper

    @property
    def y(self):
        """The side that is drawn, with NaN wherever the line must break."""
        y = self.lower if look(self.bound).side == "lower" else self.upper
        return np.where(np.isfinite(y), y, np.nan)

    def rows(self):
        """Yield the curve's points as rows of the CSV."""
        kind = look(self.bound).kind
        for x, lower, upper, y in zip(self.x, self.lower, self.upper, self.y, strict=True):
            status = "does not apply" if np.isnan(y) else kind
            yield {
                **self.panel,
                "bound": self.bound,
                "x": x,
                "lower": lower,
                "upper": upper,
                "status": status,
            }


def look(bound):
    """Return the look of a bound; an unknown name raises a KeyError.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> plotting.look("clones FMT'21, closed form").kind
    'published'
    """
    if bound not in LINE:
        raise KeyError(f"no look for the bound {bound!r}: add it to LINE, or use one of {', '.join(LINE)}")
    return LINE[bound]


def curve(bound, x, values, *, known="", **panel):
    """Return the `Curve` of a bound from a certified bracket, or from plain published values.

    Parameters
    ----------
    bound : str
        A name in `LINE`.
    x : array_like, shape (m,)
        Abscissae.
    values : Certified or array_like, shape (m,)
        A bracket (anything with ``lower`` and ``upper``), or one number per abscissa, masked or
        NaN where the theorem does not apply; it counts as the side that the bound's look names.
    known : {'', 'falls', 'rises'}
        What the quantity is proved to do between the points: ε falls with n and rises with the rounds,
        δ falls with ε.
    **panel
        What distinguishes this curve's panel from the others.

    Examples
    --------
    >>> from shufflelib import Certified, plotting
    >>> bracket = Certified(lower=[0.1, 0.2], upper=[0.3, 0.4])
    >>> plotting.curve("certified lower", [1, 2], bracket, n=1000).y.tolist()
    [0.1, 0.2]
    """
    x = np.atleast_1d(np.asarray(x, float))
    if hasattr(values, "lower") and hasattr(values, "upper"):
        lower, upper = (
            np.broadcast_to(np.asarray(end, float), x.shape) for end in (values.lower, values.upper)
        )
    else:
        given = np.broadcast_to(np.ma.filled(np.ma.asarray(values, float), np.nan), x.shape)
        other = np.full(x.shape, np.nan)
        lower, upper = (given, other) if look(bound).side == "lower" else (other, given)
    return Curve(bound, x, lower, upper, panel, known)
