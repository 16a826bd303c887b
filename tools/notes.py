"""Bind the lessons into notes.pdf, their solutions at its end, and print the cheat sheet on one page.

    python tools/notes.py build/full/course build/notes

The notebooks come executed; figures and tables are the committed ones.
"""

import html
import re
import shutil
import sys
from pathlib import Path

import book_notebooks
import lesson_parts
import printing

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
TITLE = "Privacy amplification by shuffling"
FOOTER = '<div style="font-size: 8px; width: 100%; text-align: center"><span class="pageNumber"></span></div>'
NUMBERED = {"display_header_footer": True, "header_template": "<span></span>", "footer_template": FOOTER}
IMAGE = re.compile(r'<div class="frames".*?(<img [^>]*>).*', re.DOTALL)


def chapter_of(target):
    """Return the place in these notes that a link leads to."""
    found = re.match(r"(\d\d)_\w+\.ipynb", target)
    return f"#lesson-{int(found[1])}" if found else None


def markdown(text):
    """Return Markdown as HTML, with what was folded in sight."""
    text = re.sub(r"<details><summary>(.*?)</summary>", r'<div class="folded">\n\n**\1.**', text)
    return printing.rendered(text.replace("</details>", "</div>"), chapter_of)


def output(one, folder, ideas=()):
    """Return what a cell shows: a figure, a panel's idea or first picture, a table, or printed text."""
    kinds = one.get("data", {})
    if shown := book_notebooks.figure_of(one):
        shutil.copy(ROOT / f"figures/course/{shown['name']}.png", folder)
        picture = f'<img src="{shown["name"]}.png" alt="{html.escape(shown["finding"])}">'
        caption = printing.rendered(f"**{shown['label']}** {shown['caption']}")
        return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
    if 'class="frames"' in kinds.get("text/html", ""):
        for name in ideas[:1]:
            shutil.copy(ROOT / f"figures/ideas/{name}.svg", folder)
            return f'<figure class="panel"><img src="{name}.svg" alt="{name}"></figure>'
        return IMAGE.sub(r'<figure class="panel">\1</figure>', kinds["text/html"])
    if "text/markdown" in kinds:
        return printing.rendered(book_notebooks.printable(one, "course").data["text/markdown"])
    return printing.MARKDOWN.renderer.block_code(one.get("text") or kinds.get("text/plain", ""))


def lesson_body(lesson, folder):
    """Return a lesson as HTML without its solutions and folded code."""
    parts = [f'<h1 id="lesson-{lesson.number}">{lesson.number}. {html.escape(lesson.title)}</h1>']
    for cell in (cell for cells in lesson.sections.values() for cell in cells):
        if cell.cell_type == "markdown":
            text = re.sub(r"^(# |\*\*Run All).*\n+", "", cell.source, flags=re.MULTILINE)
            text = lesson_parts.SOLUTION.sub("\n\n", text)
            parts.append(markdown(text))
        elif "injected-parameters" not in cell.metadata.get("tags", ()):
            if lesson_parts.is_program(cell):
                parts.append(printing.MARKDOWN.renderer.block_code(cell.source, "python"))
            parts += [output(one, folder, lesson_parts.ideas(cell)) for one in cell.outputs]
    return "\n".join(parts)


def solutions(lessons):
    """Return all solutions as HTML."""
    parts = ['<h1 id="solutions">Solutions</h1>']
    for lesson in lessons:
        parts.append(f"<h2>{lesson.number}. {html.escape(lesson.title)}</h2>")
        parts += [markdown(f"**{one.number}.** {one.solution}") for one in lesson.exercises()]
    return "\n".join(parts)


def contents(lessons, pages):
    """Return the title page: each lesson with its question, linked, and its page where that is known."""
    rows = [(f"lesson-{one.number}", f"{one.number}. {one.title}", one.question) for one in lessons]
    parts = [
        f'<h1 class="title">{TITLE}</h1>\n<p>A course of {len(lessons)} lessons</p>\n<table class="toc">'
    ]
    for place, title, question in [*rows, ("solutions", "Solutions", "")]:
        text = f'<a href="#{place}">{html.escape(title)}</a><br>{printing.rendered(question)}'
        parts.append(f"<tr><td>{text}</td><td>{pages.get(place, '')}</td></tr>")
    return "\n".join([*parts, "</table>"])


def write(executed, target):
    """Write the notes and the cheat sheet; return a sentence about them."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    lessons, notes, sheet = lesson_parts.lessons(executed), target / "notes.html", target / "cheatsheet.html"
    body = "\n".join([*(lesson_body(one, target) for one in lessons), solutions(lessons), printing.READY])
    text = markdown((ROOT / "book/cheatsheet.md").read_text(encoding="utf-8"))
    printing.write(sheet, "Cheat sheet", (HERE / "cheatsheet.css").read_text(), text + printing.READY)
    with printing.printer() as to_pdf:
        pages = {}
        for _ in range(2 if to_pdf else 1):  # the pages are known once it has been printed
            style = (HERE / "notes.css").read_text()
            printing.write(notes, TITLE, style, f"{contents(lessons, pages)}\n{body}")
            if to_pdf:
                to_pdf(notes, outline=True, tagged=True, **NUMBERED)
                pages = printing.places(notes.with_suffix(".pdf"))
        if to_pdf:
            to_pdf(sheet)
            if (count := printing.pages(sheet.with_suffix(".pdf"))) != 1:
                sys.exit(f"error: the cheat sheet takes {count} pages, not one; shorten book/cheatsheet.md")
    starts = ", ".join(str(pages[f"lesson-{one.number}"]) for one in lessons) if pages else "unknown"
    return f"{target}: cheatsheet and notes, whose lessons begin on pages {starts}"


if __name__ == "__main__":
    print(write(*map(Path, sys.argv[1:])))
