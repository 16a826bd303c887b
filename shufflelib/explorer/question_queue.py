"""A queue of questions: answers are kept, the newest questions come first, old ones are dropped."""

import multiprocessing
import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor

from shufflelib.explorer.questions import Refused

PATIENCE = 1.0  # seconds for which a question that nobody asks any more may go on


class QuestionQueue:
    """Answers by question, computed by executors.

    Parameters
    ----------
    quick, slow : callable
        Return an executor when first needed: one for questions that take less than a second, one for the
        rest.
    callback : callable, optional
        Called without arguments after each answer, on the thread of the answer.

    Notes
    -----
    An answer belongs to its question's values, so it is never stale.  A question that waits is dropped as
    soon as nobody asks for it any more; one that is begun is stopped a second later.
    """

    def __init__(self, quick, slow=None, *, callback=lambda: None):
        self.callback, self._known = callback, {}
        self._workers = {False: _Worker(quick, self._finish), True: _Worker(slow or quick, self._finish)}

    def get(self, question):
        """Return the answer, a `Refused`, or None while it is not known."""
        return self._known.get(question)

    def want(self, questions):
        """Ask these questions, the first ones first, instead of all that wait."""
        open_ones = [question for question in dict.fromkeys(questions) if question not in self._known]
        for slow, worker in self._workers.items():
            worker.want([question for question in open_ones if question.slow == slow])

    def _finish(self, question, answer):
        self._known[question] = answer
        self.callback()

    def close(self):
        """Drop all questions and shut the executors down."""
        for worker in self._workers.values():
            worker.want([])
            worker.close()


class _Worker:
    """One executor with one question at a time; the others can still be dropped."""

    def __init__(self, start, finish):
        self._start, self._finish, self._executor = start, finish, None
        self._wanted, self._begun, self._future = [], None, None
        self._lock = threading.RLock()

    def want(self, questions):
        """Answer these questions instead of all that wait."""
        with self._lock:
            self._wanted = questions
            if self._begun is not None and self._begun not in questions:
                later = threading.Timer(PATIENCE, self._stop, [self._future])
                later.daemon = True
                later.start()
        self._next()

    def _next(self):
        """Begin the first question that waits, unless one is begun."""
        with self._lock:
            if self._begun is not None or not self._wanted:
                return
            self._begun, *self._wanted = self._wanted
            try:
                self._executor = self._executor or self._start()
                self._future = self._executor.submit(self._begun.answer)
            except (OSError, RuntimeError) as failure:
                self._future = Future()
                self._future.set_exception(failure)
            future = self._future
        future.add_done_callback(self._settle)

    def _settle(self, future):
        """Hand an answer over, unless its question was given up."""
        with self._lock:
            if future is not self._future:
                return
            question, self._begun, self._future = self._begun, None, None
            self._wanted = [one for one in self._wanted if one != question]
        answer, failure = None, future.exception()
        if failure:
            self.close()
            answer = Refused(f"the computation failed: {failure!r}; reload the page")
        self._finish(question, answer or future.result())
        self._next()

    def _stop(self, future):
        """Give up a question that nobody asks for any more, and the process that works on it."""
        with self._lock:
            if future is not self._future or self._begun in self._wanted:
                return
            self._begun = self._future = None
            self.close()
        self._next()

    def close(self):
        """Let the executor go; the next question starts another one."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()


class Process(ProcessPoolExecutor):
    """An executor with one other process, which can be stopped at any time and ends with this one."""

    def __init__(self):
        spawn = multiprocessing.get_context("spawn")
        super().__init__(1, mp_context=spawn, initializer=_begin)

    def shutdown(self, wait=False, *, cancel_futures=True):
        """Stop at once."""
        processes = list((self._processes or {}).values())
        super().shutdown(wait=wait, cancel_futures=cancel_futures)
        for process in processes:
            process.kill()


def _begin():
    """Let the page come first, and leave together with its process."""
    os.nice(19)
    threading.Thread(target=_leave_together, daemon=True).start()


def _leave_together():
    multiprocessing.parent_process().join()
    os._exit(0)


class InlineExecutor:
    """An executor that answers at once, in this thread."""

    def submit(self, ask):
        """Return a finished future."""
        future = Future()
        future.set_result(ask())
        return future

    def shutdown(self):
        """Nothing to let go."""
