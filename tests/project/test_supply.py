"""What comes from elsewhere: pinned packages and their licences, no code out of data."""

import re

import pytest

import licences
from test_build import ROOT

# the locks


@pytest.mark.parametrize("lock", licences.LOCKS)
def test_every_line_of_a_lock_is_a_pinned_version_with_its_hashes(lock):
    text = re.sub(r"^ *#.*\n", "", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    entry = r"[a-z0-9.-]+==[\w.+!]+( ; [^\n\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    left = re.sub(entry, "", text)
    assert left == "" and text != ""


@pytest.mark.parametrize("lock", licences.LOCKS)
def test_a_lock_names_no_host(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted-host|(^|\s)(-e|-i|-f|file:)\s", text)


# licences

PERMITTED = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU",
    "MPL-2.0", "PSF-2.0", "Public-Domain", "Zlib",
}  # fmt: skip
TESTS_ALONE = {"python-flint": {"LGPL-3.0-or-later"}}  # nothing that a user installs imports them


def listed():
    """Return package -> licence, as the committed list has them, one dictionary for each lock."""
    text = (ROOT / "LICENSES-THIRD-PARTY.md").read_text(encoding="utf-8")
    text = text.replace("| package | licence |\n", "")
    parts = re.split(r"^## `(.*)`$", text, flags=re.MULTILINE)[1:]
    rows = (re.findall(r"^\| (\w[\w.-]*) \| (.+) \|$", part, flags=re.MULTILINE) for part in parts[1::2])
    return dict(zip(parts[::2], map(dict, rows), strict=True))


def test_the_list_of_licences_names_every_locked_package():
    for lock in licences.LOCKS:
        assert list(listed()[lock]) == sorted(licences.locked(lock)), f"{lock}: run make licences"


def test_no_licence_is_of_an_unexpected_kind():
    for rows in listed().values():
        for name, words in rows.items():
            permitted = PERMITTED | TESTS_ALONE.get(name, set()) | {""}
            assert set(re.split(r" AND | OR |[()]", words)) <= permitted, name


# no code out of data; the linter bans the modules


def test_nothing_that_is_read_becomes_code():
    sources = [*(ROOT / "shufflelib").rglob("*.py"), *(ROOT / "tools").glob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert re.findall(r"(?<![.\w])(?:eval|exec|compile|__import__)\(|\bbuiltins\.", text) == []
    read = re.findall(r"\b(?:np|numpy)\.load\(.*", text)
    assert read and all("allow_pickle=False" in call for call in read)
