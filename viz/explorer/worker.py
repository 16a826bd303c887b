"""Another process for answers that take seconds: one question after the other, and a stop at any time."""

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

PATIENCE = 1.0  # seconds for which a question that nobody asks any more may go on


@dataclass(eq=False)
class Job:
    """Questions, each a callable that can be pickled, and whom to tell about each answer or failure."""

    questions: list
    told: object
    answers: list = field(default_factory=list)
    again: bool = True


class Worker:
    """A process that starts with the first question; a newer job takes the place of an older one.

    Examples
    --------
    >>> from viz.explorer.worker import Worker
    >>> Worker().stop()
    """

    def __init__(self):
        self._lock = threading.RLock()
        self._pool = self._running = self._next = None

    def ask(self, questions, told):
        """Answer questions in order; after each call ``told`` with the answers so far, or an exception."""
        with self._lock:
            self._next = Job(list(questions), told)
            if self._running is None:
                self._begin()
            else:
                later = threading.Timer(PATIENCE, self._give_up, [self._running])
                later.daemon = True
                later.start()

    def stop(self):
        """Forget all questions, and end the process if it works on one."""
        with self._lock:
            self._next = None
            if self._running is not None:
                self._end()

    def _begin(self):
        self._running, self._next = self._next, None
        if self._running is not None:
            self._submit(self._running)

    def _submit(self, job):
        try:
            if self._pool is None:
                spawn = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(1, spawn, initializer=os.nice, initargs=(5,))
            future = self._pool.submit(job.questions[len(job.answers)])
        except BrokenProcessPool as dead:
            self._failed(job, dead)
        else:
            future.add_done_callback(lambda done: self._settle(job, done))

    def _settle(self, job, done):
        with self._lock:
            if job is not self._running:
                return
            if failure := done.exception():
                self._failed(job, failure)
                return
            job.answers.append(done.result())
            more = len(job.answers) < len(job.questions)
            if self._next is None:
                job.told(list(job.answers))
            if more and self._next is None and job is self._running:
                self._submit(job)
            elif job is self._running:
                self._begin()

    def _failed(self, job, failure):
        """Ask once more if the process died, else tell what went wrong."""
        if isinstance(failure, BrokenProcessPool):
            self._pool = None
            if job.again and self._next is None:
                job.again = False
                self._submit(job)
                return
        if self._next is None:
            job.told(failure)
        if job is self._running:
            self._begin()

    def _give_up(self, job):
        with self._lock:
            if job is self._running and self._next is not None:
                self._end()
                self._begin()

    def _end(self):
        pool, self._pool, self._running = self._pool, None, None
        if pool is not None:
            processes = list((pool._processes or {}).values())  # there is no public way to end them
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
