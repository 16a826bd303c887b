r"""Audit of a sampler: what its draws prove about the local budget, and which slip they look like.

**The lower bound.**  For an event S of one report and all values x, x',

.. math:: \varepsilon_0 \ge \log \frac{R_x(S)}{R_{x'}(S)} .

The values and the event are chosen on one half of the draws.  The other half counts how often S happens;
with Clopper-Pearson limits of both shares the quotient is too large with probability 1 − confidence.

**The comparison.**  The draws of each value are compared with as many of a mechanism that the sampler is
meant to be, and of variants with one slip each, by the chi-squared statistic of two samples.

Source: Jagielski, Ullman, Oprea, "Auditing differentially private machine learning" (NeurIPS 2020), for the
lower bound from counts; Clopper, Pearson (Biometrika 1934) for the limits.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from scipy import special

from shufflelib.numerics import validation
from shufflelib.numerics.certified import written
from shufflelib.numerics.optional import progress
from shufflelib.numerics.types import Array
from shufflelib.randomizers.additive import gaussian
from shufflelib.randomizers.frequency_oracle import FrequencyOracle
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.randomizers.response import generalized_rr

Sampler = Callable[[Any, np.random.Generator], Any]

MOST_VALUES = 16  # that are drawn from
MOST_SYMBOLS = 256  # kinds of reports that are told apart
MOST_COLUMNS = 6  # of a vector of bits, those that depend most on the value
LEAST = 20  # reports of a class whose counts are compared by themselves
DIFFERS = 1e-6  # a mechanism that is what it is meant to be is called another with this chance
NOTHING_PROVED = (
    "draws prove a budget from below only: no number of them shows that it is not larger, since reports "
    "that are rare or were not drawn may tell values apart; a table of shares from draws is no certificate"
)


@dataclass(frozen=True)
class Audit:
    """What draws of a sampler show.

    Attributes
    ----------
    lower : float
        Proved lower bound on the local budget ε₀ of one report, at the confidence.
    stated : float or None
        The budget of the mechanism that the sampler is meant to be.
    confidence : float
        Chance, at least, that ``lower`` is below the true ε₀.
    values : tuple
        The two values whose reports were told apart.
    p_value : float or None
        Chance that draws of the stated mechanism differ as much from it; None if none is stated.
    slip : str
        The variant that the draws look like, in words; empty if they look like the stated mechanism, or like
        no variant that was tried.
    draws : int
        Reports drawn for each value.

    Examples
    --------
    >>> from shufflelib import estimation, randomizers
    >>> coin = randomizers.binary_rr(eps0=1.0)
    >>> found = estimation.audit(coin.sample, like=coin)
    >>> found.refuted, found.lower < 1.0
    (False, True)
    """

    lower: float
    stated: float | None
    confidence: float
    values: tuple[Any, Any]
    p_value: float | None
    slip: str
    draws: int

    @property
    def refuted(self) -> bool:
        """Whether the draws contradict the stated mechanism or its budget."""
        return self._too_large or (self.p_value is not None and bool(self.p_value < DIFFERS))

    @property
    def _too_large(self):
        return self.stated is not None and bool(self.lower > self.stated)

    def __str__(self):
        first, second = self.values
        lower = written(self.lower, up=False, digits=4)
        text = f"eps0 of one report is at least {lower}, at confidence {self.confidence:g}"
        text += f" (values {first!r} and {second!r}, {self.draws:,} draws of each value)"
        if self._too_large:
            text += f"\nthis is more than the stated {self.stated:.4g}"
        if self.refuted:
            text += "\nthe reports are not those of the stated mechanism"
            text += (
                f"; they look like this slip: {self.slip}"
                if self.slip
                else "; no slip that was tried explains them"
            )
        elif self.stated is not None:
            text += "\nno difference from the stated mechanism was found"
        return f"{text}\n{NOTHING_PROVED}"

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as a dictionary that JSON can hold."""
        found = dataclasses.asdict(self) | {"refuted": self.refuted, "says nothing of": NOTHING_PROVED}
        return found | {"values": [np.asarray(one).tolist() for one in self.values]}


def audit(
    sample: Sampler,
    values: Sequence[Any] | None = None,
    *,
    like: LocalRandomizer | None = None,
    draws: int = 100_000,
    confidence: float = 0.99,
    seed: int = 0,
) -> Audit:
    r"""Draw reports, and bound the local budget from below.

    .. math:: \varepsilon_0 \ge \log \frac{\underline{R_x(S)}}{\overline{R_{x'}(S)}}

    Parameters
    ----------
    sample : callable
        ``sample(x, rng)`` takes an array of values and a numpy Generator and returns one report for each: a
        number, a label, or a row of numbers.
    values : sequence, optional
        At least two values, at most 16, that ``sample`` takes.  By default those of ``like``: its options, or
        16 of them, or 0 and 1.
    like : LocalRandomizer, optional
        The mechanism that ``sample`` is meant to be.
    draws : int
        Reports drawn for each value, 1000 to 10⁸.
    confidence : float
        Of the lower bound, between 0.5 and 1.
    seed : int
        Of all randomness; ``sample`` gets a Generator made of it.

    Returns
    -------
    Audit
        ``lower`` is below the true ε₀ with the stated confidence, whatever the sampler is.

    Raises
    ------
    ValueError
        If the values are missing, or reports are not one for each value.

    Notes
    -----
    Reports of many kinds are put into 256 classes, which is post-processing: a bound on the budget of classes
    is one on that of reports.  A large budget that rests on rare reports is not found.

    Examples
    --------
    A client that redraws its answer from all ten options, the true one included:

    >>> import numpy as np
    >>> from shufflelib import estimation, randomizers
    >>> def sample(x, rng):
    ...     keep = rng.random(len(x)) < np.exp(1.0) / (np.exp(1.0) + 9)
    ...     return np.where(keep, x, rng.integers(10, size=len(x)))
    >>> found = estimation.audit(sample, like=randomizers.generalized_rr(eps0=1.0, d=10))
    >>> found.refuted, found.slip
    (True, 'the other answers are drawn from all options, the true one included')
    """
    if not callable(sample):
        raise TypeError(
            f"sample must be a function of values and a Generator, got {validation.shown(sample)}"
        )
    if like is not None:
        validation.instance(like, "like", LocalRandomizer, remedy="such as randomizers.binary_rr(eps0=1.0)")
    draws = validation.count(draws, "draws", at_least=1000, at_most=10**8, remedy="reports for each value")
    confidence = validation.real(confidence, "confidence", at_least=0.5, below=1.0)
    values = _checked(values, like)
    rng = np.random.default_rng(validation.count(seed, "seed", at_least=0))
    drawn = [_drawn(sample, value, draws, rng) for value in progress(values, unit="value")]
    counted = _counting([one[: draws // 2] for one in drawn])
    lower, pair = _lower_bound(counted, drawn, draws // 2, 1.0 - confidence)
    p_value, slip = (None, "") if like is None else _compared(drawn, values, like, draws, rng)
    stated = None if like is None or math.isinf(like.eps0) else float(like.eps0)
    first, second = (values[at] for at in pair)
    return Audit(lower, stated, confidence, (first, second), p_value, slip, draws)


def _checked(values, like):
    """Return the values to draw from."""
    values = _values_of(like) if values is None else values
    if values is None:
        raise ValueError("values must be given: two or more that sample takes, such as [0.0, 1.0]")
    values = list(values)
    if not 2 <= len(values) <= MOST_VALUES:
        raise ValueError(
            f"values must be 2 to {MOST_VALUES}, got {len(values)}; the most different ones suffice"
        )
    return values


def _values_of(like):
    """Return the options of a mechanism, or some of them, or None if its values are no options."""
    if isinstance(like, FrequencyOracle) and hasattr(like, "d"):
        return np.unique(np.linspace(0, like.d - 1, min(like.d, MOST_VALUES)).astype(int)).tolist()
    return [0, 1] if isinstance(like, gaussian) else None


def _drawn(sample, value, draws, rng):
    """Return reports of one value, as an array with one row for each."""
    reports = np.asarray(sample(np.array([value] * draws), rng))
    if reports.shape[:1] != (draws,):
        raise ValueError(
            f"sample must return one report for each of {draws} values, got {validation.shown(reports)}; "
            "of a function of one value make lambda x, rng: [one_report(value, rng) for value in x]"
        )
    if reports.dtype.kind not in "biufUS":
        raise ValueError(
            f"sample must return numbers, labels or rows of numbers, got {validation.shown(reports[0])}; "
            "of a hashed report return whether it supports each of two items"
        )
    return reports.reshape(draws, -1)


def _counting(drawn):
    """Return a function that counts reports by classes that tell these apart: at most `MOST_SYMBOLS`."""
    pooled = np.concatenate(drawn)
    columns = np.arange(pooled.shape[1])
    if pooled.shape[1] > MOST_COLUMNS:
        means = np.array([one.mean(axis=0) for one in drawn])
        columns = np.argsort(np.ptp(means, axis=0))[-MOST_COLUMNS:]
    known, often = np.unique(_keys(pooled[:, columns]), return_counts=True)
    if len(known) > MOST_SYMBOLS and pooled.dtype.kind in "iuf" and columns.size == 1:
        edges = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, MOST_SYMBOLS)[1:-1]))
        return lambda reports: np.bincount(np.searchsorted(edges, reports[:, 0]), minlength=len(edges) + 1)
    kept = {one.tobytes(): at for at, one in enumerate(known[np.argsort(often)[-MOST_SYMBOLS + 1 :]])}

    def counted(reports):
        keys, counts = np.unique(_keys(reports[:, columns]), return_counts=True)
        found = np.zeros(len(kept) + 1, int)  # the last class holds all others
        for key, count in zip(keys, counts, strict=True):
            found[kept.get(key.tobytes(), -1)] += count
        return found

    return counted


def _keys(rows):
    """Return one entry for each row, equal where rows are."""
    rows = np.ascontiguousarray(rows if rows.dtype.kind in "US" else rows.astype(float))
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _lower_bound(counts, drawn, half, error):
    """Return the bound on ε₀ and its values, from an event that one half chose and the other counts."""
    chosen = np.array([counts(one[:half]) for one in drawn])
    counted = np.array([counts(one[half:]) for one in drawn])
    best = -math.inf, (0, 1), np.zeros(chosen.shape[1], bool)
    for first, second in permutations(range(len(drawn)), 2):
        order = np.argsort((chosen[second] + 0.5) / (chosen[first] + 0.5), kind="stable")
        inside = [np.cumsum(chosen[at][order])[:-1] for at in (first, second)]
        bounds = _log_quotient(*inside, half, half, error)
        at = int(np.argmax(bounds))
        if bounds[at] > best[0]:
            event = np.zeros(chosen.shape[1], bool)
            event[order[: at + 1]] = True
            best = bounds[at], (first, second), event
    _, (first, second), event = best
    sizes = (len(drawn[at]) - half for at in (first, second))
    found = _log_quotient(*(counted[at][event].sum() for at in (first, second)), *sizes, error)
    return max(0.0, float(found)), (first, second)


def _log_quotient(hits, others, size, other_size, error) -> Array:
    """Return the logarithm of a lower limit of one share over an upper limit of the other."""
    hits, others = np.asarray(hits, float), np.asarray(others, float)
    with np.errstate(divide="ignore"):
        low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), size - hits + 1, 0.5 * error), 0.0)
        free = np.maximum(other_size - others, 1)
        high = np.where(others < other_size, special.betaincinv(others + 1, free, 1.0 - 0.5 * error), 1.0)
        return np.log(low) - np.log(high)


def _compared(drawn, values, like, draws, rng):
    """Return the p-value of the mechanism that is meant, and the slip that the draws look like."""
    counted = _counting(drawn)
    observed = [counted(one) for one in drawn]

    def p_value(sample):
        found = []
        for value, counts in zip(values, observed, strict=True):
            reports = _drawn(sample, value, draws, rng)
            if reports.shape != drawn[0].shape:
                return 0.0
            expected = counted(reports)
            often = counts + expected >= LEAST
            table = np.array([[*one[often], one[~often].sum()] for one in (counts, expected)])
            found.append(_homogeneous(table[:, table.sum(axis=0) > 0]))
        return min(1.0, len(found) * min(found))

    meant = p_value(like.sample)
    if meant >= DIFFERS:
        return meant, ""
    slips = [*_slips(like)]
    tried = {words: p_value(sample) for words, sample in progress(slips, unit="slip")}
    words = max(tried, key=lambda one: tried[one], default="")
    return meant, words if tried.get(words, 0.0) >= DIFFERS else ""


def _homogeneous(table):
    """Return the p-value of the chi-squared test that two rows of counts have the same shares."""
    alike = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(special.chdtrc(max(table.shape[1] - 1, 1), ((table - alike) ** 2 / alike).sum()))


def _slips(like) -> Iterator[tuple[str, Sampler]]:
    """Return variants of a mechanism with one slip each, in words and as samplers."""
    if "eps0" in {field.name for field in dataclasses.fields(like)}:
        factors = {
            "the budget is halved": 0.5,
            "the budget is doubled": 2.0,
            "the budget is read as a power of two": math.log(2.0),
            "the budget is divided by log 2": 1.0 / math.log(2.0),
        }
        for words, factor in factors.items():
            yield words, dataclasses.replace(like, eps0=factor * like.eps0).sample
    if "sigma" in {field.name for field in dataclasses.fields(like)}:
        for words, sigma in {"the deviation is taken for the variance": like.sigma**0.5,
                             "the variance is taken for the deviation": like.sigma**2,
                             "the noise is halved": 0.5 * like.sigma}.items():  # fmt: skip
            yield words, dataclasses.replace(like, sigma=sigma).sample
    if isinstance(like, generalized_rr):
        lie = 1.0 / (math.exp(like.eps0) + like.d - 1.0)
        inclusive = generalized_rr(redraw=1.0 - math.exp(like.eps0) * lie, d=like.d)
        yield "the other answers are drawn from all options, the true one included", inclusive.sample
        yield "p for q: the truth has the probability of one other answer", _with_truth(lie, like.d)
        yield "the truth is told with probability 1/2", _with_truth(0.5, like.d)
    yield "ones and zeros are exchanged", lambda x, rng: 1 - like.sample(x, rng)
    yield (
        "reports do not depend on the value",
        lambda x, rng: like.sample(rng.permutation(_mixed(like, x)), rng),
    )
    yield "values are reported as they are", lambda x, rng: x


def _with_truth(truth, d) -> Sampler:
    def sample(x, rng):
        other = (x + rng.integers(1, d, size=x.size)) % d
        return np.where(rng.random(x.size) < truth, x, other)

    return sample


def _mixed(like, x):
    """Return values of all kinds, as many as x."""
    kinds = _values_of(like)
    return x if kinds is None else np.resize(kinds, x.shape)
