"""Pictures drawn in a process of their own, so that numbers never wait for them."""

import itertools
import threading
from concurrent.futures.process import BrokenProcessPool

from shufflelib.explorer import questions, report
from shufflelib.explorer.page import PICTURES, table
from shufflelib.explorer.question_queue import Process
from shufflelib.explorer.questions import Known, Question
from shufflelib.plotting.saving import as_csv, rows_of

FORMS = {"png": "image/png", "svg": "image/svg+xml", "csv": "text/csv", "table": "text/html"}


def paint(name, form, setting, answers):
    """Return a picture of a setting as bytes.

    Parameters
    ----------
    name : str
        A name in `PICTURES`.
    form : {'png', 'svg', 'csv', 'table'}
        Pixels, lines, or the numbers behind them.
    setting : Setting
        The setting.
    answers : dict
        Question to answer, as far as they are known.
    """
    picture, known = PICTURES[name], Known(answers.get, slow=True)
    if form in ("png", "svg"):
        return getattr(picture, form)(setting, known)
    picture.draw(setting, known)
    rows = rows_of(picture.curves)
    return as_csv(rows, {"setting": setting.query}) if form == "csv" else table(rows).encode()


def write_report(setting, answers):
    """Return the one-page report of a plan as bytes; what is not known is computed."""
    known = Known(lambda question: answers.get(question) or question.answer(), slow=True)
    return report.report(setting, known).encode()


def _found(known, *asked):
    """Return the answers that there are."""
    found = {one: known(one) for one in itertools.starmap(Question.of, asked)}
    return {one: answer for one, answer in found.items() if answer is not None}


class Painter:
    """Draws in another process, one picture after the other.

    Parameters
    ----------
    start : callable
        Returns an executor.
    """

    def __init__(self, start=lambda: Process(5)):
        self._start, self._executor, self._lock = start, None, threading.Lock()

    def paint(self, name, form, setting, known):
        """Return the bytes of a picture with what is known of a setting."""
        return self._run(paint, name, form, setting, _found(known, *PICTURES[name].questions(setting)))

    def report(self, setting, known):
        """Return the one-page report of a plan with the chosen mechanism."""
        return self._run(write_report, setting, _found(known, (questions.recommended, setting)))

    def _run(self, *task):
        with self._lock:
            self._executor = self._executor or self._start()
            executor = self._executor
        try:
            return executor.submit(*task).result()
        except BrokenProcessPool:
            with self._lock:
                self._executor = None
            raise

    def close(self):
        """Let the process go."""
        if self._executor is not None:
            self._executor.shutdown()
