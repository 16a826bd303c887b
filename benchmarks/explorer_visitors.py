"""Open the explorer under Voilà as visitors do; print how long numbers and pictures take, and the memory.

    python benchmarks/explorer_visitors.py [VISITORS]

Needs Voilà, playwright and Chromium (`make browser` installs the first two).  One visitor moves each control
with the arrow keys; then all of them move the number of users, each in a page and a kernel of their own.
"""

import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
CONTROLS = ("users n", "budget ε₀", "options d", "slack δ", "false alarms")
MOVES, PORT = 10, 8941
CHANGED = """([what, before]) => {
  const one = document.querySelector(what);
  return one && (one.src || one.textContent) != before;
}"""
NUMBER, PICTURE = ".viz-explorer .viz-answer", ".viz-explorer img[alt^='An attacker']"
SHOWN = "([what]) => { const one = document.querySelector(what); return one.src || one.textContent; }"


def opened(browser):
    """Return a page that shows a number, and the seconds that took."""
    page, begun = browser.new_page(viewport={"width": 1366, "height": 768}), time.monotonic()
    page.set_default_timeout(300_000)
    page.goto(f"http://127.0.0.1:{PORT}/")
    page.wait_for_selector(f"{NUMBER} b")
    seconds = time.monotonic() - begun
    page.wait_for_selector(PICTURE)
    return page, seconds


def moved(page, label, key):
    """Press a key on a slider; return the seconds until number and picture are others."""
    before = [page.evaluate(SHOWN, [what]) for what in (NUMBER, PICTURE)]
    begun = time.monotonic()
    page.get_by_role("slider", name=label, exact=True).press(key)
    seconds = []
    for what, old in zip((NUMBER, PICTURE), before, strict=True):
        if label != "false alarms" or what == PICTURE:  # which do not move ε
            page.wait_for_function(CHANGED, arg=[what, old], polling=5)
        seconds.append(time.monotonic() - begun)
    return seconds


def said(seconds):
    """Return median and 95th percentile in words."""
    ordered = sorted(seconds)
    return f"median {statistics.median(ordered):.2f} s, 95 % {ordered[int(0.95 * (len(ordered) - 1))]:.2f} s"


def memory(parent):
    """Return the mebibytes of a process and of each of its children, shared pages counted in parts."""
    family = [parent]
    for status in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda path: int(path.parent.name)):
        if int(status.read_text().rpartition(")")[2].split()[1]) in family:
            family.append(int(status.parent.name))
    held = [re.search(r"^Pss: +(\d+)", Path(f"/proc/{one}/smaps_rollup").read_text(), re.M) for one in family]
    return [int(one[1]) // 1024 for one in held]


def main():
    """Serve, visit, print."""
    visitors = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    command = [sys.executable, "-m", "voila", "notebooks/explorer.ipynb", "--no-browser", f"--port={PORT}"]
    command += ["--Voila.config_file_paths=notebooks"]
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, **quiet) as server, sync_playwright() as driver:
        time.sleep(30)  # until a kernel waits
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page, cold = opened(browser)
        print(f"first number after opening: {cold:.2f} s")
        for label in CONTROLS:
            keys = ["ArrowRight", "ArrowLeft"] * (MOVES // 2)
            numbers, pictures = zip(*(moved(page, label, key) for key in keys), strict=True)
            print(f"{label}: number {said(numbers)}; picture {said(pictures)}")
        print(f"memory with one visitor, MiB each process: {memory(server.pid)}")
        pages = [page] + [opened(browser)[0] for _ in range(visitors - 1)]
        every = [moved(one, "users n", "ArrowRight") for _ in range(3) for one in pages]
        numbers, pictures = zip(*every, strict=True)
        print(f"{visitors} visitors: number {said(numbers)}; picture {said(pictures)}")
        print(f"memory with {visitors} visitors, MiB each process: {memory(server.pid)}")
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
