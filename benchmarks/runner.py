"""Measure a benchmark: medians of interleaved runs, ratios within one run, and whether the answers agree.

The clock is processor time, that of child processes included, so that other programs disturb it little.
At each size all implementations take turns, forwards and backwards, and the median over the turns counts.
A first, untimed call lets each of them load what it loads once.  Seconds are not reported: the unit of a
benchmark is the cost of its first size.
"""

import gc
import math
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

TURNS, FEWER = 5, 3
LONG = 1.0  # processor seconds of a turn, beyond which there are fewer
OURS = "shufflelib"


def ends(answer):
    """Return both bounds of an answer: of a bracket, or of a pair of numbers; otherwise None."""
    if hasattr(answer, "lower") and np.ndim(answer.lower) == 0:
        return float(answer.lower), float(answer.upper)
    return answer if isinstance(answer, tuple) else None


def nothing_else(answer):
    """Return no further columns."""
    return {}


def overlap(ours, theirs):
    """Return whether two brackets overlap."""
    (low, high), (their_low, their_high) = ends(ours), ends(theirs)
    return low <= their_high and their_low <= high


@dataclass(frozen=True)
class Peer:
    """Another implementation of the same job.

    Parameters
    ----------
    name : str
        Its name; the same name has the same line style in every panel.
    call : callable
        From our answer, which some peers use as a starting point, to theirs.
    agrees : callable
        From our answer and theirs to a bool; by default two brackets must overlap.
    evaluations : float
        How many such calls make up the job.
    facts : callable
        From their answer to further columns of the table.
    """

    name: str
    call: Callable
    agrees: Callable = overlap
    evaluations: float = 1
    facts: Callable = nothing_else


@dataclass(frozen=True)
class Case:
    """One size of a benchmark: our call, the peers that reach this size, further columns for our answer."""

    ours: Callable
    peers: tuple[Peer, ...] = ()
    facts: Callable = nothing_else


@dataclass(frozen=True)
class Benchmark:
    """One question and the sizes at which it is asked; those in ``quick`` take little time."""

    name: str
    title: str
    grows: str
    sizes: tuple
    quick: tuple
    case: Callable


def processor_seconds():
    """Return the processor time used so far, by this process and by those it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def seconds(call):
    """Return the processor time of one call."""
    gc.collect()
    start = processor_seconds()
    call()
    return processor_seconds() - start


def measure(benchmark, *, quick=False, say=lambda line: None):
    """Return one row for each size and implementation of a benchmark."""
    rows, unit = [], None
    for size in benchmark.quick if quick else benchmark.sizes:
        case = benchmark.case(size)
        start = processor_seconds()
        answer = case.ours()
        calls = [case.ours, *(partial(peer.call, answer) for peer in case.peers)]
        theirs = [call() for call in calls[1:]]
        times = [[] for _ in calls]
        turns = 1 if quick else TURNS if processor_seconds() - start < LONG else FEWER
        for turn in range(turns):
            order = range(len(calls))
            for one in order if turn % 2 == 0 else reversed(order):
                times[one].append(seconds(calls[one]))
        medians = [statistics.median(each) for each in times]
        scale = [1, *(peer.evaluations for peer in case.peers)]
        costs = [max(m * s, 1e-9) for m, s in zip(medians, scale, strict=True)]
        unit = unit or costs[0]
        names = [OURS, *(peer.name for peer in case.peers)]
        agreed = [None, *(bool(p.agrees(answer, a)) for p, a in zip(case.peers, theirs, strict=True))]
        further = [case.facts(answer), *(p.facts(a) for p, a in zip(case.peers, theirs, strict=True))]
        for name, cost, each, agrees, found, facts in zip(
            names, costs, times, agreed, [answer, *theirs], further, strict=True
        ):
            row = {"benchmark": benchmark.name, "grows": benchmark.grows, "size": size}
            row |= {"implementation": name, "cost": cost / unit, "times ours": cost / costs[0]}
            row |= {"agrees": agrees, "turns": len(each), "slowest over fastest": max(each) / min(each)}
            row |= dict(zip(("lower", "upper"), ends(found) or (), strict=False))
            row |= facts
            rows.append(row)
        say(f"{benchmark.name}: {benchmark.grows} {size:g}: " + ", ".join(map(_as_text, rows[-len(names) :])))
    return rows


def _as_text(row):
    if row["implementation"] == OURS:
        return f"{OURS} {row['cost']:.3g} of its first size"
    verdict = "agrees" if row["agrees"] else "DISAGREES"
    return f"{row['implementation']} {row['times ours']:.3g} times ours, {verdict}"


def growth(rows):
    """Return the exponent of growth: the slope of log cost against log size over the larger half of the rows.

    At least three rows are used; with fewer the result is NaN.
    """
    if len(rows) < 3:
        return math.nan
    kept = sorted(rows, key=lambda row: row["size"])[-max(3, (len(rows) + 1) // 2) :]
    logs = np.log([[row["size"], row["cost"]] for row in kept])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def to_stderr(line):
    """Print progress."""
    print(line, file=sys.stderr, flush=True)
