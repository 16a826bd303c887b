"""The papers item by item: every claim has its item, every item the verdict of its own statement."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import claims
from claims import items, systems, works
from claims.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
# What the papers number, beside sentences with a result; a list for each work, in the order of its pages.
NUMBERED = {
    "wang24": """
        Definition 3.1, Definition 3.2, Definition 3.3, Definition 3.4,
        Theorem 4.1, Theorem 4.2, Lemma 4.3, Lemma 4.4, Lemma 4.5, Table 1, Table 2, Table 3,
        Theorem 4.6, Algorithm 1, Theorem 4.7, Theorem 4.8, Theorem 5.1, Proposition 1, Algorithm 2,
        Theorem 6.1, Definition 7.1, Lemma 7.2, Theorem 7.3, Lemma 7.4, Proposition 2, Figure 1, Figure 2,
        Figure 3, Figure 4, Figure 5, Table 4, Equation (11), Equation (15), Algorithm 3, Table 5
    """,
    "ccg24": """
        Figure 1, Definition 1, Table 1, Definition 2, Lemma 1, Definition 3, Definition 4, Definition 5,
        Remark 1, Proposition 1, Theorem 1, Corollary 1, Lemma 2, Theorem 2, Corollary 2,
        Section 3.3: equation (8), Section 3.3: equation (9), Figure 2, Figure 3, Table 2, Proposition 2,
        Theorem 3, Algorithm 1, Figure 4 (ICASSP), Figure 4 (arXiv),
        Definition 6, Definition 7, Definition 8, Fact 1, Facts 2 and 3, Facts 4 and 5,
        Lemma 3, Lemma 4, Lemma A.1 (arXiv), Lemma A.4 (arXiv), Lemma A.5 (arXiv), Lemma 5,
        Equation (17) (arXiv), Lemma 6, Corollary 2 (Section 7.6)
    """,
    "gspa24": """
        Figure 1, Definition 1, Definition 2, Table 1, Equation (4), Definition 3, Definition 4, Definition 5,
        Definition 6, Lemma 1, Theorem 1, Lemma 2, Equation (14), Lemma 3, Theorem 2, Equation (17), Table 2,
        Figure 2, Theorem 3, Algorithm 1, Figure 3a, Figure 3b, Theorem 4, Algorithm 2, Theorem 5, Table 3,
        Figure 4, Algorithm 3, Fact 1, Fact 2, Fact 3, Fact 4, Lemma 4
    """,
    "wsys23": """
        Figure 1, Table 1, Table 2, Figure 2, Figure 3,
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
    "dummies": "",  # only abstracts
    # four works, of which these numbers are known
    "allocation": """
        Ertan and van Dijk 2026 (limitations): Theorem 6.1,
        Ertan and van Dijk 2026 (noise): Theorem 3.3, Ertan and van Dijk 2026 (noise): Theorem 3.5,
        Ertan and van Dijk 2026 (noise): Theorem 4.1, Ertan and van Dijk 2026 (noise): Table 7,
        Ertan and van Dijk 2026 (noise): Table 10, Ertan and van Dijk 2026 (noise): Table 11
    """,
    "deployed": "Exposure notifications: Section 4.2, Exposure notifications: Figure 2",
}
# Every number that a text prints, by kind: the texts of ccg24 number differently, and of wsys23's main text
# only what its appendix and a summary name is known.
PRINTED = {
    "wang24": """
        Definition 3.1 3.2 3.3 3.4 7.1; Theorem 4.1 4.2 4.6 4.7 4.8 5.1 6.1 7.3; Lemma 4.3 4.4 4.5 7.2 7.4;
        Proposition 1 2; Algorithm 1 2 3; Table 1 2 3 4 5; Figure 1 2 3 4 5
    """,
    "ccg24": """
        Definition 1 2 3 4 5 6 7 8; Remark 1; Theorem 1 2 3; Corollary 1 2; Proposition 1 2;
        Lemma 1 2 3 4 5 6; Fact 1 2 3 4 5; Algorithm 1; Table 1 2; Figure 1 2 3 4
    """,
    "ccg24, arXiv": """
        Definition 1 2 3 A.1 A.2; Theorem 1 2 3; Corollary 1 2; Proposition 1 2 3;
        Lemma 1 A.1 A.2 A.3 A.4 A.5 A.6; Fact 1 2 3; Algorithm 1; Table 1 2; Figure 1 2 3 4
    """,
    "gspa24": """
        Definition 1 2 3 4 5 6; Theorem 1 2 3 4 5; Lemma 1 2 3 4; Fact 1 2 3 4;
        Algorithm 1 2 3; Table 1 2 3; Figure 1 2 3 4
    """,
    "wsys23": """
        Theorem 4.2 5.1; Proposition 3.2 3.3 4.1 6.1 6.4 B.1 B.2 B.7 E.1; Corollary 4.3 B.3 B.5 B.6;
        Lemma 3.1 6.2 6.3 A.1 A.2 A.3 A.4 B.4; Example D.1 D.2 D.3 F.1 F.2 F.3 F.4;
        Table 1 2; Figure 1 2 3 4
    """,
}
KINDS = "Definition|Theorem|Lemma|Corollary|Proposition|Example|Fact|Remark|Algorithm|Table|Figure"
SEVERAL = {  # works of a notebook about more than one
    "blanket": ("balle19", "scw25", "tl26", "lt26", "sh26", "sg26", "sa26", "su25", "su25b", "su26", "hps24"),
    "dummies": ("mse25", "acp25", "li26"),
    "allocation": ("abhc26", "ed26", "de26", "ev26"),
    "deployed": systems.LISTED,
}
WORKS = list(dict.fromkeys(item.work for item in items.ALL))


@pytest.mark.parametrize("work", WORKS)
def test_every_numbered_item_of_a_work_is_listed_once(work):
    names = [item.name for item in items.of(work)]
    assert len(names) == len(set(names))
    wanted = [" ".join(name.split()) for name in NUMBERED[work].split(",") if name]
    assert [name for name in names if name in wanted] == wanted


def numbers(text):
    """Return the numbered things that a text names: ``Facts 2 and 3`` are two, ``Figure 3a`` is Figure 3."""
    named = re.findall(rf"\b({KINDS})s? ([A-Z]\.\d+|\d[\d.]*)(?:[ab]\b)?(?: and (\d))?", text)
    return {(kind, number.rstrip(".")) for kind, *both in named for number in both if number}


@pytest.mark.parametrize("text", PRINTED)
def test_every_number_that_a_text_prints_has_an_item(text):
    work, _, other = text.partition(", ")
    names = [item.name.partition(" (")[0] for item in items.of(work) if other or "(arXiv)" not in item.name]
    aliases = [re.search(r"\(arXiv: .+\)|$", item.prints)[0] for item in items.of(work)]
    found = set().union(*map(numbers, names + aliases * bool(other)))
    lines = [line.split() for line in PRINTED[text].split(";")]
    wanted = {(kind, number) for kind, *many in lines for number in many}
    assert wanted == (found & wanted if other else found)


@pytest.mark.parametrize("work", WORKS)
def test_every_claim_of_a_work_judges_an_item(work):
    judged = {name for item in items.of(work) for name in (*item.claims, *item.beside)}
    sources = SEVERAL.get(work, (work,))
    assert {claim.id for claim in claims.ALL if claim.id.split("-")[0] in sources} <= judged
    assert all(claims.named(name) for name in judged)


def test_an_item_has_one_claim_for_its_statement_and_a_list_one_for_each_part():
    for item in items.ALL:
        assert bool(item.unit) == (len(item.claims) > 1), item.name
        assert not set(item.claims) & set(item.beside), item.name
        assert item.claims or not item.beside, item.name
        assert bool(item.stated) <= (not item.claims), item.name
        assert item.claims or item.shown or item.stated, item.name
        assert item.verdict != "shown" or item.work in SEVERAL, item.name  # a paper's item says why


def test_an_item_has_the_verdict_of_its_own_statement_and_not_of_what_is_beside_it():
    found = {(item.work, item.name): item.verdict for item in items.ALL}
    for work, names, verdict in (
        ("wsys23", "Proposition 3.3, Proposition 4.1, Proposition 6.1", "holds"),
        ("wsys23", "Theorem 5.1, Proposition B.2", "holds"),
        ("gspa24", "Theorem 2", "holds"),
        ("wang24", "Proposition 1, Lemma 7.2, Proposition 2, Lemma 4.5, Figure 4", "holds"),
        ("wsys23", "Theorem 4.2, Lemma 6.3, Proposition 6.4", "holds in a smaller regime"),
        ("wang24", "Theorem 4.7", "refuted"),
        ("wang24", "Table 1", "11 of 12 rows hold, 1 refuted"),
        ("wang24", "Table 2", "3 of 4 rows hold, 1 refuted"),
        ("wang24", "Figure 3", "1 of 3 sentences hold, 1 in a smaller regime, 1 not reproducible"),
        ("wang24", "Table 4, Theorem 7.3", "holds"),
        ("ccg24", "Section 3.3: equation (9)", "holds"),
        ("gspa24", "Definition 6", "a definition"),
        ("deployed", "Exposure notifications: Figure 2", "holds in a smaller regime"),
        ("deployed", "Protected Audience: one percent", "no guarantee printed"),
    ):
        assert {found[work, name] for name in names.split(", ")} == {verdict}, names
    assert items.Item("wang24", "Definition 3.1", "the hockey-stick divergence").verdict == "shown"


def test_a_label_qualifies_the_verdict_of_an_item():
    labels = {(item.work, item.name): item.label for item in items.ALL}
    assert labels["wsys23", "Proposition B.1"] == "a misprint, read as printed"
    assert labels["ccg24", "Corollary 1"] == "true but vacuous"
    assert labels["ccg24", "Theorem 2"] == "an approximation, read as a bound"
    assert not labels["gspa24", "Theorem 2"] and not labels["wang24", "Theorem 4.7"]


def test_the_index_names_the_claims_the_work_and_the_cell_of_every_item():
    rows = list(csv.DictReader(items.index().splitlines()))
    assert len(rows) == len(items.ALL)
    for row, item in zip(rows, items.ALL, strict=True):
        assert row["claims"].split() == list(item.claims) and row["verdict"] == item.verdict
        assert row["title"] or not item.claims, item.name
        path, _, heading = row["notebook"].partition("#")
        assert (ROOT / path).exists() and heading and " " not in heading
    by_name = {(row["work"], row["item"]): row for row in rows}
    lemma = by_name["wang24", "Lemma 4.4"]
    assert lemma["published as"] == "Lemma 4.5" and lemma["arXiv"].startswith("2304.05007")
    assert lemma["command"] == "python -m claims wang24-lemma-4.4"
    printed = "wsys23-f-at-zero refuted (a misprint, read as printed)"
    assert by_name["wsys23", "Proposition 3.3"]["beside"] == printed
    assert by_name["ccg24", "Corollary 1"]["label"] == "true but vacuous"
    assert by_name["wang24", "Abstract: 30 %"]["notebook"].endswith("#Abstract:-30-%25")


def test_the_numbers_of_the_published_version_are_one_for_one():
    names = {item.name for item in items.of("wang24")}
    assert set(works.PVLDB) <= names and len(set(works.PVLDB.values())) == len(works.PVLDB)
    assert all(old != new for old, new in works.PVLDB.items())
    heading = nbformat.read(ROOT / "notebooks/papers/wang24.ipynb", as_version=4).cells[0].source
    page = (ROOT / "book/ledger.md").read_text(encoding="utf-8")
    for old, new in works.PVLDB.items():
        assert re.search(rf"\| {old}(?: \(refuted\))? \| {new}\b", page), old
        assert old.split()[1] in heading and new.split()[1] in heading


def test_the_bibliography_has_every_arxiv_number_of_the_ledger_and_all_authors():
    text = (ROOT / "references.bib").read_text(encoding="utf-8")
    known = set(re.findall(r"eprint\s*= \{([\d.]+)\}", text))
    named = [claim.source for claim in claims.ALL] + [work.arxiv for work in works.LISTED.values()]
    assert set(re.findall(r"\d{4}\.\d{5}", " ".join(named))) <= known
    entry = text.partition("{wang2024variationratio,")[2].partition("\n}")[0]
    assert re.search(r"author = \{(.*)\}", entry)[1].count(" and ") == 7


def test_the_items_of_a_work_run_their_checks(monkeypatch):
    few = tuple(item for item in items.of("wang24") if item.name in ("Lemma 4.5", "Table 2"))
    monkeypatch.setattr(items, "ALL", few)
    found = items.check("wang24")
    assert found["Lemma 4.5"].row["verdict"] == "holds" and found["Lemma 4.5"].row["ours"]
    assert found["Table 2"].row["verdict"] == "3 of 4 rows hold, 1 refuted"
    assert found["Table 2"]._repr_markdown_().count("`wang24-table2-") == 4
    with pytest.raises(ValueError, match="work must be one of wang24.*, got 'wang'"):
        items.of("wang")


@pytest.mark.parametrize("work", dict.fromkeys(item.work for item in items.ALL))
def test_every_work_of_the_index_is_listed_by_the_command_line(capsys, work):
    assert main(["--paper", work]) == 0
    said = capsys.readouterr().out
    assert items.of(work)[0].notebook in said and all(item.name in said for item in items.of(work))


def test_the_command_line_needs_numpy_and_scipy_only():
    absent = "sys.modules.update(dict.fromkeys(('joblib', 'matplotlib', 'tqdm', 'yaml')))"
    line = f"import sys; {absent}; from claims.__main__ import main; sys.exit(main(['--paper', 'gspa24']))"
    subprocess.run([sys.executable, "-c", line], cwd=ROOT, check=True, capture_output=True)


def test_the_command_line_groups_a_paper_by_its_items(capsys):
    assert main(["--paper", "wang24"]) == 0
    said = capsys.readouterr().out
    seventh, eighth = "Theorem 4.7 (PVLDB: Theorem 4.2)  REFUTED", "Theorem 4.8 (PVLDB: Theorem 4.3)  HOLDS"
    assert said.index(seventh) < said.index(eighth) < said.index("Figure 1  ")
    assert "  wang24-theorem-4.7" in said and "92 claims" in said
    assert "Table 1  11 OF 12 ROWS HOLD, 1 REFUTED" in said and "beside it: refuted" in said
