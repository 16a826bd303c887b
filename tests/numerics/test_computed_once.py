"""What is computed once is kept, and threads and forks do not get into each other's way."""

import os
import signal
import threading
import time

import pytest

from shufflelib.numerics.computed_once import cached_property

BEGUN, GOES_ON = threading.Event(), threading.Event()


class Slow:
    """Counts how often its value is computed, and waits for the test if told to."""

    def __init__(self, waits=False):
        self.waits, self.asked = waits, 0

    @cached_property
    def value(self):
        """What it is."""
        self.asked += 1
        if self.waits:
            self.waits = False
            BEGUN.set()
            GOES_ON.wait(20)
        return object()


@pytest.fixture
def started():
    """Start a thread that is computing a value; yield the object and a list in which the value will be."""
    BEGUN.clear(), GOES_ON.clear()
    slow, seen = Slow(waits=True), []
    thread = threading.Thread(target=lambda: seen.append(slow.value))
    thread.start()
    assert BEGUN.wait(20)
    yield slow, seen, thread
    GOES_ON.set()
    thread.join()


def test_a_value_is_computed_once_and_can_be_documented():
    slow = Slow()
    assert slow.value is slow.value is vars(slow)["value"] and slow.asked == 1
    assert Slow.value.__doc__ == "What it is."


def test_threads_that_compute_at_once_do_not_wait_for_each_other(started):
    slow, seen, thread = started
    first = slow.value
    assert slow.asked == 2 and vars(slow)["value"] is first and not seen
    GOES_ON.set()
    thread.join()
    assert slow.value in (first, *seen)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
@pytest.mark.usefixtures("started")
def test_a_child_forked_while_a_thread_computes_a_value_computes_its_own():
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # ends a child that waits for the other thread
        os._exit(Slow().value is None)
    until = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < until:
        time.sleep(0.01)
    assert ended == (child, 0)
