"""Every mechanism is in the lists of tests that its kind needs, which CONTRIBUTING.md names."""

import re
from pathlib import Path

from oracles.populations import ESTIMATED
from oracles.small_domains import FINITE
from shufflelib import randomizers
from shufflelib.randomizers.local_randomizer import FiniteRandomizer, LocalRandomizer

TESTS = Path(__file__).resolve().parents[1]
DEFINED = (TESTS / "records.py", *(TESTS / "oracles").glob("*.py"))


def names(kind):
    return {name for name in randomizers.__all__ if issubclass(getattr(randomizers, name), kind)}


def refuse(missing, where):
    assert not missing, f"{', '.join(sorted(missing))}: add a case to {where}, as CONTRIBUTING.md says"


def test_every_finite_mechanism_has_an_oracle():
    known = {type(mechanism).__name__ for mechanism, _ in FINITE.values()}
    others = {"from_pmf", "unary"}  # TABULATED of records.py, test_unary.py
    refuse(names(FiniteRandomizer) - known - others, "CASES in tests/oracles/small_domains.py")


def test_every_other_mechanism_has_a_record():
    text = "\n".join(path.read_text(encoding="utf-8") for path in DEFINED)
    known = set(re.findall(r"\brandomizers\.(\w+)", text))
    others = {"from_density", "planar_laplace", "witch_hat"}  # test_cut_density.py, test_metric.py
    refuse(names(LocalRandomizer) - names(FiniteRandomizer) - known - others, "tests/records.py")


def test_every_mechanism_that_runs_on_data_is_estimated():
    known = {type(mechanism).__name__ for mechanism in ESTIMATED}
    of_classes = {"generic", "metric_generic"}
    of_others = {"joint", "mixture", "poisson_sampled"}
    by_themselves = {"from_density", "from_pmf", "hierarchical", "unary"}
    at_places = {"metric_laplace", "planar_laplace", "witch_hat"}
    tested = known | of_classes | of_others | by_themselves | at_places
    refuse(names(LocalRandomizer) - tested, "ESTIMATED in tests/oracles/populations.py")
