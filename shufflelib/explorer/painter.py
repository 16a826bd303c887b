"""Pictures and the report as files, drawn one after the other."""

import functools

from shufflelib.explorer import report
from shufflelib.explorer.page import PICTURES, table
from shufflelib.explorer.pictures import DRAWING
from shufflelib.explorer.questions import Known
from shufflelib.plotting.saving import as_csv, rows_of

FORMS = {"png": "image/png", "svg": "image/svg+xml", "csv": "text/csv", "table": "text/html"}


def paint(name, form, setting, get):
    """Return one of `PICTURES` as a file of one of the `FORMS`.

    ``get`` returns the answer of a question, or None while there is none.
    """
    picture, known = PICTURES[name], Known(get, slow=True)
    with DRAWING:
        if form in ("png", "svg"):
            return getattr(picture, form)(setting, known)
        picture.draw(setting, known)
        rows = rows_of(picture.curves)
    return as_csv(rows, {"setting": setting.query}) if form == "csv" else table(rows)


def write_report(setting, get):
    """Return the one-page report of a plan; what is not known is computed."""
    answer = functools.cache(lambda question: get(question) or question.answer())
    return report.report(setting, Known(answer, slow=True))
