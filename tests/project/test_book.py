"""The book: every notebook is in it, every picture has words, every name and link is known."""

import inspect
import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

import book_notebooks
import book_pages
import book_source
import check_book
import viz

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
LESSONS = sorted((ROOT / "notebooks/course").glob("*.ipynb"))
BOUNDS, LEDGER = ((BOOK / f"{page}.md").read_text() for page in ("bounds", "ledger"))
KEYS = set(re.findall(r"^@\w+\{([^,]+),", (ROOT / "references.bib").read_text(), re.MULTILINE))


def code(source, *outputs, tags=()):
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)})


def test_the_contents_name_every_notebook_and_every_page():
    listed = re.findall(r"^([\w/*]+)$", (BOOK / "index.md").read_text(), re.MULTILINE)
    alone = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    folders = {"notebooks/course/*", "notebooks/papers/*"}
    assert alone | folders <= set(listed)
    pages = {path.stem for path in BOOK.glob("*.md")} | {"gallery", "lectures", "reference"}
    assert pages - {"index"} == set(listed) - alone - folders


def test_every_link_of_a_page_leads_to_a_file_here_and_on_the_website():
    generated = {BOOK / "lectures.md": book_source.LECTURES}
    for path in (*book_source.PAGES, book_source.LECTURES):
        here = re.findall(r"\]\((?!\w+:)([^)#]+)", path.read_text())
        there = re.findall(r'(?:\]\(|href=")(?!\w+:)([^)#"]+)', book_source.page(path))
        assert len(here) == len(there)
        for link, place in zip(here, there, strict=True):
            folder = ROOT if place.startswith(("figures/", "notebooks/")) else BOOK
            file = generated.get(folder / place, folder / place)
            assert file.is_file() and file == (path.parent / link).resolve(), (path, link, place)
    assert 'the <a href="planner/index.html">planner</a>' in book_source.page(book_source.LECTURES)


def test_every_cited_work_exists():
    cited = [
        key for path in BOOK.glob("*.md") for key in re.findall(r"\{cite:?\w*\}`([^`]+)`", path.read_text())
    ]
    assert cited and {key for keys in cited for key in keys.split(",")} <= KEYS


def test_the_glossary_knows_the_terms_of_every_lesson():
    text = (BOOK / "glossary.md").read_text()
    terms = set(re.findall(r"^(\S.*)$", text.split("```{glossary}\n")[1], re.MULTILINE)) - {"```"}
    assert {found.split("<")[-1].rstrip(">") for found in re.findall(r"\{term\}`([^`]+)`", text)} <= terms
    known = {term.lower() for term in terms}
    for path in LESSONS:
        cells = nbformat.read(path, 4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        for term in re.findall(r"\*\*\*([^*]+)\*\*\*", prose):
            named = term.lower().removeprefix("the ")
            assert {named, named.removesuffix("s")} & known, f"{path.stem} introduces {term!r}"
    for stem in re.findall(r"\(\.\./notebooks/(course/\w+\.ipynb)\)", text):
        assert (ROOT / "notebooks" / stem).exists()


def test_the_index_of_bounds_has_every_row_of_its_table():
    paths = (ROOT / "notebooks").rglob("*.ipynb")
    stems = {path.relative_to(ROOT / "notebooks").with_suffix("").as_posix(): path for path in paths}
    titles = {stem: book_pages.title_of(path) for stem, path in stems.items()}
    page = book_pages.bounds_page(BOUNDS, titles)
    rows = book_pages.table_of_bounds(BOUNDS)
    assert len(rows) == page.count("| **") > 50
    for row in rows:
        assert f"**{row['bound']}**" in page
        for name in book_pages.NAME.findall(row["function"]):
            book_pages.home_of(f"shufflelib.{name}")
    with pytest.raises((ImportError, AttributeError)):
        book_pages.home_of("shufflelib.shuffling.absent")


def test_the_reference_has_every_public_name_once():
    modules = book_pages.public_modules(BOUNDS)
    homes = book_pages.homes_of_names(modules)
    pages = {module.__name__: book_pages.module_page(module, homes) for module in modules}
    documented = re.findall(r"^\.\. auto(?:function|class):: (\S+)", "\n".join(pages.values()), re.MULTILINE)
    assert len(documented) == len(set(documented)) > 200
    for name in ("shuffling.shuffle", "randomizers.witch_hat", "shuffling.WorstPopulation"):
        assert f"shufflelib.{name}" in documented
    for module in modules:
        for name in book_pages.public_names(module):
            assert re.search(rf"[.]{re.escape(name)}$", pages[module.__name__], re.MULTILINE), name
    contents = book_pages.reference_page(modules, homes).splitlines()
    assert [name for name in documented if f"   ~{name}" not in contents] == []


def test_every_public_function_and_class_has_an_example():
    modules = book_pages.public_modules(BOUNDS)
    things = {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in modules
        for name in book_pages.public_names(module)
    }
    public = {name: inspect.getdoc(thing) or "" for name, thing in things.items() if callable(thing)}
    assert [name for name, text in public.items() if ">>> " not in text] == []


def test_the_ledger_page_has_every_claim_and_runs_none():
    refuted = next(claim.id for claim in book_pages.ALL if claim.failure_curve is not None)
    page = book_pages.ledger_page(LEDGER, book_pages.ALL, {refuted: "a_picture"})
    assert all(f"| `{claim.id}` <br>" in page for claim in book_pages.ALL)
    assert page.count("(#fig-a_picture)") == 1
    assert len(re.findall(r"^\|[^|]*\| `", page, re.MULTILINE)) == len(book_pages.ALL)
    assert page.index("| Theorem 4.1 | `wang24") < page.index("| Theorem 4.2 | `wang24")
    assert page.count("How it was read:") == len({claim.id.split("-")[0] for claim in book_pages.ALL})
    assert "\n## Every claim\n" in page and '"every-claim"' in (BOOK / "_static/ledger.js").read_text()
    assert "refuted (an approximation, read as a bound)" in page and "The error is that of" in page


def test_a_refuted_claim_leads_to_the_picture_of_its_failure():
    shown = {path.stem: "words" for path in (ROOT / "figures/papers").glob("claims_*.png")}
    pictures = book_pages.pictures_of_claims({ROOT / "notebooks/papers/claims.ipynb": shown})
    drawn = {claim.id for claim in book_pages.ALL if claim.failure_curve is not None}
    assert set(pictures) <= drawn and set(pictures.values()) <= set(shown)
    if pictures:
        assert len(pictures) > 50


def test_files_that_a_notebook_alone_links_are_there_and_on_the_website():
    path = ROOT / "notebooks/deployed.ipynb"
    first = nbformat.read(path, 4).cells[0]
    links = re.findall(r"\]\((\.\./figures/[^)#]+)", first.source)
    assert len(links) == 4 and all((path.parent / link).is_file() for link in links)
    shown = book_notebooks.page(nbformat.v4.new_notebook(cells=[first]), "", path.name).cells[0].source
    there = re.findall(r"\]\((\.\./(?:figures|gallery)[^)]+)", shown)
    assert there == ["../gallery.md", *(link.replace(".md", ".csv") for link in links[1:])]
    assert all((path.parent / link).is_file() for link in there[1:])


def test_a_figure_of_a_lesson_takes_its_caption_and_folded_code_stays_folded():
    shown = viz.Saved("01_2_bag", "Five of 12 “change”", "Find <yourself>.", "Figure 1.2", b"png")
    output = nbformat.v4.new_output("execute_result", {"text/html": shown._repr_html_()})
    frames = nbformat.v4.new_output("execute_result", {"text/html": "<div class=frames>"})
    drawn = code("show_figure()", output, frames)
    drawn.metadata = {"jupyter": {"source_hidden": True}}
    prose = nbformat.v4.new_markdown_cell("The ***advantage*** of [***nobody***](../../book/a.md).")
    cells = [code("x = 1"), drawn, code("", tags=["injected-parameters"]), prose]
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert list(book_notebooks.figures_of(notebook)) == ["01_2_bag"]
    visible, folded, figure, prose, offer = book_notebooks.page(notebook, "course", "01_coins.ipynb").cells
    assert prose.source == "The **{term}`advantage <advantage>`** of [***nobody***](../../a.md)."
    assert offer.source == "{download}`Download this notebook <../../downloads/01_coins.ipynb>`"
    assert (
        visible.metadata == {} and folded.metadata == {"tags": ["hide-input"]} and folded.outputs == [frames]
    )
    assert "**Figure 1.2.** Find <yourself>." in figure.source and ":name: fig-01_2_bag" in figure.source
    alt = re.search(r"^:alt: (.*)$", figure.source, re.MULTILINE)[1]
    assert json.loads(alt) == "Five of 12 “change”"
    widget = nbformat.v4.new_output("display_data", {"application/vnd.jupyter.widget-view+json": {}})
    with pytest.raises(ValueError, match="widget"):
        book_notebooks.page(nbformat.v4.new_notebook(cells=[code("panel", widget)]), "course", "01.ipynb")


def test_imports_do_not_delay_the_first_picture():
    imports, drawn = code("import numpy as np"), code("show_figure()")
    imports.metadata = drawn.metadata = {"jupyter": {"source_hidden": True}}
    prose = nbformat.v4.new_markdown_cell("Guess.")
    cells = [nbformat.v4.new_markdown_cell("# 1."), imports, prose, drawn, code("2 + 2")]
    assert book_notebooks.without_delay(cells) == [cells[0], prose, imports, drawn, cells[4]]
    shown = [code("1 + 1"), prose, drawn]
    assert book_notebooks.without_delay(shown) == shown


def test_a_table_of_a_run_gives_way_to_the_committed_one():
    data = {"text/markdown": "of a coarse run", "text/plain": "claims_works.csv, claims_works.md"}
    table = code("save_table()", nbformat.v4.new_output("execute_result", data))
    cell, _ = book_notebooks.page(nbformat.v4.new_notebook(cells=[table]), "papers", "blanket.ipynb").cells
    committed = (ROOT / "figures/papers/claims_works.md").read_text()
    assert cell.outputs[0].data["text/markdown"] == committed


@pytest.mark.parametrize(
    "page, message",
    [
        ('<a href="absent.html">x</a>', "absent.html"),
        ('<a href="#absent">x</a>', "#absent"),
        ('<a href="other.html#absent">x</a>', "other.html#absent"),
        ('<img src="picture.png">', "without words"),
        ('<img alt=" " src="picture.png">', "without words"),
        ('<script src="https://example.org/a.js"></script>', "outside"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "outside"),
    ],
)
def test_a_fault_of_a_page_is_found(tmp_path, page, message):
    (tmp_path / "other.html").write_text('<p id="here">')
    (tmp_path / "picture.png").write_bytes(b"")
    (tmp_path / "index.html").write_text(page)
    found, _ = check_book.faults(tmp_path)
    assert len(found) == 1 and message in found[0]


def test_a_page_without_faults_passes_and_says_what_leads_out(tmp_path):
    (tmp_path / "other.html").write_text('<p id="here">')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here">x</a><a href="https://example.org">y</a><img alt="words" src="other.html">'
    )
    assert check_book.faults(tmp_path) == ([], ["https://example.org"])
    (tmp_path / "style.css").write_text("@import url(https://example.org/font.css);")
    assert len(check_book.faults(tmp_path)[0]) == 1
    (tmp_path / "empty").mkdir()
    assert check_book.faults(tmp_path / "empty")[0]


SEARCH = """<html data-content_root=""><meta charset="utf-8">
<script>class Stemmer {{ stemWord(word) {{ return word.slice(0, 6); }} }}</script>
<script src="{script}"></script><div id="search-results"><ul>
<li><a href="lessons/one.html">One</a></li><li><a href="lessons/one.html#two">One &gt; Two</a></li>
<li><a href="lessons/other.html">Other</a></li></ul></div></html>"""


def test_a_search_opened_from_a_file_shows_the_words_around_a_hit(tmp_path):
    driver = pytest.importorskip("playwright.sync_api", reason="no playwright: make browser installs it")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    (tmp_path / "search.html").write_text(SEARCH.format(script=(BOOK / "_static/snippets.js").as_uri()))
    (tmp_path / "_static").mkdir()
    text = "Shuffled réports <hide>. Two A shuffler mixes them. " + "More words. " * 40
    (tmp_path / "_static/texts.js").write_text(f"const TEXTS = {json.dumps({'lessons/one': text})};")
    with driver.sync_playwright() as run:
        page = run.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"]).new_page()
        page.goto((tmp_path / "search.html").as_uri() + "?q=shuffling")
        page.wait_for_selector(".context")
        assert page.locator("mark").all_inner_texts() == ["Shuffl", "shuffl"]
        first, second = page.locator("li .context").all_inner_texts()
        page.goto((tmp_path / "search.html").as_uri() + "?q=Reports")
        page.wait_for_selector(".context")
        assert page.locator("mark").first.inner_text() == "réports"
    assert first.startswith("Shuffled réports <hide>.") and first.endswith("…") and "Two A shuffler" in second
