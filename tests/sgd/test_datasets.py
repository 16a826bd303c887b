"""Data: labelled images, and files that are not what they should be are refused by name."""

import gzip

import numpy as np
import pytest

from shufflelib.sgd import datasets
from small_mnist import ARRAYS, NAMES, PACKED, stand_in, store

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
        with pytest.raises((TypeError, ValueError), match="folder must be a path.*SHUFFLELIB_DATA"):
            datasets.mnist(wrong)


@pytest.mark.parametrize("field", ARRAYS)
def test_a_missing_file_is_named_and_makes_mnist_unavailable(stored, field):
    (stored / NAMES[field]).unlink()
    assert datasets.mnist_available() is False
    with pytest.raises(FileNotFoundError, match=rf"{NAMES[field]}.*make data.*SHUFFLELIB_DATA"):
        datasets.mnist()


@pytest.mark.parametrize(
    "change", [lambda content: content[:-9], lambda content: b"", lambda content: content + b"0"]
)
@pytest.mark.parametrize("field", ["train_images", "test_labels"])
def test_a_damaged_file_is_not_taken_for_a_missing_one(stored, field, change):
    path = stored / NAMES[field]
    path.write_bytes(change(path.read_bytes()))
    for question in (datasets.mnist, datasets.mnist_available):
        with pytest.raises(ValueError, match=rf"{path} is not the original.*make data.*SHUFFLELIB_DATA"):
            question()
    next(stored / name for name in PACKED if name != path.name).unlink()
    with pytest.raises(ValueError, match=str(path)):
        datasets.mnist_available()


def test_a_file_that_was_compressed_anew_is_the_original(stored):
    path = stored / NAMES["test_images"]
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), 1, mtime=7))
    assert datasets.mnist_available() and datasets.mnist().test_images.shape == (7, 15)
