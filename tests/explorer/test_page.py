"""The explorer's page without a browser: doors, controls, what a request is answered, pictures as files."""

import concurrent.futures
import http.client
import json
import re
import threading

import pytest

from shown_words import plain
from shufflelib import randomizers, shuffle
from shufflelib.explorer import QuestionQueue, Setting, page, pictures, questions, text
from shufflelib.explorer.controls import CONTROLS
from shufflelib.explorer.doors import DOORS
from shufflelib.explorer.server import Explorer

SMALL = Setting(mechanism="binary_rr", n=200)


class Here:
    """An executor that answers at once, in this thread."""

    def submit(self, task, *given):
        future = concurrent.futures.Future()
        future.set_result(task(*given))
        return future

    def shutdown(self):
        """Nothing to let go."""


@pytest.fixture(scope="module")
def server():
    """Serve the page on a free port, and end the server afterwards."""
    with Explorer(queue=QuestionQueue(Here)) as explorer:
        thread = threading.Thread(target=explorer.serve_forever, args=(0.05,))
        thread.start()
        yield explorer
        explorer.shutdown()
        thread.join()


def asked(server, method, path, body=None, **headers):
    """Return status, type and body of a request."""
    connection = http.client.HTTPConnection(*server.server_address, timeout=120)
    try:
        kind = {"Content-Type": "application/json"} if body is not None else {}
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, kind | headers)
        answer = connection.getresponse()
        return answer.status, answer.headers.get_content_type(), answer.read()
    finally:
        connection.close()


def state(server, door="understand", **body):
    """Return what a browser is told at a door in the end."""
    if not {"query", "values"} & set(body):
        body["query"] = SMALL.query
    told = {"complete": False}
    while not told.get("complete", True):
        status, _, data = asked(server, "POST", "/answer", {"door": door, "visitor": "a", **body})
        assert status == 200
        told = json.loads(data)
    return told


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_one_page_with_each_control_once(door):
    shell = page.shell(door)
    names = re.findall(r'id="control-(\w+)"', shell)
    assert len(names) == len(set(names)) and set(names) <= set(CONTROLS)
    assert shell.count('aria-current="page"') == 1 and f'aria-current="page">{DOORS[door].label}' in shell
    assert "http:" not in shell and "https:" not in shell and "$" not in shell


def test_what_is_shown_is_what_is_computed(server):
    found = shuffle(randomizers.binary_rr(eps0=1.0), n=200)
    told = state(server, opened=["digits"])
    assert told["complete"]
    eps, missed = found.epsilon(1e-6), found.tradeoff(0.05)
    shown = plain(told["parts"]["worlds"])
    assert f"ε ≤ {text.rounded(eps.upper, up=True)} " in shown
    assert f"catches at most {text.rounded(100 * (1 - missed.lower), up=True, to=3)} %" in shown
    assert f"ε ≤ {text.bound(eps.upper, up=True)} at δ" in plain(told["parts"]["digits"])


MOVES = {"eps0": "2.0", "n": "1e3", "delta": "1e-4", "rate": "0.5", "mechanism": "generalized_rr"}


@pytest.mark.parametrize(("name", "typed"), MOVES.items())
def test_a_moved_control_moves_the_number_and_the_address(server, name, typed):
    before = state(server)
    told = state(server, values=before["values"] | {name: typed})
    assert told["parts"]["worlds"] != before["parts"]["worlds"]
    setting = Setting.from_query(told["query"])
    value = getattr(setting, name)
    assert value == (typed if name == "mechanism" else float(typed))
    eps = questions.epsilon(setting)
    assert f"ε ≤ {text.rounded(eps.upper, up=True)} " in plain(told["parts"]["worlds"])
    assert state(server, values=told["values"]) == told | {"seen": told["seen"]}


def test_a_matrix_is_read_shown_and_computed_or_its_bad_row_is_named(server):
    values = state(server)["values"] | {"mechanism": "from_pmf"}
    told = state(server, values=values | {"matrix": "value;a;b\n0.8;0.2\n0.3;0.7"})
    assert "matrix=0.8,0.2;0.3,0.7&" in told["query"] and Setting.from_query(told["query"]).n == 200
    assert told["controls"]["matrix"]["said"] == "2 values, 2 reports: ε₀ = 1.25277"
    assert told["skipped"] == "; skipped line 1: 'value;a;b'"
    percent = state(server, values=values | {"matrix": "75%,25%\n0.3,0.7\n0.4,0.6"})
    assert percent["skipped"] == "" and "matrix=0.75,0.25;0.3,0.7;0.4,0.6&" in percent["query"]
    pasted = state(server, values=values | {"matrix": "[[0.75, 0.25], [0.25, 0.75]]"})
    assert "matrix=0.75,0.25;0.25,0.75&" in pasted["query"]
    found = shuffle(randomizers.from_pmf([[0.8, 0.2], [0.3, 0.7]]), n=200)
    shown = plain(told["parts"]["worlds"])
    assert f"ε ≤ {text.rounded(found.epsilon(1e-6).upper, up=True)} " in shown and "of 1.26 without" in shown
    assert {"matrix", "mechanism"} <= set(told["visible"]) and not {"eps0", "d"} & set(told["visible"])
    alone = state(server, values=values | {"matrix": "1 0\n0.3 0.7"})
    assert "ε₀ is infinite" in alone["controls"]["matrix"]["said"]
    assert "without a shuffler" not in plain(alone["parts"]["worlds"])
    wrong = state(server, values=values | {"matrix": "0.8, 0.2\n0.3, 0.6"})["wrong"]
    assert wrong == "row 2 sums to 0.9; the probabilities of a row must sum to 1"


def test_a_bad_link_is_a_sentence_and_no_number(server):
    told = state(server, query="mechanism=<img src=x onerror=alert(1)>")
    assert set(told) == {"wrong"} and "mechanism must be one of" in told["wrong"]


def test_the_values_along_curves_are_those_of_all_bounds_and_lie_where_they_are_drawn(server):
    told = state(server, "compare")
    for name, picture in (("users", pictures.OverUsers()), ("budgets", pictures.OverBudgets())):
        places, words = zip(*told["pictures"][name]["values"], strict=True)
        stops = sorted({getattr(one, picture.parameter) for one in (*picture.settings(SMALL), SMALL)})
        assert len(places) == len(stops) == 3 and list(places) == sorted(places)
        for place, said, stop in zip(places, words, stops, strict=True):
            there = SMALL.but(**{picture.parameter: stop})
            eps = questions.epsilon(there)
            assert f"; certified {text.rounded(eps.upper, up=True, to=3)};" in said.replace(": ", ": ; ")
            for bound, value in questions.published(there).items():
                shown = isinstance(value, float) and bound not in pictures.NAMED
                assert (f" {bound} {text.rounded(value, up=True, to=3)}" if shown else "") in said
            drawn = picture.ax.transData.transform((stop, 1.0))[0] / picture.ax.figure.bbox.width
            assert place == pytest.approx(drawn)
    assert state(server, "compare", query="mechanism=gaussian&n=200")["pictures"]["budgets"] is None


@pytest.mark.parametrize("door", DOORS)
def test_every_picture_is_drawn_says_its_finding_and_has_numbers(server, door):
    setting = Setting(n=200, d=4, eps=2.0)
    opened = [part.name for part in DOORS[door].parts]
    told = state(server, door, query=setting.query, opened=opened, slow=True)
    assert told["complete"] and told["pictures"]
    for name, picture in told["pictures"].items():
        assert picture["alt"] and picture["progress"] == ""
        for form, begin in (
            ("png", b"\x89PNG"),
            ("svg", b"<?xml"),
            ("csv", b"# setting: "),
            ("table", b"<table>"),
        ):
            status, _, data = asked(server, "GET", f"/picture/{name}.{form}?{setting.query}")
            assert status == 200 and data.startswith(begin)


def test_a_plan_is_printed_on_one_page(server):
    query = Setting(n=200, d=4, eps=2.0, chosen="hadamard").query
    status, kind, data = asked(server, "GET", f"/report.html?{query}")
    assert status == 200 and kind == "text/html" and "Hadamard response" in data.decode()
    assert asked(server, "GET", "/report.html?n=0")[0] == 400


def test_controls_that_do_not_apply_are_hidden(server):
    assert "d" not in state(server)["visible"] and "sigma" not in state(server)["visible"]
    gaussian = state(server, query="mechanism=gaussian&n=200")["visible"]
    assert "sigma" in gaussian and "eps0" not in gaussian
    assert "d" not in state(server, "plan", query="task=mean&n=200")["visible"]


def test_composed_rounds_wait_for_a_button(server):
    told = state(server, query=SMALL.but(rounds=2).query)
    assert 'class="ask"' in told["parts"]["worlds"] + told["parts"]["tests"]
    told = state(server, query=SMALL.but(rounds=2).query, slow=True)
    assert 'class="ask"' not in "".join(told["parts"].values())


def test_only_this_machine_is_answered_and_nothing_else_is_served(server):
    assert asked(server, "GET", "/", Host="elsewhere.example")[0] == 403
    assert asked(server, "POST", "/answer", {"door": "plan"}, Host="elsewhere.example")[0] == 403
    assert server.server_address[0] == "127.0.0.1"
    for path in (
        "/static/../server.py",
        "/static/page.html",
        "/etc/passwd",
        "/picture/worlds.pdf",
        "/picture/x.png",
    ):
        assert asked(server, "GET", path)[0] == 404
    assert asked(server, "GET", "/picture/worlds.png?n=0")[0] == 400
    assert asked(server, "GET", "/picture/x.png")[0] == 404
    assert asked(server, "POST", "/answer", ["no"])[0] == 400
    assert asked(server, "POST", "/answer", {"door": "back"})[0] == 400


def test_a_visitor_who_leaves_or_falls_silent_is_forgotten(server, monkeypatch):
    state(server, visitor="b")
    assert "b" in server.seen
    assert asked(server, "POST", "/gone", "b")[0] == 204
    assert "b" not in server.seen
    state(server, visitor="c")
    monkeypatch.setattr("shufflelib.explorer.server.AWAY", -1.0)
    server.service_actions()
    assert server.seen == {}
