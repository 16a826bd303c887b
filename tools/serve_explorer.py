"""Serve the explorer on this machine alone: the notebook's cells tagged ``app``, their source hidden.

    python tools/serve_explorer.py --no-browser --port=8866

Further arguments go to Voilà.  Nothing is fetched from another host: ``tools/voila`` holds a page template
without links to any.
"""

import os
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "notebooks/explorer.ipynb"


def page_only(notebook):
    """Return a notebook of the cells that make the page."""
    cells = [cell for cell in notebook.cells if "app" in cell.metadata.get("tags", [])]
    if not cells:
        raise ValueError("no cell is tagged 'app'")
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)


def main(options):
    """Write the page's notebook under build/ and become Voilà."""
    target = ROOT / "build/app/explorer.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(page_only(nbformat.read(NOTEBOOK, as_version=4)), target)
    os.environ["JUPYTER_PATH"] = str(ROOT / "tools")
    command = [sys.executable, "-m", "voila", str(target), "--Voila.ip=127.0.0.1", "--template=offline"]
    command += ["--strip_sources=True", "--show_tracebacks=False"]
    # A page that went away without a word, as on a lost connection, gives its processes back.
    command += ["--MappingKernelManager.cull_idle_timeout=120", "--MappingKernelManager.cull_interval=30"]
    # Another host's name for this address is refused, so that no page from there can reach this one.
    command.append("--Voila.tornado_settings={'allow_remote_access': False}")
    command += options
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main(sys.argv[1:])
