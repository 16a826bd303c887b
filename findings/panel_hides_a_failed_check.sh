#!/bin/sh
# papermill 2.7.0 with ipywidgets 8.1.9: a check that fails inside a panel does not fail the run.
#
# Guess: a notebook whose cell raises ends papermill with an error, whichever output shows the traceback.
# Seen: an error in a function given to `interact`, or under `with Output():`, is put into the widget and goes no
# further: the cell ends well, the cells below run, papermill's status is 0, and the cell has no output of type
# error.  The same assertion in the cell itself gives status 1.
# Effect: a notebook of slider panels is run in CI for its checks, and every panel may be showing a traceback.
# To see it, read the outputs inside the saved widget state, as here, or call the function once outside the panel.
#
# Output seen:
#   in a cell: status 1; in interact: status 0, with Output: status 0; 2 errors in the saved widget state
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq papermill==2.7.0 ipywidgets==8.1.9 ipykernel==6.30.1
export JUPYTER_PATH="$folder/venv/share/jupyter"
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import subprocess

from nbformat import read, v4, write

CHECK = "def check(eps=1.0):\n    assert eps < 0.5, 'not private'\n"
WAYS = {
    "in a cell": "check()",
    "in interact": "import ipywidgets\nipywidgets.interact(check, eps=(0.0, 2.0));",
    "with Output": "import ipywidgets\nshown = ipywidgets.Output()\nwith shown:\n    check()",
}
kernel = {"name": "python3", "display_name": "Python", "language": "python"}
status, inside = {}, 0
for way, code in WAYS.items():
    write(v4.new_notebook(cells=[v4.new_code_cell(CHECK + code)], metadata={"kernelspec": kernel}), "asked.ipynb")
    asked = ["venv/bin/papermill", "asked.ipynb", "run.ipynb", "--no-progress-bar"]
    status[way] = subprocess.run(asked, capture_output=True).returncode
    run = read("run.ipynb", 4)
    if status[way] == 0:
        assert not any(output.output_type == "error" for output in run.cells[-1].outputs)
    for panel in run.metadata.get("widgets", {}).values():
        for model in panel["state"].values():
            inside += sum(one["output_type"] == "error" for one in model["state"].get("outputs", ()))
print(*(f"{way}: status {number}" for way, number in status.items()), sep="; ")
print(f"{inside} errors in the saved widget state")
assert status["in a cell"] == 1 and inside == 2
assert status["in interact"] == status["with Output"] == 0, "a panel's error ends the run now"
PYTHON
