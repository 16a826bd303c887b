r"""Key-value pairs with a budget for the key and one for the value: privkv."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.types import Array
from shufflelib.profiles.likelihood_ratios import InputPair
from shufflelib.randomizers import values
from shufflelib.randomizers.frequency_oracle import KeyValueSupports, Support


@dataclass(frozen=True, kw_only=True)
class privkv(KeyValueSupports):
    r"""Build privkv: pick one of d keys, randomise whether the user holds it, and the sign of its value.

    With e_i = e^{eps_i}, eps2 = eps0 - eps1 and j uniform, a holder of (j, v), v = ±1, reports

    .. math:: (j, \pm v) \;\text{w.p.}\; \frac{e_1}{e_1+1}\,\frac{(e_2, 1)}{e_2+1}, \qquad
              (j, 0) \;\text{w.p.}\; \frac{1}{e_1+1},

    and everybody else reports (j, 0) with probability e1/(e1+1) and otherwise (j, ±1) evenly.

    Parameters
    ----------
    eps0 : float
        Local budget in nats, 0 < eps0 <= 700.
    d : int
        Number of keys, at least 2.
    s : int
        Keys held by each user, 1 to d.
    eps1 : float, optional
        Part of the budget spent on the key, 0 < eps1 < eps0; by default eps0/2.  The value gets the rest.

    Notes
    -----
    ``sample`` maps (keys (n, s), values (n, s) in [-1, 1]) to rows (key, sign), sign -1, 0 or 1, shape
    (n, 2); ``estimate`` returns key frequencies (d,) and values summed over each key's holders, per user,
    (d,); their quotient estimates the key's mean.

    Wang 2024, Table 5 [66]: p = q = e^eps0,
    β = 2 s max{e1(e2-1)/(e2+1), e1 - 1 + (e2-1)/(2(e2+1))} / (d(e1+1)).

    The printed β is loose.  Users with u common keys of opposite values and s - u keys each that the other
    lacks are at total variation (u A + 2(s-u) B)/d with A = e1(e2-1)/((e1+1)(e2+1)) and B = max{e1 - 1, e1
    e2/(e2+1) - 1/2}/(e1+1).  At eps1 = eps2 = log 3, d = 4, s = 2: truth 0.5, printed 0.5625.  The printed p
    is loose too: the largest density ratio is max{e1, e2, 2 e1 e2/(e2+1)}, 4.5 instead of 9 there.

    `input_pairs`: common keys with equal values bring the inputs closer.  So do common keys with opposite
    values where absent keys attain the blanket, 2 e1 >= e2 + 1 (always if eps1 >= eps2): when a common key
    becomes one key of each user, the values (π - E m, 1 - E) of (R_0 - E R_1)/w on each output move apart to
    (π - E, 1 - E m), π, m >= 1.  Then the least u is the worst; elsewhere every possible u is returned.

    Examples
    --------
    The printed β, and the total variation.

    >>> from shufflelib import randomizers
    >>> mechanism = randomizers.privkv(eps0=1.0, d=10, s=2)
    >>> rows = mechanism.class_masses()
    >>> round(mechanism.beta, 4), round(float(abs(rows[0] - rows[1]).sum()) / 2, 4)
    (0.1165, 0.098)
    """

    eps1: float = None  # type: ignore[assignment]  # never None once made

    signs = -1, 0, 1

    def __post_init__(self):
        super().__post_init__()
        eps1 = self.eps0 / 2.0 if self.eps1 is None else self.eps1
        remedy = "eps1 and eps0 - eps1 are both positive"
        self._set("eps1", validation.real(eps1, "eps1", above=0.0, below=self.eps0, remedy=remedy))

    @property
    def eps2(self) -> float:
        """Budget spent on the value."""
        return self.eps0 - self.eps1

    @property
    def beta(self) -> float:
        """Published β, above the true total variation."""
        sign, key = np.tanh(self.eps2 / 2.0), self._keep_key
        lost = np.exp(-self.eps1) * key
        return float(2.0 * self.s / self.d * max(key * sign, np.tanh(self.eps1 / 2.0) + lost * sign / 2.0))

    @property
    def _keep_key(self):
        return 1.0 / (1.0 + np.exp(-self.eps1))

    def _distributions(self):
        """Return the pmfs of (+1, -1, 0), given a key, of holders of +1, -1 and 0 and of everyone else."""
        key, lost = self._keep_key, np.exp(-self.eps1) * self._keep_key
        sign, odds = 1.0 / (1.0 + np.exp(-self.eps2)), np.exp(-self.eps2)
        plus = np.array([key * sign, key * sign * odds, lost])
        return (
            plus,
            plus[[1, 0, 2]],
            np.array([key / 2.0, key / 2.0, lost]),
            np.array([lost / 2.0, lost / 2.0, key]),
        )

    def _pair(self, common):
        """Return class masses and blanket for users with ``common`` keys of opposite values."""
        plus, minus, zero, absent = self._distributions()
        single = self.s - common
        free = self.d - self.s - single
        fits = free >= self.s
        groups = [  # number of keys, then the pmfs of x0, x1, x0's keys with value 0, and s keys of nobody
            (common, plus, minus, zero, absent),
            (single, plus, absent, zero, absent),
            (single, absent, plus, absent, absent),
            (self.s if fits else 0, absent, absent, absent, plus),
            (free - self.s if fits else free, absent, absent, absent, absent),
        ]
        groups = [group for group in groups if group[0] > 0]
        rows = np.array(
            [
                np.concatenate([keys / self.d * distributions[i] for keys, *distributions in groups])
                for i in range(3 + fits)
            ]
        )
        everyone = np.min([plus, minus, absent] if self.s < self.d else [plus, minus], axis=0)
        return rows, np.concatenate([keys / self.d * everyone for keys, *_ in groups])

    def _overlaps(self):
        """Return the numbers of common keys that can be the worst."""
        least = max(0, 2 * self.s - self.d)
        _, minus, _, absent = self._distributions()
        return range(least, least + 1) if absent[0] <= minus[0] else range(least, self.s + 1)

    def _worst(self):
        def variation(common):
            rows = self._pair(common)[0]
            return np.abs(rows[0] - rows[1]).sum()

        return self._pair(max(self._overlaps(), key=variation))

    def class_masses(self) -> Array:
        """Return class masses of the pair with the largest total variation, and of two inputs x*."""
        return self._worst()[0]

    def blanket(self) -> Array:
        """Return the exact blanket on the same classes."""
        return self._worst()[1]

    def input_pairs(self) -> tuple[InputPair, ...]:
        """Return one pair for each number of common keys with opposite values."""
        return tuple(
            InputPair.from_rows(*self._pair(common), mirrored=True, lopsided=(2,) if common < self.s else ())
            for common in self._overlaps()
        )

    def sample(self, x: Any, rng: np.random.Generator) -> Any:
        """Report rows (key, sign) with sign -1, 0 or 1, shape (n, 2)."""
        keys, held = values.key_values(x, "x", self.d, self.s)
        rng = values.generator(rng)
        n = len(keys)
        key = rng.integers(self.d, size=n)
        match = keys == key[:, None]
        holds = match.any(axis=1)
        mean = (match * held).sum(axis=1) * np.tanh(self.eps2 / 2.0)
        sign = np.where(rng.random(n) < (1.0 + mean) / 2.0, 1, -1)
        reported = holds == (rng.random(n) < self._keep_key)
        return np.column_stack([key, np.where(reported, sign, 0)])

    @property
    def support(self) -> Support:
        """The reported key is supported unless its sign is 0."""
        lost = np.exp(-self.eps1) * self._keep_key
        return Support(float(self._keep_key / self.d), float(lost / self.d))

    @property
    def value_contrast(self) -> float:
        """Probability that a held pair is reported, less that its opposite is."""
        return float(self._keep_key * np.tanh(self.eps2 / 2.0) / self.d)
