r"""All bounds in one setting: ε at δ for one randomizer and n users.

Each entry of `ALL` returns ε, or the reason why it does not apply.  The two certified bounds come first.  A
claimed upper bound below the certified lower bound is refuted by an attack.

The distance between the two bounds has two parts.  The *theory gap* lies between the best attack and the best
bound that are known; better theorems would close it.  The *numerical gap* is the width of the intervals in
which these two are enclosed; more computation would close it.  `gaps` tells them apart.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, written
from shufflelib.numerics.computed_once import cached_property
from shufflelib.numerics.optional import axes, data_frame, progress
from shufflelib.numerics.side_by_side import answers
from shufflelib.numerics.tables import Table
from shufflelib.profiles.pairs import Gaussian
from shufflelib.profiles.worst_epsilon import asking_epsilon
from shufflelib.published import closed_form, conversions, renyi
from shufflelib.published.central_limit import asymptotic_epsilon
from shufflelib.published.closed_form import BlanketBounds, OutOfRegime
from shufflelib.published.closed_form.regime import require
from shufflelib.published.renyi.gaussian_limit import LARGEST_MU
from shufflelib.published.shuffle_index import gaussian_index, shuffle_index
from shufflelib.randomizers.additive import gaussian, laplace
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.randomizers.metric import MetricRandomizer
from shufflelib.shuffling.shuffled import shuffle
from shufflelib.shuffling.variation_ratio import VariationRatioPair

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

LARGEST_ORDER = 100_000  # of the Rényi bound that is turned into an ε
WIDE, LINE = 6.4, 0.25  # inches of a drawing, and of one of its bars
SEVERAL_TICKS = 50.0  # ratio of the largest ε to the least one below which 2 and 5 are ticks too


@dataclass(frozen=True)
class Question:
    """The question: ε at ``delta`` for n users who all apply ``randomizer``.

    Examples
    --------
    >>> from shufflelib.published import comparison
    >>> from shufflelib import randomizers
    >>> asked = comparison.Question(randomizers.binary_rr(eps0=1.0), n=1000, delta=1e-6)
    >>> asked.eps0, round(asked.ends.upper, 3)
    (1.0, 0.127)
    """

    randomizer: LocalRandomizer
    n: int
    delta: float

    def __post_init__(self):
        validation.instance(
            self.randomizer, "randomizer", LocalRandomizer, remedy="build one with shufflelib.randomizers"
        )
        validation.users(self.n)
        validation.probability(self.delta, "delta")

    @cached_property
    def ends(self) -> Certified[float]:
        """The two certified bounds."""
        return shuffle(self.randomizer, n=self.n).epsilon(self.delta)

    @property
    def eps0(self) -> float:
        """The local budget of any two inputs; refused where there is none."""
        one = self.randomizer
        if isinstance(one, MetricRandomizer) and one.dmax > one.d01:
            raise OutOfRegime(
                f"the theorem needs one eps0 for all inputs; here {one.d01:g} holds for the pair alone, "
                f"others are up to {one.dmax:g} away"
            )
        return self._finite("eps0")

    @property
    def parameters(self) -> dict[str, float]:
        """The published (p, β, q); refused where q is infinite or β is that of no pair."""
        p, beta, _ = self.randomizer.variation_ratio()
        largest = 1.0 if math.isinf(p) else (p - 1.0) / (p + 1.0)
        if not 0.0 <= beta <= largest * (1.0 + 1e-9):
            raise OutOfRegime(
                f"the pair needs 0 <= beta <= (p - 1)/(p + 1) = {largest:g}; here beta = {beta:g}"
            )
        return {"p": p, "beta": beta, "q": self._finite("q")}

    def _finite(self, name):
        value = getattr(self.randomizer, name)
        if math.isinf(value):
            raise OutOfRegime(f"the theorem needs a finite {name}; {type(self.randomizer).__name__} has none")
        return value


@dataclass(frozen=True)
class Bound:
    """One bound and how to evaluate it.

    Parameters
    ----------
    name : str
        As in every figure.
    says : str
        Which side it errs on, and for whom it holds.
    epsilon : callable
        Takes a `Question` and returns ε; raises `OutOfRegime` where the bound does not apply.

    Examples
    --------
    >>> from shufflelib.published import comparison
    >>> from shufflelib import randomizers
    >>> local = comparison.Bound("no shuffler", "upper bound, sound", lambda asked: asked.eps0)
    >>> [answer] = comparison.compare(randomizers.laplace(eps0=1.0), n=1000, delta=1e-6, bounds=[local])
    >>> answer.eps
    1.0
    """

    name: str
    says: str
    epsilon: Callable[["Question"], float]

    def __reduce__(self):  # another process finds the functions of `ALL`, which are lambdas, by name
        return (_of_all, (self.name,)) if self in ALL else (Bound, (self.name, self.says, self.epsilon))


def _of_all(name):
    return next(bound for bound in ALL if bound.name == name)


class Answer(NamedTuple):
    """The answer of one bound: ε, or NaN and the reason.

    Examples
    --------
    >>> from shufflelib.published import comparison
    >>> from shufflelib import randomizers
    >>> early = [bound for bound in comparison.ALL if bound.name == "EFMRTT'19"]
    >>> [answer] = comparison.compare(randomizers.laplace(eps0=1.0), n=1000, delta=1e-6, bounds=early)
    >>> answer.eps, answer.reason
    (nan, 'the theorem needs eps0 <= 1/2; here eps0 = 1.0')
    """

    bound: Bound
    eps: float
    reason: str


class Comparison(tuple[Answer, ...]):
    """The answers of all bounds; made by `compare`, and a table wherever it is shown.

    Examples
    --------
    >>> from shufflelib.published import comparison
    >>> from shufflelib import randomizers
    >>> two = comparison.ALL[:2]
    >>> comparison.compare(randomizers.generalized_rr(eps0=1.0, d=10), n=1000, delta=1e-6, bounds=two)
    bound            epsilon  note
    certified lower  0.08013  certified: a dataset attains it, so no valid bound is smaller
    certified upper  0.08017  certified for this randomizer and all neighbouring datasets
    """

    @property
    def table(self) -> Table:
        """Each bound with its ε, and what it says or why it does not apply."""
        return Table(
            {
                "bound": one.bound.name,
                "epsilon": None if math.isnan(one.eps) else _rounded(one),
                "note": one.reason or one.bound.says,
            }
            for one in self
        )

    def __repr__(self):
        return str(self.table)

    def _repr_html_(self):
        return self.table._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as a dictionary that JSON can hold."""
        rows = [
            {"bound": one.bound.name, "epsilon": one.eps, "says": one.bound.says, "reason": one.reason}
            for one in self
        ]
        return {"rows": rows}

    def to_frame(self) -> "DataFrame":
        """Return a row for each bound as a `pandas.DataFrame`: its ε, or NaN and the reason, and its words.

        ``says`` tells bounds from limits, which prove nothing at a finite n, and from what is refuted.
        """
        return data_frame(self.to_dict()["rows"])

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the ε of each bound that applies and return the axes; needs matplotlib."""
        known = [one for one in self if math.isfinite(one.eps)][::-1]
        ax = axes(ax, figsize=(WIDE, max(3.0, 1.0 + LINE * len(known))))
        widths = [one.eps for one in known]
        ax.barh([one.bound.name for one in known], widths, color="0.6")
        ax.set(xlabel="central ε", xscale="log")
        near = max(widths, default=1.0) < SEVERAL_TICKS * min(widths, default=1.0)
        ticks: Any = ax.xaxis.get_major_locator()
        ticks.set_params(subs=(1.0, 2.0, 5.0) if near else (1.0,))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("")
        return ax


def _rounded(answer):
    """Return ε to the digits of a table, rounded to the side on which a certified bound stays true."""
    return float(written(answer.eps, up=answer.bound.name != "certified lower", digits=4))


class Gaps(NamedTuple):
    """Four values of ε in increasing order: the bracket of the best attack, then that of the best bound.

    The numerical gap lies between the first two and between the last two, the theory gap between the inner
    two.  Where the brackets overlap, the computed values resolve no theory gap.

    Examples
    --------
    >>> from shufflelib.published import comparison
    >>> ends = comparison.Gaps(attack_lower=0.100, attack_upper=0.101, bound_lower=0.120, bound_upper=0.121)
    >>> round(ends.theory, 2), round(ends.numerical, 2)
    (0.19, 0.02)
    """

    attack_lower: float
    attack_upper: float
    bound_lower: float
    bound_upper: float

    @property
    def numerical(self) -> float:
        """Width of the two brackets together, relative to the attack."""
        width = (self.attack_upper - self.attack_lower) + (self.bound_upper - self.bound_lower)
        return width / self.attack_lower if self.attack_lower > 0.0 else math.inf

    @property
    def theory(self) -> float:
        """Distance of the two brackets, relative to the attack."""
        distance = max(self.bound_lower - self.attack_upper, 0.0)
        return distance / self.attack_lower if self.attack_lower > 0.0 else math.inf


def compare(
    randomizer: LocalRandomizer, *, n: int, delta: float, bounds: Iterable[Bound] | None = None
) -> Comparison:
    r"""Evaluate every bound on ε at ``delta``.

    Parameters
    ----------
    randomizer : LocalRandomizer
        What every user applies.
    bounds : iterable of Bound, optional
        Bounds to evaluate, `ALL` by default; they may include your own.

    Returns
    -------
    Comparison
        A tuple of `Answer`, in the order of ``bounds``; the first two of `ALL` are the certified bounds, no
        other one is certified for this randomizer unless its ``says`` does.

    Notes
    -----
    Cost O(1) in n: about a dozen closed forms, and five curves enclosed numerically.

    Examples
    --------
    >>> from shufflelib.published import comparison
    >>> from shufflelib import randomizers
    >>> answers = comparison.compare(randomizers.generalized_rr(eps0=1.0, d=10), n=1000, delta=1e-6)
    >>> [(one.bound.name, round(one.eps, 4)) for one in answers[:3]]
    [('certified lower', 0.0801), ('certified upper', 0.0802), ("stronger clones FMT'23, pair", 0.1487)]
    """
    question = Question(randomizer, n, delta)
    asked = progress(ALL if bounds is None else bounds, desc="bounds", delay=2.0)
    return Comparison(_answer(bound, question) for bound in asked)


def gaps(randomizer: LocalRandomizer, *, n: int, delta: float) -> Gaps:
    """Split the gap between attack and bound into a theory gap and a numerical gap.

    Parameters and errors as for `compare`.

    Returns
    -------
    Gaps
        ε at ``delta`` for the best attack and for the best bound, each with certified lower and upper bounds.

    Notes
    -----
    The error of discretising a continuous output is counted in the theory gap.  For Laplace noise up to
    eps0 = 8 that is about 1e-5 of δ, for Gaussian noise with small σ and for planar noise more.

    Examples
    --------
    >>> from shufflelib.published import comparison
    >>> from shufflelib import randomizers
    >>> found = comparison.gaps(randomizers.generic(eps0=1.0), n=1000, delta=1e-6)
    >>> round(found.theory, 2), found.numerical < 1e-6
    (0.14, True)
    """
    question = Question(randomizer, n, delta)
    profile = shuffle(randomizer, n=n)
    attack, bound = (_ends(pairs, delta) for pairs in (profile.attack_pairs, profile.dominating_pairs))
    known = question.ends.lower  # a profile may know a better attack at this δ
    ends = (max(attack[0], known), max(attack[1], known), *bound)
    return Gaps(*(min(end, randomizer.eps0) for end in ends))


def _ends(pairs, delta):
    """Return both bounds on ε at ``delta`` for the worst of these pairs."""
    found = answers([asking_epsilon((pair,), (pair,), math.log(delta)) for pair in pairs])
    return tuple(map(max, zip(*found, strict=True)))


def _answer(bound, question):
    try:
        return Answer(bound, float(bound.epsilon(question)), "")
    except OutOfRegime as refusal:
        return Answer(bound, math.nan, str(refusal))


def _of_budget(formula):
    """Return the answer of a closed form in eps0."""
    return lambda asked: formula(eps0=asked.eps0, n=asked.n, delta=asked.delta)


def _of_pair(pair):
    return lambda asked: pair(eps0=asked.eps0, n=asked.n).epsilon(asked.delta).upper


def _of_parameters(formula):
    """Return the answer of a closed form in (p, β, q) as printed."""
    return lambda asked: formula(**asked.parameters, n=asked.n, delta=asked.delta)


def _pair_as_published(asked):
    p, beta, q = asked.parameters.values()
    return VariationRatioPair(n=asked.n, p=p, beta=beta, q0=q).epsilon(asked.delta).upper


def _blanket(asked, known):
    """Return the smaller ε of Hoeffding's and Bennett's inequality."""
    formulas = closed_form.blanket_hoeffding_specific, closed_form.blanket_bennett_specific
    return min(formula(blanket=known, n=asked.n, delta=asked.delta) for formula in formulas)


def _blanket_of_budget(asked):
    return _blanket(asked, BlanketBounds.generic(eps0=asked.eps0))


def _blanket_of_randomizer(asked):
    if isinstance(asked.randomizer, laplace):
        return _blanket(asked, BlanketBounds.laplace(eps0=asked.eps0))
    eps0, pairs = asked.eps0, asked.randomizer.input_pairs()
    gamma = min(math.fsum(pair.blanket.w) for pair in pairs)
    return _blanket(asked, BlanketBounds.extremal(eps0=eps0, gamma=gamma))


def _through_renyi(asked):
    orders = np.unique(np.geomspace(2.0, LARGEST_ORDER, 60).astype(int))
    values = [renyi.girgis21_upper(eps0=asked.eps0, n=asked.n, order=int(order)) for order in orders]
    bounds = conversions.epsilon_from_renyi_canonne20(order=orders, renyi=values, delta=asked.delta)
    return conversions.best_over_orders(bounds, order=orders).value


def _gaussian_limit(asked):
    mu = renyi.gaussian_mu_ccg24(eps0=asked.eps0, n=asked.n)
    require(mu <= LARGEST_MU, f"a separation mu <= {LARGEST_MU:g}", f"mu = {mu:g}; use more users")
    return Gaussian(mu).epsilon(asked.delta).upper


def _limit(end):
    """Return the answer of the normal limit with one end of the shuffle index's band."""

    def epsilon(asked):
        one = asked.randomizer
        try:
            known = gaussian_index(sigma=one.sigma) if isinstance(one, gaussian) else shuffle_index(one)
        except ValueError as none:
            raise OutOfRegime(str(none)) from none
        return asymptotic_epsilon(chi=getattr(known, end), n=asked.n, delta=asked.delta)

    return epsilon


EVERY = "proved for every pure eps0-LDP randomizer that all users share"
TRIED = "upper bound, sound where tried"
ALL = (
    Bound(
        "certified lower",
        "certified: a dataset attains it, so no valid bound is smaller",
        lambda asked: asked.ends.lower,
    ),
    Bound(
        "certified upper",
        "certified for this randomizer and all neighbouring datasets",
        lambda asked: asked.ends.upper,
    ),
    Bound(
        "stronger clones FMT'23, pair",
        f"certified upper bound; {EVERY} (identical, not adaptive)",
        _of_pair(renyi.generic_pair),
    ),
    Bound(
        "clones FMT'21, pair",
        f"certified upper bound; {EVERY}, adaptive ones too",
        _of_pair(renyi.clones_pair_fmt21),
    ),
    Bound(
        "variation-ratio pair",
        "refuted as a bound where 1 - α - αp > 0: may be below the truth",
        _pair_as_published,
    ),
    Bound(
        "variation-ratio Thm 4.7",
        "refuted in its printed regime: may be below the truth",
        _of_parameters(closed_form.variation_ratio_analytic),
    ),
    Bound(
        "variation-ratio Thm 4.8",
        "above the pair where tried; the pair itself may be below the truth",
        _of_parameters(closed_form.variation_ratio_asymptotic),
    ),
    Bound("blanket, specific", TRIED, _blanket_of_randomizer),
    Bound("blanket, generic", TRIED, _blanket_of_budget),
    Bound("stronger clones FMT'23, closed form", TRIED, _of_budget(closed_form.stronger_clones_fmt23)),
    Bound("clones FMT'21, closed form", TRIED, _of_budget(closed_form.clones_fmt21)),
    Bound("EFMRTT'19", TRIED, _of_budget(closed_form.erlingsson19)),
    Bound("Girgis'21, full sum", "upper bound through Rényi divergence, sound where tried", _through_renyi),
    Bound("shuffle index, blanket", "limit of the certified upper bound for many users", _limit("blanket")),
    Bound("shuffle index, attack", "limit of the certified lower bound for many users", _limit("attack")),
    Bound("CCG'24, Theorem 2", "a limit without error term, on either side of the truth", _gaussian_limit),
)
