"""One source says what the package is: pyproject.toml."""

import tarfile
from pathlib import Path

import flit_core.buildapi
import pytest
import yaml

import metadata

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", metadata.written())
def test_other_forms_say_what_pyproject_says(name):
    assert (ROOT / name).read_text(encoding="utf-8") == metadata.written()[name], "python tools/metadata.py"


def test_forms_can_be_read_and_readme_names_the_address():
    of, _ = metadata.project()
    for name in ("CITATION.cff", "recipe.yaml"):
        assert yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    assert f"git clone {of['urls']['Repository']} " in (ROOT / "README.md").read_text(encoding="utf-8")
    recipe = yaml.safe_load(metadata.recipe(of, ""))
    assert recipe["requirements"]["run"][1:] == of["dependencies"]


def test_the_source_distribution_holds_the_package_its_types_and_the_licence(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    source = tmp_path / flit_core.buildapi.build_sdist(tmp_path)
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "shufflelib").rglob("*.py")}
    with tarfile.open(source) as held:
        inside = {"/".join(one.split("/")[1:]) for one in held.getnames()}
    assert modules | {"LICENSE", "README.md", "pyproject.toml", "shufflelib/py.typed"} <= inside
