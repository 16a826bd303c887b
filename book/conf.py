"""How Sphinx builds the book from build/book-source, which tools/book_source.py writes."""

import html
import importlib.util
import json
import re
import shutil
import unicodedata
from pathlib import Path

import yaml
from docutils import nodes
from docutils.utils.math import tex2unichar
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsrtStyle
from pybtex.style.template import field, sentence
from sphinx.search.en import SearchEnglish

ROOT = Path(__file__).resolve().parents[1]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())

project = "shufflelib"
author = ", ".join(person["name"] for person in CITATION["authors"])
release = CITATION["version"]
html_title = "Privacy amplification by shuffling"
html_baseurl = CITATION.get("url", "")  # where the book is published: pages then name it as canonical
html_favicon = "planner/icon.svg"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
]
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # types in docstrings are words

# The notebooks come executed; whatever they wrote to stderr is an error of the book.
nb_execution_mode = "off"
nb_output_stderr = "error"
nb_render_markdown_format = "gfm"
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
ABOUT = (
    "How private are shuffled reports? Lessons, a planner, certified bounds, and a check of the literature's."
)
myst_html_meta = {
    "description": ABOUT,
    "property=og:title": html_title,
    "property=og:description": ABOUT,
    "property=og:type": "website",
}
suppress_warnings = ["mystnb.unknown_mime_type", "ref.python"]  # a word of a type may name several things

bibtex_bibfiles = [str(ROOT / "references.bib")]
bibtex_default_style = "as-written"


class AsWritten(UnsrtStyle):
    """Sorted by author, with titles spelt as their authors spell them."""

    default_sorting_style = "author_year_title"

    def format_title(self, e, which_field, as_sentence=True):
        """Return a title without lowering its capitals."""
        title = field(which_field)
        return sentence[title] if as_sentence else title


register_plugin("pybtex.style.formatting", "as-written", AsWritten)

# Docstrings are numpydoc; single backticks name things that need not be pages.
default_role = "literal"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_use_keyword = False

html_theme = "sphinx_book_theme"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["book.css"]
html_js_files = ["definitions.js", "terms.js", "access.js", "copy.js", "ledger.js", "snippets.js"]
exclude_patterns = ["downloads/*"]  # the notebooks as they are opened in JupyterLab
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # they would be fetched, which a page opened as a file may not: snippets.js
html_last_updated_fmt = None
html_theme_options = {
    "article_footer_items": ["cite-page"],
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
}
html_context = {"citation": CITATION, "citation_authors": author, "default_mode": "auto"}

# One script draws the formulas as vectors: no font and no second file is fetched.
MATHJAX = "mathjax/tex-svg.js"
mathjax_path = MATHJAX
mathjax_options = {"defer": "defer"}


def vendor_mathjax(app, error):
    """Copy the formula script of the pinned package beside the other static files."""
    if error is None and app.builder.format == "html":
        package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
        target = Path(app.outdir, "_static", MATHJAX)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(package / "static" / MATHJAX, target)
        for template in Path(app.outdir, "_static").rglob("*.html"):  # of the theme, and no page
            template.unlink()


KINDS = "mathalpha", "mathbin", "mathrel", "mathop", "mathord", "mathopen", "mathclose", "mathfence", "space"
SIGNS = {name: sign for kind in KINDS for name, sign in getattr(tex2unichar, kind).items()}
SIGNS |= {name: f"{name} " for name in "Pr log exp max min inf sup sinh cosh tanh".split()}
SIGNS |= {"sqrt": "√", "dots": "…", "{": "(", "}": ")"}
COMMAND = re.compile(r"\\(?:begin|end)\{\w+\*?\}|\\([A-Za-z]+|.)|[{}&]", re.DOTALL)


def in_letters(formula):
    """Return a formula of TeX on one line, as a reader would type it."""
    return " ".join(COMMAND.sub(lambda found: SIGNS.get(found[1], ""), formula).split())


FORMULA = re.compile(r"\\\((.*?)\\\)|\\\[(.*?)\\\]", re.DOTALL)
NO_TEXT = re.compile(
    r"<(script|style)\b.*?</\1>|<details class=.admonition hide.*?</details>"
    r"|<a class=.headerlink.*?</a>|<[^>]*>",
    re.DOTALL,
)
TEXTS = {}


def without_tags(body):
    """Return what a page of HTML says: no tags, no folded code, formulas in letters."""
    body = body.replace("</dt>", "</dt> ").replace("</td>", "</td> ")
    text = FORMULA.sub(lambda found: in_letters(html.unescape(found[1] or found[2])), NO_TEXT.sub("", body))
    return " ".join(html.unescape(text).split())


def keep_text(app, pagename, templatename, context, doctree):
    """Keep what a page says, without folded code, for the snippets of the search."""
    if doctree is not None:
        TEXTS[pagename] = without_tags(context["body"])


def write_texts(app, error):
    """Write the texts of all pages where the search page finds them."""
    if error is None and app.builder.format == "html":
        text = f"const TEXTS = {json.dumps(TEXTS, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", "texts.js").write_text(text, encoding="utf-8")


def write_definitions(app, error):
    """Write the terms of the glossary and their definitions, which links to a term show when pointed at."""
    if error is not None or app.builder.format != "html":
        return
    found = {}
    for item in app.env.get_doctree("glossary").findall(nodes.definition_list_item):
        said = item.children[-1].deepcopy()
        for cited in list(
            said.findall(lambda node: getattr(node, "attributes", {}).get("refdomain") == "cite")
        ):
            cited.parent.remove(cited)
        for formula in list(said.findall(nodes.math)):
            formula.replace_self(nodes.Text(in_letters(formula.astext())))
        words = re.sub(r" +(?=[.;,)])", "", " ".join(said.astext().split("\n\n")[0].split()))
        found |= {name: words for term in item.children[:-1] for name in term.get("ids", ())}
    text = f"const DEFINITIONS = {json.dumps(found, ensure_ascii=False)};\n"
    Path(app.outdir, "_static", "definitions.js").write_text(text, encoding="utf-8")


# In a docstring a bar is an absolute value, unless it stands in code or in a formula.
BAR = re.compile(r"``.*?``|`[^`]*`|^( *)\.\. [\w-]+::.*\n(?:\s*\n|\1 +.*\n)*|\|", re.MULTILINE)


def keep_bars(app, what, name, thing, options, lines):
    """Escape the bars of a docstring, which would name substitutions."""
    text = BAR.sub(lambda found: r"\|" if found[0] == "|" else found[0], "\n".join(lines) + "\n")
    lines[:] = text.splitlines()


class Unaccented(SearchEnglish):
    """English, in which é is found as e."""

    js_splitter_code = r"""
var splitQuery = (query) => query.normalize("NFD").replace(/\p{M}/gu, "").match(/[\p{L}\p{N}_]+/gu) ?? [];"""

    def split(self, input):
        """Return the words of a text without accents."""
        return super().split(re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", input)))


def setup(app):
    """Let docstrings be read as they are meant, and the static files be complete when the build ends."""
    app.add_search_language(Unaccented)
    app.connect("autodoc-process-docstring", keep_bars)
    app.connect("build-finished", vendor_mathjax)
    app.connect("build-finished", write_definitions)
    app.connect("html-page-context", keep_text)
    app.connect("build-finished", write_texts)
