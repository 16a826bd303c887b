"""Deployed systems: facts with sources, the ledger's verdicts, reference values of 60-digit arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

import claims
from claims import systems
from claims.deployed.exposure_notifications import CELLS, delta_of_two_sums, sums
from claims.deployed.reports_and_dummies import client_budget, redrawn_ratio, returned_topics, row_known
from shufflelib import randomizers, shuffle
from shufflelib.shuffling import poisson_dummies, sample_and_threshold

READ = {"in full", "an excerpt", "second-hand"}


def test_every_system_has_its_facts_and_a_source_with_version_date_and_how_far_it_was_read():
    for one in systems.SYSTEMS.values():
        assert all(one[key] for key in (*systems.COLUMNS, "reading")) and one["verdict"] in systems.VERDICTS
        assert set(one["source"]) == {"title", "section", "version", "date", "read"}
        assert one["source"]["read"] in READ
    for one in systems.UNVERIFIABLE.values():
        assert set(one) == {"system", "printed", "missing", "source", "read"} and one["read"] in READ


def test_a_verdict_of_the_table_is_that_of_the_ledgers_claims():
    for name, one in systems.SYSTEMS.items():
        found = [claim.verdict for claim in claims.ALL if claim.id.split("-")[0] == name]
        assert bool(found) == (systems.VERDICTS[one["verdict"]] is not None), name
        assert not found or systems.VERDICTS[one["verdict"]] in found, name
        if one["verdict"] == "holds as read":
            assert set(found) == {claims.Verdict.HOLDS}, name


def test_the_tables_have_what_a_reader_needs():
    rows = systems.table(dict.fromkeys(systems.SYSTEMS, "a number"))
    titles = [*systems.COLUMNS.values(), "proved, both ends", "verdict"]
    assert all(list(row) == titles for row in rows) and len(rows) == len(systems.SYSTEMS)
    assert [row["system"] for row in systems.sources()] == [row["system"] for row in rows]
    assert all(row["what would have to be printed"] for row in systems.unverifiable())


@pytest.mark.parametrize(
    ("n", "delta", "one", "moved"),
    [
        (10**4, 1e-1, 0.52328, 1.23772),
        (10**4, 1e-2, 7.66286, 8.21185),
        (10**4, 1e-4, 7.99713, 15.91455),
        (10**4, 1e-6, 7.99997, 15.99918),
        (10**5, 1e-2, 0.23978, 0.38306),
        (10**5, 1e-3, 0.45615, 0.66003),
        (10**5, 1e-4, 0.64821, 0.89569),
        (10**5, 1e-5, 0.82994, 1.11271),
        (10**5, 1e-6, 1.01011, 1.31754),
    ],
)
def test_a_cell_of_figure_2_under_two_relations(n, delta, one, moved):
    half = 0.5e-5
    for relation in ("coordinate", "zero"):
        eps = sums(n, relation).epsilon(delta)
        assert eps.lower - half <= one <= eps.upper + half
    eps = sums(n, "replace").epsilon(delta)
    assert eps.lower <= moved + half and moved - half <= eps.upper <= 1.03 * moved
    printed = systems.SYSTEMS["enpa"]["figure_2"][n][delta]
    assert one <= printed < moved


@pytest.mark.parametrize(
    ("n", "eps", "delta"), [(10**5, 0.84, 1.7670922363379e-4), (10**4, 8.0, 0.0141292400572)]
)
def test_pairs_of_sums_have_the_reference_values_and_lie_in_the_brackets(n, eps, delta):
    assert delta_of_two_sums(n, eps) == pytest.approx(delta, rel=1e-9)
    found = sums(n, "replace").delta(eps)
    assert found.lower <= delta * (1 + 1e-9) and delta * (1 - 1e-9) <= found.upper


@pytest.mark.parametrize(("relation", "lower", "upper"), [("zero", 2.90, 2.93), ("replace", 4.22, 4.29)])
def test_fourteen_days_of_one_metric_have_the_total_of_the_text(relation, lower, upper):
    total = sums(10**5, relation).compose(rounds=14).epsilon(1e-5)
    assert lower < total.lower < total.upper < upper


def test_most_cells_have_a_delta_that_one_published_user_has():
    assert sum(delta >= 1 / n for n, delta, _ in CELLS) == 21 and len(CELLS) == 24


def test_twenty_cells_are_too_small_for_a_moved_bin_and_the_four_others_have_the_largest_deltas():
    held = [(n, delta) for n, delta, eps in CELLS if delta_of_two_sums(n, eps) <= delta]
    assert held == [(10**5, 1e-1), (10**6, 1e-1), (10**7, 1e-1), (10**7, 1e-2)]
    times = {(n, delta): delta_of_two_sums(n, eps) / delta for n, delta, eps in CELLS}
    assert times[10**6, 1e-6] == pytest.approx(54.6, abs=0.06)
    assert times[10**7, 1e-3] == pytest.approx(1.33, abs=0.006)


def test_two_sums_of_three_users_in_exact_fractions():
    """Everybody in the first of three bins, flips with chance 1/4."""
    for ratio, exact in (
        (1.5, Fraction(2349, 8192)),
        (2.0, Fraction(837, 4096)),
        (4.0, Fraction(405, 4096)),
    ):
        assert delta_of_two_sums(3, math.log(ratio), eps0=math.log(3)) == pytest.approx(float(exact))


@pytest.mark.parametrize(
    ("eps0", "zero", "moved"), [(5.0, 0.21195, 0.29741), (6.5, 0.51501, 0.70016), (7.0, 0.71476, 0.95046)]
)
def test_the_drafts_rows(eps0, zero, moved):
    half = 0.6e-5
    for relation, value in (("zero", zero), ("replace", moved)):
        found = sums(10**5, relation, eps0).epsilon(1e-9)
        assert found.lower - half <= value <= found.upper + half and found.upper <= 1.001 * value


def test_dummies_of_a_million_devices():
    found = returned_topics(10**6, 10**6)
    assert found.epsilon(1e-10).lower <= 0.998114 and 0.998151 <= found.epsilon(1e-10).upper <= 0.9983
    assert found.delta(1.0).lower <= 9.359e-11 and 9.346e-11 <= found.delta(1.0).upper <= 9.40e-11
    for without, eps in ((10_000, 1.0034), (50_000, 1.0252), (100_000, 1.0545), (500_000, 1.4340)):
        assert returned_topics(10**6, 10**6 - without).epsilon(1e-10).upper == pytest.approx(eps, abs=2e-4)
    assert returned_topics(10**6, 10**6 - 3_400).delta(1.0).upper < 1e-10
    assert returned_topics(10**6, 10**6 - 3_700).delta(1.0).lower > 1e-10
    for mean, exact in ((0.1, 0.9048374), (0.004, 0.9960080)):
        alone = poisson_dummies(mean_per_user=mean, d=24_549, n=1, neighbours="remove")
        assert alone.delta(1.0).upper == pytest.approx(exact, rel=1e-6)


def test_the_values_that_a_sample_shows():
    profile = sample_and_threshold(rate=0.105, threshold=20)
    assert profile.epsilon(1e-8).upper == pytest.approx(0.31804, abs=6e-6)
    assert profile.delta(1.0).upper == pytest.approx(6.48e-15, rel=1e-3)
    assert sample_and_threshold(rate=0.105, threshold=11).delta(1.0).upper == pytest.approx(3.1e-9, rel=0.01)


@pytest.mark.parametrize(
    ("d", "eps0", "million", "ten"),
    [(16, 7.3683, 0.27055, 0.08063), (32, 8.0612, 0.39185, 0.11595), (4096, 12.9129, 6.29129, 2.03175)],
)
def test_one_percent_redrawn(d, eps0, million, ten):
    one = randomizers.generalized_rr(redraw=0.01, d=d)
    assert one.eps0 == pytest.approx(eps0, abs=6e-5)
    for n, eps in ((10**6, million), (10**7, ten)):
        assert shuffle(one, n=n).epsilon(1e-8).upper == pytest.approx(eps, abs=6e-6)


def test_budgets_of_bloom_filters():
    budget = {
        name: randomizers.unary(**systems.SYSTEMS[name]["bits"]).eps0 for name in ("homepage", "rappor14")
    }
    assert budget["homepage"] == pytest.approx(4 * math.log(13 / 7)) == pytest.approx(2.476157, abs=1e-6)
    assert budget["rappor14"] == pytest.approx(2.0433, abs=5e-5)
    kept = randomizers.unary(**systems.SYSTEMS["rappor14"]["permanent"])
    assert kept.eps0 == pytest.approx(4.3944, abs=5e-5)


def test_a_client_that_redraws_from_all_articles():
    assert redrawn_ratio(3, 4) == 5
    for eps, budget in ((1.0, 1.32558), (3.0, 3.06460), (5.0, 5.02341)):
        assert client_budget(60, eps) == pytest.approx(budget, abs=6e-6)
    draws = np.random.default_rng(1).random((2, 400_000))
    keep = 1 / 2  # e^ε = 3, four articles
    sent = np.where(draws[0] < keep, 0, np.floor(4 * draws[1]))
    assert (sent == 0).mean() / (sent == 1).mean() == pytest.approx(5.0, rel=0.03)


def test_the_crowd_of_a_known_row():
    """Brackets by summing over every number of others in the row."""
    for eps0, d, n, low, high in ((4.0, 1024, 10**8, 1.24, 1.44), (2.0, 256, 10**8, 0.261, 0.306)):
        lower, upper = row_known(randomizers.rappor(eps0=eps0, d=d), n, 65_536, 1e-8)
        assert 0.96 * low <= lower <= low < high <= upper <= 1.1 * high
    few = row_known(randomizers.rappor(eps0=4.0, d=1024), 10**6, 65_536, 1e-8)
    assert 3.999 < few[0] <= few[1] <= 4.0
