"""Make `book/reference.md`: every public name on one page, readable without building the book.

`tools/metadata.py` writes it.  Types stand as in the source; of what a docstring says of a parameter, the
domain is kept.
"""

import ast
import dataclasses
import functools
import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import get_overloads

import book_pages
import shufflelib

ROOT = Path(__file__).resolve().parents[1]
ORDER = ["shufflelib", "profiles", "randomizers", "calibration", "shuffling", "estimation", "published"]
ORDER += ["sgd", "sweeps", "interop", "registry", "numerics"]
SECTION = re.compile(r"^Parameters\n-+\n((?:.*\n)*?)(?=\S.*\n--|\Z)", re.MULTILINE)
PARAMETER = re.compile(r"^(\S[^:\n]*?)(?: :.*)?\n((?: {4}.*\n?|\n)+)", re.MULTILINE)
CHECKED = re.compile(r"^(?:Annotated|InitVar)\[(.*?)(?:, .*)?\]$", re.DOTALL)
DOMAIN = re.compile(r"[<>≤≥∈]|at least|at most|between|positive|negative|shape")
HEAD = """# Reference

Every public name, with types, its first line and what its parameters may be. The links lead to the source,
whose docstrings also have the formula, the errors, the work behind it and an example; `help(name)` prints
them. `make book` has a page for each module. `python tools/metadata.py` writes this page from the docstrings.

Mechanisms take their parameters by name. An argument outside its domain is refused with a `TypeError` or a
`ValueError`. Where no other domain is given, `eps0` is a local budget in nats, 0 < ε₀ ≤ 700, `n` a number of
users, 1 ≤ n ≤ 10¹⁵, and `delta` is strictly between 0 and 1. `Array` is a numpy array of floats; `T` is a
number or such an array; `ArrayLike` may also be a list. Profiles also have `plot()` and `to_dict()`; tables,
such as that of `recommend`, have `to_frame()`, `to_csv()` and `to_dict()`.

## In an editor

The package has types (`py.typed`), so that an editor shows signatures, completes names and marks mistakes.
The answer to a question with one number is a `Certified[float]`, whose `lower` and `upper` are its two proved
bounds; a list of numbers gets a `Certified` of an array.

```python
>>> from shufflelib import randomizers, shuffle
>>> daily = shuffle(randomizers.generalized_rr(eps0=0.5, d=10), n=100_000)  # PrivacyProfile
>>> found = daily.epsilon(delta=1e-8)                                       # Certified[float]
>>> found.upper                                                             # float
0.0034645...

```

After `randomizers.ha` it offers:

```python
>>> [name for name in dir(randomizers) if name.startswith("ha")]
['hadamard', 'hadamard_blocks', 'harmony']

```

A wrong name is marked while you type (by pyright as `No parameter named "eps"`). Python refuses it with the
nearest right one:

```python
>>> randomizers.generalized_rr(eps=0.5, d=10)
Traceback (most recent call last):
TypeError: generalized_rr has no parameter eps (did you mean eps0?); it takes eps0, d, redraw

```

A bracket is marked and refused where one number is needed:

```python
>>> float(found)
Traceback (most recent call last):
TypeError: a bracket is not one number; use .upper, the proved guarantee, or .lower (for a false...

```

## Modules
"""


@functools.cache
def tree(thing):
    """Return the statement that defines a function or a class."""
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def of_function(function):
    """Return the parameters and the result of a function, or of its first overload, as they are written."""
    found = tree((get_overloads(function) or [inspect.unwrap(function)])[0])
    found.args.args = [one for one in found.args.args if one.arg not in ("self", "cls")]
    shown = re.sub(r"(?<=\S)=(?=\S)", " = ", f"({ast.unparse(found.args)})")
    shown += f" -> {ast.unparse(found.returns)}" if found.returns else ""
    return re.sub(r"'([A-Z][\w| ]*)'", r"\1", shown)  # a type named before it is there


def of_field(node, module):
    """Return the type of a field without the check of its domain."""
    written = ast.unparse(node.annotation)
    meant = getattr(sys.modules[module], written, None)
    return meant.__origin__.__name__ if hasattr(meant, "__metadata__") else CHECKED.sub(r"\1", written)


def of_class(kind):
    """Return the parameters that make an object of a class, if that is for users to do."""
    if not dataclasses.is_dataclass(kind):
        mine = inspect.isfunction(kind.__init__) and kind.__init__.__module__.startswith("shufflelib")
        return of_function(kind.__init__).removesuffix(" -> None") if mine else ""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.startswith("shufflelib.")]
    fields = [(node, base) for base in bases for node in tree(base).body if isinstance(node, ast.AnnAssign)]
    kinds = {node.target.id: of_field(node, base.__module__) for node, base in fields}
    given = inspect.signature(kind).parameters.values()
    shown = ["*"] * any(one.kind is one.KEYWORD_ONLY for one in given)
    for one in given:
        plain = one.default is None or isinstance(one.default, str | float | int | tuple)
        default = f" = {one.default!r}" if plain else " = …"
        shown.append(f"{one.name}: {kinds[one.name]}{default * (one.default is not one.empty)}")
    return f"({', '.join(shown)})"


def words(text):
    """Return words of a docstring as Markdown."""
    text = re.sub(r":math:`([^`]*)`", r"$\1$", " ".join(text.split()))
    return re.sub(r":\w+:(?=`)", "", text).replace("``", "`")


def domains(thing):
    """Return each parameter with the sentences that say its domain."""
    section = SECTION.search(inspect.getdoc(thing) + "\n")
    for names, text in PARAMETER.findall(section[1] if section else ""):
        first, *others = re.split(r"(?<=[.;:])\s+(?![^(]*\))", text.strip())
        said = words(" ".join([first, *filter(DOMAIN.search, others)])).rstrip(".;:")
        yield f"`{names}`: {said}"


def place(thing):
    """Return the file that defines a thing, as a link from the page."""
    return f"../{Path(inspect.getsourcefile(inspect.unwrap(thing))).relative_to(ROOT).as_posix()}"


def entry(name, thing, indent=""):
    """Return the lines of one name, and of the methods that a class adds to those of its bases."""
    signature = of_class(thing) if inspect.isclass(thing) else of_function(thing)
    lines = [f"{indent}- {name} `{signature}`".removesuffix(" ``")]
    lines += [f"{indent}  <br>{words(book_pages.first_line(thing))}"]
    lines += [f"{indent}  <br><small>{said}</small>" for said in filter(None, ["; ".join(domains(thing))])]
    for method, one in vars(thing).items() if inspect.isclass(thing) else ():
        one = getattr(one, "__func__", one)
        if inspect.isfunction(one) and not method.startswith("_") and " -> " in of_function(one):
            if not any(hasattr(base, method) for base in thing.__mro__[1:]):
                lines += entry(f"`.{method}`", one, indent="  ")
    return lines


def section(module, homes):
    """Return the lines of one module; what is documented in another one is only named."""
    said = f"{words(book_pages.first_line(module))} [Source]({place(module)})"
    lines = ["", f"## {module.__name__}", "", said, ""]
    for name in book_pages.public_names(module):
        thing, home = getattr(module, name), homes[id(getattr(module, name))]
        own = home == f"{module.__name__}.{name}"
        lines += entry(f"[**`{name}`**]({place(thing)})", thing) if own else [f"- `{name}` is `{home}`"]
    return lines


def page():
    """Return the page."""
    bounds = (ROOT / "book/bounds.md").read_text(encoding="utf-8")
    modules = [shufflelib, *book_pages.public_modules(bounds)]
    modules.sort(key=lambda module: ORDER.index(module.__name__.split(".")[:2][-1]))
    homes = book_pages.homes_of_names(modules) | book_pages.homes_of_names([shufflelib])
    contents = [
        f"- [{module.__name__}](#{module.__name__.replace('.', '')}): {words(book_pages.first_line(module))}"
        for module in modules
    ]
    lines = [HEAD, *contents, *(line for module in modules for line in section(module, homes))]
    return "\n".join([*lines, ""])
