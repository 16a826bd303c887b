"""Running many calls: on all cores of this machine, or on the workers of a Dask cluster."""

import asyncio
import contextlib
import logging
import os
import uuid
from concurrent.futures import ThreadPoolExecutor

from shufflelib.numerics import validation
from shufflelib.sweeps.cache import Missing
from shufflelib.sweeps.identity import environment

VARIABLE = "SHUFFLELIB_SCHEDULER"
TO_ANSWER, TO_START = 10, 60  # seconds for a scheduler to answer, for its first worker to be there
NEEDED = "a sweep needs it: pip install shufflelib[sweeps]"


class WorkerError(ChildProcessError):
    """Workers were lost for good or compute with other code; what was done before is kept.

    Examples
    --------
    >>> from shufflelib import sweeps
    >>> issubclass(sweeps.WorkerError, OSError)  # `except OSError` catches a lost worker and a lost scheduler
    True
    """


def outcomes(calls, *, names=None, cache=None, n_jobs=None, scheduler=None):
    """Return the results of some calls, in their order; what is kept is read, the rest is run and kept.

    Parameters
    ----------
    calls : list of callable
        Each called without arguments, in any order and anywhere.
    names : list, optional
        What each result is kept under; needed with a cache.
    cache : Cache, optional
        Each result is written to it when it arrives.
    n_jobs : int, optional
        Processes on this machine: a positive number, or -1 for one on each core, which is also the default
        outside ``joblib.parallel_config``.
    scheduler : str, optional
        Address of a Dask scheduler, ``tcp://host:port``; by default what the environment variable
        ``SHUFFLELIB_SCHEDULER`` says.  If there is one, its workers do the work and ``n_jobs`` says nothing.

    Returns
    -------
    list
        One result for each call.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain; errors of a call are raised as they are.
    OSError
        If the scheduler does not answer, or a result cannot be written.
    WorkerError
        If workers are killed again and again, or compute with other code than this process.
    ImportError
        If joblib, tqdm or, for a cluster, distributed is missing; it says what to install.
    """
    if n_jobs is not None and not (isinstance(n_jobs, int) and n_jobs == -1):
        n_jobs = validation.count(n_jobs, "n_jobs", remedy="or pass -1 for one worker on each core")
    with _remedy(NEEDED):
        from tqdm import tqdm
    results = _kept(names, cache) if cache is not None else {}
    missing = [(place, call) for place, call in enumerate(calls) if place not in results]
    with tqdm(total=len(calls), initial=len(results), disable=None) as bar:
        for place, result in _completed(missing, n_jobs, _address(scheduler)) if missing else ():
            if cache is not None:
                cache.put(names[place], result)
            results[place] = result
            bar.update()
    return [results[place] for place in range(len(calls))]


def _kept(names, cache):
    results = {}
    for place, name in enumerate(names):
        with contextlib.suppress(Missing):
            results[place] = cache.get(name)
    return results


def _address(scheduler):
    address = os.environ.get(VARIABLE) if scheduler is None else scheduler
    if scheduler is None and not address:
        return None
    if not isinstance(address, str) or "://" not in address:
        raise ValueError(
            f"scheduler must be an address such as tcp://127.0.0.1:8786, got {validation.shown(address)}"
        )
    return address


def _completed(calls, n_jobs, address):
    """Yield (place, result) of each (place, call) when it is done."""
    return _on_this_machine(calls, n_jobs) if address is None else _on_a_cluster(calls, address)


def _on_this_machine(calls, n_jobs):
    with _remedy(NEEDED):
        import scipy.linalg  # noqa: F401 (its threads are to be limited as well)
        from joblib import Parallel, delayed, parallel_config
        from joblib.externals.loky.process_executor import BrokenProcessPool
        from joblib.parallel import get_active_backend
        from threadpoolctl import threadpool_limits
    backend, chosen = get_active_backend()
    if n_jobs is None and chosen is None:
        n_jobs = -1
    # sums come out the same for any number of processes if each uses one thread
    inner = {"backend": "loky", "inner_max_num_threads": 1} if type(backend).__name__ == "LokyBackend" else {}
    try:
        with threadpool_limits(1), parallel_config(n_jobs=chosen, **inner):
            workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
            yield from workers(delayed(_numbered)(place, call) for place, call in calls)
    except BrokenProcessPool as wrong:
        raise WorkerError(
            "a worker process was killed, perhaps for want of memory; use fewer at a time with n_jobs"
        ) from wrong


def _numbered(place, call):
    return place, call()


def _on_a_cluster(calls, address):
    with _remedy("a cluster needs it: pip install shufflelib[cluster]"):
        from distributed import Client, KilledWorker, as_completed
    with ThreadPoolExecutor(1) as aside:  # a notebook has an event loop of its own
        aside.submit(asyncio.run, _reach(address)).result()
    with _quiet("distributed.client"), Client(address, timeout=TO_ANSWER, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=TO_START)
            run = uuid.uuid4().hex
            futures = [
                client.submit(_compared, place, call, environment(), key=f"sweep-{run}-{place}", pure=False)
                for place, call in calls
            ]
            done = as_completed(futures, loop=client.loop, with_results=True)
            del futures  # what has arrived is not held, so that losing a worker does not repeat it
            for future, result in done:
                if future.cancelled():
                    raise WorkerError(f"the connection to scheduler {address} was lost")
                future.release()
                yield result
        except TimeoutError as wrong:
            raise OSError(
                f"scheduler {address} has no workers; start one with 'dask worker {address}'"
            ) from wrong
        except KilledWorker as wrong:
            raise WorkerError(
                "a case killed every worker that tried it, perhaps for want of memory"
            ) from wrong


async def _reach(address):
    """Connect and let go; a client that fails to connect would hold up the end of the program."""
    from distributed import Security
    from distributed.comm import connect

    try:
        security = Security().get_connection_args("client")
        await (await connect(address, timeout=TO_ANSWER, **security)).close()
    except (OSError, ValueError) as wrong:
        raise OSError(
            f"scheduler {address} does not answer; start one with 'dask scheduler', "
            "or leave the scheduler out to use this machine"
        ) from wrong


def _compared(place, call, expected):
    if environment() != expected:
        raise WorkerError(
            f"a worker of the cluster has {environment()}, this machine {expected}; install the same on both"
        )
    return _numbered(place, call)


@contextlib.contextmanager
def _quiet(name):
    """Keep a log's tracebacks to itself; what matters in them is raised."""
    log = logging.getLogger(name)
    log.disabled, before = True, log.disabled
    try:
        yield
    finally:
        log.disabled = before


@contextlib.contextmanager
def _remedy(remedy):
    """Say what to install when an import fails."""
    try:
        yield
    except ModuleNotFoundError as wrong:
        raise ImportError(f"{wrong.name} is missing; {remedy}") from wrong
