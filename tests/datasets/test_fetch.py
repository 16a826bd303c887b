"""Downloading: all or nothing, resumed after every kind of interruption, one process at a time."""

import gzip
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from shufflelib import datasets
from shufflelib.datasets import __main__ as command
from shufflelib.datasets import mnist_files
from shufflelib.datasets.fetch import fetch
from small_mnist import CONTENT, NAMES, PACKED, SMALL, digest, idx, stand_in, store


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty ``mnist`` folder that the environment points to; the small files stand for MNIST."""
    return stand_in(tmp_path, monkeypatch)


@pytest.fixture
def stored(folder):
    """Return the folder with all four files in it."""
    store(folder)
    return folder


class Mirror(ThreadingHTTPServer):
    """A server on this machine; what it does wrong is set by its attributes."""

    daemon_threads = True
    ranges = True  # else a range request is answered with everything
    sends = None  # bytes after which the connection ends, else all of them
    stalls = False  # hold the connection open instead of ending it
    status = None  # answer every request with this error
    length = True  # say how many bytes will come

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Answer)
        self.files, self.asked, self.released = files, [], threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        server, name = self.server, self.path[1:]
        wanted = self.headers.get("Range")
        server.asked.append((name, wanted))
        content, start, status = server.files.get(name), 0, 200
        if wanted and server.ranges:
            start, status = int(wanted.removeprefix("bytes=").removesuffix("-")), 206
        if server.status or content is None:
            return self.send_error(server.status or 404)
        if start >= len(content):
            return self.send_error(416)
        self.send_response(status)
        if server.length:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:][: server.sends])
        self.wfile.flush()
        if server.stalls:
            server.released.wait(20)

    def log_message(self, *ignored):
        pass


@pytest.fixture
def mirrors(monkeypatch):
    """Return a function that starts a mirror of the given files."""
    monkeypatch.setenv("no_proxy", "*")
    started = []

    def start(files=PACKED, **wrong):
        server = Mirror(dict(files))
        vars(server).update(wrong)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        started.append((server, thread))
        return server

    yield start
    for server, thread in started:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


NAME = f"{NAMES['train_images']}.gz"
FILE = PACKED[NAME]
HALF = len(FILE) // 2


def download(folder, *servers):
    fetch(folder / NAME, [server.url + NAME for server in servers], check=SMALL["train_images"].read)


def test_all_of_mnist_is_downloaded_once(folder, mirrors, monkeypatch, capsys):
    server = mirrors()
    monkeypatch.setattr(mnist_files, "MIRRORS", (server.url,))
    folder.rmdir()
    assert datasets.download_mnist() == list(PACKED)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == PACKED
    assert server.asked == [(name, None) for name in PACKED]
    assert datasets.mnist().name == "mnist"
    assert command.main() == 0
    assert capsys.readouterr().out == f"{folder}: all 4 files checked, 0 of them downloaded now\n"
    assert len(server.asked) == 4


def test_only_what_is_missing_or_damaged_is_downloaded(stored, mirrors, monkeypatch, capsys):
    server = mirrors()
    monkeypatch.setattr(mnist_files, "MIRRORS", (server.url,))
    names = list(PACKED)
    (stored / names[0]).unlink()
    (stored / names[1]).write_bytes(b"damaged")
    (stored / names[2]).unlink()
    (stored / names[2].removesuffix(".gz")).write_bytes(CONTENT["test_images"])
    assert command.main() == 0
    assert "2 of them downloaded" in capsys.readouterr().out
    assert [name for name, _ in server.asked] == names[:2]
    assert datasets.mnist_available()


@pytest.mark.parametrize("length", [True, False])
def test_a_part_is_gone_on_from(tmp_path, mirrors, length):
    (tmp_path / f"{NAME}.part").write_bytes(FILE[:HALF])
    server = mirrors(length=length)
    download(tmp_path, server)
    assert server.asked == [(NAME, f"bytes={HALF}-")]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME).read_bytes() == FILE


def test_a_server_that_ignores_ranges_sends_everything(tmp_path, mirrors):
    (tmp_path / f"{NAME}.part").write_bytes(FILE[:HALF])
    server = mirrors(ranges=False)
    download(tmp_path, server)
    assert len(server.asked) == 1
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME).read_bytes() == FILE


@pytest.mark.parametrize("part", [b"x" * HALF, b"x" * len(FILE), FILE + b"x", FILE[:HALF] + b"x"])
def test_a_part_of_something_else_is_replaced(tmp_path, mirrors, part):
    (tmp_path / f"{NAME}.part").write_bytes(part)
    server = mirrors()
    download(tmp_path, server)
    assert server.asked == [(NAME, f"bytes={len(part)}-"), (NAME, None)]
    assert (tmp_path / NAME).read_bytes() == FILE


def test_a_part_that_is_complete_takes_its_name(tmp_path, mirrors):
    (tmp_path / f"{NAME}.part").write_bytes(FILE)
    download(tmp_path, mirrors())
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_connection_that_ends_early_leaves_a_part_for_the_next_mirror(tmp_path, mirrors):
    broken, whole = mirrors(sends=HALF), mirrors()
    with pytest.raises(ConnectionError, match=f"{NAME}.*127.0.0.1.*after {HALF} of {len(FILE)} bytes"):
        download(tmp_path, broken)
    assert [path.name for path in tmp_path.iterdir()] == [f"{NAME}.part"]
    assert (tmp_path / f"{NAME}.part").read_bytes() == FILE[:HALF]
    broken.sends = 10
    download(tmp_path, broken, whole)
    assert broken.asked[-1] == (NAME, f"bytes={HALF}-") and whole.asked == [(NAME, f"bytes={HALF + 10}-")]
    assert (tmp_path / NAME).read_bytes() == FILE


def test_a_mirror_that_falls_silent_is_left_with_what_it_sent(tmp_path, mirrors, monkeypatch):
    monkeypatch.setattr("shufflelib.datasets.fetch.TIMEOUT", 0.2)
    silent, whole = mirrors(sends=10, stalls=True), mirrors()
    with pytest.raises(ConnectionError, match="timed out"):
        download(tmp_path, silent)
    assert [path.name for path in tmp_path.iterdir()] == [f"{NAME}.part"]
    download(tmp_path, silent, whole)
    assert whole.asked == [(NAME, "bytes=20-")]
    assert (tmp_path / NAME).read_bytes() == FILE


def test_an_early_end_without_a_length_is_noticed(tmp_path, mirrors):
    with pytest.raises(ConnectionError, match="damaged gzip"):
        download(tmp_path, mirrors(sends=HALF, length=False))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", [b"<html>log in first</html>", b"", PACKED[f"{NAMES['test_images']}.gz"], FILE + b"garbage"]
)
def test_wrong_content_never_takes_the_name(tmp_path, mirrors, content):
    (tmp_path / NAME).write_bytes(b"old")
    wrong = mirrors({NAME: content})
    with pytest.raises(ConnectionError, match=NAME):
        download(tmp_path, wrong, wrong)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {NAME: b"old"}
    download(tmp_path, wrong, mirrors())
    assert (tmp_path / NAME).read_bytes() == FILE


@pytest.mark.parametrize("status", [403, 404, 416, 500])
def test_a_mirror_that_refuses_is_passed_over(tmp_path, mirrors, status):
    refusing = mirrors(status=status)
    with pytest.raises(ConnectionError, match=f"{NAME}.*Error {status}"):
        download(tmp_path, refusing)
    assert not list(tmp_path.iterdir())
    download(tmp_path, refusing, mirrors())
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_without_a_network_there_is_one_clear_line_and_nothing_else(folder, mirrors, monkeypatch, capsys):
    closed = mirrors()
    closed.shutdown()
    closed.server_close()
    monkeypatch.setattr(mnist_files, "MIRRORS", (closed.url, closed.url))
    folder.rmdir()
    assert command.main() == 1
    message = capsys.readouterr()
    assert message.out == "" and message.err.count("\n") == 1
    for words in (NAME, "127.0.0.1", "refused", "make data", "SHUFFLELIB_DATA"):
        assert words in message.err
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_written_is_one_clear_line(folder, mirrors, monkeypatch, capsys):
    monkeypatch.setattr(mnist_files, "MIRRORS", (mirrors().url,))
    folder.rmdir()
    folder.write_text("not a folder")
    assert command.main() == 1
    assert capsys.readouterr().err.count("\n") == 1
    folder.unlink()
    (folder / NAME).mkdir(parents=True)
    assert command.main() == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and "directory" in message and NAME in message


def test_a_folder_that_cannot_be_named_is_one_clear_line(monkeypatch, capsys):
    monkeypatch.setenv("SHUFFLELIB_DATA", "~no such user/data")
    assert command.main() == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_two_downloads_at_once_do_not_mix(tmp_path, mirrors):
    slow, whole = mirrors(sends=HALF, stalls=True), mirrors()
    with ThreadPoolExecutor() as pool:
        first = pool.submit(download, tmp_path, slow, whole)
        part = tmp_path / f"{NAME}.part"
        for _ in range(2000):
            if part.exists() and part.stat().st_size == HALF:
                break
            slow.released.wait(0.005)
        with pytest.raises(BlockingIOError, match=f"another process is downloading .*{NAME}"):
            download(tmp_path, whole)
        assert part.read_bytes() == FILE[:HALF] and not whole.asked
        slow.released.set()
        first.result(20)
    assert whole.asked == [(NAME, f"bytes={HALF}-")]
    assert [path.name for path in tmp_path.iterdir()] == [NAME] and (tmp_path / NAME).read_bytes() == FILE


@pytest.mark.parametrize("gone", [True, False])
def test_a_part_finished_before_it_is_locked_is_left_alone(tmp_path, mirrors, monkeypatch, gone):
    def late(file, _):
        (tmp_path / f"{NAME}.part").rename(tmp_path / NAME)
        if not gone:
            (tmp_path / f"{NAME}.part").write_bytes(b"of a third process")

    (tmp_path / f"{NAME}.part").write_bytes(FILE)
    monkeypatch.setattr("fcntl.flock", late)
    with pytest.raises(BlockingIOError, match="try again"):
        download(tmp_path, mirrors())
    assert (tmp_path / NAME).read_bytes() == FILE


def test_an_answer_without_end_is_left(tmp_path, mirrors, monkeypatch):
    monkeypatch.setattr("shufflelib.datasets.fetch.LARGEST", len(FILE))
    endless = mirrors({NAME: FILE + b"x" * 10**6}, length=False)
    with pytest.raises(ConnectionError, match=f"goes on after {len(FILE)} bytes"):
        download(tmp_path, endless)
    download(tmp_path, mirrors())
    assert (tmp_path / NAME).read_bytes() == FILE


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "download_mnist", interrupted)
    assert command.main() == 130
    assert capsys.readouterr().err == "interrupted: the next run goes on where this one stopped\n"


def test_a_download_killed_midway_leaves_only_its_part_and_is_gone_on_from(tmp_path, mirrors):
    large = np.random.default_rng(2).integers(0, 256, 10**6, dtype=np.uint8)
    file = mnist_files.IdxFile("large", large.shape, digest(idx(large)))
    content = gzip.compress(idx(large), 1)
    server = mirrors({"large": content}, sends=len(content) // 2, stalls=True)
    script = (
        "import sys; from pathlib import Path; from shufflelib.datasets.fetch import fetch\n"
        "fetch(Path(sys.argv[1]), [sys.argv[2]], check=print)"
    )
    part = tmp_path / "large.part"
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "large", server.url + "large"]
    ) as process:
        waiting = threading.Event()
        for _ in range(2000):
            if part.exists() and part.stat().st_size > 300_000:
                break
            waiting.wait(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["large.part"]
    held = part.stat().st_size
    assert 300_000 < held <= len(content) // 2
    assert part.read_bytes() == content[:held]
    server.sends, server.stalls = None, False
    fetch(tmp_path / "large", [server.url + "large"], check=file.read)
    assert server.asked[-1] == ("large", f"bytes={held}-")
    assert [path.name for path in tmp_path.iterdir()] == ["large"]
    assert (tmp_path / "large").read_bytes() == content
