"""The papers item by item: every claim has its item, every item its verdict, every figure its file."""

import subprocess
import sys
from pathlib import Path

import pytest

import claims
from claims import items
from claims.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
# What the papers number, beside sentences with a result; a list for each work, in the order of its pages.
NUMBERED = {
    "wang24": """
        Theorem 4.1, Theorem 4.2, Lemma 4.3, Lemma 4.4, Lemma 4.5, Table 1, Table 2, Table 3,
        Theorem 4.6, Algorithm 1, Theorem 4.7, Theorem 4.8, Theorem 5.1, Proposition 1, Algorithm 2,
        Theorem 6.1, Lemma 7.2, Theorem 7.3, Lemma 7.4, Proposition 2, Figure 1, Figure 2, Figure 3,
        Figure 4, Figure 5, Table 4, Equation (11), Equation (15), Algorithm 3, Table 5
    """,
    "ccg24": """
        Figure 1, Table 1, Lemma 1, Proposition 1, Theorem 1, Corollary 1, Lemma 2, Theorem 2, Corollary 2,
        Section 3.3: equation (8), Section 3.3: equation (9), Figure 2, Figure 3, Table 2, Proposition 2,
        Theorem 3, Algorithm 1, Figure 4 (ICASSP), Figure 4 (arXiv), Fact 1, Facts 2 and 3, Facts 4 and 5,
        Lemma 3, Lemma 4, Lemma A.1 (arXiv), Lemma A.4 (arXiv), Lemma 5, Equation (17) (arXiv), Lemma 6,
        Corollary 2 (Section 7.6)
    """,
    "gspa24": """
        Table 1, Equation (4), Definition 4, Definition 5, Definition 6, Lemma 1, Theorem 1, Lemma 2,
        Equation (14), Lemma 3, Theorem 2, Equation (17), Table 2, Figure 2, Theorem 3, Algorithm 1,
        Figure 3a, Figure 3b, Theorem 4, Algorithm 2, Theorem 5, Table 3, Figure 4, Algorithm 3,
        Fact 1, Fact 2, Fact 3, Fact 4, Lemma 4
    """,
    "wsys23": """
        Lemma A.1, Lemma A.2, Lemma A.3, Lemma A.4, Lemma 3.1, Proposition B.1, Proposition 3.2,
        Proposition B.2, Corollary B.3, Proposition 3.3, Lemma B.4, Corollary B.5, Corollary B.6,
        Proposition B.7, Proposition 4.1, Theorem 4.2, Corollary 4.3, Theorem 5.1, Example D.1,
        Example D.2, Example D.3, Lemma 6.2, Lemma 6.3, Proposition 6.4, Proposition E.1,
        Proposition 6.1, Example F.1, Example F.2, Example F.3, Figure 4, Example F.4
    """,
    # several works, of which only these numbers are known, through their code and second-hand
    "blanket": """
        Balle et al. 2019: Lemma 5.3, Balle et al. 2019: Theorems 5.1 and 5.2, Takagi and Liew 2026:
        Lemma 3.2 and Corollary 3.4, Takagi and Liew 2026: Theorem 3.5, Takagi and Liew 2026:
        Theorem 3.8, Takagi and Liew 2026: Theorem 4.2
    """,
}
BLANKET = ("balle19", "scw25", "tl26", "lt26", "sh26", "su25")
WORKS = list(dict.fromkeys(item.work for item in items.ALL))


@pytest.mark.parametrize("work", WORKS)
def test_every_numbered_item_of_a_work_is_listed_once(work):
    names = [item.name for item in items.of(work)]
    assert len(names) == len(set(names))
    wanted = [" ".join(name.split()) for name in NUMBERED[work].split(",") if name]
    assert [name for name in names if name in wanted] == wanted


@pytest.mark.parametrize("work", WORKS)
def test_every_claim_of_a_work_judges_an_item(work):
    judged = {name for item in items.of(work) for name in item.claims}
    sources = BLANKET if work == "blanket" else (work,)
    assert {claim.id for claim in claims.ALL if claim.id.split("-")[0] in sources} <= judged
    assert all(claims.named(name) for name in judged)


def test_an_item_takes_the_worst_verdict_of_its_claims():
    by_name = {item.name: item for item in items.of("wang24")}
    assert by_name["Theorem 4.7"].verdict == "refuted" and by_name["Lemma 4.5"].verdict == "holds"
    assert by_name["Table 4"].verdict == "not reproducible"
    assert items.Item("wang24", "Definition 3.1", "the hockey-stick divergence").verdict == "shown"


def test_the_items_of_a_work_run_their_checks(monkeypatch):
    few = tuple(item for item in items.of("wang24") if item.name in ("Lemma 4.5", "Table 2"))
    monkeypatch.setattr(items, "ALL", few)
    found = items.check("wang24")
    assert found["Lemma 4.5"].row["verdict"] == "holds" and found["Lemma 4.5"].row["ours"]
    assert found["Table 2"].row["verdict"] == "refuted"
    assert found["Table 2"]._repr_markdown_().count("`wang24-table2-") == 4
    with pytest.raises(ValueError, match="work must be one of wang24.*, got 'wang'"):
        items.of("wang")


@pytest.mark.parametrize("work", dict.fromkeys(item.work for item in items.ALL))
def test_every_work_of_the_index_is_listed_by_the_command_line(capsys, work):
    assert main(["--paper", work]) == 0
    said = capsys.readouterr().out
    assert f"notebooks/papers/{work}.ipynb" in said and all(item.name in said for item in items.of(work))


def test_the_command_line_needs_numpy_and_scipy_only():
    absent = "sys.modules.update(dict.fromkeys(('joblib', 'matplotlib', 'tqdm', 'yaml')))"
    line = f"import sys; {absent}; from claims.__main__ import main; sys.exit(main(['--paper', 'gspa24']))"
    subprocess.run([sys.executable, "-c", line], cwd=ROOT, check=True, capture_output=True)


def test_the_command_line_groups_a_paper_by_its_items(capsys):
    assert main(["--paper", "wang24"]) == 0
    said = capsys.readouterr().out
    assert said.index("Theorem 4.7  REFUTED") < said.index("Theorem 4.8  HOLDS") < said.index("Figure 1  ")
    assert "  wang24-theorem-4.7" in said and "92 claims" in said
