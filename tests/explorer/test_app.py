"""The explorer in a real browser: ``make browser`` installs what is needed; skipped where it is missing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shufflelib import randomizers, shuffle
from shufflelib.explorer.text import rounded

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: make browser installs it")
axe = pytest.importorskip("axe_core_python", reason="no axe-core: make browser installs it")

ROOT = Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if BROWSER is None:
    pytest.skip("no Chromium here: apt-get install chromium", allow_module_level=True)

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]
SMALL = "mechanism=binary_rr&n=200"
SECONDS = 1000
DOORS = ("plan", "understand", "compare")


@pytest.fixture(scope="module")
def address():
    """Serve the page on a free port of this machine, and end the server afterwards."""
    command = [sys.executable, "-m", "shufflelib.explorer", "--no-browser", "--port", "0"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        yield re.search(r"http://\S+", server.stdout.readline())[0]
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield chromium
        chromium.close()


class Tab:
    """A page of the explorer, and everything that went wrong on it."""

    def __init__(self, browser, address, path=f"understand?{SMALL}", *, width=1280, height=900, dark=False):
        self.wrong, scheme = [], "dark" if dark else "light"
        self.page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True
        )
        self.page.set_default_timeout(60 * SECONDS)
        self.page.on("console", lambda entry: entry.type == "error" and self.wrong.append(entry.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda asked: self._leaves(asked.url, address))
        self.page.goto(address + path)

    def _leaves(self, url, address):
        if not url.startswith((address, "data:", "blob:")):
            self.wrong.append(f"left this machine: {url}")

    def says(self, words):
        """Wait until the answer at the top says something."""
        sync_api.expect(self.page.locator("main > .part").first).to_contain_text(words, timeout=60 * SECONDS)

    def picture(self, name):
        """Return the address of a picture once it is up to date."""
        self.page.wait_for_selector(f"#figure-{name}:not(.old) img:not([hidden])")
        return self.page.locator(f"#figure-{name} img").get_attribute("src")

    def close(self):
        self.page.close()
        assert self.wrong == []


@pytest.fixture
def tab(browser, address):
    opened = Tab(browser, address)
    yield opened
    opened.close()


def central(*, n=200, eps0=1.0, delta=1e-6, rate=1.0):
    """Return what the answer must say of binary randomized response."""
    profile = shuffle(randomizers.binary_rr(eps0=eps0), n=n).subsample(rate)
    return f"ε ≤ {rounded(profile.epsilon(delta).upper, up=True)}"


def test_every_slider_moves_the_number_the_picture_and_the_address(tab):
    tab.says(central())
    tab.page.get_by_text("More controls").click()
    for label, name in (
        ("users n", "n"),
        ("local budget ε₀", "eps0"),
        ("δ", "delta"),
        ("sampling rate", "rate"),
    ):
        back, key = ("ArrowRight", "ArrowLeft") if name in ("rate", "delta") else ("ArrowLeft", "ArrowRight")
        before, link = tab.picture("worlds"), tab.page.url
        tab.page.get_by_role("slider", name=label, exact=True).press(key)
        tab.page.wait_for_function("link => location.href != link", arg=link)
        moved = dict(part.split("=") for part in tab.page.url.partition("?")[2].split("&"))
        kept = {"n": int(moved["n"])} | {key: float(moved[key]) for key in ("eps0", "delta", "rate")}
        assert kept != {"n": 200, "eps0": 1.0, "delta": 1e-6, "rate": 1.0}
        tab.says(central(**kept))
        tab.page.wait_for_function(
            "src => document.querySelector('#figure-worlds img').src != src", arg=before
        )
        tab.page.get_by_role("slider", name=label, exact=True).press(back)
        tab.says(central())


def test_what_is_typed_beside_a_slider_is_computed_or_refused(tab):
    tab.says(central())
    field, slider = (tab.page.get_by_role(role, name="users n") for role in ("textbox", "slider"))
    for words, n in (("1e3", 1000), ("456", 456)):
        field.fill(words)
        field.press("Enter")
        tab.says(central(n=n))
        sync_api.expect(field).to_have_value(f"{n:,}")
        assert f"n={n}&" in tab.page.url and slider.get_attribute("aria-valuetext") == f"{n:,} users"
    field.fill("7")
    field.press("Enter")
    sync_api.expect(tab.page.get_by_role("alert").first).to_contain_text("n must be finite and >= 100")
    sync_api.expect(field).to_have_value("456")
    assert "n=456&" in tab.page.url
    tab.says(central(n=456))
    tab.page.get_by_role("textbox", name="δ").fill("1e-7")
    field.press("Control+a")  # which sends δ; its answer comes between two keys
    tab.page.keyboard.type("24817", delay=300)
    assert "delta=1e-07&" in tab.page.url and field.input_value() == "24817"


def test_a_bad_link_shows_a_sentence_until_a_control_is_moved(browser, address):
    tab = Tab(browser, address, "understand?n=<img src=x onerror=alert(1)>")
    sync_api.expect(tab.page.get_by_role("alert").first).to_contain_text("n must be a whole number such as")
    assert tab.page.locator(".big").count() == 0
    tab.page.get_by_role("textbox", name="users n").fill("1000")
    tab.page.get_by_role("textbox", name="users n").press("Enter")
    tab.says("ε ≤")
    tab.close()


def test_a_matrix_comes_from_a_file_and_a_bad_row_can_be_repaired(browser, address, tmp_path):
    tab = Tab(browser, address, "understand?n=200")
    tab.page.get_by_label("mechanism").select_option("from_pmf")
    (tmp_path / "mine.csv").write_text("0.8,0.2\n0.3,0.6\n")
    tab.page.get_by_label("From a file").set_input_files(tmp_path / "mine.csv")
    note, field = tab.page.locator("#note-matrix"), tab.page.get_by_role("textbox", name="matrix")
    sync_api.expect(note).to_contain_text("row 2 sums to 0.9")
    assert "matrix=0.6,0.2,0.2;" in tab.page.url and field.get_attribute("aria-invalid") == "true"
    field.fill(field.input_value().replace("0.6", "0.7"))
    field.blur()
    sync_api.expect(note).to_have_text("2 values, 2 reports: ε₀ = 1.25277")
    assert "matrix=0.8,0.2;0.3,0.7&" in tab.page.url
    found = shuffle(randomizers.from_pmf([[0.8, 0.2], [0.3, 0.7]]), n=200).epsilon(1e-6)
    tab.says(f"ε ≤ {rounded(found.upper, up=True)}")
    tab.close()


def test_values_along_the_curves_follow_pointer_and_keys(browser, address):
    tab = Tab(browser, address, f"compare?{SMALL}")
    tab.says(central())
    tab.page.get_by_role("textbox", name="users n").fill("7")
    tab.page.get_by_role("textbox", name="users n").press("Enter")
    tab.page.wait_for_function(
        "() => ![...document.querySelectorAll('.progress')].some(one => one.textContent)"
    )
    sync_api.expect(tab.page.get_by_role("alert").first).to_contain_text("n must be finite and >= 100")
    tab.picture("users")
    values, pointer = tab.page.locator("#figure-users .values"), tab.page.locator("#figure-users .pointer")
    sync_api.expect(values).to_contain_text("Point at the curves")
    box = pointer.bounding_box()
    tab.page.mouse.move(box["x"] + 0.14 * box["width"], box["y"] + 0.5 * box["height"])
    sync_api.expect(values).to_contain_text("With 100 users: ")
    pointer.press("ArrowRight")
    sync_api.expect(values).to_contain_text("With 200 users: ")
    exact = shuffle(randomizers.binary_rr(eps0=1.0), n=200).epsilon(1e-6).upper
    sync_api.expect(values).to_contain_text(f"certified {rounded(exact, up=True, to=3)};")
    assert pointer.get_attribute("aria-valuetext") == values.text_content()
    tab.close()


def test_a_row_of_the_plan_opens_and_the_doors_keep_the_setting(browser, address):
    tab = Tab(browser, address, "plan?n=1000&eps=2&d=4")
    tab.page.get_by_role("button", name="Hadamard response").click()
    sync_api.expect(tab.page.locator("#part-chosen h2")).to_have_text("Hadamard response")
    tab.says("Hadamard response: a share is off by")
    assert "chosen=hadamard" in tab.page.url
    tab.page.get_by_role("link", name="Compare").click()
    tab.says("The best published bound here")
    assert "/compare?" in tab.page.url and "n=1000&" in tab.page.url
    tab.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("door", DOORS)
def test_the_page_is_accessible_and_fits_a_phone(browser, address, door, dark):
    tab = Tab(browser, address, f"{door}?n=1000&d=4&eps=2", width=390, height=844, dark=dark)
    tab.page.wait_for_selector(".big b")
    for part in tab.page.locator("main details").all():
        part.evaluate("one => { one.open = true; }")
    tab.page.wait_for_selector("figure:not(.old) img[alt]:not([alt=''])")
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 390
    tab.page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = tab.page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    sliders = tab.page.get_by_role("slider")
    for slider in sliders.all():
        assert slider.get_attribute("aria-label") and slider.get_attribute("aria-valuetext")
    assert tab.page.locator("[aria-live=polite]").count() == 1
    tab.close()
