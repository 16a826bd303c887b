"""The page: one door at a time, its HTML, and what a browser is told about a setting."""

import dataclasses
import html
import json

from shufflelib.explorer import text
from shufflelib.explorer.controls import CONTROLS
from shufflelib.explorer.doors import DOORS
from shufflelib.explorer.mechanisms import skipped_lines
from shufflelib.explorer.questions import Known
from shufflelib.explorer.setting import Setting
from shufflelib.explorer.templates import fill

PICTURES = {part.name: part.picture for door in DOORS.values() for part in door.parts if part.picture}
DOOR = '<a href="/{0.name}" data-door="{0.name}"{1}>{0.label}</a>'
PART = """<section class="part" id="part-{name}">{heading}{controls}
<div class="words" {live}></div>{figure}</section>"""
RARELY = '<details class="rarely" data-usual="{usual}"><summary>More controls</summary>{controls}</details>'
FOLDED = '<details class="part" id="part-{name}"><summary>{title}</summary>{inside}</details>'
WAITING = '<p>This may take minutes. <button type="button" class="ask">Compute</button></p>'


def shell(name):
    """Return the HTML of a door, in which a browser then shows a setting."""
    door = DOORS[name]
    doors = "".join(DOOR.format(one, ' aria-current="page"' if one is door else "") for one in DOORS.values())
    rarely = "".join(CONTROLS[one].html() for one in door.more)
    usual = html.escape(json.dumps({one: str(getattr(Setting(), one)) for one in door.more}))
    more = RARELY.format(usual=usual, controls=rarely) if rarely else ""
    return fill(
        "page.html",
        door=door.name,
        label=door.label,
        lead=html.escape(door.lead),
        doors=doors,
        controls="".join(CONTROLS[one].html() for one in door.controls) + more,
        parts="".join(_part(part, first=part is door.parts[0]) for part in door.parts),
    )


def _part(part, *, first):
    controls = "".join(CONTROLS[one].html() for one in part.controls)
    figure = fill("figure.html", name=part.name, caption=part.caption) if part.picture else ""
    heading = f"<h2>{html.escape(part.title)}</h2>" if part.title and not part.folded else ""
    live = 'aria-live="polite"' if first else ""
    if not part.folded:
        return PART.format(name=part.name, heading=heading, controls=controls, live=live, figure=figure)
    inside = f'{controls}<div class="words"></div>{figure}'
    return FOLDED.format(name=part.name, title=html.escape(part.title), inside=inside)


def setting_of(asked):
    """Return the setting of a request: a link's query, or the texts of all controls."""
    return (
        Setting.from_query(asked["query"])
        if "query" in asked
        else Setting.from_texts(asked["values"].items())
    )


def view(asked, setting, get):
    """Return what a browser shows of a setting, as JSON can hold it, and its questions with their answers.

    The request names a door, the folded parts that are open, and whether slow answers are wanted.  ``get``
    returns the answer of a question, or None while there is none.
    """
    door, opened, slow = DOORS[asked["door"]], asked.get("opened", ()), bool(asked.get("slow"))
    words, pictures, numbers, curves = {}, {}, {}, {}
    for part in door.parts:
        if part.folded and part.name not in opened:
            continue
        known, drawn = Known(get, slow=slow), Known(get, slow=slow)
        words[part.name] = part.words(setting, known)
        if part.picture:
            applies = part.picture.applies(setting)
            pictures[part.name] = _picture(part.picture, setting, drawn) if applies else None
        words[part.name] += WAITING * (known.held or drawn.held)
        numbers |= known.asked
        curves |= drawn.asked
    values = dataclasses.asdict(setting)
    skipped = skipped_lines(asked.get("values", {}).get("matrix", setting.matrix))
    shown = {
        "query": setting.query,
        "skipped": f"; skipped {skipped}" if skipped else "",
        "controls": {name: one.state(values[name]) for name, one in CONTROLS.items() if name in values},
        "values": {name: f"{value}" for name, value in values.items()},
        "visible": door.shown(setting),
        "parts": words,
        "pictures": pictures,
    }
    return shown, numbers | curves


def _picture(picture, setting, known):
    for ask, there in picture.questions(setting):
        known(ask, there)
    found = sum(answer is not None for answer in known.asked.values())
    progress = f"curves: {found} of {len(known.asked)}" if found < len(known.asked) else ""
    alt, values = picture.finding(setting, known), picture.values(setting, known)
    return {"version": f"{found}", "progress": progress, "alt": alt, "values": values}


def table(rows):
    """Return rows as an HTML table, so that a picture's numbers can be read."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = ([html.escape(_cell(row.get(one, ""))) for one in columns] for row in rows)
    return text.table([html.escape(str(one)) for one in columns], cells)


def _cell(value):
    return text.number(value) if isinstance(value, float) else str(value)
