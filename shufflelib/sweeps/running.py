"""Running many calls: on all cores of this machine, or on the workers of a Dask cluster."""

import functools
import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path

from shufflelib.numerics import validation
from shufflelib.numerics.optional import remedy, reported, unseen

VARIABLE = "SHUFFLELIB_SCHEDULER"
SECONDS = 10  # for a scheduler to answer, and for its first worker to be there
PACKAGE = Path(__file__).resolve().parents[1]


class WorkerError(ChildProcessError):
    """Workers were lost, or run different versions of the code.

    Examples
    --------
    >>> from shufflelib import sweeps
    >>> issubclass(sweeps.WorkerError, OSError)  # `except OSError` catches a lost worker and a lost scheduler
    True
    """


@functools.cache
def environment():
    """Name in one line what numbers come from: versions, and a digest of the package's files."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.read_bytes())
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy")]
    python = f"Python {platform.python_version()}"
    return ", ".join([f"{PACKAGE.name} {digest.hexdigest()[:16]}", *versions, python])


def completed(calls, *, n_jobs, scheduler):
    """Yield the number and the result of each call as soon as it is done, in any order.

    Parameters
    ----------
    calls : dict of int to callable
        Each called without arguments, anywhere.
    n_jobs, scheduler
        As in `shufflelib.sweeps.sweep`.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain; errors of a call are raised as they are.
    OSError
        If the scheduler does not answer.
    WorkerError
        If workers are killed again and again, or compute with other code than this process.
    ImportError
        If joblib, tqdm or, for a cluster, distributed is missing; it says what to install.
    """
    if n_jobs != -1:
        n_jobs = validation.count(n_jobs, "n_jobs", remedy="or pass -1 for one worker on each core")
    address = _address(scheduler)
    with remedy("a sweep needs it: pip install joblib pyyaml threadpoolctl tqdm"):
        import joblib  # noqa: F401
        import threadpoolctl  # noqa: F401
        import tqdm  # noqa: F401
    results = _on_this_machine(calls, n_jobs) if address is None else _on_a_cluster(calls, address)
    yield from reported(results, len(calls))


def _numbered(place, call):
    with unseen():  # the sweep has a bar of its own
        return place, call()


def _address(scheduler):
    if scheduler is None:
        scheduler = os.environ.get(VARIABLE) or None
    if scheduler is not None and (not isinstance(scheduler, str) or "://" not in scheduler):
        raise ValueError(
            f"scheduler must be an address such as tcp://127.0.0.1:8786, got {validation.shown(scheduler)}"
        )
    return scheduler


def _on_this_machine(calls, n_jobs):
    import scipy.linalg  # noqa: F401 (its threads are to be limited as well)
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import BrokenProcessPool
    from threadpoolctl import threadpool_limits

    # sums come out the same for any number of processes if each uses one thread
    try:
        with threadpool_limits(1), parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1):
            run = Parallel(return_as="generator_unordered")
            yield from run(delayed(_numbered)(*numbered) for numbered in calls.items())
    except BrokenProcessPool as wrong:
        raise WorkerError(
            "a worker process was killed, perhaps because memory ran out; use a smaller n_jobs"
        ) from wrong


def _on_a_cluster(calls, address):
    with remedy("a cluster needs it: pip install distributed joblib pyyaml threadpoolctl tqdm"):
        from distributed import Client, KilledWorker, as_completed
    try:
        client = Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as wrong:
        raise OSError(
            f"scheduler {address} does not answer; start one with 'dask scheduler', "
            "or leave the scheduler out to use this machine"
        ) from wrong
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS)
            if other := set(client.run(environment).values()) - {environment()}:
                raise WorkerError(
                    f"a worker of the cluster has {other.pop()}, this machine {environment()}; "
                    "install the same on both"
                )
            futures = client.map(_numbered, list(calls), list(calls.values()), pure=False)
            for _, result in as_completed(futures, loop=client.loop, with_results=True):
                yield result
        except TimeoutError as wrong:
            raise OSError(
                f"scheduler {address} has no workers; start one with 'dask worker {address}'"
            ) from wrong
        except KilledWorker as wrong:
            raise WorkerError(
                "a case killed every worker that tried it, perhaps because memory ran out"
            ) from wrong
