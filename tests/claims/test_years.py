"""The years since 2019: numbers computed, years and verdicts from the ledger, rounded to the safe side."""

import csv
import dataclasses
import re
from pathlib import Path

import pytest

import book_pages
import claims
from claims import works, years
from shufflelib import randomizers, shuffle

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/since_2019.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def answers():
    return years.published()


def test_every_bound_has_the_year_and_the_verdict_of_its_claim(answers):
    rows, _ = answers
    assert {row["bound"] for row in rows} == set(years.JUDGED)
    for row in rows:
        claim = claims.named(row["claim"])
        assert (row["year"], row["verdict"]) == (works.year(claim), claim.verdict)
    assert [row["year"] for row in rows] == sorted(row["year"] for row in rows)


def test_every_bound_that_is_compared_is_judged():
    compared = {bound.name for bound in years.comparison.ALL[2:]} | {years.COMPUTED.name}
    assert set(years.JUDGED) == compared - {"shuffle index, attack"}  # a limit of the lower bound


def test_a_year_has_the_smallest_bound_that_holds_and_no_attack_exceeds(answers):
    rows, certified = answers
    found = years.best(rows)
    assert [row["year"] for row in found] == list(range(2019, max(map(works.year, claims.ALL)) + 1))
    attained = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=100_000).epsilon(1e-6).lower
    assert certified.lower == attained
    stands = [row["best so far"] for row in found]
    assert stands == sorted(stands, reverse=True) and min(stands) >= attained
    for row in found:
        of_year = [one for one in rows if one["year"] == row["year"] and one["eps"] > 0]
        assert ("bound" in row) == bool(of_year)
        assert not of_year or row["eps"] == min(one["eps"] for one in of_year)
        held = [one["eps"] for one in of_year if one["verdict"] == "holds" and one["eps"] >= attained]
        assert all(row["best so far"] <= eps for eps in held)


def test_a_new_work_gets_its_year_by_one_line(monkeypatch):
    monkeypatch.setitem(works.READ, "new27", (2027, works.ABSTRACT, ""))
    new = dataclasses.replace(claims.named("scw25-optimal-decomposition"), id="new27-bound")
    monkeypatch.setattr(claims, "ALL", (*claims.ALL, new))
    monkeypatch.setitem(years.JUDGED, years.COMPUTED.name, new.id)
    rows, _ = years.published()
    found = {row["year"]: row for row in years.best(rows)}
    assert found[2027]["claim"] == new.id and (found[2027]["works"], found[2027]["statements"]) == (1, 1)
    assert "bound" not in found[2025] and found[2025]["best so far"] == found[2019]["best so far"]


def test_the_page_says_the_question_and_takes_every_number_from_the_code(answers):
    rows, certified = answers
    assert f"{years.USERS:,} users" in PAGE and "on ten options\nand ε₀ = 1;" in PAGE and "δ = 10⁻⁶" in PAGE
    assert (years.OPTIONS, years.EPS0, years.DELTA) == (10, 1.0, 1e-6)
    assert not re.search(r"\d\.\d\d", PAGE) and "`python -m claims --since 2025`" in PAGE
    page = book_pages.years_page(PAGE, rows, certified)
    lines = re.findall(
        r"^\| (20\d\d) \| ([\d.]+) \| (.+) \| (.*) \| \d+ works?, \d+ statements? \|$", page, re.MULTILINE
    )
    for (year, stands, new, verdict), row in zip(lines, years.best(rows), strict=True):
        assert int(year) == row["year"] and 0 <= float(stands) / row["best so far"] - 1 < 1e-3
        if "bound" not in row:
            assert new == "no bound for this question" and not verdict
            continue
        assert f"“{works.LISTED[row['claim'].split('-')[0]].title}”" in new.replace("\\", "")
        eps, far, side = re.search(r"ε = ([\d.]+), at (?:most|least) (\S+) % (above|below)", new).groups()
        assert (
            0 <= float(eps) / row["eps"] - 1 < 1e-3 and verdict == f"{row['verdict']} <br> `{row['claim']}`"
        )
        assert (side == "above") == (row["above, %"] >= 0)
        if "·" not in far:
            assert 0 <= float(far) - row["above, %"] if side == "above" else float(far) <= -row["above, %"]
    ends = re.search(r"attains ε = ([\d.]+); ε = ([\d.]+) is proved", page).groups()
    assert float(ends[0]) <= certified.lower <= certified.upper <= float(ends[1])
    headings = re.findall("^## (.*)$", page, re.MULTILINE)
    assert headings == ["Year by year", "How to read a year", "How the numbers are made"]
    assert "The built book" not in page


def test_the_committed_table_and_figure_have_these_numbers(answers):
    rows, _ = answers
    folder = ROOT / "figures/papers"
    if not folder.exists():
        pytest.skip("no figures")
    for name, computed, key in (
        ("claims_since_2019", years.best(rows), "best so far"),
        ("claims_years", rows, "eps"),
    ):
        lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        kept = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        for old, new in zip(kept, computed, strict=True):
            assert int(old["year"]) == new["year"] and old["bound"] == new.get("bound", "")
            assert float(old[key] or "nan") == pytest.approx(new[key], rel=1e-6, nan_ok=True)
