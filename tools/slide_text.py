"""Markdown and code of a lesson in pieces that fit a slide each."""

import re

OPTION = re.compile(r"(?:^> |[ ·]+)(?=(?:\*\*)?(?:[A-F]\.|\([a-f]\))(?:\*\*)? )", re.MULTILINE)
# A formula, a table and a list stay with what announces them, the rest of a sentence with its beginning.
BLOCK = re.compile(r"\n{2,}(?!\$\$|\||[-*>] |[a-z])")
FORMULA = re.compile(r"\$\$.*?\$\$", re.DOTALL)
UNSEEN = re.compile(r"\\[a-zA-Z]+|[{}$*^_]")  # markup that takes no room, or that of one letter
ROOM = 15  # lines of prose on a slide
REST = 4  # lines that are no slide of their own if they find room, set smaller, on the one before


def lines(block):
    """Return how many lines of prose a block of Markdown, or of code, takes on a slide."""
    rows = FORMULA.sub("§", block).splitlines()
    if block.startswith("```"):
        return 0.5 + 0.77 * sum(not row.startswith("```") for row in rows)
    sizes = {"|": 1.25, "§": 3}
    seen = [row for row in rows if not row.startswith("|-")]
    wide = [1 + len(UNSEEN.sub("", row.strip())) // 80 for row in seen]
    return 0.5 + sum(sizes.get(row.lstrip("> ")[:1], size) for row, size in zip(seen, wide, strict=True))


def blocks(text):
    """Return the blocks of Markdown, a sentence a line."""
    text = text.strip()
    return [re.sub(r"(?<=[.:!?])\n(?=\S)", "  \n", one) for one in BLOCK.split(text)] if text else []


def program(cell):
    """Return a cell's code and what it prints as one block."""
    said = "".join(one.text for one in cell.get("outputs", ()) if one.output_type == "stream").strip("\n")
    return f"```python\n{cell.source}\n```" + (f"\n\n```\n{said}\n```" if said else "")


def portions(parts):
    """Return blocks put together to pieces that fit a slide each."""
    found, used = [], []
    for part in parts:
        if not used or used[-1] + lines(part) > ROOM:
            found, used = [*found, ""], [*used, 0.0]
        found[-1] += f"{part}\n\n"
        used[-1] += lines(part)
    if len(used) > 1 and used[-1] <= REST and used[-2] + used[-1] <= ROOM + REST:
        found[-2:] = [found[-2] + found[-1]]
    return found


def marked(options, said):
    """Return the answers of a guess, the one that a sentence names with a tick; an order has none."""
    right = re.findall(r"\*\*([A-F])\*\*|\(([a-f])\)| ([A-F])\.", "" if "order" in said else said)
    for letter in map("".join, right):
        options = re.sub(rf"^(> (?:\*\*)?\(?{letter}[.)].*)$", r"\1 ✓", options, flags=re.MULTILINE)
    return options


def guess(text):
    """Return the guess with each of its answers in a line of its own."""
    return OPTION.sub(lambda found: ">\n> " if found[0].startswith(">") else "\n>\n> ", text)
