"""The pages of the book that are generated: bounds, figures, claims, and the names of the library."""

import csv
import importlib
import inspect
import itertools
import re
import types
from pathlib import Path

import nbformat

import draw_ideas
import shufflelib
from claims import ALL, items, named, works, years
from shufflelib.numerics.certified import written
from viz import at_least, at_most, ideas
from viz.wishes import wishes

PUNCTUATION = re.compile(r"([\\`*_{}\[\]<>#|$~^])")
ROW = re.compile(r"(?<!\\)\|")
NAME = re.compile(r"`shufflelib\.(?P<short>[\w.]+)`")
PATHS = re.compile(r"`(?:figures|notebooks)/([\w/]+)\.(\w+)`")
NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
BESIDES = (
    "numerics.certified",
    "published.closed_form",
    "published.comparison",
    "published.conversions",
    "published.joint_concavity",
    "published.personalized",
    "published.renyi",
    "shuffling.multi_message",
    "shuffling.personal",
)


def plain(text):
    """Return text as Markdown that shows exactly these characters."""
    return PUNCTUATION.sub(r"\\\1", text)


def heading(stem, titles):
    """Return the heading of what belongs to one notebook: its title, linked."""
    return f"## [{plain(titles[stem])}](notebooks/{stem}.ipynb)"


def title_of(path):
    """Return the title of a notebook: its first heading."""
    return nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")


def table_of_bounds(bounds):
    """Return the rows of the table in ``book/bounds.md``, each a mapping from column to Markdown."""
    lines = [line for line in bounds.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in ROW.split(line)[1:-1]] for line in lines]
    header, rows = table[0], table[2:]
    return [dict(zip(header, row, strict=True)) for row in rows]


def home_of(name):
    """Return the module in which a dotted public name is looked up, and fail if there is no such name."""
    first, *parts = name.split(".")
    thing = module = importlib.import_module(first)
    for part in parts:
        if thing is module and not hasattr(thing, part):
            importlib.import_module(f"{module.__name__}.{part}")
        thing = getattr(thing, part)
        module = thing if inspect.ismodule(thing) else module
    return module


def public_names(module):
    """Return what a module offers: its ``__all__``, else the functions and classes defined in it or below."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not isinstance(getattr(module, name), types.ModuleType)]
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and f"{thing.__module__}.".startswith(f"{module.__name__}.")
    ]


def public_modules(bounds):
    """Return the modules of the reference: those the package exports and those of the table of bounds."""
    names = [*shufflelib.__all__, *BESIDES, *NAME.findall(bounds)]
    homes = {home_of(f"shufflelib.{name}") for name in names} - {shufflelib}
    return sorted(homes, key=lambda module: module.__name__)


def bounds_page(bounds, titles):
    """Return the index of bounds, its table cut into chapters in the order of the notebooks."""
    rows = table_of_bounds(bounds)
    verdict = next(column for column in rows[0] if column.startswith("sound"))
    lines = [bounds.partition("\n|")[0]]

    def chapter_of(row):
        return PATHS.search(row["notebook"])[1]

    def shown(name, kind):
        return (
            f"[figure](#fig-{Path(name).name})"
            if kind == "png"
            else f"{{download}}`table <figures/{name}.{kind}>`"
        )

    for stem, group in itertools.groupby(sorted(rows, key=chapter_of), key=chapter_of):
        lines += [heading(stem, titles), ""]
        lines += ["{.words .bounds}", "| bound | sound, approximate or refuted | where |", "|---|---|---|"]
        for row in group:
            names = NAME.sub(r"{py:obj}`\1 <shufflelib.\1>`", row["function"])
            pictures = [shown(*found) for found in PATHS.findall(row["figure"])]
            what = f"**{row['bound']}** <br> {row['source and theorem']}"
            lines.append(f"| {what} | {row[verdict]} | {' <br> '.join([names, *pictures])} |")
        lines.append("")
    return "\n".join(lines)


def gallery_page(folders):
    """Return the pictures of ideas, then those of every notebook."""
    lines = ["# Gallery of figures and tables", ""]
    lines += ["Each picture links to the text that discusses it; its data are beside it as CSV.", ""]
    lines += pictures_of_ideas()
    for path, shown in folders.items():
        lines += pictures_of_a_notebook(path, shown)
    return "\n".join(lines)


def pictures_of_ideas():
    """Return the section of the gallery that shows each idea with its finding and the call that draws it."""
    lines = ["## Ideas", "", "`python tools/draw_ideas.py figures/ideas` draws them.", ""]
    lines += [":::::{container} gallery"]
    for name, arguments in draw_ideas.PICTURES.items():
        case, _ = arguments()
        finding = plain(wishes(getattr(ideas, f"draw_{name}")(**case)).headline)
        shown = f"figures/ideas/{name}.{'gif' if name in draw_ideas.ANIMATIONS else 'png'}"
        files = [f"{{download}}`{kind.upper()} <figures/ideas/{name}.{kind}>`" for kind in ("csv", "pdf")]
        lines += ["::::{container} picture", f"![{finding}]({shown})", ""]
        lines += [f"**{finding}** <br> {plain(case['setting'])}", ""]
        lines += [f"`viz.ideas.draw_{name}` · {' · '.join(files)}", "::::"]
    return [*lines, ":::::", ""]


def pictures_of_a_notebook(path, shown):
    """Return the section of the gallery with the figures of one notebook, each with its caption."""
    name = path.relative_to(NOTEBOOKS)
    folder = Path("figures") / name.parent
    lines = [f"## [{plain(title_of(path))}](notebooks/{name})", ""]
    lines += [f"`make build/full/{name}` draws them.", "", ":::::{container} gallery"]
    for figure in shown.values():
        place, finding = folder / figure["name"], plain(figure["finding"])
        files = [f"{{download}}`{kind.upper()} <{place}.{kind}>`" for kind in ("csv", "pdf")]
        lines += ["::::{container} picture", f"[![{finding}]({place}.png)](#fig-{figure['name']})", ""]
        lines += [f"**{finding}** <br> {plain(figure['caption'])} <br> {' · '.join(files)}", "::::"]
    return [*lines, ":::::", ""]


def pictures_of_claims(folders):
    """Return claim -> figure of its failure curve: the data of that figure mark where each claim fails."""
    found = {}
    for path, shown in folders.items():
        for name in shown:
            with (FIGURES / path.parent.relative_to(NOTEBOOKS) / f"{name}.csv").open(newline="") as file:
                rows = csv.DictReader(line for line in file if not line.startswith("#"))
                if {"claim", "fails", "quantity"} <= set(rows.fieldnames or ()):
                    found |= {row["claim"]: name for row in rows}
    return found


def by_item(work, ledger):
    """Return the claims of one work, each with its item, in the order of the paper; the rest at the end."""
    listed = [item for item in items.ALL if item.work == work]
    named = {name: item.name for item in listed for name in (*item.claims, *item.beside)}
    order = {name: place for place, name in enumerate(named)}
    found = sorted(ledger, key=lambda claim: order.get(claim.id, len(order)))
    return [(named.get(claim.id, ""), claim) for claim in found]


def ledger_page(head, ledger, pictures):
    """Return the first paragraphs of the page, every claim by work and item, then the rest of the page."""
    first, rest = head.split("\n## ", 1)
    lines = [first, "## Every claim", ""]
    by_source = {}
    for claim in ledger:
        by_source.setdefault(claim.id.split("-")[0], []).append(claim)
    for work, claims in by_source.items():
        source = works.cited(claims)
        lines += [f"### {plain(source)}", "", f"How it was read: {plain(works.how(claims[0]))}.", ""]
        lines += ["{.words .claims}", "| item | claim | verdict | a reading under which it is true |"]
        lines += ["|---|---|---|---|"]
        lines += [row_of_claim(item, claim, source, pictures) for item, claim in by_item(work, claims)]
        lines.append("")
    return "\n".join([*lines, f"## {rest}"])


def row_of_claim(item, claim, source, pictures):
    """Return one claim as a row of the table of its work."""
    place = claim.source.removeprefix(source).strip(" ,")
    item, place = (item, place) if item else (place, "")
    label = f" ({claim.label})" * bool(claim.label)
    shared = f" <br> *The error is that of* `{claim.repeats}`" * bool(claim.repeats)
    entry = f"`{claim.id}` <br> {plain(claim.statement)}"
    entry += f" <br> *{plain(place)}*" * bool(place and not item.startswith(place))
    entry += f" <br> search for “{plain(claim.place)}”" * bool(claim.place)
    where = f" <br> [picture](#fig-{pictures[claim.id]})" if claim.id in pictures else ""
    return f"| {plain(item)} | {entry} | {claim.verdict}{label}{where} | {plain(claim.reading)}{shared} |"


def years_page(head, rows, certified):
    """Return the page on the years since 2019; a line for each year replaces its second section."""
    first, _, rest = head.split("\n## ", 2)
    attained, proved = rounded(certified.lower, up=False), rounded(certified.upper)
    lines = [first, "## Year by year", "", f"An attack attains ε = {attained}; ε = {proved} is proved.", ""]
    lines += [
        "{.words .years}",
        "| year | best so far | new | verdict | in the ledger |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(row_of_year, years.best(rows)), "", f"## {rest}"])


def row_of_year(row):
    """Return one year as a row of the table."""
    new, verdict = "no bound for this question", ""
    if "bound" in row:
        claim, off = named(row["claim"]), row["above, %"]
        source = works.cited([claim])
        far = f"at most {at_most(off, 3)} % above" if off >= 0 else f"at least {at_least(-off, 1)} % below"
        title = works.LISTED[claim.id.split("-")[0]].title
        new = f"{plain(source)}, “{plain(title)}” <br> **{plain(row['bound'])}**: ε = {rounded(row['eps'])}, "
        new += f"{far} the attack's <br> *{plain(row['note'])}*"
        verdict = f"{claim.verdict} <br> `{claim.id}`"
    counted = ", ".join(
        f"{row[what]} {what.removesuffix('s' * (row[what] == 1))}" for what in ("works", "statements")
    )
    return f"| {row['year']} | {rounded(row['best so far'])} | {new} | {verdict} | {counted} |"


def rounded(eps, *, up=True):
    """Return ε with four digits, an upper bound rounded up."""
    return written(eps, up=up, digits=4)


def names_of(module, homes):
    """Return a table of the names of a module with their first lines, which Sphinx fills in."""
    names = [f"   ~{homes[id(getattr(module, name))]}" for name in public_names(module)]
    return [".. currentmodule:: None", "", ".. autosummary::", "   :nosignatures:", "", *names, ""]


def module_page(module, homes):
    """Return the reference page of one module: its names at a glance, then their documentation.

    An object that two modules offer is documented once, under the name in ``homes``.
    """
    title = module.__name__
    lines = [title, "=" * len(title), "", f".. automodule:: {title}", "   :no-members:", ""]
    lines += names_of(module, homes)
    for thing in (getattr(module, name) for name in public_names(module)):
        if homes[id(thing)].rpartition(".")[0] == title:
            kind = "class" if inspect.isclass(thing) else "function"
            lines += ["", f".. auto{kind}:: {homes[id(thing)]}", *["   :members:"] * (kind == "class")]
    return "\n".join([*lines, ""])


def homes_of_names(modules):
    """Return the identity of each public object, with the one name that documents it.

    That is the module which defines it, if that is a page of its own, else the first which offers it.
    """
    homes = {}
    for module in modules:
        for name in public_names(module):
            thing = getattr(module, name)
            if id(thing) not in homes or getattr(thing, "__module__", "") == module.__name__:
                homes[id(thing)] = f"{module.__name__}.{name}"
    return homes


def reference_page(modules, homes):
    """Return the public interface on one page: each module and each of its names with its first line."""
    lines = ["Reference", "=========", ""]
    lines += [
        "Every public name on one page; each leads to its signature, what it returns, and an example.",
        "",
    ]
    for module in modules:
        title = f":doc:`{module.__name__} <reference/{module.__name__}>`"
        lines += [title, "-" * len(title), "", first_line(module), "", *names_of(module, homes)]
    pages = [f"   reference/{module.__name__}" for module in modules]
    return "\n".join([*lines, ".. toctree::", "   :hidden:", "", *pages, ""])


def first_line(thing):
    """Return the first line of the docstring of a module, a function or a class."""
    return inspect.getdoc(thing).splitlines()[0]


def bibtex(citation):
    """Return the package's own BibTeX entry, from the mapping that CITATION.cff holds."""
    fields = {
        "author": " and ".join(f"{{{person['name']}}}" for person in citation["authors"]),
        "title": f"{{{citation['title']}}}",
        "year": citation["date-released"][:4],
        "version": citation["version"],
        "license": citation["license"],
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join(["@software{shufflelib,", *lines, "}", ""])


def write(target, texts, citation, folders):
    """Write all generated pages into the folder of the book's source; ``texts`` has the repository's."""
    titles = {str(path.relative_to(NOTEBOOKS).with_suffix("")): title_of(path) for path in folders}
    modules = public_modules(texts["bounds"])
    homes = homes_of_names(modules)
    pages = {
        "citation.bib": bibtex(citation),
        "bounds.md": bounds_page(texts["bounds"], titles),
        "gallery.md": gallery_page(folders),
        "ledger.md": ledger_page(texts["ledger"], ALL, pictures_of_claims(folders)),
        "reference.rst": reference_page(modules, homes),
        "since_2019.md": years_page(texts["since_2019"], *years.published()),
    }
    pages |= {f"reference/{module.__name__}.rst": module_page(module, homes) for module in modules}
    for name, text in pages.items():
        path = Path(target, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
