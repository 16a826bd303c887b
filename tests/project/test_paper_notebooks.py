"""The papers' notebooks: every item of a paper in its order, every figure in the index, nothing unlisted."""

import ast
import csv
import re
from pathlib import Path

import nbformat
import pytest

import claims
from claims import items

ROOT = Path(__file__).resolve().parents[2]
PAPERS = [*sorted((ROOT / "notebooks/papers").glob("*.ipynb")), ROOT / "notebooks/deployed.ipynb"]
FIGURES = ROOT / "figures/papers"
WORKS = [path for path in PAPERS if path.stem in {item.work for item in items.ALL}]
paper = pytest.mark.parametrize("path", WORKS, ids=lambda path: path.stem)


def sources(path, kind):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


@paper
def test_a_paper_opens_with_its_table_and_shows_every_item_in_order(path):
    headings = re.findall(r"^##+ (.+)$", "\n".join(sources(path, "markdown")), re.MULTILINE)
    names = [item.name for item in items.of(path.stem)]
    assert [one for one in headings if one in names] == names
    assert f'items.check("{path.stem}"' in "\n".join(sources(path, "code")[:5])


@paper
def test_what_a_paper_shows_is_what_its_items_list(path):
    listed = {name for item in items.of(path.stem) for name in item.shown}
    saved = set(re.findall(rf'"({path.stem}_\w+)"', "\n".join(sources(path, "code"))))
    elsewhere = {name for name in listed if name.startswith("sgd_")}  # the training of two works
    assert listed - elsewhere <= saved
    for name in listed:
        folder = FIGURES.parent if path.stem == "deployed" else FIGURES
        assert (folder / f"{name}.csv").exists(), f"{name} was not made in full"


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_a_cell_of_a_paper_is_short(path):
    for source in sources(path, "code"):
        assert len(source.splitlines()) <= 15, source


def test_the_committed_index_is_that_of_the_items():
    if FIGURES.exists():
        assert (FIGURES / "index.csv").read_text(encoding="utf-8") == items.index()


def records(name):
    lines = (FIGURES / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def test_a_refuted_claim_fails_by_no_less_than_where_the_maps_show_it():
    """Every figure of failures has a claim at the largest factor that its notebook computes."""
    if not FIGURES.exists():
        pytest.skip("no figures")
    sources = ("wang24", "ccg24", "gspa24", "wsys23", "others")
    drawn = [row for source in sources for row in records(f"claims_fails_{source}") if row["worst"] == "True"]
    factors = {row["claim"]: float(row["factor"]) for row in drawn}
    assert sorted(factors) == sorted(claim.id for claim in claims.ALL if claim.verdict == "refuted")
    of_maps = {row["claim"]: float(row["attained / claimed"]) for row in records("claims_failures")}
    assert len(of_maps.keys() & factors) == 5
    assert all(factors[name] >= of_maps[name] * (1 - 1e-5) for name in of_maps.keys() & factors)
    least = min(float(row["times"]) for row in records("ccg24_map"))
    assert factors["ccg24-corollary-2"] * least >= 1 - 1e-5
    pair = [row for row in records("wang24_fig2_ratio") if row["bound"] == "variation-ratio pair"]
    assert factors["wang24-figure-2-tight"] >= max(float(row["factor"]) for row in pair) * (1 - 1e-5)
    code = next(row for row in drawn if row["claim"] == "wang24-released-range-queries")
    lowest = min(float(row["times"]) for row in records("wang24_fig5"))
    assert float(code["factor"]) * lowest >= 1 - 1e-5


def saved_names(path):
    """Yield a pattern for every name in a notebook's code; what is computed in one matches any word."""
    for node in (node for source in sources(path, "code") for node in ast.walk(ast.parse(source))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.escape(node.value)
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else None for part in node.values)
            yield "".join(r"\w+" if part is None else re.escape(part) for part in parts)


@pytest.mark.parametrize("folder", ["papers", "course", "."])
def test_every_figure_is_drawn_by_a_notebook_of_its_folder(folder):
    notebooks = (ROOT / "notebooks" / folder).glob("*.ipynb")
    patterns = {name for path in notebooks for name in saved_names(path) if name != r"\w+"}
    drawn = {path.stem for path in (ROOT / "figures" / folder).glob("*.*")} - {"index", "README"}
    assert not [name for name in drawn if not any(re.fullmatch(pattern, name) for pattern in patterns)]
