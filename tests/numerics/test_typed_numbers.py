"""Numbers as people type them: one table of cases for the package and for the planner's JavaScript."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import get_type_hints

import pytest

from shufflelib.__main__ import main
from shufflelib.numerics.typed_numbers import SHARES, WHOLE, kind_of, typed
from shufflelib.randomizers.by_name import constructors, parameters
from shufflelib.sweeps import table

TESTS = Path(__file__).resolve().parents[1]
CASES = json.loads((TESTS / "typed_numbers.json").read_text(encoding="utf-8"))
KINDS = ("count", "share", "number")
EACH = pytest.mark.parametrize(
    ("text", "kind", "value"), [(c["text"], k, c[k]) for c in CASES for k in KINDS]
)


@EACH
def test_a_number_is_read_as_it_was_meant_or_refused(text, kind, value):
    if value is None:
        with pytest.raises(ValueError, match=r"^must be a .*, got "):
            typed(text, kind)
    else:
        found = typed(text, kind)
        assert found == value and isinstance(found, int) == (value == int(value))


def planner(code):
    """Return what JavaScript finds beside the planner's reader and its fields, as JSON: NaN becomes null."""
    node = shutil.which("node") or pytest.skip("no node here: apt-get install nodejs")
    lookup, page = (
        (TESTS.parent / "book/planner" / name).read_text(encoding="utf-8")
        for name in ("lookup.js", "page.js")
    )
    code = f"{lookup}\n{page.partition('let ready')[0]}\nconsole.log(JSON.stringify({code}));"
    return json.loads(subprocess.check_output([node, "-"], input=code, text=True, encoding="utf-8"))


def test_the_planner_reads_what_the_package_reads():
    code = f"{json.dumps(CASES)}.map((one) => {json.dumps(KINDS)}.map((kind) => typed(one.text, kind)))"
    assert planner(code) == [[one[kind] for kind in KINDS] for one in CASES]


def test_the_planner_refuses_parts_of_what_is_counted():
    """It made 1000 users of 1000.7."""
    usual = {"task": "histogram", "n": "1,000", "d": "10", "rounds": "1", "eps": "0.5", "delta": "1e-6"}
    texts = {"30.7": None, "30.000": None, "0,5": None, "30 %": None, "3e1": 30, "0.03k": 30, " 30 ": 30}
    typed_in = [(name, text) for name in ("n", "d", "rounds") for text in texts]
    code = f"""{json.dumps([usual | {name: text} for name, text in typed_in])}.map((texts) => {{
        globalThis.TABLE = {{users: [10, 1e8]}};
        globalThis.document = {{getElementsByName: (name) => [{{value: texts[name], setAttribute() {{}}}}]}};
        return planAsked();
    }})"""
    for (name, text), found in zip(typed_in, planner(code), strict=True):
        if texts[text] is None:
            assert "must be a whole number between" in found["wrong"]
        else:
            assert found[name] == texts[text] and found["wrong"] == ""


COMMANDS = {
    "count": ["error", "--randomizer", "generalized_rr", "--d", "3", "--eps0", "1", "--json", "--n"],
    "share": ["epsilon", "--randomizer", "generalized_rr", "--d", "3", "--eps0", "1", "--n", "1", "--delta"],
    "number": ["error", "--randomizer", "generalized_rr", "--d", "3", "--n", "9", "--json", "--eps0"],
}


@EACH
def test_the_command_line_reads_the_same(text, kind, value, capsys):
    *options, last = COMMANDS[kind]
    status = main([*options, f"{last}={text}"])
    out, err = capsys.readouterr()
    if value is None:
        assert status == 2 and f"argument {last}: must be a " in err
    elif status == 2:
        assert f"{last[2:]} must be finite and" in err
    elif kind != "share":
        assert json.loads(out)[last[2:]] == value


def test_counts_are_the_parameters_that_are_whole():
    found = {}
    for build in constructors().values():
        hints = get_type_hints(build)
        found |= {name: hints[name] for name in parameters(build) if name in hints}
    assert all((kind is int) == (name in WHOLE) for name, kind in found.items())
    assert {kind_of(name) for name in SHARES} == {"share"} and table.WHOLE is WHOLE
