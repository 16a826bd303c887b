"""One source says what the package is: pyproject.toml; and what is built of it holds what users need."""

import email
import re
import tarfile
import zipfile
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


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        made = flit_core.buildapi.build_wheel(folder), flit_core.buildapi.build_sdist(folder)
    return [folder / name for name in made]


def test_wheel_and_source_hold_the_package_its_types_and_the_licence(built):
    wheel, source = built
    with zipfile.ZipFile(wheel) as held:
        names = set(held.namelist())
        stated = email.message_from_bytes(held.read(next(one for one in names if one.endswith("/METADATA"))))
    of, _ = metadata.project()
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "shufflelib").rglob("*.py")}
    assert modules | {"shufflelib/py.typed"} <= names
    assert not [one for one in names if not re.match(r"shufflelib(-[\d.]+\.dist-info)?/", one)]
    assert any(one.endswith("licenses/LICENSE") for one in names)
    assert stated["Version"] == of["version"] and stated["License-Expression"] == of["license"]
    with tarfile.open(source) as held:
        inside = {"/".join(one.split("/")[1:]) for one in held.getnames()}
    assert modules | {"LICENSE", "README.md", "pyproject.toml", "shufflelib/py.typed"} <= inside
