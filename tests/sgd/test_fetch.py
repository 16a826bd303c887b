"""Downloading: only what is missing, checked before it takes its name, from the first mirror that answers."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from shufflelib.sgd import datasets
from shufflelib.sgd.datasets import __main__ as command
from shufflelib.sgd.datasets import mnist_files
from small_mnist import NAMES, PACKED, stand_in, store


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty ``mnist`` folder that the environment points to; the small files stand for MNIST."""
    return stand_in(tmp_path, monkeypatch)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *ignored):
        pass


@pytest.fixture
def mirror(tmp_path_factory, monkeypatch):
    """Serve a folder with all four files as the second of two mirrors; the first one does not answer."""
    monkeypatch.setenv("no_proxy", "*")
    served = tmp_path_factory.mktemp("mirror")
    store(served)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=served))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    there = f"http://127.0.0.1:{server.server_port}/"
    monkeypatch.setattr(mnist_files, "MIRRORS", (f"{there}nowhere/", there))
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


def test_all_of_mnist_is_downloaded_once(folder, mirror, capsys):
    folder.rmdir()
    assert command.main() == 0
    assert "all 4 files checked, 4 of them downloaded now" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == PACKED
    assert datasets.mnist().train_images.shape == (40, 15)
    assert datasets.download_mnist() == []


def test_only_what_is_missing_or_damaged_is_downloaded(folder, mirror):
    store(folder)
    one, two, *_ = PACKED
    (folder / one).unlink()
    (folder / two).write_bytes(b"damaged")
    assert datasets.download_mnist() == [one, two]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == PACKED


def test_wrong_content_never_takes_the_name(folder, mirror, capsys):
    name = NAMES["test_images"]
    (mirror / name).write_bytes(PACKED[name][:-1])
    assert command.main() == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"error: {name} could not be downloaded (127.0.0.1") and "make data" in error
    assert not (folder / name).exists()


def test_a_folder_that_cannot_be_written_is_one_clear_line(folder, mirror, capsys):
    folder.rmdir()
    folder.write_text("a file")
    assert command.main() == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"error: cannot write {folder}: ")


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "download_mnist", interrupt)
    assert command.main() == 130
    assert capsys.readouterr().err.count("\n") == 1
