"""The explorer without a browser: each control is moved, and what is shown is what the package computes."""

import base64
import html
import json
import math
import operator
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import time
from datetime import datetime
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import yaml

import viz
from shufflelib import calibration, randomizers, registry, shuffle
from shufflelib.numerics.certified import written
from shufflelib.published import comparison
from viz.explorer import MECHANISMS, Setting, explorer, panel, questions, words
from viz.explorer.doors import DOORS
from viz.explorer.setting import FIELDS
from viz.explorer.worker import Worker

USUAL = Setting(mechanism="binary_rr", n=200)


@pytest.fixture(autouse=True)
def themed(monkeypatch):
    monkeypatch.delenv("SHUFFLELIB_FRAMES", raising=False)
    plt.close("all")  # of other tests
    with plt.rc_context():
        viz.theme()
        yield
    assert not plt.get_fignums(), "a picture of the explorer is none of pyplot's"


class Here:
    """A worker that answers at once, in this process."""

    def __init__(self):
        self.asked, self.stopped = 0, 0

    def ask(self, questions, told):
        answers = []
        for question in questions:
            self.asked += 1
            try:
                answers.append(question())
            except Exception as error:
                told(error)
                return
            told(list(answers))

    def stop(self):
        self.stopped += 1


@pytest.fixture
def opened(monkeypatch):
    monkeypatch.setattr(panel, "Worker", Here)
    return explorer(USUAL)


def open_door(shown, title):
    shown.tabs.value = next(at for at, door in enumerate(DOORS) if door.title == title)
    return shown.door


def plain(page):
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


def central(setting):
    profile = shuffle(setting.randomizer(), setting.n).subsample(setting.rate).compose(setting.rounds)
    return profile.epsilon(setting.delta)


def test_the_first_number_is_the_packages_and_safe(opened):
    upper = shuffle(randomizers.binary_rr(eps0=1.0), n=200).epsilon(1e-6).upper
    said = plain(opened.said("Understand"))
    assert f"ε ≤ {words.rounded(upper, up=True)}" in said
    assert float(words.rounded(upper, up=True)) >= upper
    assert opened.door.picture.value.startswith('<img alt="An attacker who accepts 5 % false alarms')
    assert opened._worker.asked == 0, "one round is answered at once"


@pytest.mark.parametrize("name", ["eps0", "n", "delta", "rounds", "rate"])
def test_every_slider_moves_the_number_the_link_and_the_field(opened, name):
    control, before = opened.controls[name], opened.link.value
    to = {"delta": -2, "rate": -2}.get(name, 2)
    control.slider.index = (control.slider.index + to) % len(FIELDS[name].stops)
    value = FIELDS[name].stops[control.slider.index]
    setting = USUAL.but(**{name: value})
    assert opened.setting == setting and opened.link.value == setting.link != before
    assert f"ε ≤ {words.rounded(central(setting).upper, up=True)}" in plain(opened.said("Understand"))
    assert control.text.value.replace(",", "") == f"{value:.10g}"


def test_false_alarms_move_what_an_attacker_catches(opened):
    opened.controls["fpr"].text.value = "10 %"
    most = 100 * (1 - shuffle(randomizers.binary_rr(eps0=1.0), n=200).tradeoff(0.1).lower)
    assert f"catches at most {words.rounded(most, up=True, to=3)} %" in plain(opened.door.more.value)
    assert "accepts 10 % false alarms" in opened.door.picture.value


def test_the_menu_shows_the_controls_of_its_mechanism(opened):
    menu = opened.controls["mechanism"].menu
    for name, one in MECHANISMS.items():
        menu.value = name
        own = {control.name for control in opened._left.children}
        every = {parameter for other in MECHANISMS.values() for parameter in other.parameters}
        assert own & every == set(one.parameters)
        assert f"ε ≤ {words.rounded(central(opened.setting).upper, up=True)}" in plain(
            opened.said("Understand")
        )


def test_a_refused_text_stays_with_its_complaint_until_it_is_repaired(opened):
    control = opened.controls["n"]
    for text, why in (
        ("0,5", "got '0,5'"),
        ("7", "n must be"),
        ("100.000", "write thousands"),
    ):
        control.text.value = text
        assert html.escape(why) in control.note.value and control.text.value == text
        assert opened.setting == USUAL
    opened.controls["delta"].text.value = "1e-7"
    assert control.text.value == "100.000" and "write thousands" in control.note.value
    control.text.value = "50k"
    assert (opened.setting.n, control.text.value) == (50_000, "50,000")
    assert 'role="alert"' not in control.note.value and FIELDS["n"].help in control.note.value
    control.text.value = "7"
    control.text.value = "50,000"
    assert 'role="alert"' not in control.note.value


def test_a_setting_that_the_mechanism_refuses_is_said_beside_the_control(opened, monkeypatch):
    def but(self, **changes):
        raise ValueError("n must be even")

    monkeypatch.setattr(Setting, "but", but)
    opened.controls["n"].text.value = "500"
    assert "n must be even" in opened.controls["n"].note.value and opened.setting == USUAL
    assert opened.controls["n"].text.value == "500"


def test_a_table_of_ones_own_is_pasted_uploaded_or_refused(opened):
    opened.controls["mechanism"].menu.value = "from_pmf"
    table = opened.controls["matrix"]
    table.text.value = "75%,25%\n1/4,3/4"
    found = shuffle(randomizers.from_pmf([[0.75, 0.25], [0.25, 0.75]]), n=200).epsilon(1e-6).upper
    assert f"ε ≤ {words.rounded(found, up=True)}" in plain(opened.said("Understand"))
    assert "2 values, 2 reports: ε₀ = 1.09862" in table.note.value
    shown = opened.said("Understand")
    table.text.value = "0.8,0.2\n0.3,0.6"
    assert "row 2 sums to 0.9" in table.note.value and table.text.value == "0.8,0.2\n0.3,0.6"
    assert opened.said("Understand") == shown
    table.file.value = ({"name": "a.csv", "type": "", "size": 1, "content": b"0.8,0.2\n0.3,0.7\n",
                         "last_modified": datetime.now()},)  # fmt: skip
    found = shuffle(randomizers.from_pmf([[0.8, 0.2], [0.3, 0.7]]), n=200).epsilon(1e-6).upper
    assert f"ε ≤ {words.rounded(found, up=True)}" in plain(opened.said("Understand"))
    assert Setting.from_link(opened.link.value) == opened.setting


def test_a_link_is_read_back_or_refused_and_stays(opened):
    opened.link.value = "mechanism=laplace&eps0=2&n=5k"
    assert opened.setting == Setting(mechanism="laplace", eps0=2.0, n=5000)
    assert opened.controls["eps0"].text.value == "2" and opened.controls["mechanism"].menu.value == "laplace"
    for link, why in (
        ("n=<b>", "n must be"),
        ("utm=1", "is no control"),
        ("n=100&n=200", "twice"),
        ("?", "bad"),
    ):
        opened.link.value = link
        assert why in plain(opened.refused.value) and "<b>" not in opened.refused.value
        assert opened.link.value == link and opened.setting.n == 5000
    opened.link.value = opened.setting.link
    assert 'role="alert"' not in opened.refused.value


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_link_restores_every_mechanism(mechanism):
    setting = Setting(mechanism=mechanism, n=12_345, delta=2e-7, rounds=3, rate=0.1, fpr=0.07)
    assert Setting.from_link(setting.link) == setting


@pytest.mark.parametrize("setting", [USUAL, Setting(d=4, rounds=2, rate=0.5), Setting(mechanism="from_pmf")])
def test_the_lines_to_take_away_return_what_is_shown(setting):
    names = {"randomizers": randomizers, "shuffle": shuffle}
    assert eval(setting.python, names) == central(setting)
    words_ = shlex.split(setting.shell)
    assert words_[:2] == ["shufflelib", "epsilon"]
    if setting.mechanism != "from_pmf":
        said = subprocess.run(
            [sys.executable, "-m", *words_, "--json"], capture_output=True, text=True, check=True
        )
        assert f"{central(setting).upper:.6g}"[:6] in said.stdout


def test_the_numbers_of_a_picture_can_be_taken_away(opened):
    data = re.search(r'csv;base64,([^"]+)"', opened.door.folded[-1].value)[1]
    lines = base64.b64decode(data).decode().splitlines()
    assert lines[0] == "which,false alarms (%),caught (%)"
    which, alarms, caught = lines[1 + 20].split(",")
    eps = central(USUAL).upper
    assert (which, float(alarms)) == ("shuffled: at most", 10.0)
    assert float(caught) == pytest.approx(100 * min(math.exp(eps) * 0.1 + 1e-6, 1 - math.exp(-eps) * 0.9))


@pytest.mark.parametrize("title", [door.title for door in DOORS])
def test_a_record_is_written_of_what_is_shown(opened, title):
    door = open_door(opened, title)
    assert door.written.value == ""
    door.record.click()
    text = base64.b64decode(re.search(r'base64,([^"]+)"', door.written.value)[1]).decode()
    found = yaml.safe_load(text)
    assert registry.check(found).verdict == "holds" and html.escape(text) in door.written.value
    printed = found["deployment"]["privacy_loss"]["privacy_parameters"]
    if title == "Plan":
        assert printed == {"epsilon": USUAL.eps, "delta": USUAL.delta}
        door.menu.value = door.menu.options[1][1]
        assert door.written.value == ""
        door.record.click()
        assert f"name: {door.menu.value}" in door.written.value
    else:
        assert printed["epsilon"] == float(written(central(USUAL).upper, up=True, digits=4))
    opened.controls["n"].text.value = "1000"
    assert door.written.value == ""
    door.clear("computing")
    door.record.click()
    assert door.written.value == ""


def test_cautions_stand_above_the_number(opened):
    opened.controls["delta"].text.value = "0.05"
    assert opened.said("Understand").startswith('<p role="alert"') and "not below 1/users" in opened.said(
        "Understand"
    )
    opened.link.value = "n=1e12"
    assert "covers whatever the results differ by" in opened.said("Understand")


def test_plan_is_what_recommend_returns(opened):
    opened.controls["n"].text.value = "1000"
    door = open_door(opened, "Plan")
    found = calibration.recommend(n=1000, eps=0.5, delta=1e-6, task="histogram", d=10)
    assert f"± {words.points(found[0]['standard error']).split()[0]} percentage" in plain(door.answer.value)
    assert [value for _, value in door.menu.options] == [row["mechanism"] for row in found]
    for row in found:
        door.menu.value = row["mechanism"]
        assert html.escape(row["sentence"]) in door.detail.value
        assert f"± {words.points(row['worst case'])}" in plain(door.detail.value)
    assert found[0]["python"] in html.unescape(door.folded[-1].value)


def test_a_plan_that_nothing_meets_says_so(opened):
    door = open_door(opened, "Plan")
    opened.link.value = "n=100&eps=1e-6&delta=1e-12&task=mean"
    assert plain(door.answer.value).strip() and "0.5" not in door.answer.value
    assert "No number" in door.answer.value or "No useful answer" in door.answer.value


def test_compare_shows_the_bounds_and_two_settings(opened):
    door = open_door(opened, "Compare")
    found = comparison.compare(randomizers.binary_rr(eps0=1.0), n=200, delta=1e-6)
    listed = plain(door.folded[0].value)
    for one in found:
        assert one.bound.name.replace("'", "&#x27;") in listed
    door.keep.click()
    opened.controls["n"].text.value = "2000"
    both = plain(door.both.value)
    for n in (200, 2000):
        assert words.rounded(central(USUAL.but(n=n)).upper, up=True) in both
    opened.controls["rounds"].text.value = "2"
    assert "for one round" in door.more.value and door.picture.value == ""


@pytest.mark.parametrize("error", [ValueError("too many"), MemoryError("full"), KeyError("x")])
def test_a_failure_takes_the_old_answers_away_and_is_asked_again(opened, monkeypatch, error):
    shown = opened.said("Understand")
    with monkeypatch.context() as patch:
        patch.setitem(questions.ASK, "missed", lambda setting: partial(_fail, error))
        opened.controls["n"].text.value = "300"
        assert str(error).strip("'") in opened.said("Understand") and "No number" in opened.said("Understand")
        assert opened.door.picture.value == opened.door.more.value == opened.door.folded[0].value == ""
    opened.controls["n"].text.value = "200"
    assert opened.said("Understand") == shown
    opened.controls["n"].text.value = "300"
    assert "ε ≤" in opened.said("Understand") and opened.door.picture.value


def _fail(error):
    raise error


def test_an_answer_to_an_older_setting_is_not_shown(opened, monkeypatch):
    waiting = []
    monkeypatch.setattr(opened._worker, "ask", lambda questions, told: waiting.append((questions, told)))
    opened.controls["rounds"].text.value = "2"
    assert "computing" in opened.said("Understand") and opened.stop.layout.display == ""
    assert opened.door.picture.value == ""
    opened.controls["rounds"].text.value = "3"
    (first, told_first), (second, told_second) = waiting
    told_first([first[0](), first[1]()])
    assert "computing" in opened.said("Understand")
    told_second([second[0]()])
    assert "in 3 rounds together" in plain(opened.said("Understand")) and "1 of 2" in opened.progress.value
    opened.stop.click()
    assert (
        opened._worker.stopped == 1 and opened.progress.value == "" and opened.stop.layout.display == "none"
    )


def test_controls_keep_their_focus_while_numbers_move(opened):
    children = opened._left.children
    opened.controls["n"].text.value = "300"
    assert opened._left.children is children


def test_help_is_visible_and_every_field_has_a_name(opened):
    for name, field in FIELDS.items():
        control = opened.controls[name]
        assert field.help in control.note.value
        assert control.slider.description == field.label and control.text.tooltip == f"{field.label}, number"


def test_stills_need_no_kernel(monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_FRAMES", "9")
    page = explorer(USUAL).data
    assert "make app" in page and page.count("<img") == 3
    assert page.index('type="range"') < page.index("<h3>")  # what moves comes first
    (packed,) = re.findall(r'<script type="application/json">(.*)</script>', page)
    pictures, said = json.loads(packed)
    assert len(set(pictures)) == len(said) == 9
    for text in said:
        n, eps, eps0 = re.fullmatch(r"(.*) users: ε ≤ (.*) \(n = .*, ε₀ = (.*)\)", text).groups()
        there = USUAL.but(n=int(n.replace(",", "")), eps0=float(eps0))
        assert eps == words.rounded(central(there).upper, up=True)
    assert words.rounded(central(USUAL).upper, up=True) in page


def test_planner_and_explorer_start_alike():
    page = (Path(__file__).parents[2] / "book/planner/index.html").read_text(encoding="utf-8")
    usual = dict(re.findall(r'name="(\w+)"\s+type="text"\s+value="([^"]*)"', page))
    for name in ("n", "d", "rounds", "eps", "eps0"):
        assert float(usual[name].replace(",", "")) == getattr(Setting(), name), name
    assert float(usual["users"].replace(",", "")) == Setting().n


def wait(ready, seconds=60):
    until = time.monotonic() + seconds
    while not ready() and time.monotonic() < until:
        time.sleep(0.02)
    assert ready()


def test_another_process_answers_in_order_and_ends_with_stop():
    worker, told = Worker(), []
    profile = shuffle(randomizers.binary_rr(eps0=1.0), n=200)
    worker.ask([partial(operator.methodcaller("epsilon", 1e-6), profile), os.getpid], told.append)
    wait(lambda: told and len(told[-1]) == 2)
    assert told[0][0] == profile.epsilon(1e-6) and told[-1][1] != os.getpid()
    worker.ask([partial(time.sleep, 600)], told.append)
    pid = told[-1][1]
    worker.stop()
    wait(lambda: not alive(pid))
    assert len(told) == 2


def test_a_dead_workers_question_is_asked_again_and_a_second_death_is_told():
    worker, told = Worker(), []
    worker.ask([os.getpid], told.append)
    wait(lambda: told)
    os.kill(told[0][0], signal.SIGKILL)
    worker.ask([os.getpid], told.append)
    wait(lambda: len(told) == 2)
    assert told[1][0] != told[0][0]
    worker.ask([partial(os._exit, 1)], told.append)
    wait(lambda: len(told) == 3)
    assert "BrokenProcessPool" in type(told[2]).__name__
    worker.ask([os.getpid], told.append)
    wait(lambda: len(told) == 4)
    worker.stop()


def test_a_newer_question_takes_the_place_of_one_that_takes_long():
    worker, told = Worker(), []
    worker.ask([partial(time.sleep, 600)], told.append)
    worker.ask([partial(int, "1")], told.append)
    worker.ask([partial(int, "2")], told.append)
    wait(lambda: told)
    assert told == [[2]]
    worker.stop()


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_comparison_can_be_sent_to_another_process():
    found = comparison.compare(randomizers.binary_rr(eps0=1.0), n=200, delta=1e-6)
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert all(one.bound is other.bound for one, other in zip(again, found, strict=True))
    own = comparison.Bound("own", "says", operator.attrgetter("eps0"))
    assert pickle.loads(pickle.dumps(own)).name == "own"
