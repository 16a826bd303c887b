"""A queue of questions: answers are kept, the newest questions come first, old ones are dropped."""

import collections
import concurrent.futures
import functools
import multiprocessing
import os
import threading

from shufflelib.explorer.questions import Refused

KEPT = 20_000
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
        self.callback = callback
        self._workers = {False: _Worker(quick, self._finish), True: _Worker(slow or quick, self._finish)}
        self._known = collections.OrderedDict()
        self._lock = threading.Lock()

    def get(self, question):
        """Return the answer, a `Refused`, or None while it is not known."""
        return self._known.get(question)

    def want(self, questions):
        """Ask these questions, the first ones first, instead of all that wait."""
        open_ones = [question for question in dict.fromkeys(questions) if question not in self._known]
        for slow, worker in self._workers.items():
            worker.want([question for question in open_ones if question.slow == slow])

    def _finish(self, question, answer):
        with self._lock:
            self._known[question] = answer
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        self.callback()

    def close(self):
        """Drop all questions and shut the executors down."""
        for worker in self._workers.values():
            worker.close()


class _Worker:
    """One executor with one question at a time; the others can still be dropped."""

    def __init__(self, start, finish):
        self._start, self._finish, self._executor = start, finish, None
        self._wanted, self._waiting = (), collections.deque()
        self._begun, self._future, self._lock = None, None, threading.RLock()

    def want(self, questions):
        with self._lock:
            self._wanted = questions
            self._waiting = collections.deque(one for one in questions if one != self._begun)
            if self._begun is not None and self._begun not in questions:
                later = threading.Timer(PATIENCE, self._stop, [self._future])
                later.daemon = True
                later.start()
        self._next()

    def _stop(self, future):
        """Give up a question that nobody asks for any more, and the process that works on it."""
        with self._lock:
            if self._future is not future or self._begun in self._wanted:
                return
            self.close()
            self._begun = self._future = None
            self._waiting = collections.deque(self._wanted)
        self._next()

    def _next(self):
        while True:
            with self._lock:
                if self._begun is not None or not self._waiting:
                    return
                question = self._begun = self._waiting.popleft()
                try:
                    self._executor = self._executor or self._start()
                    future = self._executor.submit(question.answer)
                except (OSError, RuntimeError) as failure:
                    future = concurrent.futures.Future()
                    future.set_exception(failure)
                self._future = future
            if not future.done():
                future.add_done_callback(functools.partial(self._resume, question))
                return
            self._settle(question, future)

    def _resume(self, question, future):
        if self._settle(question, future):
            self._next()

    def _settle(self, question, future):
        """Store the result, and return whether it was still wanted."""
        failure = future.exception()
        answer = (
            Refused(f"the computation failed: {failure!r}; reload the page") if failure else future.result()
        )
        with self._lock:
            if self._future is not future:
                return False
            self._begun = self._future = None
            if failure:
                self.close()
        self._finish(question, answer)
        return True

    def close(self):
        with self._lock:
            self._waiting.clear()
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()


class Process:
    """An executor in another process, which can be stopped at any time and ends with this one."""

    def __init__(self):
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def submit(self, ask):
        """Return the future answer; one question at a time."""
        future = concurrent.futures.Future()
        threading.Thread(target=self._wait, args=(ask, future), daemon=True).start()
        return future

    def _wait(self, ask, future):
        try:
            self._ours.send(ask)
            future.set_result(self._ours.recv())
        except (EOFError, OSError):
            future.set_exception(RuntimeError("its process ended"))
        except Exception as failure:
            future.set_exception(failure)

    def shutdown(self):
        """Stop at once."""
        self._process.kill()


def _serve(theirs):
    """Answer questions until the other end is gone."""
    os.nice(19)  # the page comes first
    threading.Thread(target=_leave_together, daemon=True).start()
    try:
        while True:
            theirs.send(theirs.recv()())
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _leave_together():
    multiprocessing.parent_process().join()
    os._exit(0)


class InlineExecutor:
    """An executor that answers at once, in this thread."""

    def submit(self, ask):
        """Return a finished future."""
        future = concurrent.futures.Future()
        future.set_result(ask())
        return future

    def shutdown(self):
        """Nothing to let go."""
