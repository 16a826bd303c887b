#!/bin/sh
# papermill 2.7.0: the same parameters arrive as other types from a file than from the command line.
#
# Guess: `-p delta 1e-6 -p n 1e6 -p private no` and a file with `delta: 1e-6`, `n: 1e6`, `private: no` set the same.
# Seen: from the file δ and n are text ('1e-6', since this YAML wants a point before the exponent) and `no` is
# False; from the command line δ and n are numbers and `no` is text, which counts as true.  Neither way gives three
# right values, and nothing is said: the notebook's default is a float, and text is injected below it.
# Effect: a notebook that prints δ, names a figure by it or looks it up in a table goes on with the text; `2 * delta`
# is '1e-61e-6'; and a switch that was turned off on the command line is on.
#
# Output seen:
#   from a file:           str '1e-6', str '1e6', bool False
#   from the command line: float 1e-06, float 1000000.0, str 'no'
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq papermill==2.7.0 ipykernel==6.30.1
export JUPYTER_PATH="$folder/venv/share/jupyter"
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from nbformat import v4, write

cells = [
    v4.new_code_cell("delta, n, private = 1e-5, 1000, True", metadata={"tags": ["parameters"]}),
    v4.new_code_cell("print(*(f'{type(x).__name__} {x!r}' for x in (delta, n, private)), sep=', ')"),
]
kernel = {"name": "python3", "display_name": "Python", "language": "python"}
write(v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), "asked.ipynb")
PYTHON
printf 'delta: 1e-6\nn: 1e6\nprivate: no\n' >asked.yaml
venv/bin/papermill asked.ipynb file.ipynb -f asked.yaml --no-progress-bar >log 2>&1
venv/bin/papermill asked.ipynb line.ipynb -p delta 1e-6 -p n 1e6 -p private no --no-progress-bar >log 2>&1
"$folder/venv/bin/python" - <<'PYTHON'
from nbformat import read

said = {name: read(f"{name}.ipynb", 4).cells[-1].outputs[0].text.strip() for name in ("file", "line")}
print("from a file:          ", said["file"])
print("from the command line:", said["line"])
assert said["file"] == "str '1e-6', str '1e6', bool False", "the file means numbers now"
assert said["line"] == "float 1e-06, float 1000000.0, str 'no'", "the command line means a switch now"
PYTHON
