"""A table says the same as text, as HTML and as CSV."""

import csv
import io
import math

from shufflelib.numerics.tables import Table

ROWS = [{"name": "a<b", "eps": 0.12345678}, {"name": "other", "eps": None, "n": 1000}]


def test_a_table_is_a_sequence_of_rows():
    table = Table(ROWS)
    assert (len(table), table[0], table.columns) == (2, ROWS[0], ["name", "eps", "n"])


def test_text_and_html_show_every_cell_the_title_and_the_notes():
    table = Table(ROWS, title="a title", notes=("a note",))
    for text in (str(table), repr(table), table._repr_html_()):
        for word in ("a title", "a note", "name", "0.1235", "1,000", "other"):
            assert word in text
    assert "a<b" in str(table) and "a&lt;b" in table._repr_html_()


def test_columns_of_numbers_stand_right_and_others_left():
    rows = [{"name": "one", "eps": 0.5}, {"name": "another", "eps": 12}]
    assert str(Table(rows)) == "name     eps\none      0.5\nanother   12"


def test_csv_keeps_all_digits():
    read = list(csv.DictReader(io.StringIO(Table([{"x": math.pi}]).to_csv())))
    assert float(read[0]["x"]) == math.pi
