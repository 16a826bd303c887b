"""A queue of questions: answers are kept, visitors take turns, questions nobody waits for are dropped.

A failure is no answer: it is shown to those who waited, and the question is asked anew for anybody else.
"""

import itertools
import multiprocessing
import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor

from shufflelib.explorer.questions import LANES, Unknown

PATIENCE = 1.0  # seconds for which a question that nobody asks any more may go on
MOST_KEPT = 100_000  # answers


class QuestionQueue:
    """Answers by question, computed by one executor for each lane of `Question` and shared by all visitors.

    ``start`` returns an executor, ``quick`` that of the first lane, for numbers that somebody waits for;
    ``callback`` is called after each answer, on its thread.  A question that waits is dropped as soon as
    nobody asks for it any more; one that has begun is stopped a second later.
    """

    def __init__(self, start, quick=None, *, callback=lambda: None):
        self.callback, self._known, self._wanted = callback, {}, {}
        self._failed = {}  # question: why, and the visitors who still see that
        starts = [quick or start, *[start] * (LANES - 1)]
        self._workers = [_Worker(one, self._finish) for one in starts]
        self._lock = threading.RLock()

    def get(self, question):
        """Return the answer, an `Unknown`, or None while it is not known."""
        answer = self._known.get(question)
        return self._failed.get(question, (None,))[0] if answer is None else answer

    def want(self, questions, who=None):
        """Ask these questions, the first ones first, instead of all that this visitor still waits for."""
        with self._lock:
            self._forget_failures(questions, who)
            self._wanted[who] = [one for one in dict.fromkeys(questions) if self.get(one) is None]
            if not self._wanted[who]:
                del self._wanted[who]
            turns = itertools.chain.from_iterable(itertools.zip_longest(*self._wanted.values()))
            open_ones = [one for one in dict.fromkeys(turns) if one is not None and self.get(one) is None]
            for lane, worker in enumerate(self._workers):
                worker.want([question for question in open_ones if question.lane == lane])

    def _forget_failures(self, questions, who):
        """Forget what failed for others only, and what this visitor no longer looks at."""
        for question, (_, visitors) in list(self._failed.items()):
            if (question in questions) != (who in visitors):
                visitors.discard(who)
                if question in questions or not visitors:
                    del self._failed[question]

    def _finish(self, question, answer, *, failed=False):
        with self._lock:
            if failed:
                visitors = {who for who, wanted in self._wanted.items() if question in wanted}
                self._failed[question] = answer, visitors
            else:
                self._known[question] = answer
            if len(self._known) > MOST_KEPT:
                del self._known[next(iter(self._known))]
        self.callback()

    def close(self):
        """Drop all questions and shut the executors down."""
        self._wanted.clear()
        for worker in self._workers:
            worker.want([])
            worker.close()


class _Worker:
    """One executor that has one question at a time, so that those that wait can still be dropped."""

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
        failure = future.exception()
        if failure:
            self.close()
            answer = Unknown(f"the computation failed: {failure!r}; reload the page")
        else:
            answer = future.result()
        self._finish(question, answer, failed=failure is not None)
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
        """Shut the executor down; the next question starts another one."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()


class Process(ProcessPoolExecutor):
    """An executor with one other process, which can be stopped at any time and ends with this one."""

    def __init__(self, niceness=19):
        spawn = multiprocessing.get_context("spawn")
        super().__init__(1, mp_context=spawn, initializer=_begin, initargs=(niceness,))

    def shutdown(self, wait=False, *, cancel_futures=True):
        """Stop at once."""
        processes = list((self._processes or {}).values())
        super().shutdown(wait=wait, cancel_futures=cancel_futures)
        for process in processes:
            process.kill()


def _begin(niceness):
    """Run at a low priority, and end when the page's process ends."""
    os.nice(niceness)
    threading.Thread(target=_leave_together, daemon=True).start()


def _leave_together():
    multiprocessing.parent_process().join()
    os._exit(0)
