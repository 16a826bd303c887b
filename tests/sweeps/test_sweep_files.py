"""Sweeps from file to file: tables beside the grid, and what a table says of where it is from."""

import io
import json
import os
from importlib.metadata import version

import pandas as pd
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.sweeps import running
from shufflelib.sweeps.spec import sweep_file

GRID = "{quantity: delta, randomizer: binary-rr, pmf: own.csv, eps0: 1, n: [10, 20], eps: 0.2, rate: 0.5}"


@pytest.fixture
def grid(tmp_path):
    (tmp_path / "own.csv").write_text("yes,no\n0.8, 0.2\n20 %, 80 %\n")
    path = tmp_path / "grid.yaml"
    path.write_text(GRID)
    return path


def written(grid, **how):
    with pytest.warns(UserWarning) as said:
        rows, _ = sweep_file(grid, n_jobs=1, **how)
    assert [str(one.message) for one in said] == [
        "own.csv: skipped line 1: 'yes,no'",
        "eps0 is left out for own.csv, which does not take it",
    ]
    return rows


def test_a_table_says_where_its_numbers_are_from(grid, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    rows = written(grid, rounds=2)
    table = pd.read_csv(grid.with_suffix(".csv"), comment="#")
    assert table["randomizer"].tolist() == 2 * ["binary_rr"] + 2 * ["own.csv"]
    own = shuffle(randomizers.from_pmf([[0.8, 0.2], [0.2, 0.8]]), 20).subsample(0.5).compose(2).delta(0.2)
    assert rows[3]["upper"] == own.upper <= table["upper"][3] == pytest.approx(own.upper, rel=1e-9)
    lines = grid.with_suffix(".csv").read_text().splitlines()
    about = dict(line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("# "))
    assert lines[len(about)].startswith("quantity,randomizer,eps0,n,eps,rate,rounds,lower,upper")
    assert about["shufflelib"] == f"{version('shufflelib')} ({running.environment()})"
    assert about["date"] == "2001-09-09" and len(about["content of own.csv"]) == 32
    assert json.loads(about["spec"])["rounds"] == 2 and json.loads(about["spec"])["n"] == [10, 20]
    assert about["lower"] == "certified: the true value is at least this" and "answer" not in about
    first = grid.with_suffix(".csv").read_bytes()
    written(grid, rounds=2, cache=grid.with_suffix(".other"))
    assert grid.with_suffix(".csv").read_bytes() == first


def test_a_parquet_file_needs_a_package_and_says_the_same(grid):
    output = grid.with_suffix(".parquet")
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        with pytest.warns(UserWarning), pytest.raises(ImportError) as raised:
            sweep_file(grid, output=output)
        assert str(raised.value).startswith("pyarrow is missing; a parquet file needs it: pip install pandas")
        assert sorted(os.listdir(grid.parent)) == ["grid.yaml", "own.csv"]
        return
    rows = written(grid, output=output)
    table = pd.read_parquet(output)
    assert table["upper"].tolist() == [row["upper"] for row in rows]
    written(grid)
    about = "".join(f"# {name}: {text}\n" for name, text in table.attrs.items())
    text = grid.with_suffix(".csv").read_text()
    assert text.startswith(about) and pd.read_csv(io.StringIO(text), comment="#").shape == table.shape
