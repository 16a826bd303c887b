"""Markdown and code of a lesson in pieces that fit a slide each."""

import re

import lesson_parts

OPTION = re.compile(r"(?:^> |[ ·]+)(?=(?:\*\*)?(?:[A-F]\.|\([a-f]\))(?:\*\*)? )", re.MULTILINE)
BLOCK = re.compile(r"\n{2,}(?!\$\$|\||[-*>] )")  # formula, table, list stay with what announces them
ROOM = 16  # lines of prose on a slide


def lines(block):
    """Return how many lines a block of Markdown takes on a slide."""
    rows = block.splitlines()
    return 0.5 + sum({"|": 1.4, "$": 3}.get(row[:1], 1 + len(row) // 80) for row in rows)


def portions(text):
    """Return text as pieces that fit a slide each, a sentence a line."""
    found, used = [], ROOM
    for block in BLOCK.split(text.strip()) if text.strip() else ():
        if used + lines(block) > ROOM:
            found, used = [*found, ""], 0
        found[-1] += re.sub(r"(?<=[.:!?])\n(?=\S)", "  \n", block) + "\n\n"
        used += lines(block)
    return found


def guess(text):
    """Return the guess with each of its answers in a line of its own."""
    return OPTION.sub(lambda found: ">\n> " if found[0].startswith(">") else "\n>\n> ", text)


def programs(cells):
    """Return the visible code that draws nothing, and what it prints, in pieces that fit a slide each."""
    found = [""]
    for cell in cells:
        if not lesson_parts.is_program(cell):
            continue
        piece = f"```python\n{cell.source}\n```\n\n"
        if said := "".join(one.text for one in cell.get("outputs", ()) if one.output_type == "stream"):
            piece += f"```\n{said}\n```\n\n"
        if found[-1].count("\n") + piece.count("\n") > 24:
            found.append("")
        found[-1] += piece
    return [text for text in found if text]
