"""Recipes of the book's page on other tools print what their comments say, if the tool is installed."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "book/beside_other_tools.md").read_text(encoding="utf-8")
RECIPES = {
    title.partition(":")[0]: code
    for title, code in re.findall(
        r"^### (.*)\n(?:(?!###).*\n)*?```python\n((?:.*\n)*?)```$", PAGE, re.MULTILINE
    )
}


def test_there_is_one_for_each_tool_and_none_is_long():
    assert list(RECIPES) == ["dp-accounting", "riskcal", "gdpnum", "OpenDP", "jax-privacy", "Opacus"]
    assert all(len(code.split("\n")) <= 11 for code in RECIPES.values())


@pytest.mark.parametrize("tool", RECIPES)
def test_a_recipe_prints_what_it_says(tool, capsys):
    code = RECIPES[tool]
    for package in set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install {package}")
    exec(compile(code, f"recipe of {tool}", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"\)  # (.*)$", code, re.MULTILINE)
