"""Another process for answers that take seconds: one question after the other, and a stop at any time."""

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

PATIENCE = 1.0  # seconds for which a question that nobody asks any more may go on


class Worker:
    """A process that starts with the first question; a newer job takes the place of an older one.

    A job is a list of questions, each a callable that can be pickled.  It has a thread, which waits for its
    turn, and ends as soon as the job is no longer the newest.

    Examples
    --------
    >>> from viz.explorer.worker import Worker
    >>> Worker().stop()
    """

    def __init__(self):
        self._lock, self._turn = threading.RLock(), threading.Lock()
        self._pool = self._newest = None

    def ask(self, questions, told):
        """Answer questions in order; after each call ``told`` with the answers so far, or an exception."""
        with self._lock:
            job = self._newest = object()
        threading.Thread(target=self._wait, args=(job, list(questions), told), daemon=True).start()

    def stop(self):
        """Forget all questions, and end the process."""
        with self._lock:
            self._newest = None
            self._end()

    def _wait(self, job, questions, told):
        while not self._turn.acquire(timeout=PATIENCE):
            with self._lock:
                if job is not self._newest:
                    return
                self._end()
        try:
            self._answer(job, questions, told)
        finally:
            self._turn.release()

    def _answer(self, job, questions, told):
        answers, failure = [], None
        while len(answers) < len(questions) and failure is None:
            try:
                answers.append(self._call(job, questions[len(answers)]))
            except Exception as error:
                failure = error
            with self._lock:
                if job is not self._newest:
                    return
                told(list(answers) if failure is None else failure)

    def _call(self, job, question, again=True):
        """Return the answer; ask once more if the process died."""
        try:
            with self._lock:
                if job is not self._newest:
                    return None
                if self._pool is None:
                    spawn = multiprocessing.get_context("spawn")
                    self._pool = ProcessPoolExecutor(1, spawn, initializer=os.nice, initargs=(5,))
                future = self._pool.submit(question)
            return future.result()
        except BrokenProcessPool:
            self._pool = None
            if again:
                return self._call(job, question, again=False)
            raise

    def _end(self):
        pool, self._pool = self._pool, None
        if pool is not None:
            processes = list((pool._processes or {}).values())  # there is no public way to end them
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
