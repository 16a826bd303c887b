"""What randomizers made from others have in common: their parts, and reports with one field for each part."""

import inspect
from collections.abc import Sequence

import numpy as np

from shufflelib.profiles.adjacency import united
from shufflelib.randomizers.local_randomizer import BinaryLosses, LocalRandomizer


class Composite(LocalRandomizer):
    """A randomizer made from others; one of them at most makes each report."""

    randomizers: Sequence[LocalRandomizer]

    @property
    def components(self) -> Sequence[LocalRandomizer]:
        """The randomizers of which it is made."""
        return self.randomizers

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Those of the components."""
        return united(*(part.assumptions for part in self.components))

    @property
    def has_worst_pair(self) -> bool:
        """Whether every component has one."""
        return all(part.has_worst_pair for part in self.components)

    @property
    def binary_losses(self) -> BinaryLosses | None:
        """Those of the only component, if it makes every report."""
        return self.components[0].binary_losses if self._alone else None

    @property
    def _alone(self):
        return len(self.components) == 1

    @property
    def p(self) -> float:
        """Published ratio bound, the largest of the components'."""
        return max(part.variation_ratio()[0] for part in self.components)

    @property
    def q(self) -> float:
        """Published ratio bound towards another user's report, the largest of the components'."""
        return max(part.variation_ratio()[2] for part in self.components)

    def local_renyi(self, order: float) -> float:
        """Return the largest one of the components."""
        return max(part.local_renyi(order) for part in self.components)


def randomizer_list(randomizers):
    """Return the randomizers as a tuple; raise an error that names anything else."""
    if isinstance(randomizers, LocalRandomizer) or not isinstance(randomizers, list | tuple):
        raise TypeError(
            f"randomizers must be a list or tuple of LocalRandomizers, got {randomizers!r}; "
            "build them with shufflelib.randomizers"
        )
    if not randomizers:
        raise ValueError("randomizers must not be empty; pass at least one LocalRandomizer")
    for randomizer in randomizers:
        if not isinstance(randomizer, LocalRandomizer):
            raise TypeError(f"randomizers must hold LocalRandomizers only, got {randomizer!r}")
        if not randomizer.has_worst_pair:
            raise ValueError(
                f"randomizers must each have a pair of inputs known to be the worst, got {randomizer!r}; "
                "write down the probabilities of the whole and pass them to randomizers.from_pmf"
            )
    return tuple(randomizers)


def drawn(components, x, rng):
    """Return every user's reports from each component; ``x`` holds one array of inputs for each component."""
    if not isinstance(x, list | tuple) or len(x) != len(components):
        raise TypeError(
            f"x must be a tuple of {len(components)} inputs, one for each component, got "
            f"{type(x).__name__}; where all take the same values pass (values,) * {len(components)}"
        )
    reports = [component.sample(part, rng) for component, part in zip(components, x, strict=True)]
    sizes = {len(part) for part in reports}
    if len(sizes) > 1:
        raise ValueError(f"x must hold every user's input to each component, got {sorted(sizes)} users")
    return reports


def table(columns):
    """Return a structured array with these columns, a dictionary of arrays with one row for each user."""
    types = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
    rows = np.empty(len(next(iter(columns.values()))), dtype=types)
    for name, column in columns.items():
        rows[name] = column
    return rows


def only(kept, reports):
    """Return the reports with zeros in the rows that are not kept."""
    blank = np.zeros_like(reports)
    blank[kept] = reports[kept]
    return blank


def columns_of(reports, names):
    """Return the columns of the structured array that ``sample`` returned."""
    if not isinstance(reports, np.ndarray) or list(reports.dtype.names or ()) != names:
        raise TypeError(
            f"reports must be the structured array that sample returns, got {type(reports).__name__}; "
            f"it has one row for each user and the columns {names}"
        )
    if reports.size == 0:
        raise ValueError("reports must not be empty; pass one row for each user")
    return [np.ascontiguousarray(reports[name]) for name in names]


def estimated(randomizer, reports, n=None):
    """Return the estimate from what is known to be no counts: n users' reports, by default one each."""
    n = len(reports) if n is None else n
    takes_n = "n" in inspect.signature(randomizer.estimate).parameters
    return randomizer.estimate(reports, **({"n": n} if takes_n else {}))


def scaled_estimate(randomizer, reports, made, chance):
    """Return the unbiased estimate of all users from the reports ``made``, each with this probability."""
    read = reports[made] if made.any() else reports[:1]  # any report serves, it is multiplied by 0
    estimate, share = estimated(randomizer, read), made.mean() / chance
    return tuple(share * part for part in estimate) if isinstance(estimate, tuple) else share * estimate
