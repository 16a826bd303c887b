"""Write a deck for each lesson, as a page that needs no network and as PDF.

    python tools/slides.py build/full/course build/slides

A deck has the lesson's question, guess, pictures with their findings, smallest case, ten lines, the answer to
the guess, summary, the exercises of one star and quiz.  Its sliders move.
"""

import html
import importlib.util
import itertools
import re
import shutil
import sys
from pathlib import Path

import book_notebooks
import lesson_parts
import printing
import slide_text

FIGURES = Path(__file__).resolve().parents[1] / "figures"
ANSWER = re.compile(r"^.*\b(?:answers?|order)\b[^.\n]*(?:\*\*[A-F]\*\*|\([a-f]\)| [A-F]\.).*$", re.MULTILINE)
BODY = (Path(__file__).parent / "slides.html").read_text(encoding="utf-8")


def deck_of(target):
    """Return the deck of the lesson that a link leads to."""
    return re.sub(r"\.ipynb$", ".html", target) if re.match(r"\d\d_\w+\.ipynb$", target) else None


def slide(title, body, kind=""):
    """Return one slide; its body is Markdown."""
    text = printing.rendered(f"## {title}\n\n{body}" if title else body, deck_of)
    return f'<section><div class="page {kind}">\n{text}</div></section>'


def figure(path, words, caption=""):
    """Return the slide of a picture."""
    below = f"\n\n{caption}" if caption else ""
    return slide("", f'<img src="figures/{path.name}" alt="{html.escape(words)}">{below}', "picture")


def shown(cell, folder):
    """Yield the slides of what an executed cell shows: a panel with its sliders, figures."""
    for output in cell.get("outputs", ()):
        text = output.get("data", {}).get("text/html", "")
        if 'class="frames"' in text:
            yield f'<section><div class="page panel">\n{text}</div></section>'
        elif found := book_notebooks.figure_of(output):
            picture = shutil.copy(FIGURES / f"course/{found['name']}.png", folder)
            yield figure(Path(picture), found["finding"], f"**{found['label']}** {found['caption']}")


def answer(lesson):
    """Return the sentence that answers the guess; it stands before what the lesson does not say."""
    found = []
    for heading in itertools.takewhile(lambda one: one != "What it does not say", lesson.sections):
        if heading != "Guess first":
            found += ANSWER.findall(lesson_parts.FOLDED.sub("", lesson.text(heading)))
    return found[0] if found else ""


def told(heading, cells, folder):
    """Yield the slides of a section in reading order: text with the programs in it, pictures in between."""
    title, parts = heading, []
    for cell in cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"^## .*\n*", "", lesson_parts.FOLDED.sub("", cell.source))
            first, *others = re.split(r"^### ", text, flags=re.MULTILINE)
            parts += slide_text.blocks(first)
            for part in others:
                yield from (slide(title, one) for one in slide_text.portions(parts))
                title, _, text = part.partition("\n")
                title, parts = f"{heading}: {title}", slide_text.blocks(text)
        elif lesson_parts.is_program(cell):
            parts.append(slide_text.program(cell))
        if pictures := list(shown(cell, folder)):
            yield from (slide(title, one) for one in slide_text.portions(parts))
            yield from pictures
            parts = []
    yield from (slide(title, one) for one in slide_text.portions(parts))


def seen(cells, folder):
    """Yield the slides of "See it": words, then pictures; pictures first if nothing announces them."""
    heading, text = "See it", [cell for cell in cells if cell.cell_type == "markdown"]
    drawn = [cell for cell in cells if cell.cell_type == "code"]
    ideas = dict.fromkeys(name for cell in drawn for name in lesson_parts.ideas(cell))
    pictures = [figure(Path(shutil.copy(FIGURES / f"ideas/{name}.svg", folder)), name) for name in ideas]
    pictures += [picture for cell in drawn for picture in shown(cell, folder)]
    words = [*told(heading, text, folder)]
    yield from words + pictures if "\n" in text[0].source else pictures + words


def section(lesson, heading, folder):
    """Yield the slides of one section."""
    cells = lesson.sections[heading]
    if heading == "What it does not say" and (said := answer(lesson)):
        options = "\n".join(re.findall(r"^>.*$", slide_text.guess(lesson.text("Guess first")), re.MULTILINE))
        yield slide("The guess", f"{said}\n\n{slide_text.marked(options, said)}")
    if heading == "Guess first":
        yield slide(heading, slide_text.guess(lesson.text(heading)))
    elif heading == "See it":
        yield from seen(cells, folder)
    elif heading in ("The smallest case by hand", "What it does not say", "Summary"):
        yield from told(heading, cells, folder)
    else:
        programs = [cell for cell in cells if lesson_parts.is_program(cell)]
        yield from told(heading, programs if heading.startswith("The idea") else [], folder)
        for cell in cells:
            yield from shown(cell, folder)


def in_pairs(lesson):
    """Yield the exercises of one star, which a class does in pairs."""
    asked = [one.asked for one in lesson.exercises() if one.asked.count("★") == 1]
    for part in slide_text.portions(block for one in asked for block in slide_text.blocks(one)):
        yield slide("In pairs", part)


def quiz(lesson):
    """Yield each question of the quiz, then the same with its answer."""
    for place, one in enumerate(lesson.handed_out()["quiz"]):
        answers = one["wrong"][:]
        answers.insert((lesson.number + place * 3) % 4, one["right"])
        for answered in (False, True):
            marked = [f"**{text} ✓**" if answered and text == one["right"] else text for text in answers]
            listed = "\n".join(f"{letter}. {text}" for letter, text in zip("1234", marked, strict=True))
            more = f"\n\n> {one['feedback']}" if answered else ""
            yield slide(f"Quiz, question {place + 1}", f"{one['question']}\n\n{listed}{more}", "quiz")


def deck(lesson, folder):
    """Return the slides of a lesson."""
    first = f"# {lesson.number}. {lesson.title}\n\n{lesson.question}\n\n{lesson.time}"
    found = [slide("", first, "title")]
    for heading in lesson.sections:
        found += section(lesson, heading, folder)
    found += [slide("", lesson.handed_out()["slide"], "finding"), *in_pairs(lesson), *quiz(lesson)]
    return "\n".join(found)


def write(executed, target):
    """Write all decks with what they need beside them; return a sentence about them."""
    shutil.rmtree(target, ignore_errors=True)
    (target / "figures").mkdir(parents=True)
    package = Path(importlib.util.find_spec("sphinx_revealjs").origin).parent / "_static/revealjs"
    shutil.copytree(package / "dist", target / "reveal", ignore=shutil.ignore_patterns("*.map", "theme"))
    shutil.copy(package / "LICENSE", target / "reveal")
    with printing.printer() as to_pdf:
        for lesson in (lessons := lesson_parts.lessons(executed)):
            body = BODY.replace("<!-- slides -->", deck(lesson, target / "figures"))
            page = target / f"{lesson.name}.html"
            printing.write(page, f"{lesson.number}. {lesson.title}", "", body)
            if to_pdf:
                to_pdf(page, "?print-pdf")
    return f"{target}: {len(lessons)} decks, to be opened in a browser" + " or as PDF" * bool(to_pdf)


if __name__ == "__main__":
    try:
        print(write(*map(Path, sys.argv[1:])))
    except ValueError as error:
        sys.exit(f"error: {error}")
