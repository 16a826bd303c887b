"""The quizzes of all lessons in GIFT, which learning platforms import, with a category for each lesson."""

import re

import printing

CONTROL = re.compile(r"[\\~=#{}:]")
HEAD = "// The quizzes of the course; import as GIFT. Formulas are TeX between \\( and \\).\n\n"


def escaped(markdown):
    """Return Markdown as HTML on one line in which nothing is a control character of GIFT."""
    text = re.sub(r"</?span[^>]*>|^<p>|</p>$", "", printing.rendered(markdown).strip())
    return CONTROL.sub(r"\\\g<0>", " ".join(text.split()))


def question(lesson, place, one):
    """Return one question with its four answers and its feedback."""
    wrong = "".join(f"  ~{escaped(answer)}\n" for answer in one["wrong"])
    right, feedback = (escaped(one[key]) for key in ("right", "feedback"))
    title = f"::Lesson {lesson.number}, question {place}::"
    return f"{title}[html]{escaped(one['question'])}{{\n  ={right}\n{wrong}  ####{feedback}\n}}\n\n"


def quizzes(lessons):
    """Return the file for some lessons."""
    text = HEAD
    for lesson in lessons:
        text += f"$CATEGORY: $course$/Shuffling/{lesson.number:02d} {lesson.title}\n\n"
        for place, one in enumerate(lesson.handed_out()["quiz"], 1):
            text += question(lesson, place, one)
    return text
