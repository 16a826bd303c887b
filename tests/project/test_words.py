"""The words of the field, and none of those that only this project used."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORDS = {
    "distribution": r"laws?",
    "reference measure, blanket": (
        r"(the|a|an|its|this|common|published|exact|whose|without|'s) covers?(?= [^abt]|[.,;:)]|$)"
    ),
    "outside the support": r"exposed",
    "slot": r"seats?",
    "the user's, their own": r"(the|an) own",
    "a toy case": r"in small",
    "the figure shows": r"[Rr]ead(s|ing)? off",
    "reveals": r"g[ia]ves? (it |them |him |her |that |nothing |something |little )?away|giv(ing|en) away",
    "NaN": r"(is|are) no numbers?",
    "the numbers in the text": r"numbers said",
    "mixture": r"blends?",
}
SELF = Path(__file__).resolve()


def texts():
    """Yield every text that people read, the figures' data aside."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if path.suffix in {".py", ".md", ".ipynb"} and path != SELF and not name.startswith("figures/"):
            if path.exists():
                yield name, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("better", WORDS)
def test_words_are_those_of_the_field(better):
    pattern = re.compile(rf"(?<![\w-])({WORDS[better]})(?![\w-])", re.MULTILINE)
    found = [
        f"{name}:{text.count(chr(10), 0, hit.start()) + 1}: {hit.group()}"
        for name, text in texts()
        for hit in pattern.finditer(text)
    ]
    assert not found, f"say {better!r} instead of\n" + "\n".join(found)
