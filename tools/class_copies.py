"""Write what a class works with: ``python tools/class_copies.py build/class``.

student/     the lessons without solutions, an answer cell below each exercise
solutions/   the lessons with solutions, checked answers filled in
grading/     a course of nbgrader that grades a student's copy: its README says how
quizzes.gift all quizzes, for a learning platform
"""

import shutil
import sys
from pathlib import Path

import nbformat

import gift
import lesson_parts

COMPARE = """\
import math
from fractions import Fraction

assert math.isclose(float({name}), {value}, rel_tol={tolerance}, abs_tol=1e-12)"""
SOLUTION = "\n### BEGIN SOLUTION\n{name} = {value}\n### END SOLUTION"
HIDDEN = "### BEGIN HIDDEN TESTS\n{test}\n### END HIDDEN TESTS"
LATER = "# {name} is checked here after you have handed in the notebook"
OWN_WORDS = "## Summary\n\n*The lesson in three lines of your own:*\n\n1. …\n2. …\n3. …"
CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "shuffling"
c.ExecutePreprocessor.timeout = 600
c.ClearSolutions.code_stub = {"python": ""}
"""
README = """\
nbgrader grades the copies of the class; install it where the lessons run: pip install nbgrader
In this folder, for lesson 1 and a student called ada:

    nbgrader generate_assignment 01_why_shuffle
    mkdir -p submitted/ada/01_why_shuffle && cp ada.ipynb submitted/ada/01_why_shuffle/01_why_shuffle.ipynb
    nbgrader autograde 01_why_shuffle
    nbgrader export

The file handed in keeps its name. grades.csv then has a line for each student and lesson.
"""


def test(check):
    """Return the code that fails unless a student's answer is right."""
    tolerance = max(check["tolerance"], 1e-9)  # 5/24 and Fraction(5, 24) are both right
    return COMPARE.format(name=check["name"], value=check["value"], tolerance=tolerance)


def cell(source, identity, kind="code", **nbgrader):
    """Return a new cell, to be graded if nbgrader's properties of it are given."""
    made = getattr(nbformat.v4, f"new_{kind}_cell")(source, id=identity)
    if nbgrader:
        common = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
        made.metadata["nbgrader"] = common | {"grade_id": identity} | nbgrader
    return made


def answers(exercise, checks, kind):
    """Yield the cells below an exercise: one for each checked answer and its check, else one for words."""
    found = [check for check in checks if check["exercise"] == exercise.number]
    for check in found:
        name = check["name"].replace("_", "-")
        value = check["value"] if kind == "solutions" else "..."
        asked = f"# {check['ask']}\n{check['name']} = {value}"
        yield cell(asked + (SOLUTION.format(**check) if kind == "grading" else ""), name, solution=True)
        later = LATER.format(**check)
        text = {"grading": f"{later}\n{HIDDEN.format(test=test(check))}", "solutions": test(check)}
        yield cell(text.get(kind, later), f"check-{name}", grade=True, locked=True, points=1)
    if not found and kind != "solutions":
        yield cell("*Your answer:*", f"words-{exercise.number}", "markdown")


def exercises(lesson, kind):
    """Yield the cells of the section of exercises."""
    yield cell("## Exercises", "exercises", "markdown")
    for exercise in lesson.exercises():
        text = exercise.asked
        if kind == "solutions":
            text += f"\n\n**Solution.** {exercise.solution}"
        yield cell(text, f"exercise-{exercise.number}", "markdown")
        yield from answers(exercise, lesson.handed_out()["checks"], kind)
    if rest := lesson.after_exercises():
        yield cell(rest, "after-exercises", "markdown")


def copy(lesson, kind):
    """Return a lesson as a notebook for students, for teachers ("solutions"), or for "grading"."""
    notebook, cells = nbformat.read(lesson.path, as_version=4), []
    for heading, found in lesson.sections.items():
        if heading == "Exercises":
            cells += exercises(lesson, kind)
        elif heading == "Summary" and kind != "solutions":
            cells.append(cell(OWN_WORDS, "summary", "markdown"))
        else:
            cells += [one.copy() for one in found]
    for place, one in enumerate(cells):
        one.id = one.id if "nbgrader" in one.metadata else f"cell-{place}"
    notebook.cells, notebook.nbformat_minor = cells, 5
    return notebook


def write(target):
    """Write the copies of all lessons, and the quizzes; return a sentence about them."""
    shutil.rmtree(target, ignore_errors=True)
    lessons = lesson_parts.lessons()
    for lesson in lessons:
        places = {kind: target / f"{kind}/{lesson.path.name}" for kind in ("student", "solutions")}
        places["grading"] = target / f"grading/source/{lesson.name}/{lesson.path.name}"
        for kind, place in places.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            for data in lesson.path.parent.glob("*.csv"):
                shutil.copy(data, place.parent)
            nbformat.write(copy(lesson, kind), place)
    (target / "grading/nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    (target / "grading/README.txt").write_text(README, encoding="utf-8")
    (target / "quizzes.gift").write_text(gift.quizzes(lessons), encoding="utf-8")
    return f"{target}: {len(lessons)} lessons, student/ to hand out; to grade them, grading/README.txt"


if __name__ == "__main__":
    try:
        print(write(Path(sys.argv[1])))
    except ValueError as error:
        sys.exit(f"error: {error}")
