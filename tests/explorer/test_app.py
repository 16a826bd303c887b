"""The explorer in a real browser: ``make browser`` installs what is needed; skipped where it is missing."""

import base64
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shufflelib import randomizers, shuffle
from shufflelib.explorer.text import bound

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: make browser installs it")
pytest.importorskip("voila", reason="no Voilà here")

ROOT = Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if BROWSER is None:
    pytest.skip("no Chromium here: apt-get install chromium", allow_module_level=True)

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]
SMALL = "mechanism=binary_rr&n=200"
FIELDS = "[...document.querySelectorAll('.explorer input[type=text]')]"
SETTING = FIELDS + ".find(one => one.value.includes('=')).value"
SECONDS = 1000


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Serve the page on a free port of this machine, and end the server afterwards."""
    folder = tmp_path_factory.mktemp("app")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR")
    environment = {**os.environ, **{place: str(folder / place) for place in places}}
    environment |= {"JUPYTER_PREFER_ENV_PATH": "1"}
    command = [sys.executable, str(ROOT / "tools/serve_explorer.py"), "--no-browser", f"--port={port}"]
    with open(folder / "log", "w") as log, subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, env=environment
    ) as server:  # fmt: skip
        try:
            until = time.monotonic() + 60
            while time.monotonic() < until and server.poll() is None:
                with socket.socket() as trial:
                    if trial.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.2)
            else:
                pytest.fail((folder / "log").read_text())
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield chromium
        chromium.close()


class Tab:
    """A page of the explorer, and everything that went wrong on it."""

    def __init__(self, browser, address, query="", *, width=1280, height=900):
        self.wrong = []
        self.page = browser.new_page(viewport={"width": width, "height": height})
        self.page.set_default_timeout(90 * SECONDS)
        self.page.on("console", lambda entry: entry.type == "error" and self.wrong.append(entry.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda asked: self._leaves(asked.url, address))
        self.page.on("websocket", lambda socket: self._leaves(socket.url.replace("ws", "http", 1), address))
        self.page.goto(address + ("?" + query if query else ""))
        self.page.wait_for_selector(".explorer h1")

    def _leaves(self, url, address):
        if not url.startswith((address, "data:", "blob:")):
            self.wrong.append(f"left this machine: {url}")

    def says(self, what, *, panel=0):
        """Wait for a panel to say something; return all it says."""
        shown = self.page.locator(".explorer .panel").nth(panel)
        try:
            sync_api.expect(shown).to_contain_text(what, timeout=90 * SECONDS)
        except AssertionError:
            pytest.fail(f"waited for {what!r}; the page says\n{shown.inner_text()}")
        return shown.inner_text()

    def slider(self, label):
        """Return the handle of a slider, to which the keyboard is given."""
        row = self.page.locator(".explorer .widget-inline-hbox", has_text=re.compile(rf"^{label}"))
        return row.locator(".noUi-handle").first

    def press(self, label, keys):
        handle = self.slider(label)
        handle.wait_for()  # a hidden one takes no focus
        handle.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def setting(self):
        return self.page.evaluate(SETTING)

    def picture(self, number=0):
        """Return the bytes of a picture."""
        return base64.b64decode(
            self.page.evaluate(
                """async number => {
                    const image = document.querySelectorAll('.explorer .panel img')[number];
                    const bytes = new Uint8Array(await (await fetch(image.src)).arrayBuffer());
                    return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
                }""",
                number,
            )
        )

    def close(self):
        self.page.goto("about:blank")  # the server hears of it, and lets the page's kernel go
        self.page.close()
        assert self.wrong == []


@pytest.fixture
def tab(browser, address):
    opened = Tab(browser, address, SMALL)
    yield opened
    opened.close()


def central(*, n=200, eps0=1.0, delta=1e-6, rate=1.0, rounds=1):
    """Return what panel 1 must say of binary randomized response."""
    profile = shuffle(randomizers.binary_rr(eps0=eps0), n=n)
    profile = profile.subsample(rate=rate) if rate < 1.0 else profile
    found = (profile.compose(rounds=rounds) if rounds > 1 else profile).epsilon(delta)
    return f"ε ≤ {bound(found.upper, up=True)} at δ = {delta:g}"


def test_every_control_moves_the_number_and_the_picture(tab):
    tab.says(central())
    moves = {"users n": "n", "local ε": "eps0", "δ": "delta", "sampling rate": "rate"}
    moves |= {"rounds": "rounds"}
    for label, name in moves.items():
        before, key = tab.picture(), "ArrowLeft" if name in ("rate", "delta") else "ArrowRight"
        query = tab.setting()
        tab.press(label, [key])
        tab.page.wait_for_function(f"{SETTING} != '{query}'")
        moved = dict(part.split("=") for part in tab.setting().split("&"))
        kept = {"n": int(moved["n"]), "rounds": int(moved["rounds"])}
        kept |= {name: float(moved[name]) for name in ("eps0", "delta", "rate")}
        assert tab.setting() != query and (name in ("n", "rounds") or kept[name] != 1.0)
        tab.says(central(**kept))
        tab.page.wait_for_timeout(700)
        assert tab.picture() != before
        tab.press(label, ["ArrowRight" if key == "ArrowLeft" else "ArrowLeft"])
        tab.says(central())


def test_what_is_typed_beside_a_slider_is_computed_or_refused(tab):
    tab.says(central())
    field = tab.page.get_by_role("textbox", name="users n")
    for words, n in (("1e3", 1000), ("456", 456)):
        field.fill(words)
        field.press("Enter")
        tab.says(central(n=n))
        assert field.input_value() == f"{n:,}" and f"n={n}&" in tab.setting()
    field.fill("7")
    field.press("Enter")
    sync_api.expect(tab.page.locator(".explorer .message")).to_contain_text("n must be finite and >= 100")
    assert field.input_value() == "456" and "n=456&" in tab.setting()
    handle = tab.page.get_by_role("slider", name="users n")
    assert handle.get_attribute("aria-valuetext") == "456"


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("n=0", "n must be finite and >= 100"),
        ("eps0=__import__('os')", "eps0 must be a number"),
        ("mechanism=<img src=x onerror=alert(1)>", "mechanism must be one of"),
        ("password=1", "is no control"),
    ],
)
def test_a_bad_link_shows_a_sentence(browser, address, query, complaint):
    tab = Tab(browser, address, query)
    tab.page.wait_for_selector(".explorer .message")
    assert complaint in tab.page.locator(".explorer .message").inner_text()
    assert tab.page.locator(".explorer .number b").count() == 0
    tab.close()


def test_pictures_have_words_and_another_name_is_refused(browser, address):
    tab = Tab(browser, address, SMALL)
    tab.says(central())
    alts = tab.page.evaluate("[...document.querySelectorAll('.explorer .panel img')].map(one => one.alt)")
    assert len(alts) == 5 and all("numbers are in the text" in alt for alt in alts)
    named = tab.page.request.get(address, headers={"Host": "elsewhere.example"})
    assert named.status == 403
    tab.close()


def test_a_closed_page_takes_its_processes_along(browser, address):
    tab = Tab(browser, address, SMALL)
    tab.says(central())
    page = tab.page.evaluate("JSON.parse(document.getElementById('jupyter-config-data').textContent)")
    kernel = f"{address}api/kernels/{page['kernelId']}"
    assert tab.page.request.get(kernel).status == 200
    tab.page.goto("about:blank")
    until = time.monotonic() + 20
    while tab.page.request.get(kernel).status != 404 and time.monotonic() < until:
        time.sleep(0.2)
    assert tab.page.request.get(kernel).status == 404
    tab.close()
