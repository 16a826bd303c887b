"""The explorer's server: one small process for every visitor, on this machine alone.

A browser sends the texts of all controls, and asks again while answers are missing; nothing is kept for a
visitor but what they still wait for.  No request leaves the page's own address.
"""

import json
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from shufflelib.explorer import page, painter
from shufflelib.explorer.question_queue import Process, QuestionQueue
from shufflelib.explorer.setting import Setting
from shufflelib.explorer.templates import STATIC

FIRST, LATER = 0.3, 2.0  # seconds for which a request waits for an answer that is new to it
AWAY = 10.0  # seconds after which a silent visitor has left
LONGEST = 200_000  # bytes of a request
FILES = {"page.css": "text/css", "page.js": "text/javascript"}
GUARD = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Explorer(ThreadingHTTPServer):
    """Serves the page at ``address``; port 0 takes a free one, and other processes answer by default."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port=0, *, queue=None):
        self.queue = queue or QuestionQueue(Process, partial(Process, 0))  # closed if the port is in use
        super().__init__(("127.0.0.1", port), Visit)
        self.address = f"http://127.0.0.1:{self.server_address[1]}/"
        self.news, self.seen = threading.Condition(), {}
        self.queue.callback = self._tell

    def _tell(self):
        with self.news:
            self.news.notify_all()

    def answer(self, asked):
        """Return what to show, after waiting a moment for something that the visitor has not seen."""
        who, before = str(asked.get("visitor")), asked.get("seen", -1)
        try:
            setting = page.setting_of(asked)
        except (TypeError, ValueError) as wrong:
            return {"wrong": str(wrong)}
        _, questions = page.view(asked, setting, self.queue.get)
        self.seen[who] = time.monotonic()
        self.queue.want(questions, who)

        def news():
            found = sum(self.queue.get(one) is not None for one in questions)
            return found == len(questions) or found > max(before, 0)

        with self.news:
            self.news.wait_for(news, FIRST if before < 0 else LATER)
        shown, questions = page.view(asked, setting, self.queue.get)
        found = sum(answer is not None for answer in questions.values())
        return {"seen": found, "complete": found == len(questions)} | shown

    def forget(self, who):
        """Drop what a visitor who left still waits for."""
        self.seen.pop(who, None)
        self.queue.want([], who)

    def service_actions(self):
        """Forget the visitors who went away without a word."""
        late = time.monotonic() - AWAY
        for who in [who for who, last in list(self.seen.items()) if last < late]:
            self.forget(who)

    def server_close(self):
        """Close the port and stop the processes."""
        super().server_close()
        self.queue.close()


class Visit(BaseHTTPRequestHandler):
    """One connection of a browser."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self):
        """Send a door, a file of the page, or a picture."""
        if not self._from_here():
            return
        asked = urlsplit(self.path)
        folder, _, name = asked.path.strip("/").rpartition("/")
        if not folder and (name or "plan") in page.DOORS:
            self._send(page.shell(name or "plan"), "text/html")
        elif folder == "static" and name in FILES:
            self._send((STATIC / name).read_bytes(), FILES[name])
        elif folder == "picture":
            self._paint(*name.partition(".")[::2], asked.query)
        elif asked.path == "/report.html":
            self._draw(asked.query, "text/html", painter.write_report)
        else:
            self._send("not found", "text/plain", 404)

    def _paint(self, name, form, query):
        if name not in page.PICTURES or form not in painter.FORMS:
            self._send("no such picture", "text/plain", 404)
            return
        self._draw(query, painter.FORMS[form], partial(painter.paint, name, form))

    def _draw(self, query, kind, draw):
        """Send what is drawn of the setting of a query, or what is wrong with it."""
        try:
            drawn = draw(Setting.from_query(query), self.server.queue.get)
        except (TypeError, ValueError) as wrong:
            self._send(str(wrong), "text/plain", 400)
        else:
            self._send(drawn, kind)

    def do_POST(self):
        """Answer a setting, or hear that a visitor leaves."""
        if not self._from_here():
            return
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(min(length, LONGEST))
        if self.path == "/gone":
            self.server.forget(body.decode(errors="replace").strip('"'))
            self._send("", "text/plain", 204)
            return
        if self.path != "/answer" or self.headers.get_content_type() != "application/json":
            self._send("not found", "text/plain", 404)
            return
        try:
            asked = json.loads(body)
            if asked["door"] not in page.DOORS:
                raise KeyError(asked["door"])
        except (ValueError, KeyError, TypeError):
            self._send("not a request of this page", "text/plain", 400)
            return
        self._send(json.dumps(self.server.answer(asked), ensure_ascii=False), "application/json")

    def _from_here(self):
        """Refuse another host's name for this address, so that no page from there can reach this one."""
        name = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        here = name in ("127.0.0.1", "localhost", "::1")
        if not here:
            self.close_connection = True
            self._send("this page is for this machine alone", "text/plain", 403)
        return here

    def _send(self, content, kind, status=200):
        data = content.encode() if isinstance(content, str) else content
        try:
            self.send_response(status)
            for name, value in GUARD.items():
                self.send_header(name, value)
            self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text") else kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True  # the browser did not wait

    def log_message(self, *_):
        """Keep quiet."""
