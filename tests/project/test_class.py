"""What is handed out: the class files, copies without solutions, checks of answers, quizzes, decks, notes."""

import html
import math
import re
from fractions import Fraction
from types import SimpleNamespace

import nbformat
import pytest

import class_copies
import gift
import lesson_parts
import notes
import printing
import slide_text
import slides

LESSON = """\
# 1. Coins

*Who said yes?*

*25 minutes to read, 10 for the exercises · needs no earlier lesson.*

**You will be able to**

- count
## Guess first

How many?

> **A.** one · **B.** two
## See it: two coins

Each coin falls.
## The smallest case by hand

With $a_1 = 1$ and $b_1 = 2$ it costs $5; `x = "$y$"`.

$$a_1 + b_1 = 3.$$
<CODE>print(1 + 2)
<CODE>sns.lineplot(frame)
## Why it is true

So the answer is **B**.
## What it does not say

- It is one case.
## Summary

- The sum is 3.
## Exercises

**1.** ★ 5 minutes. What is half of 9/16?

<details><summary>Solution</summary>

Half of nine sixteenths is $\\frac{9}{32}$.

</details>

**2.** ★★ 5 minutes. *Why?*

<details><summary>Solution</summary>

Because a solution has fifteen words.

</details>
## Read more

*Next.* [Lesson 2](02_more.ipynb)."""
FILE = """\
quiz:
  - question: "Is $R_x(y) \\\\le e^{\\\\varepsilon_0} R_{x'}(y)$ at *all* times: yes = {no}?"
    right: "The set $\\\\{y_1\\\\}$ \\\\neq 1 ~ 50 %"
    wrong: ["a # b", "$\\\\nu < 1$", "-> 3"]
    feedback: "It has `code = 1` & more."
checks:
  - {exercise: 1, name: answer_1, ask: "as a fraction", value: "9/32", tolerance: 0}
slide: "It is $3$."
"""


@pytest.fixture
def lesson(tmp_path):
    cells = []
    for part in re.split(r"\n(?=## |<CODE>)", LESSON):
        kind = nbformat.v4.new_code_cell if part.startswith("<CODE>") else nbformat.v4.new_markdown_cell
        cells.append(kind(part.removeprefix("<CODE>")))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "01_coins.ipynb")
    (tmp_path / "class").mkdir()
    (tmp_path / "class/01.yaml").write_text(FILE, encoding="utf-8")
    return lesson_parts.read(tmp_path / "01_coins.ipynb")


def prose(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


# parts of a lesson


def test_a_lesson_is_split_into_its_parts(lesson):
    assert (lesson.number, lesson.title, lesson.question) == (1, "Coins", "Who said yes?")
    assert lesson.time.startswith("25 minutes to read")
    assert [*lesson.sections][1:4] == ["Guess first", "See it", "The smallest case by hand"]
    assert [one.number for one in lesson.exercises()] == [1, 2]
    assert lesson.exercises()[0].solution == "Half of nine sixteenths is $\\frac{9}{32}$."
    programs = [cell for cells in lesson.sections.values() for cell in cells if lesson_parts.is_program(cell)]
    assert [cell.source for cell in programs] == ["print(1 + 2)"]


def test_a_missing_class_file_is_named(lesson):
    lesson.lesson_file.unlink()
    with pytest.raises(ValueError, match=r"lesson 1 has no .*01\.yaml; write one"):
        lesson.handed_out()


@pytest.mark.parametrize("path", sorted(lesson_parts.COURSE.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_exercise_of_a_lesson_is_found(path):
    found = lesson_parts.read(path)
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    assert len(found.exercises()) == text.count("<summary>Solution</summary>")
    assert [one.number for one in found.exercises()] == [*range(1, len(found.exercises()) + 1)]
    assert all(one.solution and "<details>" not in one.asked for one in found.exercises())


# copies


def graded(lesson, kind):
    """Run the answers of a copy, and the checks that its grading has; return how many hold."""
    answers, names, right = class_copies.copy(lesson, kind), {}, 0
    grading = class_copies.copy(lesson, "grading")
    for cell in answers.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            exec(cell.source, names)
    for cell in grading.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            try:
                exec(cell.source, names)
                right += 1
            except (AssertionError, TypeError):
                pass
    return right


def check_copies(lesson):
    checks = len(lesson.handed_out()["checks"])
    assert (graded(lesson, "solutions"), graded(lesson, "student")) == (checks, 0)
    student, full = class_copies.copy(lesson, "student"), class_copies.copy(lesson, "solutions")
    nbformat.validate(student)
    nbformat.validate(full)
    handed = "\n".join(cell.source for cell in student.cells)
    for one in lesson.exercises():
        assert one.solution in prose(full) and one.asked in prose(student)
        assert all(line not in handed for line in one.solution.splitlines() if len(line) > 40)
    for line in lesson.text("Summary").splitlines():
        assert line in prose(full) and (not line or line not in handed)
    assert "assert" not in handed and "HIDDEN" not in handed
    released = [cell.source for cell in class_copies.copy(lesson, "grading").cells]
    hidden = re.compile(r"\n### BEGIN (HIDDEN TESTS|SOLUTION).*### END \1", re.DOTALL)
    assert [hidden.sub("", text) for text in released] == [cell.source for cell in student.cells]


def test_a_student_copy_has_no_solution_and_the_solutions_are_graded_as_right(lesson):
    check_copies(lesson)
    assert [cell.source for cell in class_copies.copy(lesson, "student").cells[-6:-1]] == [
        "**1.** ★ 5 minutes. What is half of 9/16?",
        "# as a fraction\nanswer_1 = ...",
        "# answer_1 is checked here after you have handed in the notebook",
        "**2.** ★★ 5 minutes. *Why?*",
        "*Your answer:*",
    ]


@pytest.mark.parametrize(
    ("answer", "right"), [(9 / 32, True), (Fraction(9, 32), True), (0.2813, False), (..., False)]
)
def test_an_answer_is_compared_as_a_number(lesson, answer, right):
    check = lesson.handed_out()["checks"][0]
    if right:
        exec(class_copies.test(check), {"answer_1": answer})
    else:
        with pytest.raises((AssertionError, TypeError)):
            exec(class_copies.test(check), {"answer_1": answer})


def test_the_copies_end_with_what_to_hand_out(lesson, tmp_path, monkeypatch):
    monkeypatch.setattr(lesson_parts, "lessons", lambda: [lesson])
    said = class_copies.write(tmp_path / "copies")
    named = re.findall(r"student/|grading/README\.txt", said)
    assert len(named) == 2 and all((tmp_path / "copies" / name).exists() for name in named)


# quizzes


def parsed(text):
    """Return the questions of a file in GIFT as their platforms read them, with their categories."""
    plain = {rf"\{one}": f"&#{ord(one)};" for one in ":#={}~"} | {r"\n": "&#10;"}
    text = re.sub(r"^//.*\n", "", text, flags=re.MULTILINE).replace(r"\\", "\x00")
    for old, new in plain.items():
        text = text.replace(old, new)
    text = text.replace("\x00", "\\")
    found, category = [], ""
    for block in filter(None, map(str.strip, text.split("\n\n"))):
        if block.startswith("$CATEGORY: "):
            category = block.removeprefix("$CATEGORY: ")
            continue
        title, asked, inside = re.fullmatch(r"::(.*?)::\[html\](.*?)\{(.*)\}", block, re.DOTALL).groups()
        answers, feedback = inside.rsplit("####", 1)
        answers = re.findall(r"([=~])([^=~]*)", answers)
        read = [html.unescape(one.strip()) for one in (asked, feedback, *(text for _, text in answers))]
        marks = "".join(mark for mark, _ in answers)
        found.append(SimpleNamespace(category=category, title=title, marks=marks, texts=read))
    return found


def check_quiz(lesson):
    text = gift.quizzes([lesson])
    for one, asked in zip(parsed(text), lesson.handed_out()["quiz"], strict=True):
        assert one.category == f"$course$/Shuffling/{lesson.number:02d} {lesson.title}"
        assert one.marks == "=~~~"
        written = [asked["question"], asked["feedback"], asked["right"], *asked["wrong"]]
        for shown, source in zip(one.texts, written, strict=True):
            for formula in re.findall(r"\$([^$]+)\$", source):
                assert rf"\({formula}\)" in html.unescape(shown)
            assert "$" not in shown.replace("$5", "")


def test_a_quiz_is_read_as_it_was_meant(lesson):
    check_quiz(lesson)
    (one,) = parsed(gift.quizzes([lesson]))
    assert one.texts == [
        r"Is \(R_x(y) \le e^{\varepsilon_0} R_{x'}(y)\) at <em>all</em> times: yes = {no}?",
        "It has <code>code = 1</code> & more.",
        r"The set \(\{y_1\}\) \neq 1 ~ 50 %",
        "a # b",
        r"\(\nu < 1\)",
        "-> 3",
    ]


# decks and notes


def test_a_formula_survives_markdown_and_a_dollar_in_code_is_a_dollar(lesson):
    shown = printing.rendered(lesson.text("The smallest case by hand"))
    assert r"\(a_1 = 1\)" in shown and r"\[a_1 + b_1 = 3.\]" in shown
    assert "$5" in shown and "<code>x = &quot;$y$&quot;</code>" in shown


def test_a_link_stays_only_where_its_target_is_handed_out():
    text = "[Lesson 2](02_more.ipynb), [data](../x.csv), [site](https://x.example)"
    shown = printing.rendered(text, notes.chapter_of)
    assert re.findall(r'href="([^"]*)"', shown) == ["#lesson-2", "https://x.example"]
    assert slides.deck_of("02_more.ipynb") == "02_more.html" and slides.deck_of("../x.csv") is None


def test_a_deck_has_question_guess_code_summary_and_quiz(lesson, tmp_path):
    deck = slides.deck(lesson, tmp_path)
    for text in ("Who said yes?", "<strong>B.</strong> two", "The sum is 3.", "\\(3\\).", "✓"):
        assert text in deck
    for text in ("Each coin falls.", "print(1 + 2)"):
        assert text in html.unescape(re.sub(r"</?span[^>]*>", "", deck))
    places = [deck.index(text) for text in ("print", "answer is <strong>B", "It is one case.")]
    assert places == sorted(places)
    assert deck.count("<section>") == deck.count("</section>") == 11
    assert "solution has fifteen words" not in deck


def test_a_deck_has_the_exercises_of_one_star(lesson, tmp_path):
    deck = slides.deck(lesson, tmp_path)
    assert "What is half of 9/16?" in deck and "Why?" not in deck and "Half of nine" not in deck


def test_the_smallest_case_keeps_its_order_and_its_programs_follow_what_announces_them():
    cells = [
        nbformat.v4.new_markdown_cell("## The smallest case by hand\n\nFirst.\n\n### Then\n\nTry it:"),
        nbformat.v4.new_code_cell("print(1 + 2)"),
        nbformat.v4.new_markdown_cell("It is three."),
    ]
    first, second = slides.told("The smallest case by hand", cells, None)
    assert "First." in first and "Try it" not in first
    assert "The smallest case by hand: Then" in second
    places = [second.index(text) for text in ("Try it:", '<pre class="code"', "It is three.")]
    assert places == sorted(places)


@pytest.mark.parametrize(("announced", "first"), [("", "pictures"), ("\n\nLook.", "words")])
def test_words_about_a_picture_that_nothing_announces_follow_it(announced, first, tmp_path):
    panel = nbformat.v4.new_output("display_data", {"text/html": '<div class="frames">panel</div>'})
    cells = [
        nbformat.v4.new_markdown_cell(f"## See it{announced}"),
        nbformat.v4.new_code_cell("explore()", outputs=[panel]),
        nbformat.v4.new_markdown_cell("So A is wrong."),
    ]
    deck = "".join(slides.seen(cells, tmp_path))
    assert (deck.index("panel") < deck.index("So A is wrong.")) == (first == "pictures")


@pytest.mark.parametrize(
    ("sizes", "pieces"), [([8, 6], 1), ([8, 8], 2), ([13, 3], 1), ([8, 7, 8], 3), ([8, 5, 8, 3], 2)]
)
def test_a_short_rest_is_no_slide_of_its_own(sizes, pieces):
    assert len(slide_text.portions(["\n".join(["word"] * size) for size in sizes])) == pieces


def test_half_a_sentence_is_no_slide_and_a_formula_counts_as_one():
    text = "In general\n\n$$\na +\nb,\n$$\n\nwhere a is one.\n\nThis is another."
    assert [block[:7] for block in slide_text.blocks(text)] == ["In gene", "This is"]
    assert slide_text.lines("$$\na +\nb,\n$$") == slide_text.lines("$$a + b,$$")


@pytest.mark.parametrize("said", ["The answer is **B**.", "The answer is B.", "It is (b): more."])
def test_the_answer_to_the_guess_is_ticked(said):
    for options in ("> **A.** one\n>\n> **B.** two", "> A. one\n> B. two", "> (a) one\n> (b) two"):
        ticked = slide_text.marked(options, said)
        alike = ("(b)" in said) == ("(b)" in options)
        assert ticked == options + " ✓" * alike
    assert slide_text.marked("> **A.** one", "The order is **A**, **B**.") == "> **A.** one"


def test_a_number_stays_with_its_sign():
    shown = printing.rendered("At ε = 0.3 it is 65 %, `ε = 0.3` and $n = 1 %$ stay.")
    assert "ε\u00a0=\u00a00.3 it" in shown and "65\u00a0%" in shown and "<code>ε = 0.3</code>" in shown
    assert r"\(n = 1 %\)" in shown


def test_notes_have_the_solutions_at_their_end(lesson, tmp_path):
    body, answers = notes.lesson_body(lesson, tmp_path), notes.solutions([lesson])
    assert "fifteen words" not in body and "fifteen words" in answers
    assert "lineplot" not in body and 'href="#lesson-2"' in body
    assert "<td>7</td>" in notes.contents([lesson], {"lesson-1": 7})


def test_notes_show_the_idea_of_a_panel_or_its_first_picture(tmp_path):
    panel = {"data": {"text/html": '<div class="frames"><form></form><img src="data:first"></div>'}}
    assert notes.output(panel, tmp_path) == '<figure class="panel"><img src="data:first"></figure>'
    cell = nbformat.v4.new_code_cell("explore(lambda n: ideas.draw_protocol(n), n=people)")
    assert 'src="protocol.svg"' in notes.output(panel, tmp_path, lesson_parts.ideas(cell))
    assert (tmp_path / "protocol.svg").exists()


def test_pages_of_a_printed_file_are_counted_and_found(tmp_path):
    pages = b"12 0 obj\n<</Type /Page\n>>\n42 0 obj\n<</Type /Page\n>>\n9 0 obj\n<</Type /Pages>>"
    (tmp_path / "a.pdf").write_bytes(pages + b"\n<</lesson-1 [42 0 R /XYZ 0 829.1 0]>>")
    assert printing.pages(tmp_path / "a.pdf") == 2
    assert printing.places(tmp_path / "a.pdf") == {"lesson-1": 2}


def test_without_chromium_the_pages_are_written_and_a_sentence_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(printing, "BROWSERS", ())
    with printing.printer() as to_pdf:
        assert to_pdf is None
    assert "no Chromium found" in capsys.readouterr().out


# the lessons themselves

LESSONS = lesson_parts.lessons()
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def numbers(text):
    """Return the numbers that a text states, fractions among them."""
    part = r"\s*(?:\{(\d+)\}|(\d))"  # 41 in braces, or one digit
    text = re.sub(rf"\\[td]?frac{part}{part}", r" \1\2/\3\4 ", text.replace(r"\,", ""))
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    found = re.findall(r"(?<![\d.])\d+(?:\.\d+)?(?:/\d+)?", text)
    return [
        float(Fraction(one.split("/")[0]) / int(one.split("/")[1])) if "/" in one else float(one)
        for one in found
        if not one.endswith("/0")
    ]


@every_lesson
def test_a_class_file_has_a_quiz_checks_and_a_sentence(lesson):
    given = lesson.handed_out()
    assert set(given) == {"quiz", "checks", "slide"}
    assert len(given["quiz"]) == 3 and len(given["checks"]) >= 2
    for one in given["quiz"]:
        assert set(one) == {"question", "right", "wrong", "feedback"}
        answers = [one["right"], *one["wrong"]]
        assert len(one["wrong"]) == 3 and len(set(answers)) == 4
        assert all(
            isinstance(text, str) and text.strip() for text in (*answers, one["question"], one["feedback"])
        )
    for one in given["checks"]:
        assert set(one) == {"exercise", "name", "ask", "value", "tolerance"}
        assert one["name"].isidentifier() and "\n" not in one["ask"] and 0 <= one["tolerance"] < 0.2
    assert len({one["name"] for one in given["checks"]}) == len(given["checks"])
    assert len({one["exercise"] for one in given["checks"]}) >= 2
    assert given["slide"].strip().endswith(".")


@every_lesson
def test_a_checked_answer_stands_in_the_solution(lesson):
    solutions = {one.number: one.solution for one in lesson.exercises()}
    for check in lesson.handed_out()["checks"]:
        value = float(eval(check["value"], {"Fraction": Fraction, "math": math}))
        assert math.isfinite(value)
        near = max(check["tolerance"], 1e-2)
        stated = numbers(solutions[check["exercise"]])
        assert any(math.isclose(one, times * value, rel_tol=near) for one in stated for times in (1, 100)), (
            check
        )


@every_lesson
def test_the_sentence_that_answers_the_guess_is_found(lesson):
    assert re.search(r"answer|order", slides.answer(lesson))


@every_lesson
def test_a_lesson_is_copied_and_graded(lesson):
    check_copies(lesson)


@every_lesson
def test_the_quiz_of_a_lesson_is_read_as_it_was_meant(lesson):
    check_quiz(lesson)


def test_the_plan_names_every_lesson_with_its_time():
    plan = (lesson_parts.COURSE / "README.md").read_text(encoding="utf-8")
    wrong = []
    for lesson in LESSONS:
        minutes = " + ".join(re.findall(r"(\d+) (?:minutes to read|for the exercises)", lesson.time))
        needs = re.search(r"needs (?:no earlier lesson|lessons? (.+))\.$", lesson.time)[1] or ""
        row = f"| {lesson.number} | {lesson.title} | {minutes} | {needs} |"
        wrong += [row] * (row not in plan or "+" not in minutes)
    assert not wrong, "as the lessons have it"
    week = plan.partition("| week |")[2].partition("### Two hours")[0]
    taught = re.findall(r"^\| \d? ?\| ([\d, ★]+) \|", week, re.MULTILINE)
    assert sorted(int(one) for row in taught for one in re.findall(r"\d+", row)) == [*range(1, 17)]
    drawn = {path.stem for path in slides.FIGURES.glob("course/*.png")}
    assert set(re.findall(r"`(\d\d_\d_\w+)`", plan)) <= drawn
