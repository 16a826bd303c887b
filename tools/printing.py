"""Markdown as pages that need no network, and as PDF by a Chromium that is installed."""

import html
import importlib.util
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import mistune
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, TextLexer

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
LINK = re.compile(r"\[([^]]+)\]\((?!https?:)([^)]*)\)")
FORMULA = re.compile(  # or code, in which a dollar is a dollar
    r"```.*?```|`[^`\n]*`|\$\$(?P<block>.+?)\$\$|\$(?P<inline>(?!\s)[^$`]+?)(?<!\s)\$(?P<after>[.,;:)]*)",
    re.DOTALL,
)
CODE = re.compile(r"(?P<code><pre.*?</pre>|<code.*?</code>|<[^>]*>)|[^<]+", re.DOTALL)
# The space before "%" and around "=" between a symbol and its number, where no line may break.
WHOLE = re.compile(r"(?<=\d) (?=%)|(?<=[A-Za-zα-ω₀]) (?=[=≈≤≥] \d)|(?<=[A-Za-zα-ω₀][ \u00a0][=≈≤≥]) (?=\d)")
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<script>
const fit = (part) => part.querySelectorAll("mjx-container[display=true]").forEach((one) => {{
  // A formula too wide for its line is set smaller.
  const room = one.clientWidth / one.querySelector("svg").getBoundingClientRect().width;
  if (0 < room && room < 1) one.style.fontSize = 95 * room + "%";
}});
MathJax = {{
  options: {{enableMenu: false}},
  startup: {{pageReady: () => MathJax.startup.defaultPageReady().then(() => fit(document))}},
}};
</script>
<script src="mathjax.js"></script>
<style>
mjx-container g {{ stroke: none; }}
.whole {{ white-space: nowrap; }}
{style}
</style>
</head>
"""
READY = "<script>MathJax.startup.promise.then(() => { window.ready = true; });</script>"


class Renderer(mistune.HTMLRenderer):
    """HTML with highlighted Python; code in no language stays as it is."""

    def block_code(self, code, info=None):
        """Return a block of code, which knows how wide it is."""
        code = code.strip("\n")
        text = highlight(code, PythonLexer() if info else TextLexer(), HtmlFormatter(nowrap=True))
        columns = max(map(len, code.splitlines()), default=1)
        return f'<pre class="{"code" if info else "said"}" style="--columns: {columns}">{text}</pre>\n'


MARKDOWN = mistune.create_markdown(renderer=Renderer(escape=False), plugins=["table"])


def rendered(text, link=lambda target: None):
    """Return Markdown as HTML; of links inside the project only those remain that ``link`` gives a target."""
    formulas = []

    def changed(found):
        target = link(found[2])
        return f"[{found[1]}]({target})" if target else found[1]

    def kept(found):  # from Markdown, and with what follows in the same line
        if not (formula := found["block"] or found["inline"]):
            return found[0]
        left, right = (r"\[", r"\]") if found["block"] else (r"\(", r"\)")
        formulas.append(left + html.escape(formula, quote=False) + right)
        kept = f"\x1a{len(formulas) - 1}\x1a{found['after'] or ''}"
        return f'<span class="whole">{kept}</span>' if found["after"] else kept

    shown = MARKDOWN(FORMULA.sub(kept, LINK.sub(changed, text)))
    shown = CODE.sub(lambda found: found[0] if found["code"] else WHOLE.sub("\u00a0", found[0]), shown)
    return re.sub("\x1a(\\d+)\x1a", lambda found: formulas[int(found[1])], shown)


def write(path, title, style, body):
    """Write a page, beside it the script of its formulas."""
    path.parent.mkdir(parents=True, exist_ok=True)
    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    shutil.copyfile(package / "static/mathjax/tex-svg.js", path.parent / "mathjax.js")
    colours = HtmlFormatter(style="friendly").get_style_defs()
    head = HEAD.format(title=html.escape(title), style=f"{colours}\n{style}")
    path.write_text(f"{head}<body>\n{body}\n</body>\n</html>\n", encoding="utf-8")


def pages(pdf):
    """Return the number of pages of a PDF that Chromium wrote."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


def places(pdf):
    """Return anchor -> page of a PDF that Chromium wrote, for the anchors that links lead to."""
    text = pdf.read_bytes()
    numbers = re.findall(rb"(\d+) 0 obj\s*<</Type\s*/Page\b", text)
    page = {number: place for place, number in enumerate(numbers, 1)}
    found = re.findall(rb"/([\w#-]+)\s*\[(\d+) 0 R\s*/XYZ", text)
    return {anchor.decode(): page[number] for anchor, number in found if number in page}


@contextmanager
def printer():
    """Yield a function that prints a page once its script sets ``ready``, or None after saying why."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("no Chromium found, so no PDF is written: apt-get install chromium, or google-chrome")
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=FLAGS)

        def to_pdf(path, query="", **options):
            page = chromium.new_page()
            page.goto(path.resolve().as_uri() + query)
            page.wait_for_function("window.ready", timeout=300_000)
            options = {"prefer_css_page_size": True, "print_background": True} | options
            page.pdf(path=path.with_suffix(".pdf"), **options)
            page.close()

        yield to_pdf
        chromium.close()
