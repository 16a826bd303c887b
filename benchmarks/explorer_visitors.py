"""Move sliders as ten visitors do, and print how long a number takes and how much memory the server holds.

    python benchmarks/explorer_visitors.py

Each visitor moves a slider of *Understand* every second and fetches the pictures, as a browser does.
"""

import http.client
import json
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

VISITORS, MOVES, PAUSE = 10, 20, 1.0
PICTURES = ("worlds", "crowd", "tests")


def visit(address, who, taken):
    """Move sliders at random; note the seconds until each number is there."""
    draw = random.Random(who)
    time.sleep(draw.random())
    for _ in range(MOVES):
        n, eps0 = round(10 ** draw.uniform(3, 8)), round(draw.uniform(0.3, 4.0), 2)
        query, begun, seen, number, complete = f"n={n}&eps0={eps0}", time.monotonic(), -1, None, False
        while number is None or not complete:
            body = {"door": "understand", "visitor": who, "seen": seen, "query": query}
            told = json.loads(ask(address, "POST", "/answer", json.dumps(body)))
            seen, complete = told["seen"], told["complete"]
            if number is None and "≤" in told["parts"]["worlds"]:
                number = time.monotonic() - begun
                taken.append(number)
            if time.monotonic() - begun > PAUSE:
                break
        for picture in PICTURES:
            ask(address, "GET", f"/picture/{picture}.svg?{query}")
        time.sleep(max(0.0, begun + PAUSE - time.monotonic()))


def ask(address, method, path, body=None):
    """Return the answer to one request."""
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    answer = connection.getresponse().read()
    connection.close()
    return answer


def memory(parent):
    """Return the mebibytes of a process and its children, shared pages counted once."""
    family = [parent]
    for status in Path("/proc").glob("[0-9]*/stat"):
        if int(status.read_text().rpartition(")")[2].split()[1]) in family:
            family.append(int(status.parent.name))
    held = [re.search(r"^Pss: +(\d+)", Path(f"/proc/{one}/smaps_rollup").read_text(), re.M) for one in family]
    return sum(int(one[1]) for one in held) / 1024


def main():
    """Serve, visit, print."""
    command = [sys.executable, "-m", "shufflelib.explorer", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address, taken = urlsplit(re.search(r"http://\S+", server.stdout.readline())[0]).netloc, []
        visitors = [threading.Thread(target=visit, args=(address, f"{k}", taken)) for k in range(VISITORS)]
        for one in visitors:
            one.start()
        for one in visitors:
            one.join()
        taken.sort()
        quantiles = {share: taken[int(share * (len(taken) - 1))] for share in (0.5, 0.95, 1.0)}
        print(f"{len(taken)} of {VISITORS * MOVES} moves; seconds to a number by quantile", quantiles)
        print(f"memory of all processes: {memory(server.pid):.0f} MiB")
        time.sleep(15.0)
        print(f"15 s after the last request: {memory(server.pid):.0f} MiB")
        server.terminate()


if __name__ == "__main__":
    main()
