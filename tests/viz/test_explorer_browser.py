"""The explorer in a browser, in JupyterLab and under Voilà: ``make browser`` installs what is needed."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shufflelib import randomizers, shuffle
from viz.explorer import Setting
from viz.explorer.words import rounded

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: make browser installs it")
axe = pytest.importorskip("axe_core_python", reason="no axe-core: make browser installs it")
pytest.importorskip("voila", reason="no Voilà: make app installs it")

ROOT = Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if BROWSER is None:
    pytest.skip("no Chromium here: apt-get install chromium", allow_module_level=True)

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]
WAIT = 240_000  # milliseconds, on a busy machine


def serve(command, pattern, folder):
    """Start a server; return it and its address, which it writes to its log."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(folder)}
    environment.pop("SHUFFLELIB_FRAMES", None)
    log = folder / "log"
    with log.open("w") as file:
        server = subprocess.Popen(command, stdout=file, stderr=file, env=environment, cwd=ROOT)
    until = time.monotonic() + WAIT / 1000
    while not (found := re.search(pattern, log.read_text())):
        assert server.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.1)
    return server, found[0]


@pytest.fixture(scope="module")
def voila(tmp_path_factory):
    """Serve the notebook as `make app` does, on a free port."""
    command = [sys.executable, "-m", "voila", "notebooks/explorer.ipynb"]
    command += ["--Voila.config_file_paths=notebooks", "--no-browser", "--port=8931"]
    server, address = serve(
        command, r"http://(localhost|127\.0\.0\.1):\d+/", tmp_path_factory.mktemp("voila")
    )
    yield address
    server.terminate()
    server.wait(60)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Serve JupyterLab with the cells up to the panel, on a free port."""
    folder = tmp_path_factory.mktemp("lab")
    notebook = json.loads((ROOT / "notebooks/explorer.ipynb").read_text(encoding="utf-8"))
    notebook["cells"] = [one for one in notebook["cells"] if "figure" not in one["metadata"].get("tags", [])]
    (folder / "explorer.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    command += [f"--notebook-dir={folder}", "--IdentityProvider.token=", "--LabApp.collaborative=False"]
    server, address = serve(command, r"http://(localhost|127\.0\.0\.1):\d+/", folder)
    yield address
    server.terminate()
    server.wait(60)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield chromium
        chromium.close()


def opened(browser, request, where, **how):
    page = browser.new_page(**({"viewport": {"width": 1366, "height": 768}} | how))
    page.set_default_timeout(WAIT)
    address = request.getfixturevalue(where)
    if where == "voila":
        page.goto(address)
    else:
        page.goto(f"{address}lab/tree/explorer.ipynb?reset")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
    says(page, Setting())
    return page


def says(page, setting):
    """Wait until the number is that of a setting."""
    upper = shuffle(setting.randomizer(), setting.n).subsample(setting.rate).compose(setting.rounds)
    said = f"ε ≤ {rounded(upper.epsilon(setting.delta).upper, up=True)}"
    sync_api.expect(page.locator(".viz-explorer")).to_contain_text(said, timeout=WAIT)
    sync_api.expect(page.locator(".viz-explorer")).to_contain_text(f"of {setting.n:,} people", timeout=WAIT)


def picture(page):
    return page.locator(".viz-explorer img[alt^='An attacker']").get_attribute("src")


MOVES = [
    ("users n", "n", "ArrowRight"),
    ("budget ε₀", "eps0", "ArrowRight"),
    ("options d", "d", "ArrowRight"),
    ("slack δ", "delta", "ArrowLeft"),
    ("sampled", "rate", "ArrowLeft"),
]


@pytest.mark.parametrize("where", ["voila", "lab"])
def test_every_control_moves_what_is_shown_as_the_package_computes_it(browser, request, where):
    page = opened(browser, request, where)
    link = page.locator(".viz-explorer input").last
    setting = Setting()
    for label, name, key in MOVES:
        before, shown = link.input_value(), picture(page)
        slider = page.get_by_role("slider", name=label, exact=True)
        slider.press(key)
        page.wait_for_function("([one, before]) => one.value != before", arg=[link.element_handle(), before])
        setting = Setting.from_link(link.input_value())
        assert getattr(setting, name) != getattr(Setting(), name)
        says(page, setting)
        sync_api.expect(page.locator(".viz-explorer img[alt^='An attacker']")).not_to_have_attribute(
            "src", shown
        )
        value = page.get_by_title(f"{label}, number").input_value()
        assert slider.get_attribute("aria-valuetext") == value
        assert slider.evaluate("one => one === document.activeElement"), "the focus stays"
    field = page.get_by_title("users n, number")
    field.fill("12,345")
    field.press("Enter")
    setting = setting.but(n=12_345)
    says(page, setting)
    field.fill("1.5")
    field.press("Enter")
    sync_api.expect(page.get_by_role("alert").first).to_contain_text("n must be a whole number")
    sync_api.expect(field).to_have_value("1.5")
    says(page, setting)
    page.get_by_label("mechanism").first.select_option("Laplace noise, number in [0, 1]")
    says(page, setting.but(mechanism="laplace"))
    page.close()


def test_plan_and_compare_answer_and_a_long_answer_is_stopped(browser, request):
    page = opened(browser, request, "voila")
    page.get_by_role("button", name="Plan").click()
    page.wait_for_selector("img[alt*='is off by']")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector("img[alt^='Proved here']")
    field = page.get_by_title("rounds, number")
    field.fill("200000")
    field.press("Enter")
    page.get_by_role("button", name="Stop").click()
    sync_api.expect(page.locator(".viz-explorer")).to_contain_text("Stopped. Move a control to ask again.")
    page.close()


def faults(page):
    """Unfold all of the explorer; return what axe finds wrong with it."""
    folded = page.locator(".viz-explorer .jupyter-widget-Collapse-header:not(.jupyter-widget-Collapse-open)")
    for title in folded.all()[::-1]:  # what is open no longer counts
        if title.is_visible():
            title.click()
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document.querySelector('.viz-explorer'))")["violations"]
    return [(one["id"], one["impact"], len(one["nodes"]), one["nodes"][0]["html"][:200]) for one in found]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_a_phone(browser, request, voila, theme):
    page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce", bypass_csp=True)
    page.set_default_timeout(WAIT)
    page.goto(f"{voila}?theme={theme}")
    page.wait_for_selector(".viz-explorer img[alt^='An attacker']")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert faults(page) == []
    page.close()


def test_the_panel_is_accessible_in_jupyterlab(browser, request):
    page = opened(browser, request, "lab", reduced_motion="reduce", bypass_csp=True)
    assert faults(page) == []
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.get_by_text("Theme", exact=True).hover()
    page.get_by_text("JupyterLab Dark", exact=True).click()
    page.wait_for_selector("body[data-jp-theme-light=false]", state="attached")
    assert faults(page) == []
    page.close()


def test_the_page_asks_nobody_outside(browser, voila):
    """Voilà's template names style sheets of another site; the browser is told not to load them."""
    page, outside = browser.new_page(), []
    page.set_default_timeout(WAIT)
    own = (voila, "data:", "blob:")
    page.on("requestfailed", lambda one: one.url.startswith(own) or outside.append(one.failure))
    page.on("requestfinished", lambda one: one.url.startswith(own) or outside.append(one.url))
    page.goto(voila)
    page.wait_for_selector(".viz-explorer img[alt^='An attacker']")
    assert set(outside) <= {"csp"}
    page.close()


def test_the_number_is_the_one_of_randomized_response():
    upper = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10_000).epsilon(1e-6).upper
    assert rounded(upper, up=True) == "0.024"
