"""The ledger: every finding as the ledger says, searches that catch a bound a thousandth too small."""

import functools
import json
import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import claims
from claims import Effort, Verdict, failure_curve, report, works
from claims import __main__ as ledger
from claims.claim import (
    APPROXIMATION,
    CODE,
    COMPUTED,
    PROOF,
    PROVED,
    RELATION,
    SEARCHED,
    SLIP,
    VACUOUS,
    Worded,
)
from claims.counterexample_search import LOCAL, RISK, logarithmic, whole, worst
from claims.exact_tests import close, share_of_bound
from claims.upper_bound_check import upper_bound
from shufflelib import randomizers, shuffle

checked = functools.cache(claims.checked)  # several tests look at one result
AGAIN = "a second computation:"
every_claim = pytest.mark.parametrize("claim", claims.ALL, ids=lambda claim: claim.id)
FAIL_EVERYWHERE = {  # no valid side on the curve
    "ccg24-equation-17",
    "ccg24-figure-2-close",
    "ccg24-figure-3-identical",
    "ccg24-nearly-optimal",
    "ccg24-nearly-short-form",
    "ccg24-theorem-1-conference",
    "ccg24-theorem-1-preprint",
    "fmt23-lemma-3.5",
    "gspa24-equation-14",
    "gspa24-equation-17",
    "gspa24-lemma-1-others",
    "mse25-code-sampler",
    "newtab-code-response",
    "scw25-code-hadamard",
    "wang24-figure-2-tight",
    "wang24-released-cohorts",
    "wang24-released-infinite-p",
    "wang24-tight-cheu-zhilyaev",
    "wang24-tight-wheel",
    "wang24-worst-inputs",
    "wsys23-f-at-zero",
    "wsys23-proposition-4.1-formula",
    "wsys23-theorem-5.1-integrals",
}


def test_every_entry_of_the_ledger_has_a_check_and_every_check_an_entry():
    assert set(claims.CHECKS) == set(claims.LEDGER) and len(claims.CHECKS) == 360
    for name in claims.LEDGER:
        assert name == name.lower() and " " not in name


def test_the_ledger_has_words_exactly_where_a_check_wants_them():
    for name, (check, confirm, curve) in claims.CHECKS.items():
        entry = claims.LEDGER[name]
        assert ("setting" in entry) is isinstance(check, Worded), name
        assert ("axes" in entry) is (curve is not None), name
        if isinstance(confirm, Worded):
            assert entry.get("again", entry.get("setting")), name
        else:
            assert "again" not in entry, name


def test_a_share_above_its_bound_is_a_counterexample_and_the_largest_one_is_told():
    words = ("{tried} cases, at most {largest:.2f}",)

    def case(rng, most):
        share = rng.randint(0, 20)
        return None if share == 0 else f"{share}/20" if share > most else Fraction(share, 20)

    found = share_of_bound(lambda rng: case(rng, 20), 4).check.told(words)(Effort(32))
    assert found.verdict is Verdict.HOLDS and found.evidence.endswith("cases, at most 1.00")
    assert 100 < int(found.evidence.split()[0]) < 128
    found = share_of_bound(lambda rng: case(rng, 19), 4).check.told(words)(Effort(32))
    assert (found.verdict, found.evidence) == (Verdict.REFUTED, "20/20")
    assert close(1.0, 1.0, 1e-3) == 1e-12 and close(1.0, 1.1, 1e-3) == "1 and 1.1 differ"


def test_a_curve_is_computed_when_it_is_asked_for_and_fails_where_the_truth_is_above():
    along = failure_curve.Along((1, 2, 3), lambda n: (n, 2))
    curve = along.curve("users n", "δ")
    assert (curve.claimed, curve.true, curve.fails) == ((2, 2, 2), (1, 2, 3), (False, False, True))
    near = along._replace(kind=failure_curve.within(0.4)).curve("users n", "δ")
    assert near.fails == (True, False, False) and near.quantity == "δ"


@every_claim
def test_a_claim_is_a_sentence_with_a_source_and_a_refutation_is_read_and_confirmed(claim):
    assert claim.statement.endswith(".") and claim.source and callable(claim.check)
    if claim.verdict is Verdict.REFUTED:
        assert claim.confirm is not None and claim.reading


@every_claim
def test_the_finding_is_the_ledgers(claim):
    result = checked(claim)
    assert result.agrees, result.evidence
    assert result.evidence and "nan" not in result.evidence
    if result.verdict is Verdict.REFUTED:
        assert result.confirmed and len(result.steps) >= 4
    if result.verdict is Verdict.NOT_REPRODUCIBLE:
        assert result.steps


@pytest.mark.parametrize(
    "claim", [claim for claim in claims.ALL if claim.confirm is not None], ids=lambda claim: claim.id
)
def test_a_second_computation_repeats_no_line_of_the_first_but_the_two_numbers(claim):
    steps = checked(claim).steps
    at = steps.index(AGAIN)
    repeated = set(steps[:at]) & set(steps[at:])
    assert all(line.startswith(("claimed:", "true:")) for line in repeated), repeated


@every_claim
def test_another_seed_finds_the_same(claim):
    effort = Effort(4, seed=1)
    found = claim.check(effort)
    assert found.verdict is claim.verdict
    if claim.id in ("ccg24-theorem-2", "wang24-lemma-4.5", "wang24-rate", "wsys23-lemma-3.1"):
        assert claim.check(effort) == found, "the same for the same effort"


def test_a_small_exact_counterexample_is_told_before_the_point_of_a_search():
    """The evidence names both numbers for a few users; a factor of millions comes after it."""
    for name in ("theorem-4.1", "theorem-4.7", "theorem-6.1", "metric-bound", "tight-randomized-response"):
        found = claims.named(f"wang24-{name}").check(Effort(1)).evidence
        assert found.startswith("true delta ") and " n = " in found, found
    assert any(
        "the pair at that epsilon" in step for step in claims.named("wang24-theorem-4.7").confirm().steps
    )


@pytest.mark.parametrize(
    "claim", [claim for claim in claims.ALL if claim.verdict is Verdict.REFUTED], ids=lambda claim: claim.id
)
def test_every_refutation_can_be_drawn(claim):
    found = claim.failure_curve()
    assert 5 <= len(found.at) <= 40 and found.worst is not None
    assert len(found.quantity) <= 60 and len(found.parameter) <= 25
    assert all(found.fails) == (claim.id in FAIL_EVERYWHERE)
    known = [not (math.isnan(a) or math.isnan(b)) for a, b in zip(found.claimed, found.true, strict=True)]
    assert sum(known) >= 3, "a picture needs three values"
    assert f"{found.at[found.worst]:.4g}" in found.description()


@every_claim
def test_holds_says_what_it_rests_on_and_a_search_counts_what_it_tried(claim):
    kind, _, told = claim.basis.partition(": ")
    if claim.verdict is not Verdict.HOLDS:
        assert not claim.basis
        return
    assert kind in (PROVED, SEARCHED, COMPUTED) and told and not told.endswith(".")
    if kind == SEARCHED:
        tried = re.split(r" of |[,;:]", told)[0]
        assert re.search(r"\d", tried) and tried in checked(claim).evidence, "the number is that of the check"


def test_what_holds_is_listed_with_what_it_rests_on_and_counted_in_the_book(capsys):
    book = " ".join((Path(__file__).resolve().parents[2] / "book/ledger.md").read_text("utf-8").split())
    assert report.counted(claims.ALL) in book and "proved, " in report.counted(claims.ALL)
    listed = " ".join(printed_by(capsys)[1].split())
    assert all(" ".join(claim.basis.split()) in listed for claim in claims.ALL)
    by_item = " ".join(printed_by(capsys, "--paper", "ccg24")[1].split())
    assert claims.named("ccg24-lemma-shift").basis in by_item
    alone = " ".join(printed_by(capsys, "wang24-theorem-4.8")[1].split())
    assert f"rests on {claims.named('wang24-theorem-4.8').basis}" in alone
    records = json.loads(printed_by(capsys, "--json")[1])
    assert [record["basis"] for record in records] == [claim.basis for claim in claims.ALL]


def test_the_ledger_states_how_the_work_of_every_claim_was_read():
    assert {claim.id.split("-")[0] for claim in claims.ALL} == set(works.READ)
    assert works.how(claims.named("wang24-theorem-4.1")).startswith("read in full")
    assert works.how(claims.Claim("own-guess", "Mine.", "a guess", Verdict.HOLDS, len)) == ""


def test_a_claim_is_told_with_its_number_in_print_where_that_is_another(capsys):
    said = printed_by(capsys, "wang24-theorem-4.7")[1]
    assert "before v5), Theorem 4.7," in said
    assert "\n  published Theorem 4.7 is Theorem 4.2 in PVLDB 2024\n" in said
    assert "published " not in printed_by(capsys, "wang24-theorem-5.1")[1]
    for claim in claims.ALL:
        assert "PVLDB" not in claim.source, f"{claim.id}: which numbers are those of its source?"
        assert claim.id.startswith("wang24-") or not works.published(claim)


def test_the_ledger_lists_what_appeared_since_a_year(capsys):
    code, listed, _ = printed_by(capsys, "--since", "2025", "--json")
    assert code == 0
    assert {one["id"] for one in json.loads(listed)} == {
        claim.id for claim in claims.ALL if works.year(claim) >= 2025
    }
    lines = printed_by(capsys, "--since", "2025")[1].splitlines()
    work = lines.index("tl26: Takagi, Liew (arXiv:2601.19154v4)")
    assert lines[work + 2].startswith("tl26-") and lines[0].startswith(lines[2].split("-")[0] + ": ")
    assert {works.year(claim) for claim in claims.ALL} <= set(range(2010, 2027))
    assert works.year(claims.Claim("own-guess", "Mine.", "a guess", Verdict.HOLDS, len)) == 0
    newest = max(map(works.year, claims.ALL))
    for asked, named in (
        (("--since", str(newest + 1)), str(newest)),
        (("--since", "2025", "--index"), "--index"),
    ):
        code, _, err = printed_by(capsys, *asked)
        assert code == 2 and named in err


def test_the_rule_for_verdicts_where_it_can_be_checked_by_its_words():
    """The rule itself is in ``book/ledger.md``."""
    fits = {APPROXIMATION: {Verdict.REFUTED}, SLIP: {Verdict.REFUTED}, VACUOUS: {Verdict.HOLDS}}
    fits[RELATION] = {Verdict.SMALLER}
    for claim in claims.ALL:
        assert claim.verdict in fits.get(claim.label, set(Verdict)), claim.id
        if claim.verdict is Verdict.SMALLER:
            assert claim.reading, f"{claim.id}: the smaller regime is not said"
        if claim.verdict is Verdict.REFUTED and not claim.label and claim.reading.startswith("True"):
            assert "The paper " in claim.reading, (
                f"{claim.id}: where does the paper leave the smaller regime?"
            )
        if claim.label == SLIP:
            assert "misprint" in claim.reading or "meant" in claim.reading, claim.id
        assert (claim.label == CODE) == ("-released" in claim.id or "-code" in claim.id), claim.id
        if "proof" in claim.source and "from its proof" not in claim.source:
            assert claim.label in (PROOF, SLIP), f"{claim.id}: a line of a proof is not labelled"


def test_the_contested_verdicts_follow_the_rule():
    found = {claim.id: (str(claim.verdict), claim.label) for claim in claims.ALL}
    for name in ("theorem-4.1", "theorem-4.2", "theorem-6.1", "theorem-4.7", "worst-inputs"):
        assert found[f"wang24-{name}"] == ("refuted", ""), name
    for name in (
        "wang24-theorem-5.1",
        "wsys23-lemma-6.3",
        "wsys23-proposition-6.4",
        "wsys23-proposition-e.1",
    ):
        assert found[name] == ("holds in a smaller regime", ""), name
    for name in ("wsys23-example-d.1", "wsys23-example-d.3", "ccg24-nearly-short-form"):
        assert found[name] == ("refuted", SLIP), name
    for name in ("wang24-time-drivers", "ccg24-table-1-own", "gspa24-gaussian-mechanism"):
        assert found[name] == ("holds in a smaller regime", ""), name
    assert found["gspa24-lemma-2"] == ("refuted", APPROXIMATION)
    assert found["ccg24-sensitivity"] == found["gspa24-client-ldp"] == ("refuted", PROOF)
    assert found["wang24-figure-3-axis"] == ("not reproducible", "")
    assert found["gspa24-fact-4"] == ("holds", VACUOUS)


def test_the_ledgers_page_has_its_counts():
    page = (Path(__file__).resolve().parents[2] / "book/ledger.md").read_text(encoding="utf-8")
    assert report.counted(claims.ALL) in " ".join(page.split())
    refuted = [claim for claim in claims.ALL if claim.verdict is Verdict.REFUTED]
    labels = Counter(claim.label for claim in refuted)
    words = dict(enumerate("Six Seven Eight Nine Ten Eleven Twelve".split(), 6))
    assert f"The {len(refuted)} refuted statements trace back to {len(report.errors(refuted))} errors" in page
    assert f"{words[labels[APPROXIMATION]]} of the {len(refuted)} are published as approximations" in page
    assert f"{words[labels[SLIP]]} are misprints" in page
    assert all(f"| {label} |" in page for label in (APPROXIMATION, SLIP, VACUOUS, RELATION, PROOF, CODE))
    assert all(f"\n| {verdict} |" in page for verdict in Verdict)


def test_a_claim_of_a_paper_that_was_read_has_words_to_search_for():
    read = "wang24", "ccg24", "gspa24", "wsys23"
    papers = [claim for claim in claims.ALL if claim.id.split("-")[0] in read]
    assert all(bool(claim.place) == (claim.label != CODE) for claim in papers)
    for claim in papers:
        assert len(claim.place) < 110 and claim.place == " ".join(claim.place.split()), claim.id
    lemma = report.explained(claims.checked(claims.named("wang24-lemma-4.4")))
    assert 'place     "Lemma 4.4 (Divergence reduction via mixture)"' in lemma


def test_what_is_public_is_not_said_to_be_unknown():
    words = "not at hand", "not found", "not available", "are known only", "announced but"
    for claim in claims.ALL:
        if claim.verdict is Verdict.NOT_DECIDED or claim.id == "wang24-table2-witch-hat":
            said = f"{claim.reading} {' '.join(map(str, claims.LEDGER[claim.id].get('setting', ())))}"
            assert not any(word in said for word in words), claim.id


def test_a_statement_that_is_called_approximate_is_labelled_where_it_is_refuted():
    labels = {claim.id: claim.label for claim in claims.ALL if claim.label}
    assert set(labels.values()) == {APPROXIMATION, CODE, PROOF, RELATION, SLIP, VACUOUS}
    approximate = {
        claim.id
        for claim in claims.ALL
        if claim.verdict is Verdict.REFUTED and "approximately" in claim.statement
    }
    assert approximate | {"gspa24-lemma-2"} == {n for n, label in labels.items() if label == APPROXIMATION}
    assert labels["wsys23-proposition-6.1-condition"] == SLIP and labels["ccg24-corollary-1"] == VACUOUS
    qualified = [name for name, label in labels.items() if label not in (CODE, PROOF)]
    assert all(claims.named(name).reading for name in qualified)


def test_a_claim_that_repeats_an_error_names_a_refuted_claim_which_repeats_none():
    for claim in claims.ALL:
        if claim.repeats:
            first = claims.named(claim.repeats)
            assert claim.verdict is first.verdict is Verdict.REFUTED and not first.repeats, claim.id


def test_errors_are_counted_beside_statements():
    found = report.errors(claims.ALL)
    assert sum(map(len, found.values())) == sum(claim.verdict is Verdict.REFUTED for claim in claims.ALL)
    assert {"wang24-lemma-4.4", "wang24-theorem-4.1", "wang24-theorem-4.2"} <= set(found["wang24-lemma-4.4"])
    tight = found["wang24-tight-randomized-response"]
    assert sum(name.startswith("wang24-tight-") for name in tight) == 10
    assert f"refuted ({len(found)} errors)" in report.counted(claims.ALL)
    assert report.counted(map(claims.named, tight)) == "11 claims: 11 refuted (1 error)"


def curve(kind, at, claimed, true):
    return failure_curve.FailureCurve("n", "δ", at, claimed, true, kind)


def test_a_failure_curve_describes_where_it_fails():
    upper = curve(failure_curve.UPPER, (1, 2, 4), (0.1, 0.2, math.nan), (0.3, 0.2, 1.0))
    assert upper.fails == (True, False, False) and upper.worst == 0 and round(upper.factor, 9) == 3.0
    lower = curve(failure_curve.LOWER, (1, 2), (0.1, 0.2), (0.3, 0.1))
    assert lower.fails == (False, True) and "worst at 2" in lower.description()
    equal = curve(failure_curve.within(1e-9), (1, 2), (0.1, 0.2), (0.1 + 1e-12, 0.21))
    assert equal.fails == (False, True)
    assert curve(failure_curve.within(0.1), (1, 2), (1, 2), (1, 2)).factor == 1.0
    crossed = curve(failure_curve.LOWER, (1, 2, 3), (0, 0, 0), (-1, -3, -2))
    assert crossed.worst == 1 and crossed.factor == math.inf, (
        "where no factor can be formed the difference decides"
    )
    for at, values in (((1,), (1,)), ((2, 1), (1, 2)), ((1, 2), (1, 2, 3))):
        with pytest.raises(ValueError, match="failure curve|increase"):
            curve(failure_curve.UPPER, at, values, values)


# ---------------------------------------------------------------- the search


def test_the_search_finds_the_top_of_a_hill_and_counts_what_it_met():
    found = worst(
        lambda x, k: -((math.log(x) - 1.0) ** 2) - (k - 7) ** 2 if x > 0.5 else math.nan,
        Effort(64),
        x=logarithmic(1e-2, 1e2),
        k=whole(2, 50),
    )
    assert found.excess > -0.05 and found.point["k"] == 7
    assert abs(math.log(found.point["x"]) - 1.0) < 0.25
    assert 20 < found.tried < 200
    assert "k=7" in found.description()


@pytest.mark.parametrize("seed", range(2))
def test_a_tight_bound_a_thousandth_smaller_is_refuted_and_a_thousandth_larger_is_not(seed):
    def scaled(factor):
        def formula(eps0, n, delta):
            return factor * shuffle(randomizers.generalized_rr(eps0=eps0, d=10), n=n).epsilon(delta).upper

        box = {"eps0": LOCAL, "n": whole(10**3, 10**6), "delta": RISK}
        return upper_bound(formula, lambda eps0: randomizers.generalized_rr(eps0=eps0, d=10), **box)

    assert scaled(0.999)(Effort(4, seed)).verdict is Verdict.REFUTED
    assert scaled(1.001)(Effort(4, seed)).verdict is Verdict.HOLDS


# ---------------------------------------------------------------- the command line


def printed_by(capsys, *arguments):
    code = ledger.main([*arguments])
    caught = capsys.readouterr()
    return code, caught.out, caught.err


def test_the_table_lists_every_claim_without_checking_it(capsys):
    code, out, _ = printed_by(capsys)
    assert code == 0
    assert all(claim.id in out for claim in claims.ALL)
    assert out.strip().endswith(report.counted(claims.ALL))
    assert f"REFUTED ({APPROXIMATION})" in out
    code, out, _ = printed_by(capsys, "--json")
    entries = json.loads(out)
    assert [entry["id"] for entry in entries] == [claim.id for claim in claims.ALL]
    assert [entry["repeats"] for entry in entries] == [claim.repeats for claim in claims.ALL]


def test_one_claim_prints_its_witness(capsys):
    code, out, _ = printed_by(capsys, "fmt23-lemma-3.5")
    assert code == 0
    assert "REFUTED" in out and "-1/14" in out and "a second computation" in out and "erratum" in out
    assert "Figure 3b in notebooks" in " ".join(printed_by(capsys, "gspa24-figure-3-linear")[1].split())
    code, out, _ = printed_by(capsys, "fmt23-lemma-3.5", "--json")
    record = json.loads(out)
    assert record["verdict"] == record["ledger"] == "refuted" and record["agrees"] and record["confirmed"]


def test_an_unknown_claim_is_answered_with_its_neighbours(capsys):
    code, out, err = printed_by(capsys, "fmt23-lema-3.5")
    assert code == 2 and not out
    assert "fmt23-lemma-3.5" in err and err.count("\n") == 1
    for work in ("wang24", "deployed"):  # of one work, and of a notebook about several
        code, out, err = printed_by(capsys, work)
        assert code == 2 and not out and f"--paper {work} lists its claims" in err and err.count("\n") == 1


def test_a_claim_that_differs_from_the_ledger_is_reported(capsys, monkeypatch):
    held = next(claim for claim in claims.ALL if claim.id == "balle19-lemma-5.3")
    wrong = claims.Claim(held.id, held.statement, held.source, Verdict.REFUTED, held.check)
    monkeypatch.setattr(claims, "ALL", (wrong,))
    code, out, _ = printed_by(capsys, "--check")
    assert code == 1 and "LEDGER SAYS REFUTED" in out and "1 do not agree" in out
    code, out, _ = printed_by(capsys, "balle19-lemma-5.3")
    assert code == 1 and "where the ledger says refuted" in out


def test_a_second_computation_that_disagrees_is_no_confirmation():
    held = next(claim for claim in claims.ALL if claim.id == "fmt23-lemma-3.5")
    doubted = claims.Claim(
        held.id,
        held.statement,
        held.source,
        held.verdict,
        held.check,
        lambda: claims.Finding(Verdict.HOLDS, "no"),
    )
    result = claims.checked(doubted)
    assert result.confirmed is False and not result.agrees
