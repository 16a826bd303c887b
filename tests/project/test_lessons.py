"""The lessons: the shape of each, its limits, its exercises, its pictures."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

import lesson_parts
import run_notebook
from lessons import LESSONS, NUMBERED, copied, folded, run

ROOT = Path(__file__).resolve().parents[2]
HEADINGS = [
    "Guess first",
    "See it",
    "The smallest case by hand",
    "The idea",
    "The same from the library",
    "Why it is true",
    "What it does not say",
    "Mistakes people make",
    "Summary",
    "Exercises",
    "Read more",
]
EDITS = [  # lesson, a text of a visible cell, what a curious reader writes in its place
    (1, 'index_col="education")', 'index_col="education").loc[["master", "doctorate"]]'),
    (1, "coin = randomizers.binary_rr(eps0=np.log(3))", "coin = randomizers.binary_rr(eps0=2.0)"),
    (2, "range(99)", "range(49)"),
    (2, "others = np.convolve(others, no)", "others = np.convolve(others, [0.71, 0.29])"),  # exercise 5
    (3, "E = Fraction(3, 2)", "E = Fraction(2)"),
    (3, "E0, E, d, n = 6, 1.1, 5, 300", "E0, E, d, n = 6, 1.1, 5, 100"),
    (4, "np.exp(0.1)", "np.exp(0.2)"),
    (5, "sets_of(k, d=3, E0=3)", "sets_of(k, d=4, E0=2)"),
    (6, "n, options, E0 = 1000, 10", "n, options, E0 = 500, 10"),
    (
        7,
        "n, options, E0, E = 1000, 10, np.exp(1.0), np.exp(0.08)",
        "n, options, E0, E = 500, 5, np.exp(1.5), 1.2",
    ),
    (8, "n, own = 1000, np.array([3, 1]) / 4", "n, own = 100, np.array([4, 1]) / 5"),
    (9, "delta_of_rounds(365, eps=3.0)", "delta_of_rounds(200, eps=3.0)"),
    (10, "n, d, eps, delta = 32_561", "n, d, eps, delta = 5_000"),
    (11, "yours, others = 2.0", "yours, others = 1.0"),
    (12, "n, d, m, eps = 10_000, 64, 5, 0.2", "n, d, m, eps = 1_000, 32, 11, 0.2"),
    (13, "n, D, D_max, eps = 1_000, 1.0, 3.0, 0.1", "n, D, D_max, eps = 300, 2.0, 4.0, 0.5"),
    (14, "n, E0, value = 100_000, np.exp(2.0)", "n, E0, value = 100_000, np.exp(1.0)"),
    (15, "sigma, steps, eps = 1.0, 10, 1.0", "sigma, steps, eps = 2.0, 30, 0.5"),
    (16, '"o": 6', '"o": 4'),
]
GREEK = "alpha beta gamma delta varepsilon theta lambda mu pi sigma omega rho eta tau ell Phi varphi"
LETTERS = dict(zip(GREEK.split(), "αβγδεθλμπσωρητℓΦφ", strict=True))
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
TIMES = re.compile(
    r"^\*(\d+) minutes to read, (\d+) for the exercises · "
    r"needs (no earlier lesson|lessons? [\d, –and]+)\.\*$",
    re.MULTILINE,
)


def read(path):
    return nbformat.read(path, as_version=4).cells


def prose(cells):
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def code(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


def names(tree, use):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, use)}


def words(cells):
    return len(re.sub(r"[|#*>`$]", " ", FOLDED.sub("", prose(cells))).split())


def section(path, heading):
    """Return the text of one section of a lesson, without its heading."""
    return re.search(rf"^## {heading}[^\n]*\n(.*?)(?=^## |\Z)", prose(read(path)), re.DOTALL | re.MULTILINE)[
        1
    ]


def addresses():
    """Return the address of every work in references.bib."""
    bib = (ROOT / "references.bib").read_text(encoding="utf-8")
    before = {"doi": "https://doi.org/", "eprint": "https://arxiv.org/abs/", "url": ""}
    fields = re.findall(r"^\s*(doi|eprint|url)\s*=\s*\{(.+?)\},?$", bib, re.MULTILINE)
    return {before[field] + where.replace("\\_", "_") for field, where in fields}


lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@lesson
def test_a_lesson_has_the_shape_of_a_lesson(path):
    text = prose(read(path))
    number = int(path.stem[:2])
    assert re.match(rf"# {number}\. \S", text), "the title is numbered"
    found = re.findall(r"^## ([^:,\n]+?)(?= in ten|[:,\n])", text, re.MULTILINE)
    assert [one.strip() for one in found] == HEADINGS
    after = LESSONS[LESSONS.index(path) + 1 :]
    assert not after or re.search(rf"\({after[0].stem}\.ipynb\)\W*$", text), "leads on"


@lesson
def test_the_first_cell_says_what_it_takes_and_what_one_can_do_afterwards(path):
    first = read(path)[0].source
    assert TIMES.search(first), "the times stand at the top"
    assert all(0 < int(one) < int(path.stem[:2]) for one in re.findall(r"\d+", TIMES.search(first)[3]))
    assert "\n\n**Run All, then scroll up.** " in first
    assert len(re.findall(r"^- ", first.partition("**You will be able to**\n\n")[2], re.MULTILINE)) == 3


@lesson
def test_the_times_are_measured(path):
    cells = read(path)
    shown = [cell.source for cell in code(cells) if not folded(cell)]
    figures = re.findall(
        r'(?:show_figure|viz\.save)\([^"]*"\d\d_', "\n".join(cell.source for cell in code(cells))
    )
    reading, exercises = map(int, TIMES.search(cells[0].source).groups()[:2])
    assert abs(reading - (words(cells) / 120 + len(shown) + len(figures))) <= 5
    minutes = re.findall(r"^\*\*\d\.\*\* ★{1,3} (\d+) minutes\. ", section(path, "Exercises"), re.MULTILINE)
    assert abs(exercises - sum(map(int, minutes))) <= 5


@lesson
def test_a_lesson_ends_with_three_lines_and_what_to_read(path):
    assert len(re.findall(r"^- ", section(path, "Summary"), re.MULTILINE)) == 3
    required, _, optional = section(path, "Read more").partition("**Optional.**")
    assert required.strip().startswith("**Required.**")
    items = [re.findall(r"\]\((https?://\S+)\)", part) for part in (required, optional)]
    assert 1 <= len(items[0]) <= 2 <= len(items[1]) <= 3
    assert {*sum(items, [])} <= addresses()


@lesson
def test_a_lesson_stays_within_its_limits(path):
    cells = read(path)
    assert words(cells) <= 1500
    assert sum(not folded(cell) for cell in code(cells)) <= 20
    for cell in code(cells):
        lines = len([line for line in cell.source.splitlines() if line.strip()])
        assert lines <= (10 if folded(cell) else 12), cell.source


@lesson
def test_ten_lines_are_ten_lines(path):
    """The idea is one program, tried by a second; where it takes more, the heading says so."""
    lesson = lesson_parts.read(path)
    (heading,) = (one for one in lesson.sections if one.startswith("The idea"))
    shown = [cell for cell in code(lesson.sections[heading]) if not folded(cell)]
    assert heading == ("The idea in ten lines" if len(shown) <= 2 else "The idea, ten lines at a time")


@lesson
def test_exercises_have_folded_solutions_in_prose(path):
    exercises = section(path, "Exercises")
    solutions = re.findall(
        r"<details><summary>Solution</summary>\n\n(.*?)\n\n</details>", exercises, re.DOTALL
    )
    asked = re.findall(r"^\*\*(\d)\.\*\* ★{1,3} \d+ minutes\. \S", FOLDED.sub("", exercises), re.MULTILINE)
    assert [*map(int, asked)] == [*range(1, len(solutions) + 1)] and 3 <= len(asked) <= 5
    assert all(len(re.sub(r"```.*?```", "", one, flags=re.DOTALL).split()) >= 15 for one in solutions)


@lesson
def test_no_parameter_is_bound_again(path):
    cells = read(path)
    declared = run_notebook.declared_parameters(nbformat.v4.new_notebook(cells=cells))
    for cell in code(cells):
        if "parameters" in cell.metadata.get("tags", []):
            continue
        assert not names(ast.parse(cell.source), ast.Store) & set(declared), cell.source


@lesson
def test_a_function_stays_in_the_section_that_defines_it(path):
    home, section = {}, 0
    for cell in read(path):
        if cell.cell_type == "markdown":
            section += len(re.findall(r"^## ", cell.source, re.MULTILINE))
            continue
        tree = ast.parse(cell.source)
        home |= {node.name: section for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not [name for name in used if home.get(name, section) != section]


@lesson
def test_a_panel_uses_no_name_that_a_later_cell_binds(path):
    functions, used, later = {}, [], set()
    for cell in code(read(path)):
        tree = ast.parse(cell.source)
        defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        if used:
            later |= names(tree, ast.Store) | {*defined}
        functions |= defined
        if "explore(draw" in cell.source:
            used = ["draw"]
            for name in used:  # grows
                body = functions.get(name, ast.Pass())
                given = {node.arg for node in ast.walk(body) if isinstance(node, ast.arg)}
                used += names(body, ast.Load) - names(body, ast.Store) - given - {*used}
    assert used and not {*used} & later


@lesson
def test_a_slider_moved_after_the_last_cell_draws_what_it_drew_at_first(path):
    moves = list(run(path).moved())
    assert len(moves) >= 2
    for where, first, now in moves:
        assert now == first, where


@lesson
def test_visible_cells_run_when_they_alone_are_copied(path):
    copied(path)


@lesson
def test_no_assertion_stops_a_reader(path):
    for cell in code(read(path)):
        assert not [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Assert)]


@lesson
def test_no_cell_ends_in_a_call_whose_drawn_thing_is_printed(path):
    """A last line such as ``ax.axvline(0)`` prints an object, unless a semicolon ends it."""
    for cell in code(read(path)):
        last = ast.parse(cell.source).body[-1:]
        if last and isinstance(last[0], ast.Expr) and not cell.source.rstrip().endswith(";"):
            root = re.match(r"\w*", ast.unparse(last[0]))[0]
            assert root not in {"ax", "axes", "fig", "flat", "grid", "plt", "sns"}, cell.source


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit[0]}: {edit[2]}")
def test_a_lesson_runs_to_its_end_after_an_edit(edit):
    number, old, new = edit
    (cell,) = (cell for cell in code(read(NUMBERED[number])) if old in cell.source)
    assert not folded(cell), "a reader edits what is shown"
    ran = run(NUMBERED[number], edits=((old, new),))
    assert len(ran.states) == len(ran.sources)


@lesson
def test_pictures_come_from_the_run_and_are_numbered_in_order(path):
    cells = read(path)
    assert "![" not in prose(cells), "a picture is shown by the cell that draws it"
    sources = "\n".join(cell.source for cell in code(cells))
    shown = re.findall(r'(?:show_figure|viz\.save)\([^"]*"(\d\d_\d+_\w+)"', sources)
    assert [name.split("_")[:2] for name in shown] == [
        [path.stem[:2], str(place)] for place in range(1, len(shown) + 1)
    ]
    for name in shown:
        for kind in ("csv", "pdf", "png"):
            assert (ROOT / "figures/course" / f"{name}.{kind}").exists(), f"{name} was not drawn in full"


def test_every_figure_of_the_course_is_shown_in_a_lesson():
    sources = "\n".join(cell.source for path in LESSONS for cell in code(read(path)))
    drawn = {path.stem for path in (ROOT / "figures/course").glob("*.csv")}
    assert drawn <= set(re.findall(r'"(\d\d_\d+_\w+)"', sources))


def test_links_between_notebooks_lead_somewhere():
    for path in LESSONS:
        for target in re.findall(r"\]\(([^)#\s]+\.ipynb)", prose(read(path))):
            assert (path.parent / target).exists(), f"{path.name} leads to {target}"


def letters(text):
    """Yield the letters of the formulas, without names of functions and words."""
    for display, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", text, re.DOTALL):
        formula = re.sub(
            r"\\(?:text|mathrm|begin|end|mathbb|mathcal)\s*(?:\{[^}]*\}|.)", "", display or inline
        )
        yield from {*LETTERS}.intersection(re.findall(r"\\([A-Za-z]+)", formula))
        yield from re.findall(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", formula))


def test_a_letter_of_two_lessons_or_more_is_in_both_tables_of_symbols():
    sheet = (ROOT / "book/cheatsheet.md").read_text(encoding="utf-8").split("## Symbols")[1]
    first = prose(read(LESSONS[0])).split("### The symbols of all lessons")[1]
    used = [{*letters(FOLDED.sub("", prose(read(path))))} for path in LESSONS]
    often = {letter for one in used for letter in one if sum(letter in other for other in used) > 1}
    assert {"K", "u", "theta", "P"} <= often, "the search finds what is there"
    for table in (sheet, first):
        listed = {*letters(table), *(name for name, letter in LETTERS.items() if letter in table)}
        assert often - listed == set()
