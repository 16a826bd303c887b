"""Tables of probabilities as people write them: every line is used, named as skipped, or refused."""

import io
import itertools
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.__main__ import main
from shufflelib.randomizers.written_tables import read_file, read_table

TWO = "0.5,0.25,0.25\n0.25,0.5,0.25"
FIRST = {  # first lines above TWO, and what they say
    "90%,5%,5%": [0.9, 0.05, 0.05],
    "90 %, 5 %, 5 %": [0.9, 0.05, 0.05],
    "90 % 5 % 5 %": [0.9, 0.05, 0.05],
    '"0.98","0.01","0.01"': [0.98, 0.01, 0.01],
    "'0.98', '0.01', '0.01'": [0.98, 0.01, 0.01],
    "1/3,1/3,1/3": [1 / 3, 1 / 3, 1 / 3],
    "1/2; 1/4; 1/4": [0.5, 0.25, 0.25],
    "5e-1\t.25\t0.25": [0.5, 0.25, 0.25],
    "+0.5 -0.0 0.5": [0.5, 0.0, 0.5],
}


@pytest.mark.parametrize("line", FIRST)
def test_a_first_line_of_numbers_is_a_row(line):
    assert read_table(f"{line}\n{TWO}") == ([FIRST[line], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], "")


REFUSED = [
    "O.9,O.05,O.05", "90pct,5,5", "option 1,option 2,option 3", "p(y=1),b,c", "0,9;0,05;0,05",
    "0,5 0,25 0,25", "a/b,c,d", "%,b,c", "½,¼,¼", "nan,0,1", "nan,nan,nan", "None,None,None", ",,",
    "0.5,0.25,0.25,", "45,30,25", "50,25,25", "0.5 0.25,0.25", "０.５,0.25,0.25", "0.5,0.25",
    "array([[0.5, 0.25, 0.25]])", "-0.5,0.75,0.75", "[0.5,0.25,0.25]", "[[0.5,0.25,0.25],",
    '"0,5";"0,25";"0,25"', "1/0,0,0",
]  # fmt: skip


@pytest.mark.parametrize("line", REFUSED)
def test_a_first_line_with_anything_like_a_number_is_no_title(line):
    with pytest.raises(ValueError, match=r"^row \d |list of rows"):
        read_table(f"{line}\n{TWO}")


def test_every_line_is_used_or_named_or_refused():
    """All short texts of some kinds of lines: what is not a row is named."""
    kinds = {
        "yes,no": None,
        "# 0.9,0.1": None,
        "": None,
        "75%,25%": [0.75, 0.25],
        "0.5,0.5": [0.5, 0.5],
        "x,1": 0,
    }
    for lines in itertools.product(kinds, repeat=4):
        try:
            rows, skipped = read_table("\n".join(lines))
        except ValueError as wrong:
            assert "row " in str(wrong) or "empty" in str(wrong)
            continue
        assert rows == [kinds[line] for line in lines if kinds[line]]
        for place, line in enumerate(lines, 1):
            assert (f"line {place}: {line!r}" in skipped) == (kinds[line] is None and line != "")


def test_a_refusal_names_the_row_and_its_line_in_the_file():
    for text, words in (
        ("# made by hand\n\nyes,no\n0.5,0.5\n\n0.5,0.6", "row 2 (line 6) sums to 1.1"),
        ("\r\n0.5,0.5\r\n0.5,x", "row 2 (line 3) must hold numbers, got 'x'"),
        ("[[0.5, 0.5],\n [0.5,\n  0.6]]", "row 2 sums to 1.1"),
        ("\n[[0.5, 0.5],\n\n [0.5,\n  0.6]]", "row 2 (line 4) sums to 1.1"),
        (
            "0.5,0.5\n45,55",
            "row 2 holds 45; probabilities lie between 0 and 1; counts of reports only estimate them",
        ),
        ("0.5,0.5\n0,5;0,5", "row 2 must hold numbers, got '0,5'; write decimals with a point"),
        ("option 1,option 2\n0.5,0.5", "got 'option 1'; put # before it if it is a title"),
        (
            "report,a,b\nyes,0.7,0.3",
            "row 1 (line 2) must hold numbers, got 'yes'; leave it out if it names the row",
        ),
        (
            "0.7,0.1\n0.3,0.9",
            "row 1 sums to 0.8; the probabilities of a row must sum to 1; every column does: transpose",
        ),
        ("0.7,0.1\n0.3,0.8", "row 1 sums to 0.8; the probabilities of a row must sum to 1"),
        (
            "yes,no",
            "the text is empty; give one row of probabilities for each value; skipped line 1: 'yes,no'",
        ),
    ):
        with pytest.raises(ValueError) as wrong:
            read_table(text)
        assert words in str(wrong.value)


@pytest.mark.parametrize(
    "text",
    [
        "[[0.75, 0.25], [0.25, 0.75]]",
        "[[0.75, 0.25],\n [0.25, 0.75],\n]\n",
        "[[0.75 0.25]\n [0.25 0.75]]",
        "\ufeff [ [75%, 1/4] , [.25, 3/4] ]",
    ],
)
def test_a_pasted_list_is_read(text):
    assert read_table(text) == ([[0.75, 0.25], [0.25, 0.75]], "")


def test_a_long_bad_list_is_refused_at_once():
    with pytest.raises(ValueError, match="list of rows"):
        read_table("[" + "[0.5, 0.5]   " * 2000 + "x")


ROWS = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]


def npz(**arrays):
    data = io.BytesIO()
    np.savez(data, **arrays)
    return data.getvalue()


def npy(array):
    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()


def test_arrays_in_files_are_read_as_text_is(tmp_path):
    path = tmp_path / "any name"
    for data in (npy(np.array(ROWS)), npz(table=ROWS), json.dumps(ROWS).encode()):
        path.write_bytes(data)
        assert read_file(path).rows == ROWS
    counts, wide = [[45, 55], [30, 70]], [[0.5, 0.6], [0.5, 0.5]]
    for rows, words in ((counts, "row 1 holds 45; probabilities"), (wide, "row 1 sums to 1.1; the probab")):
        text = "\n".join(",".join(map(str, row)) for row in rows)
        for data in (npy(rows), npz(a=rows), text.encode(), json.dumps(rows).encode()):
            path.write_bytes(data)
            with pytest.raises(ValueError, match=words):
                read_file(path)


def test_a_file_never_runs_code_and_says_what_would_be_read(tmp_path, capsys):
    class Trap:
        def __reduce__(self):
            return (print, ("run",))

    path = tmp_path / "table"
    for data, words in (
        (np.lib.format.magic(1, 0) + b"broken", "no array of numbers can be read"),
        (npy(np.array(ROWS))[:-8], "no array of numbers can be read"),
        (npy(np.array(ROWS) + 0j), "must hold a table of numbers"),
        (npy(np.array([0.5, 0.5])), "got shape (2,) of float64"),
        (npz(a=ROWS, b=ROWS), "must hold one array, got ['a', 'b']"),
        (b"PK\x03\x04 and more", "no array of numbers can be read"),
        ("0.5;0.5\n0.5;0.5".encode("utf-16"), "no text in UTF-8; save the table as CSV"),
        (b"\x89HDF\r\n", "no text in UTF-8"),
    ):
        path.write_bytes(data)
        with pytest.raises(ValueError) as wrong:
            read_file(path)
        assert words in str(wrong.value) and "\n" not in str(wrong.value)
    np.save(tmp_path / "trap.npy", np.array([[Trap(), Trap()]], object), allow_pickle=True)
    with pytest.raises(ValueError, match="no array of numbers can be read"):
        read_file(tmp_path / "trap.npy")
    assert "run" not in capsys.readouterr().out


def parquet_with(monkeypatch, version, **columns):
    """Put a stand-in for pyarrow in the place of it, which may not be here."""
    found = types.SimpleNamespace(
        column_names=list(columns), columns=[np.array(one) for one in columns.values()]
    )
    arrow, parquet = types.ModuleType("pyarrow"), types.ModuleType("pyarrow.parquet")
    arrow.__version__, arrow.parquet, parquet.read_table = version, parquet, lambda source: found
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)


def test_parquet_is_read_with_pyarrow_or_refused_with_a_remedy(tmp_path, monkeypatch):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1 and more PAR1")
    parquet_with(monkeypatch, "14.0.1", yes=[0.75, 0.25], no=[0.25, 0.75])
    assert read_file(path).rows == [[0.75, 0.25], [0.25, 0.75]]
    parquet_with(monkeypatch, "17.0.0", yes=[75, 25], no=[25, 75])
    with pytest.raises(ValueError, match="row 1 holds 75"):
        read_file(path)
    parquet_with(monkeypatch, "17.0.0", **{"90%": [0.75, 0.25], "10%": [0.25, 0.75]})
    with pytest.raises(ValueError, match="may be its first row"):
        read_file(path)
    parquet_with(monkeypatch, "14.0.0", yes=[0.75, 0.25], no=[0.25, 0.75])
    with pytest.raises(ImportError, match="14.0.1 or later"):
        read_file(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError, match="a parquet file needs it: pip install pyarrow; or save the table as CSV"
    ):
        read_file(path)


class Frame:
    """What a data frame is to NumPy; the columns have names."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype)


@pytest.mark.parametrize(
    "columns",
    [["0.5", "0.25", "0.25.1"], ["90%", "5%", "5%.1"], ["1/3", "1/3.1", "1/3.2"], ["O.9", "O.05", "O.05.1"],
     ["0", "1", "0.1"], [".5", ".25", "Unnamed: 2"], [" 5e-1", " 0.25", " 0.25.1"]],
)  # fmt: skip
def test_a_frame_that_took_its_first_row_for_names_is_refused(columns):
    with pytest.raises(ValueError, match=r"^matrix has columns named .*header=None"):
        randomizers.from_pmf(Frame(columns, ROWS))


def test_a_frame_with_names_is_its_table():
    for columns in (["yes", "no", "maybe"], [0, 1, 2], ["0", "1", "2"], ["option 1", "option 2", "option 3"]):
        assert randomizers.from_pmf(Frame(columns, ROWS)) == randomizers.from_pmf(ROWS)
    with pytest.raises(
        ValueError, match=r"^matrix must be .*got 30\.0; .*counts of reports only estimate them"
    ):
        randomizers.from_pmf(Frame(["yes", "no"], [[45, 55], [30, 70]]))
    with pytest.raises(ValueError, match=r"^matrix has columns named \['0', '1'\]"):
        randomizers.from_pmf(Frame(["0", "1"], [[0.5, 0.5], [0.25, 0.75]]))


def test_a_frame_of_pandas_behaves_alike():
    pandas = pytest.importorskip("pandas", reason="no pandas here")
    assert randomizers.from_pmf(pandas.DataFrame(ROWS)) == randomizers.from_pmf(ROWS)
    with pytest.raises(ValueError, match="may be its first row"):
        randomizers.from_pmf(pandas.read_csv(io.StringIO(f"90%,5%,5%\n{TWO}")))
    named = pandas.DataFrame(ROWS, index=[f"value {row}" for row in range(len(ROWS))])
    assert randomizers.from_pmf(named) == randomizers.from_pmf(ROWS)
    with pytest.raises(ValueError, match="text in its column 'index'; pass matrix.set_index"):
        randomizers.from_pmf(named.reset_index())


@pytest.mark.parametrize("given", ["p.csv", b"p.csv", Path("p.csv")], ids=repr)
def test_a_name_of_a_file_is_refused_with_what_reads_it(given):
    with pytest.raises(
        TypeError, match=r"^matrix must be a table of numbers, got .*p\.csv.*; read a file first: numpy\.load"
    ):
        randomizers.from_pmf(given)


# on the command line

QUESTION = ["--n", "45000", "--delta", "1e-8"]


@pytest.mark.parametrize("line", ["90%,5%,5%", '"0.98","0.01","0.01"', "1/3,1/3,1/3"])
def test_no_row_of_a_file_is_left_out_of_a_number(line, tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text(f"{line}\n{TWO}")
    truth = shuffle(
        randomizers.from_pmf([FIRST[line], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]), 45_000
    ).epsilon(1e-8)
    assert main(["epsilon", "--pmf", str(path), *QUESTION, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["lower"], found["upper"]) == (truth.lower, truth.upper) and "skipped" not in found


def test_what_is_skipped_is_printed(tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text(f"# by hand\nyes,no,maybe\n{TWO}")
    named = "line 1: '# by hand', line 2: 'yes,no,maybe'"
    assert main(["epsilon", "--pmf", str(path), *QUESTION]) == 0
    assert capsys.readouterr().out.endswith(f"\n{path}: skipped {named}\n")
    assert main(["epsilon", "--pmf", str(path), *QUESTION, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == named
    assert main(["epsilon", "--pmf", str(path), *QUESTION, "--csv"]) == 0
    assert named in capsys.readouterr().out.replace('""', '"')
