"""Data: files that are not what they should be are refused by name, and a download is all or nothing."""

import gzip
import hashlib
import itertools
import os
import signal
import struct
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from shufflelib import datasets
from shufflelib.datasets import __main__ as command
from shufflelib.datasets import mnist_files
from shufflelib.datasets.fetch import fetch
from shufflelib.datasets.idx import read_idx

RNG = np.random.default_rng(1)
ARRAYS = {
    "train_images": RNG.integers(0, 256, (40, 5, 3), dtype=np.uint8),
    "train_labels": RNG.integers(0, 10, 40, dtype=np.uint8),
    "test_images": RNG.integers(0, 256, (7, 5, 3), dtype=np.uint8),
    "test_labels": RNG.integers(0, 10, 7, dtype=np.uint8),
}
ARRAYS["train_images"][0, 0] = 0, 128, 255
NAMES = {field: file.name for field, file in mnist_files.FILES.items()}


def idx(array, code=8):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape) + array.tobytes()


def digest(content):
    return hashlib.sha256(content).hexdigest()


CONTENT = {field: idx(array) for field, array in ARRAYS.items()}
PACKED = {f"{NAMES[field]}.gz": gzip.compress(content, mtime=0) for field, content in CONTENT.items()}
SMALL = {
    field: mnist_files.IdxFile(NAMES[field], array.shape, digest(CONTENT[field]))
    for field, array in ARRAYS.items()
}


# --- labelled images ---------------------------------------------------------------------------------


def test_the_bundled_digits_are_split_once_and_every_image_keeps_its_label():
    from sklearn.datasets import load_digits

    one, two, bundle = datasets.digits(), datasets.digits(), load_digits()
    assert (
        one.name == "digits" and one.train_images.shape == (1500, 64) and one.test_images.shape == (297, 64)
    )
    for field in ARRAYS:
        assert np.array_equal(getattr(one, field), getattr(two, field))
    images = np.concatenate([one.train_images, one.test_images])
    labels = np.concatenate([one.train_labels, one.test_labels])
    assert images.dtype == np.float32 and images.min() == 0 and images.max() == 1
    split = sorted(zip((16 * images).tolist(), labels.tolist(), strict=True))
    assert split == sorted(zip(bundle.data.tolist(), bundle.target.tolist(), strict=True))
    assert np.bincount(one.test_labels).tolist() == [27, 25, 35, 28, 38, 25, 30, 31, 23, 35]
    assert np.array_equal(datasets.digit_labels(), bundle.target)


def small(**changed):
    images, labels = np.full((3, 4), 0.5, np.float32), np.array([0, 9, 5])
    given = {"name": "three", "train_images": images, "train_labels": labels}
    return datasets.Digits(**{**given, "test_images": images[:2], "test_labels": labels[:2], **changed})


def test_a_data_set_cannot_be_changed_and_leaves_the_arrays_given_alone():
    images = np.zeros((3, 4), np.float32)
    data = small(train_images=images)
    with pytest.raises(ValueError, match="read-only"):
        data.train_images[0, 0] = 1
    with pytest.raises(AttributeError):
        data.train_images = images
    images[0, 0] = 0.25
    assert repr(data) == "Digits('three', 3 training and 2 test images of 4 pixels)"


ROWS = np.full((3, 4), 0.5, np.float32)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("name", "", TypeError),
        ("name", None, TypeError),
        ("train_images", [[0.5]], TypeError),
        ("train_images", ROWS.astype(float), TypeError),
        ("train_images", ROWS[0], ValueError),
        ("train_images", ROWS[:0], ValueError),
        ("train_images", ROWS[:2], ValueError),  # three labels
        ("train_images", ROWS[:, :2], ValueError),  # four pixels in the test images
        ("train_images", ROWS - 1, ValueError),
        ("train_images", ROWS + 1, ValueError),
        ("test_images", ROWS[:2] * np.float32(np.nan), ValueError),
        ("train_labels", [0, 1, 2], TypeError),
        ("train_labels", np.array([0.0, 1.0, 2.0]), TypeError),
        ("train_labels", np.array([True, False, True]), TypeError),
        ("train_labels", np.array([[0, 1, 2]]), ValueError),
        ("test_labels", np.array([0, 1, 2]), ValueError),
        ("test_labels", np.array([0, 10]), ValueError),
        ("test_labels", np.array([-1, 9]), ValueError),
    ],
)
def test_arrays_that_are_no_labelled_images_are_refused_by_name(field, value, error):
    with pytest.raises(error, match=field.replace("images", "(images|labels)")):
        small(**{field: value})


# --- IDX files ---------------------------------------------------------------------------------------

WHOLE = CONTENT["train_images"]
EXPECTED = {"shape": ARRAYS["train_images"].shape, "sha256": digest(WHOLE)}


@pytest.mark.parametrize("name", ["images", "images.gz"])
@pytest.mark.parametrize("content", [WHOLE, gzip.compress(WHOLE)], ids=["plain", "gzip"])
def test_idx_is_read_whatever_the_file_is_called(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    for path in (tmp_path / name, str(tmp_path / name)):
        found = read_idx(path, **EXPECTED)
        assert found.dtype == np.uint8 and np.array_equal(found, ARRAYS["train_images"])


def flipped(content, position):
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


ZIPPED = gzip.compress(WHOLE)
DAMAGED = {
    "empty": (b"", "not an IDX file"),
    "three bytes": (WHOLE[:3], "not an IDX file"),
    "text": (b"<!DOCTYPE html>", "not an IDX file"),
    "little-endian": (struct.pack("<I", 0x0803) + WHOLE[4:], "not an IDX file"),
    "type": (idx(ARRAYS["train_images"], code=13), "type 0x0d, expected 0x08"),
    "header": (WHOLE[:15], "within its header"),
    "labels": (CONTENT["train_labels"], r"shape \(40,\), expected \(40, 5, 3\)"),
    "test images": (CONTENT["test_images"], r"shape \(7, 5, 3\), expected \(40, 5, 3\)"),
    "transposed": (idx(ARRAYS["train_images"].transpose(0, 2, 1)), r"shape \(40, 3, 5\)"),
    "endless": (struct.pack(">I3I", 0x0803, *3 * (2**32 - 1,)), "shape"),
    "no dimensions": (struct.pack(">I", 0x0800), r"shape \(\)"),
    "one byte short": (WHOLE[:-1], "truncated: 599 of 600"),
    "one byte long": (WHOLE + b"\0", "goes on after its 600"),
    "a changed pixel": (flipped(WHOLE, -1 % len(WHOLE)), "SHA-256"),
    "gzip, cut in the header": (ZIPPED[:2], "damaged gzip"),
    "gzip, cut in the data": (ZIPPED[: len(ZIPPED) // 2], "damaged gzip"),
    "gzip, cut in the sum": (ZIPPED[:-5], "damaged gzip"),
    "gzip, a flipped bit": (flipped(ZIPPED, len(ZIPPED) // 2), "damaged gzip|SHA-256"),
    "gzip, wrong sum": (flipped(ZIPPED, len(ZIPPED) - 8), "damaged gzip"),
    "gzip, no deflate stream": (ZIPPED[:10] + b"\xff" * 20, "damaged gzip"),
    "gzip, wrong method": (ZIPPED[:2] + b"\7" + ZIPPED[3:], "damaged gzip"),
    "gzip, garbage behind": (ZIPPED + b"garbage", "damaged gzip"),
    "gzip, twice": (gzip.compress(ZIPPED), "not an IDX file"),
    "gzip, two members": (ZIPPED + ZIPPED, "goes on after"),
    "gzip of a truncated file": (gzip.compress(WHOLE[:-1]), "truncated"),
    "gzip of a changed file": (gzip.compress(flipped(WHOLE, 100)), "SHA-256"),
}


@pytest.mark.parametrize(("content", "complaint"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_refused_by_name(tmp_path, content, complaint):
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=complaint) as refusal:
        read_idx(path, **EXPECTED)
    assert str(path) in str(refusal.value)


def test_what_is_not_a_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, complaint in (("", "not a file"), ("pipe", "not a file"), ("loop", "cannot be read")):
        with pytest.raises(ValueError, match=complaint):
            read_idx(tmp_path / name, **EXPECTED)
    with pytest.raises(FileNotFoundError):
        read_idx(tmp_path / "absent", **EXPECTED)


def test_a_file_that_may_not_be_opened_is_refused_by_name(tmp_path, monkeypatch):
    def forbidden(path, mode):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "images").write_bytes(WHOLE)
    monkeypatch.setattr("builtins.open", forbidden)
    with pytest.raises(ValueError, match="images cannot be read: Permission denied"):
        read_idx(tmp_path / "images", **EXPECTED)


# --- MNIST -------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty ``mnist`` folder that the environment points to; the small files stand for MNIST."""
    monkeypatch.setattr(mnist_files, "FILES", SMALL)
    monkeypatch.setattr(command, "FILES", SMALL)
    monkeypatch.setattr(mnist_files, "MIRRORS", ())
    monkeypatch.setenv("SHUFFLELIB_DATA", str(tmp_path))
    (tmp_path / "mnist").mkdir()
    return tmp_path / "mnist"


@pytest.fixture
def stored(folder):
    """Return the folder with all four files in it."""
    for name, content in PACKED.items():
        (folder / name).write_bytes(content)
    return folder


def test_the_table_of_files_fits_the_data_set_and_every_mirror_is_encrypted():
    assert set(mnist_files.FILES) == set(datasets.Digits.__dataclass_fields__) - {"name"}
    assert len({file.sha256 for file in mnist_files.FILES.values()}) == 4
    assert all(len(bytes.fromhex(file.sha256)) == 32 for file in mnist_files.FILES.values())
    assert all(mirror.startswith("https://") and mirror.endswith("/") for mirror in mnist_files.MIRRORS)


def test_mnist_is_scaled_and_keeps_its_order(stored):
    assert datasets.mnist_available() is True
    data = datasets.mnist()
    assert data.name == "mnist"
    for part in ("train", "test"):
        images, labels = getattr(data, f"{part}_images"), getattr(data, f"{part}_labels")
        assert images.dtype == np.float32 and labels.dtype == np.int64
        assert np.array_equal(images, (ARRAYS[f"{part}_images"].reshape(-1, 15) / 255).astype(np.float32))
        assert np.array_equal(labels, ARRAYS[f"{part}_labels"])
    assert data.train_images[0, :3].tolist() == [0.0, float(np.float32(128 / 255)), 1.0]


def test_the_folder_is_the_argument_else_the_variable_else_data(stored, tmp_path, monkeypatch):
    monkeypatch.setenv("SHUFFLELIB_DATA", str(tmp_path / "elsewhere"))
    assert not datasets.mnist_available()
    assert datasets.mnist_available(tmp_path) and datasets.mnist(str(tmp_path)).name == "mnist"
    monkeypatch.chdir(tmp_path)
    for unset in (
        lambda: monkeypatch.setenv("SHUFFLELIB_DATA", ""),
        lambda: monkeypatch.delenv("SHUFFLELIB_DATA"),
    ):
        unset()
        with pytest.raises(FileNotFoundError, match=str(tmp_path / "data" / "mnist")):
            datasets.mnist()
    stored.rename(tmp_path / "kept")
    (tmp_path / "data").mkdir()
    (tmp_path / "kept").rename(tmp_path / "data" / "mnist")
    assert datasets.mnist().train_images.shape == (40, 15)
    for wrong in (3, b"data", ["data"], True):
        with pytest.raises(TypeError, match="folder must be a path.*SHUFFLELIB_DATA"):
            datasets.mnist(wrong)


@pytest.mark.parametrize("field", ARRAYS)
def test_a_missing_file_is_named_and_makes_mnist_unavailable(stored, field):
    (stored / f"{NAMES[field]}.gz").unlink()
    assert datasets.mnist_available() is False
    with pytest.raises(FileNotFoundError, match=rf"{NAMES[field]}.gz.*make data.*SHUFFLELIB_DATA"):
        datasets.mnist()


def test_a_file_where_the_folder_should_be_is_no_data(folder):
    folder.rmdir()
    folder.write_text("not a folder")
    assert datasets.mnist_available() is False
    with pytest.raises(FileNotFoundError, match="make data"):
        datasets.mnist()


@pytest.mark.parametrize("field", ARRAYS)
def test_a_damaged_file_is_not_taken_for_a_missing_one(stored, field):
    path = stored / f"{NAMES[field]}.gz"
    path.write_bytes(path.read_bytes()[:-9])
    other = next(name for name in PACKED if name != path.name)
    for absent in (None, other):
        if absent:
            (stored / absent).unlink()
        with pytest.raises(ValueError, match=rf"{path} is a damaged gzip file.*make data.*SHUFFLELIB_DATA"):
            datasets.mnist_available()
    (stored / other).write_bytes(PACKED[other])
    with pytest.raises(ValueError, match=str(path)):
        datasets.mnist()


@pytest.mark.parametrize("pair", list(itertools.combinations(PACKED, 2)), ids="-".join)
def test_swapped_files_are_refused(stored, pair):
    one, two = pair
    (stored / one).write_bytes(PACKED[two])
    (stored / two).write_bytes(PACKED[one])
    for question in (datasets.mnist, datasets.mnist_available):
        with pytest.raises(ValueError, match=f"({one}|{two}).*another file under this name"):
            question()


def test_swapped_files_of_one_shape_are_told_apart_by_their_sums(stored, monkeypatch):
    alike = ARRAYS["train_labels"][::-1]
    file = mnist_files.IdxFile(NAMES["test_labels"], alike.shape, digest(idx(alike)))
    monkeypatch.setitem(mnist_files.FILES, "test_labels", file)
    (stored / f"{file.name}.gz").write_bytes(PACKED[f"{NAMES['train_labels']}.gz"])
    with pytest.raises(ValueError, match=f"{file.name}.gz is not the original"):
        datasets.mnist_available()


def test_of_two_files_the_compressed_one_is_read(stored):
    for field, content in CONTENT.items():
        (stored / NAMES[field]).write_bytes(b"damaged")
        assert datasets.mnist_available()
        (stored / NAMES[field]).write_bytes(content)
        (stored / f"{NAMES[field]}.gz").unlink()
    assert np.array_equal(datasets.mnist().train_labels, ARRAYS["train_labels"])


# --- downloading -------------------------------------------------------------------------------------


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
    with pytest.raises(ConnectionError, match=NAME):
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
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    for words in (NAME, "127.0.0.1", "refused", "make data", "SHUFFLELIB_DATA"):
        assert words in said.err
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_one_clear_line(folder, mirrors, monkeypatch, capsys):
    monkeypatch.setattr(mnist_files, "MIRRORS", (mirrors().url,))
    folder.rmdir()
    folder.write_text("not a folder")
    assert command.main() == 1
    assert capsys.readouterr().err.count("\n") == 1
    folder.unlink()
    (folder / NAME).mkdir(parents=True)
    assert command.main() == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "directory" in said and NAME in said


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


def test_the_notebook_extra_is_loaded_only_when_used():
    script = "import sys, shufflelib.datasets; print(*{'sklearn', 'tqdm', 'matplotlib'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "\n"
