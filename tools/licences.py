"""List the licences of every locked package: ``python tools/licences.py >LICENSES-THIRD-PARTY.md``.

Each is the licence that the installed package states, under its SPDX identifier where it has one.
"""

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-book.lock")

# Packages of other systems or Python versions, and those whose metadata say too little or too much.
STATED = {
    "aiohappyeyeballs": "PSF-2.0",
    "aiohttp": "Apache-2.0 AND MIT",
    "aiosignal": "Apache-2.0",
    "appnope": "BSD-2-Clause",
    "colorama": "BSD-3-Clause",
    "docutils": "Public-Domain AND BSD-2-Clause",  # the GPL is that of an editor's mode, not installed
    "frozenlist": "Apache-2.0",
    "gdpnum": "MIT",  # in its LICENSE file alone
    "jupyterlab-pygments": "BSD-3-Clause",
    "multidict": "Apache-2.0",
    "propcache": "Apache-2.0",
    "prv-accountant": "MIT",  # in its LICENSE file alone
    "pywinpty": "MIT",
    "tinycss2": "BSD-3-Clause",
    "voila": "BSD-3-Clause",
    "webencodings": "BSD-3-Clause",
    "yarl": "Apache-2.0",
}
IDENTIFIERS = [
    (r"Mozilla Public License.*", "MPL-2.0"),
    (r"Apache.*", "Apache-2.0"),
    (r"BSD[ -]([23])-Clause.*", r"BSD-\1-Clause"),
    (r"BSD.*", "BSD"),
    (r"(MIT|ISC)\b.*", r"\1"),
    (r"PSF.*|Python Software Foundation.*", "PSF-2.0"),
]


def locked(lock):
    """Return the names of the packages that a lock pins, some to one version for each version of Python."""
    pins = re.findall(r"^([\w.-]+)==", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return list(dict.fromkeys(pins))


def licence(name):
    """Return the licence of a package, as an SPDX expression where possible; fail if it states none."""
    if name in STATED:
        return STATED[name]
    stated = metadata(name)
    if stated.get("License-Expression"):
        return stated["License-Expression"]
    classifiers = stated.get_all("Classifier") or []
    classes = [line.split("::")[-1].strip() for line in classifiers if line.startswith("License ::")]
    for text in [stated.get("License") or "", *classes]:
        if re.fullmatch(r"[\w.-]+( (AND|OR) [\w.-]+)+", text):
            return text
        for pattern, short in IDENTIFIERS:
            if re.fullmatch(pattern, text, flags=re.DOTALL):
                return re.sub(pattern, short, text, flags=re.DOTALL)
    raise ValueError(f"{name} does not name its licence; look it up and write it in STATED")


def table():
    """Return the list as Markdown."""
    rows = ["# Licences of the packages that the locks pin", "", "Written by `make licences`."]
    for lock in LOCKS:
        rows += ["", f"## `{lock}`", "", "| package | licence |", "| --- | --- |"]
        rows += [f"| {name} | {licence(name)} |" for name in sorted(locked(lock))]
    rows += ["", "## `book/planner`", "", "| package | licence |", "| --- | --- |", "| uPlot | MIT |"]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    try:
        print(table(), end="")
    except (ValueError, PackageNotFoundError) as wrong:
        raise SystemExit(f"error: {wrong}") from None
