"""Write what says the same as pyproject.toml in other forms: CITATION.cff, codemeta.json, recipe.yaml.

    python tools/metadata.py

writes them anew, the address in two pages, and book/reference.md from the docstrings; the owner fills in the
address in pyproject.toml alone.
recipe.yaml is a conda recipe in the form of conda-forge: of the package's source beside it.
"""

import json
import re
import tomllib
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parent.parent
TITLE = "shufflelib: privacy amplification by shuffling, certified from both sides"
MESSAGE = (
    "If you use this software, please cite it together with the paper whose bound you used (references.bib)."
)


def project():
    """Return the project's table, and the date of its version in the changelog."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    dated = rf"## \[{re.escape(found['version'])}\] - (\S+)"
    return found, re.search(dated, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[1]


def citation(of, date):
    """Return CITATION.cff."""
    lines = [
        "cff-version: 1.2.0",
        f'message: "{MESSAGE}"',
        "type: software",
        f'title: "{TITLE}"',
        f"version: {of['version']}",
        f'date-released: "{date}"',
        f"license: {of['license']}",
        f'repository-code: "{of["urls"]["Repository"]}"',
        "authors:",
        *(f'  - name: "{one["name"]}"' for one in of["authors"]),
        "keywords:",
        *(f"  - {word}" for word in of["keywords"]),
    ]
    return "\n".join(lines) + "\n"


def codemeta(of, date):
    """Return codemeta.json, version 3."""
    found = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": of["name"],
        "description": of["description"],
        "version": of["version"],
        "dateModified": date,
        "license": f"https://spdx.org/licenses/{of['license']}",
        "codeRepository": of["urls"]["Repository"],
        "author": [{"@type": "Organization", "name": one["name"]} for one in of["authors"]],
        "keywords": of["keywords"],
        "programmingLanguage": {"@type": "ComputerLanguage", "name": "Python"},
        "runtimePlatform": f"Python {of['requires-python']}",
        "softwareRequirements": of["dependencies"],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def recipe(of, date):
    """Return recipe.yaml."""
    needs = [f"python {of['requires-python']}", *of["dependencies"]]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    host = [
        f"python {of['requires-python']}",
        "pip",
        *(one.replace("flit_core", "flit-core") for one in build),
    ]
    lines = [
        "package:",
        f"  name: {of['name']}",
        f"  version: {of['version']}",
        "source:",
        "  path: .",
        "build:",
        "  number: 0",
        "  noarch: python",
        "  script: python -m pip install . --no-deps --no-build-isolation",
        "  python:",
        "    entry_points:",
        *(f"      - {name} = {target}" for name, target in of["scripts"].items()),
        "requirements:",
        "  host:",
        *(f"    - {one}" for one in host),
        "  run:",
        *(f"    - {one}" for one in needs),
        "tests:",
        "  - python:",
        "      imports: [shufflelib]",
        "      pip_check: true",
        "  - script: [shufflelib epsilon --randomizer generalized-rr --eps0 1 --d 10 --n 1000 --delta 1e-6]",
        "about:",
        f'  summary: "{of["description"]}"',
        f"  license: {of['license']}",
        *(f"  license_file: {name}" for name in of["license-files"]),
        f"  repository: {of['urls']['Repository']}",
    ]
    return "\n".join(lines) + "\n"


def written():
    """Return the texts by the files that hold them."""
    of = project()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    beside = (ROOT / "book/beside_other_tools.md").read_text(encoding="utf-8")
    address = of[0]["urls"]["Repository"]
    return {
        "CITATION.cff": citation(*of),
        "codemeta.json": codemeta(*of),
        "recipe.yaml": recipe(*of),
        "README.md": re.sub(r"(?<=git clone )\S+", address, readme),
        "book/beside_other_tools.md": re.sub(r"https:\S+(?=/tree/main/findings)", address, beside),
    }


if __name__ == "__main__":
    for name, text in (written() | {"book/reference.md": reference.page()}).items():
        (ROOT / name).write_text(text, encoding="utf-8")
