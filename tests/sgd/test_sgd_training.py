"""Training: what is learnt, and that runs repeat, stop, go on and refuse foreign files."""

import io
import json
import os

import numpy as np
import pytest

from shufflelib import sgd
from shufflelib.sgd import Network, Training, datasets

NOISY = {"noise_multiplier": 1.0, "clip": 1.0, "blocks": 12, "block_size": 25}
KINDS = {
    "Algorithm 1": sgd.LaplaceBlocks(eps0=2.0, clip=10.0, blocks=12, block_size=25),
    "Algorithm 3": sgd.PersonalClients(eps=np.linspace(0.5, 2, 12), delta=1e-5, clip=2.0, client_size=25),
    "released code": sgd.BatchClippedBlocks(eps0=2.0, clip=10.0, blocks=12, block_size=25),
    "fixed blocks": sgd.GaussianBlocks(**NOISY),
    "allocated blocks": sgd.AllocatedBlocks(**NOISY),
    "no privacy": sgd.PlainBlocks(blocks=12, block_size=25),
}


@pytest.fixture(scope="module")
def digits():
    data = datasets.digits()
    axes = sgd.principal_components(data.train_images, components=20)
    return (axes.project(data.train_images), data.train_labels), (
        axes.project(data.test_images),
        data.test_labels,
    )


def training(digits, reports=KINDS["Algorithm 1"], **changes):
    (features, labels), test = digits
    settings = {"step_size": 0.1, "seed": 7, "watch": {"test": test}, **changes}
    network = settings.pop("network", Network((20, 6, 10)))
    return Training(reports, network, features[: reports.examples], labels[: reports.examples], **settings)


def same(one, other):
    return (
        np.array_equal(one.parameters, other.parameters)
        and np.array_equal(one.averaged, other.averaged)
        and one.epochs == other.epochs
        and np.array_equal(one.accuracies["test"], other.accuracies["test"])
        and json.dumps(one._state.generator) == json.dumps(other._state.generator)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_determines_every_bit_and_another_seed_does_not(digits, kind):
    one, other = (training(digits, KINDS[kind]).run(3) for _ in range(2))
    assert same(one, other) and one.epochs == 3 and one.accuracies["test"].shape == (3,)
    assert not same(one, training(digits, KINDS[kind], seed=8).run(3))
    assert same(one, training(digits, KINDS[kind]).run(1).run(3))


def test_steps_follow_the_update_rule(digits):
    (features, labels), _ = digits
    run = training(digits, sgd.BatchClippedBlocks(eps0=1.0, clip=1.0, blocks=12, block_size=25))
    rng = np.random.default_rng(7)
    network = run.network
    expected = network.initial(rng)
    assert np.array_equal(run.parameters, expected)
    for number in range(12):
        rows = slice(25 * number, 25 * (number + 1))
        gradients = network.gradients(expected, features[rows], labels[rows])
        expected = expected - np.float32(0.1) * run.reports.report(gradients, network, number, rng)
    assert np.array_equal(run.run(1).parameters, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("calls", [1, 12, 30])
def test_an_interrupted_run_goes_on_to_the_same_bits(digits, kind, calls, tmp_path, monkeypatch):
    whole = training(digits, KINDS[kind], averaged_steps=5).run(3)
    path = tmp_path / "run.npz"
    reports = KINDS[kind]
    counted = iter(range(calls))
    honest = type(reports).noise

    def noise(self, size, block, rng):
        drawn = honest(self, size, block, rng)  # the interruption comes in the middle of a step
        if next(counted, None) is None:
            raise KeyboardInterrupt
        return drawn

    interrupted = training(digits, reports, averaged_steps=5)
    with monkeypatch.context() as patch:
        patch.setattr(type(reports), "noise", noise)
        with pytest.raises(KeyboardInterrupt):
            interrupted.run(3, checkpoint=path)
    assert path.exists() == (calls >= 12) and interrupted.epochs == calls // 12
    assert same(interrupted.run(3), whole)
    assert same(training(digits, reports, averaged_steps=5).run(3, checkpoint=path), whole)
    again = training(digits, reports, averaged_steps=5).run(3, checkpoint=path)
    assert same(again, whole) and os.listdir(tmp_path) == ["run.npz"]


def test_a_finished_run_can_be_prolonged_but_not_cut_short(digits, tmp_path):
    path = tmp_path / "run.npz"
    training(digits).run(2, checkpoint=path)
    assert same(training(digits).run(4, checkpoint=path), training(digits).run(4))
    with pytest.raises(ValueError, match="epochs"):
        training(digits).run(3, checkpoint=path)


def test_in_a_folder_each_run_has_a_file_of_its_own(digits, tmp_path):
    for seed in (7, 8):
        training(digits, seed=seed).run(1, checkpoint=tmp_path)
    assert len(os.listdir(tmp_path)) == 2
    again = training(digits, seed=8).run(2, checkpoint=tmp_path)
    assert same(again, training(digits, seed=8).run(2)) and len(os.listdir(tmp_path)) == 2


def test_the_checkpoint_of_another_run_is_refused(digits, tmp_path):
    path = tmp_path / "run.npz"
    training(digits).run(1, checkpoint=path)
    (features, labels), test = digits
    others = [
        training(digits, seed=8),
        training(digits, averaged_steps=2),
        training(digits, KINDS["released code"]),
        training(digits, sgd.LaplaceBlocks(eps0=2.0, clip=9.0, blocks=12, block_size=25)),
        training(digits, network=Network((20, 7, 10))),
        training(digits, watch={"test": (test[0][1:], test[1][1:])}),
        training(((features[1:], labels[1:]), test)),
    ]
    for run in others:
        with pytest.raises(ValueError, match="belongs to another run"):
            run.run(2, checkpoint=path)
        assert run.epochs == 0


def test_damaged_and_foreign_files_are_refused(digits, tmp_path):
    path = tmp_path / "run.npz"
    training(digits).run(1, checkpoint=path)
    good, array, objects = path.read_bytes(), io.BytesIO(), io.BytesIO()
    np.save(array, np.zeros(3))
    np.savez(objects, run=np.array([{}], dtype=object))
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    for content in (b"", b"checkpoint", array.getvalue(), objects.getvalue(), good[:-30], good[1:], flipped):
        path.write_bytes(content)
        run = training(digits)
        with pytest.raises(ValueError, match="checkpoint .* cannot be read"):
            run.run(2, checkpoint=path)
        assert run.epochs == 0


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"step_size": 0.0}, "step_size"),
        ({"seed": -1}, "seed"),
        ({"seed": None}, "seed"),
        ({"watch": {"test": 1}}, "watch"),
        ({"network": (20, 10)}, "network"),
        ({"network": Network((19, 10))}, "features"),
        ({"network": Network((20, 9))}, "labels"),
        ({"reports": sgd.PlainBlocks(blocks=13, block_size=25)}, "features"),
        ({"features": np.zeros((300, 20))}, "features"),
        ({"features": np.full((300, 20), np.nan, dtype=np.float32)}, "features"),
        ({"labels": np.zeros(299, dtype=int)}, "labels"),
        ({"labels": np.full(300, -1)}, "labels"),
    ],
)
def test_training_refuses_hostile_arguments(digits, change, word):
    (features, labels), _ = digits
    settings = {
        "reports": KINDS["Algorithm 1"],
        "network": Network((20, 10)),
        "features": features[:300],
        "labels": labels[:300],
        "step_size": 0.1,
        "seed": 1,
        **change,
    }
    with pytest.raises((TypeError, ValueError), match=word):
        Training(**settings)


def test_running_refuses_hostile_arguments(digits, tmp_path):
    run = training(digits)
    for epochs in (0, 1.5, "3"):
        with pytest.raises((TypeError, ValueError), match="epochs"):
            run.run(epochs)
    with pytest.raises(OSError, match="cannot write"):
        run.run(1, checkpoint=tmp_path / "no such folder" / "run.npz")
    with pytest.raises(TypeError):
        run.run(1, checkpoint=3)


def test_training_that_diverges_says_so_and_leaves_no_checkpoint(digits, tmp_path):
    run = training(digits, KINDS["no privacy"], step_size=1e30)
    with pytest.raises(FloatingPointError, match="step_size"):
        run.run(3, checkpoint=tmp_path / "run.npz")
    assert os.listdir(tmp_path) == []
