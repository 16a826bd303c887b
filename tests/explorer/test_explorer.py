"""Settings, questions, the queue, text and pictures of the explorer."""

import concurrent.futures
import json
import math
import multiprocessing.connection
import re
import socket
import subprocess
import sys
import time

import pytest

from shufflelib import plotting, randomizers, shuffle
from shufflelib.explorer import QuestionQueue, Setting, pictures, questions, sliders, text
from shufflelib.explorer.question_queue import Process
from shufflelib.explorer.questions import Known, Question, Unknown
from shufflelib.explorer.text import bound
from shufflelib.numerics.certified import Certified, Status

SMALL = Setting(mechanism="binary_rr", n=200)


class Waiting:
    """An executor whose questions are answered by hand."""

    def __init__(self):
        self.asked, self.stopped = [], 0

    def shutdown(self):
        self.stopped += 1

    def submit(self, ask):
        self.asked.append((ask.__self__, concurrent.futures.Future()))
        return self.asked[-1][1]

    def answer(self, value=None):
        question, future = self.asked[-1]
        future.set_result(question.answer() if value is None else value)


# settings


@pytest.mark.parametrize(
    "setting",
    [
        Setting(),
        Setting(mechanism="gaussian", sigma=0.3, n=12_345, delta=3e-7, rounds=12, rate=0.123, fpr=0.0),
        Setting(mechanism="from_pmf", matrix="0.5 0.5 0\n0.1 0.1 0.8", n=321),
        Setting(mechanism="subset", d=64, eps0=0.1 + 0.2, n=10**12, order=1.01, eps=1e-6),
    ],
)
def test_a_link_restores_the_setting(setting):
    assert Setting.from_query(setting.query) == setting
    assert Setting.from_query("?" + setting.query) == setting
    assert Setting.from_query("?") == Setting()


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("n=abc", "n must be a whole number such as 1e5, 50k or 100,000, got 'abc'"),
        ("n=99", "n must be finite and >= 100 and <= 1e+12, got 99"),
        ("n=1000.5", "n must be a whole number"),
        ("n=", "n must be a whole number such as 1e5, 50k or 100,000, got ''"),
        ("eps0=nan", "eps0 must be a number such as 0.5, 1e-6 or log(3), got 'nan'"),
        ("eps0=0,5", "got '0,5'; write decimals with a point"),
        ("n=100.000", "got '100.000'; write thousands as 100,000 or 100000"),
        ("eps0=11", "eps0 must be finite"),
        ("matrix=yes,no;0.8,0.2;0.3,0.7", "rows alone; take out line 1: 'yes,no'"),
        ("rate=1.5", "rate must be finite"),
        ("n=200&n=300", "sets n twice"),
        ("__class__=1", "is no control"),
        ("python=1", "is no control"),
        ("mechanism=__import__('os').getcwd()", "mechanism must be one of"),
        ("eps0=__import__('os').getcwd()", "eps0 must be a number"),
        ("matrix=0.5,0.5;0.3,0.6", "row 2 sums to 0.9"),
        ("matrix=0.5,0.5;0.3,__import__('os')", "row 2 must hold numbers"),
        ("matrix=" + ";".join([",".join(["0.015625"] * 64)] * 64), "are read"),
        ("rounds=1+1", "rounds must be a whole number"),
        ("&", "must look like"),
        ("n=1" + "0" * 20_000, "at most 20000 are read"),
    ],
)
def test_a_bad_link_is_refused_in_a_sentence(query, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        Setting.from_query(query)


# numbers and the lines that repeat them


@pytest.mark.parametrize(
    ("ask", "setting"),
    [
        (questions.epsilon, Setting(n=1000)),
        (questions.epsilon, SMALL.but(rate=0.25)),
        (questions.epsilon, SMALL.but(rounds=3)),
        (questions.missed, SMALL),
        (questions.epsilon, Setting(mechanism="from_pmf", matrix="0.7,0.2,0.1;0.1,0.2,0.7", n=300)),
        (questions.renyi, SMALL.but(order=3.0)),
        (questions.largest, SMALL),
        (questions.largest, SMALL.but(rate=0.5)),
        (questions.fewest, SMALL),
        (questions.fewest, SMALL.but(rate=0.25)),
        (questions.rare_item_error, Setting(mechanism="hadamard", d=100)),
    ],
)
def test_a_copied_line_returns_the_same_number(ask, setting):
    scope = {}
    exec(text.python(setting, ask), scope)
    found = ask(setting)
    if isinstance(found, Certified):
        assert (scope["answer"].lower, scope["answer"].upper) == (found.lower, found.upper)
    else:
        assert scope["answer"] == found


def test_a_question_forgets_what_it_does_not_read_and_nothing_else():
    moved = {"n": 300, "delta": 1e-7, "rounds": 2, "rate": 0.5, "fpr": 0.3, "order": 5.0, "eps": 0.4}
    reads = {
        questions.epsilon: {"n", "delta", "rounds", "rate"},
        questions.published: {"n", "delta"},
        questions.missed: {"n", "fpr", "rounds", "rate"},
        questions.tradeoff: {"n", "rounds", "rate"},
        questions.renyi: {"n", "order", "rounds", "rate"},
        questions.renyi_curve: {"n", "rounds", "rate"},
        questions.largest: {"n", "delta", "eps", "rounds", "rate"},
        questions.fewest: {"delta", "eps", "rounds", "rate"},
    }
    assert set(reads) == {*questions.READS} - {questions.recommended}
    for ask, names in reads.items():
        own = Question.of(ask, Setting())
        changed = {name for name, value in moved.items() if Question.of(ask, Setting(**{name: value})) != own}
        assert changed == names
        assert Question.of(ask, Setting(eps0=2.0)) != own and Question.of(ask, Setting(d=3)) != own


@pytest.mark.parametrize(
    ("ask", "setting", "reason"),
    [
        (questions.largest, Setting(mechanism="gaussian"), "no local budget"),
        (questions.fewest, SMALL.but(eps0=10.0, eps=1e-6, delta=1e-12), "out of reach"),
        (questions.rare_item_error, SMALL, "does not estimate a histogram"),
    ],
)
def test_what_has_no_answer_says_why(ask, setting, reason):
    assert reason in Question(ask, setting).answer().reason


# the queue


def test_the_queue_drops_what_nobody_asks_for_any_more():
    executor = Waiting()
    queue = QuestionQueue(lambda: executor)
    first, second, third = (Question.of(questions.epsilon, SMALL.but(n=n)) for n in (100, 200, 300))
    queue.want([first, second])
    queue.want([third])
    executor.answer()
    executor.answer()
    assert [question for question, _ in executor.asked] == [first, third]
    assert queue.get(first) == shuffle(randomizers.binary_rr(eps0=1.0), n=100).epsilon(1e-6)
    assert queue.get(second) is None and queue.get(third) is not None
    queue.want([third])
    assert len(executor.asked) == 2  # an answer is kept


def test_visitors_take_turns_and_one_who_leaves_takes_nothing_from_the_others():
    executor = Waiting()
    queue = QuestionQueue(lambda: executor)
    first, second, third = (Question.of(questions.epsilon, SMALL.but(n=n)) for n in (100, 200, 300))
    queue.want([first, second], "one")
    queue.want([third], "another")
    executor.answer()
    executor.answer()
    assert [question for question, _ in executor.asked] == [first, third, second]
    queue.want([], "another")
    executor.answer()
    assert queue.get(second) is not None


def test_a_failure_is_a_message_and_never_a_number():
    class Broken(Waiting):
        def submit(self, ask):
            raise RuntimeError("no process")

    question = Question.of(questions.epsilon, SMALL)
    queue = QuestionQueue(Broken)
    queue.want([question])
    assert isinstance(queue.get(question), Unknown)
    executor = Waiting()
    queue = QuestionQueue(lambda: executor)
    queue.want([question])
    executor.asked[-1][1].set_exception(MemoryError("full"))
    assert "full" in queue.get(question).reason
    output = text.epsilon(SMALL, Known(queue.get))
    assert "Nothing is proved here" in output and "≤" not in output


@pytest.mark.parametrize("failure", [MemoryError("full"), concurrent.futures.BrokenExecutor("killed")])
def test_a_failure_is_shown_to_those_who_waited_and_the_question_asked_anew_for_others(failure):
    executor, question = Waiting(), Question.of(questions.epsilon, SMALL)
    queue = QuestionQueue(lambda: executor)
    queue.want([question], "one")
    executor.asked[-1][1].set_exception(failure)
    queue.want([question], "one")  # a page that still waits for something else
    assert len(executor.asked) == 1 and isinstance(queue.get(question), Unknown)
    queue.want([question], "another")
    assert len(executor.asked) == 2 and queue.get(question) is None
    executor.asked[-1][1].set_exception(failure)
    queue.want([], "another")
    assert queue.get(question) is None
    queue.want([question], "another")
    executor.answer()
    assert queue.get(question) == questions.epsilon(SMALL)


def test_running_out_of_memory_is_no_answer_to_keep():
    def full(setting):
        raise MemoryError("full")

    with pytest.raises(MemoryError):
        Question(full, SMALL).answer()


def test_a_port_in_use_and_a_missing_matplotlib_are_one_line():
    without = "import sys; sys.modules['matplotlib'] = None; "
    run = "import runpy; runpy.run_module('shufflelib.explorer', run_name='__main__')"

    def said(code, *words):
        command = [sys.executable, "-c", code, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
        return done.stderr

    message = said(without + run, "--no-browser")
    assert message.endswith("is missing; the pictures of the explorer need it: pip install matplotlib\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        message = said(run, "--no-browser", "--port", port)
    assert f"cannot use port {port}: " in message and "--port 0 takes a free one" in message


def test_other_processes_answer_and_leave():
    answered = concurrent.futures.Future()
    executors = []

    def start():
        executors.append(Process())
        return executors[-1]

    question = Question.of(questions.epsilon, SMALL)
    queue = QuestionQueue(start, callback=lambda: answered.set_result(None))
    queue.want([question])
    answered.result(timeout=120)
    assert queue.get(question) == questions.epsilon(SMALL)
    (process,) = executors[0]._processes.values()
    queue.close()
    assert multiprocessing.connection.wait([process.sentinel], timeout=30)


def test_what_nobody_wants_any_more_is_stopped(monkeypatch):
    monkeypatch.setattr("shufflelib.explorer.question_queue.PATIENCE", 0.01)
    executors = []

    def start():
        executors.append(Waiting())
        return executors[-1]

    queue = QuestionQueue(start)
    first, second = (Question.of(questions.epsilon, SMALL.but(n=n)) for n in (100, 200))
    queue.want([first])
    queue.want([second])
    until = time.monotonic() + 30
    while len(executors) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert executors[0].stopped == 1 and executors[1].asked[0][0] == second
    executors[0].answer()  # too late
    executors[1].answer()
    assert queue.get(first) is None and queue.get(second) is not None


# text


def test_an_infinite_or_trivial_end_does_not_look_private():
    nothing = Certified(0.0, math.inf, Status.UNBOUNDED, "", "")
    output = text.epsilon(SMALL.but(rounds=2), Known(lambda question: nothing))
    assert "ε ≤ <b>infinity</b>" in output and Status.UNBOUNDED.value in output
    picture = pictures.OverUsers()
    picture.draw(SMALL, Known(lambda question: nothing if question.ask is questions.epsilon else None))
    assert list(picture.here.get_xdata()) == []
    upper = next(one for one in picture.curves if one.bound == "certified upper")
    assert not (upper.y < math.inf).any()


def test_a_bound_below_the_truth_is_called_so():
    rows = re.findall(r"<tr><td>.*?</tr>", text.bounds(Setting(), Known(Question.answer)))
    wrong = [re.sub(r"<[^>]+>", "", row) for row in rows if "below the truth here" in row]
    assert len(rows) == 16 and [row.split("0.0")[0].strip() for row in wrong] == [
        "variation-ratio pair", "shuffle index, blanket", "shuffle index, attack",
    ]  # fmt: skip


@pytest.mark.parametrize("value", [0.1266144799, 0.12661448004, 1.0, 2.0 / 3.0, 1e-300, 123456.789012345])
def test_an_end_is_rounded_to_the_side_on_which_it_stays_true(value):
    for digits in (4, 10):
        low, high = (float(bound(value, up=up, digits=digits)) for up in (False, True))
        assert low <= value <= high and high - low <= 2.0 * value * 10.0 ** (1 - digits)
    assert bound(math.inf, up=True) == "infinity"


def test_frames_name_their_positions_and_are_never_empty_at_the_start():
    fig, ax = plotting.figure(width=2.0)

    def draw(options, n):
        if n > 500:
            raise ValueError("too many")
        plotting.headline(ax, f"{options} options", f"n = {n}")
        return fig

    controls = {"options": sliders.choice({"two": 2, "ten": 10}, value=10)}
    controls["n"] = sliders.log_slider(10, 1000, 100, per_decade=1)
    panel = sliders._frames(draw, controls, 30)
    pictures, words = json.loads(re.search(r"json\">(.*?)</script>", panel, re.DOTALL)[1])
    assert [bool(picture) for picture in pictures] == [True, True, False] * 2
    assert words[1] == "2 options (options = two, n = 100)" and words[2].endswith("too many")
    assert "&quot;two&quot;, &quot;ten&quot;" in panel
    assert 'alt="10 options (options = ten, n = 100)"' in panel
    with pytest.raises(ValueError, match="too many"):
        sliders._frames(draw, controls | {"n": sliders.log_slider(600, 1000)}, 30)
