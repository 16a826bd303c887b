"""A lesson in its parts, for what is handed out: title, question, sections, exercises, and its class file.

The class file ``notebooks/course/class/NN.yaml`` holds the quiz, the exercises with an answer to check and
the lesson's finding in one sentence.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml

COURSE = Path(__file__).resolve().parents[1] / "notebooks/course"
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
DRAWS = re.compile(r"\b(?:sns|viz|plt)\.|\bpd\.DataFrame\(|\bheadline =")
IDEA = re.compile(r"\bideas\.draw_(\w+)")
HEADING = re.compile(r"^(?=## )", re.MULTILINE)
SOLUTION = re.compile(r"\s*<details><summary>Solution</summary>\s*(.*?)\s*</details>\s*", re.DOTALL)


@dataclass(frozen=True)
class Exercise:
    """One exercise: its number, what it asks (with its stars and minutes), and its solution."""

    number: int
    asked: str
    solution: str


@dataclass(frozen=True)
class Lesson:
    """A notebook in its parts; ``sections`` maps each heading, up to its colon, to copies of its cells."""

    path: Path
    number: int
    title: str
    question: str
    time: str
    sections: dict

    @property
    def name(self):
        """Return the stem of all files that belong to the lesson."""
        return self.path.stem

    @property
    def lesson_file(self):
        """Return the class file of the lesson."""
        return self.path.parent / f"class/{self.number:02d}.yaml"

    def handed_out(self):
        """Return quiz, checks and slide of the lesson; an error names the file that is missing."""
        try:
            given = yaml.safe_load(self.lesson_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ValueError(f"lesson {self.number} has no {self.lesson_file}; write one") from None
        for one in given["quiz"]:  # an answer may be a number
            one |= {key: str(one[key]) for key in ("question", "right", "feedback")}
            one["wrong"] = [str(answer) for answer in one["wrong"]]
        for one in given["checks"]:
            one |= {
                "value": str(one["value"]),
                "tolerance": float(one["tolerance"]),
            }  # YAML reads 1e-3 as text
        return given

    def text(self, heading):
        """Return the Markdown of a section without its heading."""
        cells = [cell.source for cell in self.sections.get(heading, ()) if cell.cell_type == "markdown"]
        return re.sub(r"^## .*\n+", "", "\n\n".join(cells))

    def after_exercises(self):
        """Return what follows the last solution under the same heading."""
        return SOLUTION.split(self.text("Exercises"))[-1]

    def exercises(self):
        """Return the exercises in order."""
        *parts, _ = SOLUTION.split(self.text("Exercises"))
        found = []
        for asked, solution in zip(parts[::2], parts[1::2], strict=True):
            found.append(Exercise(int(re.search(r"\*\*(\d+)\.\*\*", asked)[1]), asked.strip(), solution))
        return found


def is_program(cell):
    """Whether a cell is code to be read: visible, and not only there to draw."""
    folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
    return cell.cell_type == "code" and not folded and not DRAWS.search(cell.source)


def ideas(cell):
    """Return the names of the pictures of ideas that a cell draws, as in figures/ideas."""
    return IDEA.findall(cell.source)


def sections(cells):
    """Return heading -> cells, the first of which begins with it; what precedes all headings is under ''."""
    found, heading = {"": []}, ""
    for cell in cells:
        for part in HEADING.split(cell.source) if cell.cell_type == "markdown" else [cell.source]:
            if part.startswith("## ") and cell.cell_type == "markdown":
                heading = re.split(r"[:\n]", part.removeprefix("## "))[0].strip()
            if part.strip():
                copy = cell.copy()
                copy.source = part.strip("\n")
                found.setdefault(heading, []).append(copy)
    return found


def read(path, executed=None):
    """Return the lesson of a notebook, with the cells of an executed copy if one is given."""
    found = sections(nbformat.read(executed or path, as_version=4).cells)
    title, *paragraphs = found[""][0].source.split("\n\n")
    number, title = re.match(r"# (\d+)\. (.*)", title).groups()
    emphasised = [text[1:-1] for text in paragraphs if re.fullmatch(r"\*[^*].*\*", text, re.DOTALL)]
    return Lesson(path, int(number), title, *emphasised[:2], found)


def lessons(executed=None, course=COURSE):
    """Return all lessons in order, executed ones if their folder is given."""
    return [read(path, executed and executed / path.name) for path in sorted(course.glob("*.ipynb"))]
