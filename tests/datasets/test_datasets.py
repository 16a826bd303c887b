"""Data: labelled images, and files that are not what they should be are refused by name."""

import gzip
import itertools
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

from shufflelib import datasets
from shufflelib.datasets import mnist_files
from shufflelib.datasets.idx import read_idx
from small_mnist import ARRAYS, CONTENT, NAMES, PACKED, digest, idx, stand_in, store

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
        ("name", "", ValueError),
        ("name", "../three", ValueError),
        ("name", "three\n", ValueError),
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


def test_what_is_no_path_is_refused_by_name():
    for wrong in (3, None, b"images", ["images"]):  # 3 could be an open file
        with pytest.raises(TypeError, match="path must be a path"):
            read_idx(wrong, **EXPECTED)


def test_little_of_a_file_that_unpacks_to_very_much_is_read(tmp_path, monkeypatch):
    read = []
    honest = gzip.GzipFile.read

    def counted(self, size=-1):
        read.append(size)
        return honest(self, size)

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    (tmp_path / "images").write_bytes(gzip.compress(WHOLE + bytes(10**7)))
    with pytest.raises(ValueError, match="goes on after"):
        read_idx(tmp_path / "images", **EXPECTED)
    assert min(read) > 0 and sum(read) <= len(WHOLE) + 1


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_arrays_without_dimensions_or_entries_are_read(tmp_path, shape):
    content = idx(np.zeros(shape, np.uint8))
    (tmp_path / "array").write_bytes(content)
    assert read_idx(tmp_path / "array", shape=shape, sha256=digest(content)).shape == shape


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
    return stand_in(tmp_path, monkeypatch)


@pytest.fixture
def stored(folder):
    """Return the folder with all four files in it."""
    store(folder)
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
    for wrong in (3, b"data", ["data"], True, "da\0ta", "~no such user/data"):
        with pytest.raises((TypeError, ValueError), match="folder must be a path.*SHUFFLELIB_DATA"):
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


def test_the_notebook_extra_is_loaded_only_when_used():
    script = "import sys, shufflelib.datasets; print(*{'sklearn', 'tqdm', 'matplotlib'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "\n"
